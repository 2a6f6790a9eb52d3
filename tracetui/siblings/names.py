"""Read the names of directories and files: which rank's trace they hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

#: Ends of the names of directories that profilers make for each rank.
RANK_DIRECTORIES = ("_ascend_pt", "_ascend_ms")
_MSPROF = re.compile(r"PROF_\d+_(?P<time>\d{14,17})_\w+")
#: ascend_timeline_display_<rank>.json, as MindSpore called its timelines for MindInsight
_TIMELINE = re.compile(r"(?:\w+_)?timeline_display_(\d{1,9})\.json(?:\.gz)?", re.ASCII)
#: rank3, Rank_3, workerRank-3, DPRank3, dprank3, worldrank3; no host called frank3
_NAMED_RANK = re.compile(
    r"(?:(?<![A-Za-z])(?i:(?:[tdpce]p|world|global|worker)?rank)|(?<=[A-Za-z])Rank)"
    r"[-_ ]?(\d{1,9})(?!\d)",
    re.ASCII,
)
#: <host>_<pid>_<time stamp>_ascend_pt
_ASCEND_NAME = re.compile(r"(?P<host>.+)_\d{1,10}_(?P<time>\d{14,20})_ascend_(?:pt|ms)", re.ASCII)
#: <host>_<pid>.<time stamp>.pt.trace.json, as tensorboard_trace_handler calls them
_KINETO_NAME = re.compile(r"(?P<host>.+?)_\d{1,10}\.(?P<time>\d{10,20})\.pt\.trace\.json(?:\.gz)?", re.ASCII)


class ParsedName(NamedTuple):
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


def timeline_rank(name: str) -> int | None:
    """Return the rank whose timeline a file of that name is; None where it is none."""
    timeline = _TIMELINE.fullmatch(name)
    return int(timeline[1]) if timeline else None


def parse_name(name: str) -> ParsedName:
    """Return what the name of a rank's directory, or of a file, tells."""
    rank = _NAMED_RANK.search(name)
    number = int(rank[1]) if rank else None
    for pattern in (_ASCEND_NAME, _KINETO_NAME):
        match = pattern.fullmatch(name)
        if match:
            return ParsedName(match["host"], match["time"], number)
    profile = _MSPROF.fullmatch(name)
    return ParsedName("", profile["time"] if profile else "", number)
