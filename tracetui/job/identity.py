"""Which rank of a job a trace is, by its place, its name and the files beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tracetui.job.digest import Identity
from tracetui.reader.errors import plain
from tracetui.siblings.metadata import parallel_groups
from tracetui.siblings.profile import profile_info
from tracetui.siblings.rank import rank_info

#: Ends of the names of directories that profilers make for each rank.
RANK_DIRECTORIES = ("_ascend_pt", "_ascend_ms")
#: What groups of a job are for: tensor, pipeline, data, context and expert parallel.
PARALLEL = ("tp", "pp", "dp", "cp", "ep")
_MSPROF = re.compile(r"PROF_\d+_(?P<time>\d{14,17})_\w+")
#: ascend_timeline_display_<rank>.json, as MindSpore called its timelines for MindInsight
_TIMELINE = re.compile(r"(?:\w+_)?timeline_display_(\d{1,9})\.json(?:\.gz)?", re.ASCII)
_NAMED_RANK = re.compile(r"rank[-_ ]?(\d{1,9})(?!\d)", re.IGNORECASE | re.ASCII)
#: <host>_<pid>_<time stamp>_ascend_pt
_ASCEND_NAME = re.compile(r"(?P<host>.+)_\d{1,10}_(?P<time>\d{14,20})_ascend_(?:pt|ms)", re.ASCII)
#: <host>_<pid>.<time stamp>.pt.trace.json, as tensorboard_trace_handler calls them
_KINETO_NAME = re.compile(r"(?P<host>.+?)_\d{1,10}\.(?P<time>\d{10,20})\.pt\.trace\.json(?:\.gz)?", re.ASCII)


class Named(NamedTuple):
    """What the name of a rank's directory or file tells; "" and None where it does not."""

    host: str
    started: str  #: digits of a time stamp
    rank: int | None


def rank_directory(trace: Path) -> Path | None:
    """Return the directory of the rank that a trace lies in, None where none has the name of one."""
    for directory in list(trace.parents)[:5]:
        if is_rank_directory(directory.name):
            return directory
    return None


def is_rank_directory(name: str) -> bool:
    """Return whether a directory of that name is that of one rank."""
    return name.endswith(RANK_DIRECTORIES) or _MSPROF.fullmatch(name) is not None


def is_rank_file(name: str) -> bool:
    """Return whether a file of that name is the trace of one rank, and its name tells which."""
    return _TIMELINE.fullmatch(name) is not None


def named(name: str) -> Named:
    """Return what the name of a rank's directory, or of a file, tells."""
    rank = _NAMED_RANK.search(name)
    number = int(rank[1]) if rank else None
    for pattern in (_ASCEND_NAME, _KINETO_NAME):
        match = pattern.fullmatch(name)
        if match:
            return Named(match["host"], match["time"], number)
    profile = _MSPROF.fullmatch(name)
    return Named("", profile["time"] if profile else "", number)


def identify(trace: Path, head: Mapping[str, Any]) -> Identity:
    """Return which rank a trace is.

    Its rank is what `profiler_info_N.json` says, or `info.json.N` of a raw export, else `distributedInfo` of
    the trace, else "rank N" in its name or in that of a directory above it; a timeline for MindInsight ends
    in it.

    Args:
        trace: the path of the trace's file.
        head: what stands before its events.
    """
    directory = rank_directory(trace)
    name = trace.name if directory is None else directory.name
    told, info = named(name), rank_info(trace)
    distributed = head.get("distributedInfo")
    distributed = distributed if isinstance(distributed, dict) else {}
    above = [path.name for path in list(trace.parents)[:3]]
    timeline = _TIMELINE.fullmatch(trace.name)
    by_name = int(timeline[1]) if timeline else None
    if by_name is None:
        by_name = next((rank for part in (name, *above) if (rank := named(part).rank) is not None), None)
    sources = (
        ("profiler_info", info.rank),
        ("distributedInfo", _whole(distributed.get("rank"))),
        ("name", by_name),
    )
    source, rank = next(((source, rank) for source, rank in sources if rank is not None), ("", -1))
    return Identity(
        name=name,
        rank=rank,
        rank_from=source,
        host=told.host or plain(profile_info(trace).host or ""),
        started=told.started,
        world=info.world or _whole(distributed.get("world_size")) or 0,
        sizes=dict(sorted(info.sizes.items())),
        indices=_indices(trace),
        options=dict(sorted(info.options.items())),
    )


def _indices(trace: Path) -> dict[str, int]:
    """The rank's own number in the groups of the job, by what they are for."""
    told = {group.name: group.group_rank for group in parallel_groups(trace) if group.group_rank is not None}
    return {name: told[name] for name in PARALLEL if name in told}


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 31 else None
