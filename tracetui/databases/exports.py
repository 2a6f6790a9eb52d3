"""Which export of a run is read: profilers write it as JSON, as a database, or both beside each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple

from tracetui.databases.names import is_database, is_framework_database, is_trace_database

Export = Literal["json", "db"]
#: what frameworks call the JSON of a run; users compress it by hand
TRACE_VIEWS = ("trace_view.json", "trace_view.json.gz")
#: what msprof calls it: marks of users lie beside it as msprof_tx_*.json
MSPROF_JSON = re.compile(r"msprof_(?:slice_)?[\d_]+\.json(?:\.gz)?", re.ASCII)
_PROFILE, _NEWER_EXPORT = "PROF_", "mindstudio_profiler_output"
_MOST_ENTRIES = 100_000  # entries of a directory that are looked at
_EDGE = 4096  # bytes of a file's end that may be blank


class OtherExport(NamedTuple):
    """The export of a run that is not read."""

    path: Path
    is_whole: bool  #: False: JSON that is cut off, or a database that is


def export_of(trace: Path) -> Export:
    """Return which export a file is, by its name."""
    return "db" if is_database(trace) else "json"


def other_export(trace: Path) -> OtherExport | None:
    """Return the other export of the run whose trace is at a path; None where there is none beside it.

    Of a framework both lie in one directory; of msprof in the same PROF_ directory, of several the latest.
    """
    if is_database(trace):
        if not is_trace_database(trace.name):
            return None
        found = trace_views(trace.parent)[:1]
        if not (found and is_framework_database(trace.name) and _is_alone(trace)):
            exported = _files_of_profile(trace, "msprof_*.json*")
            found = [path for path in exported if MSPROF_JSON.fullmatch(path.name)][-1:]
        return OtherExport(found[0], is_whole_json(found[0])) if found else None
    if trace.name in TRACE_VIEWS:
        found = [path for path in _paths(trace.parent) if is_framework_database(path.name)]
    elif MSPROF_JSON.fullmatch(trace.name):
        exported = _files_of_profile(trace, "msprof_*.db")
        found = [path for path in exported if is_trace_database(path.name)][-1:]
    else:
        return None
    return OtherExport(found[0], is_whole_database(found[0])) if len(found) == 1 else None


def trace_views(*directories: Path) -> list[Path]:
    """Return the JSON of frameworks in directories, those that are whole first."""
    found = [path for place in directories for name in TRACE_VIEWS if (path := place / name).is_file()]
    return sorted(found, key=lambda path: not is_whole_json(path))


def is_whole_json(path: Path) -> bool:
    """Return whether a file begins and ends as JSON does; one that is compressed is taken to be whole."""
    if path.suffix == ".gz":
        return True
    try:
        with path.open("rb") as file:
            head = file.read(_EDGE).lstrip(b"\xef\xbb\xbf \t\r\n")
            size = file.seek(0, 2)
            file.seek(max(size - _EDGE, 0))
            tail = file.read(_EDGE).rstrip()
    except OSError:
        return False
    return (head[:1], tail[-1:]) in ((b"[", b"]"), (b"{", b"}"))


def is_whole_database(path: Path) -> bool:
    """Return whether a file begins as a database does, and has all the pages that it says."""
    from tracetui.databases.opening import MAGIC, is_cut  # text needs nothing of SQLite

    try:
        with path.open("rb") as file:
            begins = file.read(len(MAGIC)) == MAGIC
        return begins and not is_cut(path)
    except OSError:
        return False


def _is_alone(trace: Path) -> bool:
    """Return whether a directory holds the database of one rank only."""
    return sum(is_framework_database(path.name) for path in _paths(trace.parent)) == 1


def _files_of_profile(trace: Path, pattern: str) -> list[Path]:
    """Return the files of a pattern in the PROF_ directory that a trace lies in, the latest last."""
    for directory in list(trace.parents)[:4]:
        if directory.name.startswith(_PROFILE):
            found = [*directory.glob(pattern), *(directory / _NEWER_EXPORT).glob(pattern)]
            return sorted((path for path in found if path.is_file()), key=lambda path: path.name)
    return []


def _paths(directory: Path) -> list[Path]:
    try:
        return [path for path, _ in zip(directory.iterdir(), range(_MOST_ENTRIES))]
    except OSError:
        return []
