"""The state of all files that may tell something of a trace: of an answer that was kept this says whether it
still counts.

Nothing is opened. A file of these directories counts whatever its name, so that a new table needs no line
here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ABOVE = 3  # directories: PROF_* may lie beside that of the trace, or around it
_PROFILE = "PROF_"
_BELOW = (_PROFILE, "device_", "host", "mindstudio_profiler_output")  # how the names of directories begin
_DEEPEST = 2  # PROF_*/device_*/start_info
_MOST = 5_000  # entries of directories


class FileState(NamedTuple):
    """The state of a file now; its times, ns, and its inode are -1 where a link leads nowhere."""

    path: str
    size: int
    modified: int
    changed: int
    inode: int


def surroundings(trace: Path, *more: Path) -> tuple[FileState, ...] | None:
    """Return the files around the trace at a path, and in `more` directories, by path; None where there are
    too many to look at.
    """
    parents = list(trace.absolute().parents)
    directories = parents[:_ABOVE]
    directories += [parent for parent in parents[_ABOVE : _ABOVE + 1] if parent.name.startswith(_PROFILE)]
    found: set[FileState] = set()
    try:
        for directory in more:
            found.update(_files_in(str(directory), 0))
        for directory in directories:
            found.update(_files_in(str(directory), _DEEPEST))
    except _TooMany:
        return None
    return tuple(sorted(found))


class _TooMany(Exception):  # noqa: N818 - no error: nothing is kept
    pass


def _files_in(directory: str, depth: int) -> Iterator[FileState]:
    """Yield the files of a directory, if it can be listed, and of those below that a profiler makes."""
    try:
        with os.scandir(directory) as entries:
            listed = [entry for entry, _ in zip(entries, range(_MOST + 1))]
    except OSError:
        return
    if len(listed) > _MOST:
        raise _TooMany
    for entry in listed:
        if entry.name.startswith("."):  # histories and the like, which no profiler writes
            continue
        try:
            if entry.is_dir():
                if depth and entry.name.startswith(_BELOW):
                    yield from _files_in(entry.path, depth - 1)
                continue
            status = entry.stat()
        except OSError:
            yield FileState(entry.path, -1, -1, -1, -1)
            continue
        yield FileState(entry.path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
