"""What the documents beside a trace tell of its place in the job; what cannot be read is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from tracetui.siblings.metadata import whole
from tracetui.siblings.rank_files import rank_files

Option = Union[str, int, bool]

#: What a size in `distributed_args` is of.
_SIZES = {
    "tensor_model_parallel_size": "tp",
    "pipeline_model_parallel_size": "pp",
    "data_parallel_size": "dp",
    "context_parallel_size": "cp",
    "expert_model_parallel_size": "ep",
}
_OPTIONS = ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")
_EXPERIMENTAL = {"_profiler_level": "profiler_level", "_aic_metrics": "aic_metrics", "_l2_cache": "l2_cache"}


@dataclass(frozen=True)
class RankInfo:
    """What the files beside a trace tell of its rank."""

    rank: int | None = None
    world: int | None = None  #: ranks in the job
    sizes: dict[str, int] = field(default_factory=dict)  #: ranks of a group: {"tp": 2, "dp": 4}
    options: dict[str, Option] = field(default_factory=dict)  #: of the profiler


def rank_info(trace: Path) -> RankInfo:
    """Return what the documents in the directory of a trace, or in the one above, tell of its rank."""
    files = rank_files(trace)
    arguments = files.metadata.get("distributed_args")
    arguments = arguments if isinstance(arguments, dict) else {}
    return RankInfo(
        rank=files.rank,
        world=whole(arguments.get("world_size")) or None,
        sizes={name: size for key, name in _SIZES.items() if (size := whole(arguments.get(key))) is not None},
        options=_options(files.info.get("config")),
    )


def _options(config: Any) -> dict[str, Option]:
    parts = config if isinstance(config, dict) else {}
    common, experimental = parts.get("common_config"), parts.get("experimental_config")
    options: dict[str, Option] = {}
    for name in _OPTIONS:
        value = common.get(name) if isinstance(common, dict) else None
        if isinstance(value, bool):
            options[name] = value
    for name, title in _EXPERIMENTAL.items():
        value = experimental.get(name) if isinstance(experimental, dict) else None
        if isinstance(value, (str, bool)):
            options[title] = value if isinstance(value, bool) else value[:100]
    return options
