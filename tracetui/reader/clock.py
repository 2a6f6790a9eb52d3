"""The clock of a raw msprof export: since boot in the traces, since 1970 in the files beside them.

`start_info` tells one moment on both: the time of its beginning in us since 1970, and in ns of
CLOCK_MONOTONIC_RAW, on which older exports count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from tracetui.reader.parts import is_part
from tracetui.reader.timestamps import LIMIT

_LARGEST = 1 << 16  #: bytes
_ABOVE = 3  #: directories: PROF_*/device_0/timeline
_PLACES = ("start_info*", "host/start_info*", "device_*/start_info*")
_DONE = ".done"  #: ends the name of a file that tells that another one is whole


class BootClock(NamedTuple):
    """What is added to the times of a trace that count from the boot."""

    base_ns: int  #: 0 where nothing tells
    files: tuple[Path, ...]  #: that tell it


NO_CLOCK = BootClock(0, ())


def clock_of(path: Path) -> BootClock:
    """Return the clock of the trace that a file holds or is a part of; no other file has one."""
    if not is_part(path):
        return NO_CLOCK
    for directory in list(path.absolute().parents)[:_ABOVE]:
        for place in _PLACES:
            for file in _list_files(directory, place):
                base = _base(file)
                if base:
                    return BootClock(base, (file,))
        if directory.name.startswith("PROF_"):
            break
    return NO_CLOCK


def _list_files(directory: Path, place: str) -> list[Path]:
    try:
        return sorted(path for path in directory.glob(place) if path.suffix != _DONE)
    except (OSError, ValueError):
        return []


def _base(file: Path) -> int:
    """Return the time since 1970 at boot, ns; 0 where a file does not tell it."""
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            return 0
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return 0
    if not isinstance(document, dict):
        return 0
    begin, boot = (
        _parse_whole(document.get("collectionTimeBegin")),
        _parse_whole(document.get("clockMonotonicRaw")),
    )
    base = begin * 1000 - boot
    return max(base, 0) if begin and boot and base < LIMIT else 0


def _parse_whole(value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        return int(value)
    return max(value, 0) if type(value) is int and value < LIMIT else 0
