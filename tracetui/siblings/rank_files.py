"""The documents that the profiler leaves for a rank: `profiler_info_<rank>.json`, `profiler_metadata.json`.

Both are optional and lie in the directory of the trace or in the one above. A raw export of msprof has
`info.json.<device>` instead, in the directory of the device or of the host. Whatever they hold may be missing
or of another type: who reads a member looks at what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Union

from tracetui.databases.exports import MSPROF_JSON
from tracetui.language import state
from tracetui.siblings.beside import Refusal, files_like, read_object
from tracetui.siblings.database import host_in_database, metadata_in_database
from tracetui.siblings.metadata import NAME, members_of, read_json_object, whole_number

_INFO = re.compile(r"profiler_info(?:_(\d{1,9}))?\.json", re.ASCII)
_DIRECTORIES = 2  #: where they may be: that of the trace, and those above
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
_PLACES = ("info.json.*", "device_*/info.json.*", "host/info.json*")
_ABOVE = 3  # directories: PROF_*/device_0/timeline


@dataclass(frozen=True)
class RankFiles:
    """What the documents of a rank hold."""

    number: int | None  #: in the name of the first
    info: dict[str, Any]  #: its members
    metadata: dict[str, Any]  #: those of the second
    profile: ProfileInfo  #: what an export of msprof tells
    problems: tuple[str, ...]  #: sentences about what cannot be read

    @property
    def rank(self) -> int | None:
        """The number of the rank: that in the name of the file, else `rank_id` in it (-1: of no job)."""
        candidates = (self.number, whole_number(self.info.get("rank_id")), self.profile.rank)
        return next((rank for rank in candidates if rank is not None), None)


def rank_files(trace: Path) -> RankFiles:
    """Return the documents of the rank whose trace is at a path: never fails.

    Of several documents of ranks in one directory none is this rank's more than the others: none is read.
    """
    problems: list[str] = []
    number, info = _first(trace, _info_of, problems)
    metadata = _first(trace, _metadata_of, problems)[1] or metadata_in_database(trace)
    return RankFiles(number, info, metadata, profile_info(trace), tuple(problems))


def side_files(trace: Path) -> list[Path]:
    """Return the files beside a trace that tell of its rank, where they are there."""
    directories = list(trace.parents)[:_DIRECTORIES]
    metadata = [directory / NAME for directory in directories if (directory / NAME).is_file()]
    named = [path for directory in directories for _, path in _info_files(directory)]
    return [*named, *metadata, *profile_files(trace)]


def _first(
    trace: Path, find: Callable[[Path], tuple[int | None, Path] | None], problems: list[str]
) -> tuple[int | None, dict[str, Any]]:
    """Return the number and the members of the first document that can be read; None and {} where none can.

    One that is called by the number of the rank tells that even where it cannot be read.
    """
    for directory in list(trace.parents)[:_DIRECTORIES]:
        file = find(directory)
        if file is not None:
            number, path = file
            try:
                return number, read_object(path)
            except Refusal as refusal:
                problems.append(state("{name} {refusal}", name=path.name, refusal=refusal))
                if number is not None:
                    return number, {}
    return None, {}


def _info_of(directory: Path) -> tuple[int | None, Path] | None:
    files = _info_files(directory)
    numbered = [file for file in files if file[0] is not None]
    return numbered[0] if len(numbered) == 1 else next((file for file in files if file[0] is None), None)


def _metadata_of(directory: Path) -> tuple[int | None, Path] | None:
    path = directory / NAME
    return (None, path) if path.exists() else None


def _info_files(directory: Path) -> list[tuple[int | None, Path]]:
    """List the files of that name and the number in it, those with a number first."""
    try:
        files = [(match, path) for path in directory.iterdir() if (match := _INFO.fullmatch(path.name))]
    except OSError:
        return []
    numbered = [(None if match[1] is None else int(match[1]), path) for match, path in files]
    return sorted(numbered, key=lambda file: (file[0] is None, file[0] or 0))


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
    arguments = members_of(files.metadata.get("distributed_args"))
    return RankInfo(
        rank=files.rank,
        world=whole_number(arguments.get("world_size")) or None,
        sizes={
            name: size
            for key, name in _SIZES.items()
            if (size := whole_number(arguments.get(key))) is not None
        },
        options=_options(files.info.get("config")),
    )


def _options(config: Any) -> dict[str, Option]:
    parts = members_of(config)
    common, experimental = (
        members_of(parts.get("common_config")),
        members_of(parts.get("experimental_config")),
    )
    options: dict[str, Option] = {}
    for name in _OPTIONS:
        value = common.get(name)
        if isinstance(value, bool):
            options[name] = value
    for name, title in _EXPERIMENTAL.items():
        value = experimental.get(name)
        if isinstance(value, (str, bool)):
            options[title] = value if isinstance(value, bool) else value[:100]
    return options


class ProfileInfo(NamedTuple):
    """What the files of an export tell."""

    rank: int | None
    host: str | None  #: as written: never print it unescaped


def profile_files(trace: Path) -> list[Path]:
    """Return the files that tell of the export that a trace is or is a part of; [] of any other trace."""
    if not MSPROF_JSON.fullmatch(trace.name):
        return []
    for directory in list(trace.absolute().parents)[:_ABOVE]:
        files = files_like(directory, *_PLACES)
        if files or directory.name.startswith("PROF_"):
            return files
    return []


def profile_info(trace: Path) -> ProfileInfo:
    """Return what is known of the export of a trace: never fails."""
    in_database = host_in_database(trace)
    if in_database is not None:
        return ProfileInfo(None, in_database)
    documents = [
        document for path in profile_files(trace) if (document := read_json_object(path)) is not None
    ]
    ranks = [rank for document in documents if (rank := whole_number(document.get("rank_id"))) is not None]
    hosts = [host for document in documents if isinstance(host := document.get("hostname"), str) and host]
    return ProfileInfo(next(iter(ranks), None), next(iter(hosts), None))
