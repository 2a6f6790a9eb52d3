"""What stands beside a trace of its rank: `profiler_info_<rank>.json`, and the arguments of the job.

Both are optional, and whatever they hold may be missing or of another type: what cannot be read is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from tracetui.siblings.metadata import NAME, read_document, whole

Option = Union[str, int, bool]

_INFO = re.compile(r"profiler_info(?:_(\d{1,9}))?\.json", re.ASCII)
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
    """Return what stands beside a trace, in its directory or in the one above."""
    for directory in list(trace.parents)[:2]:
        named = _info_files(directory)
        if named or (directory / NAME).is_file():
            break
    else:
        return RankInfo()
    number, info = None, {}
    for told, path in named:
        document = read_document(path)
        if document is not None or told is not None:
            number, info = told, document or {}
            break
    arguments = (read_document(directory / NAME) or {}).get("distributed_args")
    arguments = arguments if isinstance(arguments, dict) else {}
    return RankInfo(
        rank=next((rank for rank in (number, whole(info.get("rank_id"))) if rank is not None), None),
        world=whole(arguments.get("world_size")) or None,
        sizes={name: size for key, name in _SIZES.items() if (size := whole(arguments.get(key))) is not None},
        options=_options(info.get("config")),
    )


def side_files(trace: Path) -> list[Path]:
    """Return the files beside a trace that tell of its rank, where they are there."""
    directories = list(trace.parents)[:2]
    metadata = [directory / NAME for directory in directories if (directory / NAME).is_file()]
    return [path for directory in directories for _, path in _info_files(directory)] + metadata


def _info_files(directory: Path) -> list[tuple[int | None, Path]]:
    """The files of that name and the number in it, those with a number first."""
    try:
        files = [(match, path) for path in directory.iterdir() if (match := _INFO.fullmatch(path.name))]
    except OSError:
        return []
    told = [(None if match[1] is None else int(match[1]), path) for match, path in files]
    return sorted(told, key=lambda file: (file[0] is None, file[0] or 0))


def _options(config: Any) -> dict[str, Option]:
    parts = config if isinstance(config, dict) else {}
    common, own = parts.get("common_config"), parts.get("experimental_config")
    found: dict[str, Option] = {}
    for name in _OPTIONS:
        value = common.get(name) if isinstance(common, dict) else None
        if isinstance(value, bool):
            found[name] = value
    for name, shown in _EXPERIMENTAL.items():
        value = own.get(name) if isinstance(own, dict) else None
        if isinstance(value, (str, bool)):
            found[shown] = value if isinstance(value, bool) else value[:100]
    return found
