"""`profiler_info_N.json` and `profiler_metadata.json`: what was profiled, how, and in which environment.

Both are optional, and whatever they hold may be missing or of another type: that is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracetui.siblings.metadata import members_of, whole_number
from tracetui.siblings.names import parse_name
from tracetui.siblings.rank_files import rank_files

_ABOVE = 2  # directories: the name of the rank is that of one of them
_VERSIONS = ("torch_npu_version", "cann_version", "torch_version", "ms_version", "mindspore_version")
_DEEPEST = 6


@dataclass(frozen=True)
class RunDescription:
    """The run that a trace is of; texts are as written by the producer: never print them unescaped."""

    rank: int | None = None
    host: str | None = None  #: in the name of the rank's directory, or told by an export of msprof
    level: str | None = None  #: "Level2"
    activities: tuple[str, ...] = ()  #: "CPU", "NPU"
    versions: Mapping[str, str] = field(default_factory=dict)  #: by what they are of: "cann": "8.0.RC1"
    options: Mapping[str, str] = field(default_factory=dict)  #: of the profiler: "with_stack": "true"
    environment: Mapping[str, str] = field(default_factory=dict)  #: variables that are set to something
    parallel: Mapping[str, int] = field(default_factory=dict)  #: "world_size": 8, "tensor_model_…": 2
    problems: tuple[str, ...] = ()  #: sentences about what is not read


def describe_run(trace: Path) -> RunDescription:
    """Return what is known of the run whose trace is at a path: never fails."""
    files = rank_files(trace)
    info, metadata = files.info, files.metadata
    config = members_of(info.get("config"))
    common, experimental = (
        members_of(config.get("common_config")),
        members_of(config.get("experimental_config")),
    )
    activities = common.get("activities")
    level = experimental.get("_profiler_level", experimental.get("profiler_level"))
    return RunDescription(
        rank=files.rank,
        host=_host(trace) or files.profile.host,
        level=level if isinstance(level, str) and level else None,
        activities=tuple(
            activity.rpartition(".")[2]
            for activity in (activities if isinstance(activities, list) else [])
            if isinstance(activity, str)
        ),
        versions={
            name.rpartition("_version")[0]: info[name]
            for name in _VERSIONS
            if isinstance(info.get(name), str) and info[name]
        },
        options=dict([*_options(common), *_options(experimental)]),
        environment={
            name: value
            for name, value in members_of(metadata.get("ENV_VARIABLES")).items()
            if isinstance(value, str) and value
        },
        parallel={
            name: number
            for name, value in members_of(metadata.get("distributed_args")).items()
            if (number := whole_number(value)) is not None
        },
        problems=files.problems,
    )


def _host(trace: Path) -> str | None:
    """Return the host in the name of the rank's directory."""
    hosts = (parse_name(directory.name).host for directory in list(trace.parents)[:_ABOVE])
    return next(filter(None, hosts), None)


def _options(config: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the options by name, those inside others as "schedule.active"."""
    for name, value in config.items():
        full_name = prefix + name.lstrip("_")
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _options(value, f"{full_name}.", depth + 1)
        elif isinstance(value, (bool, type(None))):
            yield full_name, str(value).lower()
        elif isinstance(value, (int, float, str)):
            yield full_name, str(value)
        elif isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            yield full_name, ", ".join(value)
