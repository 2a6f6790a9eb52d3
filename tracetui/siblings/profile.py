"""`info.json.<device>` of a raw msprof export: which rank it is of, on which host.

The file lies in the directory of the device, or of the host; whatever it holds may be missing.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tracetui.siblings.database import host_in_database
from tracetui.siblings.metadata import read_json_object, whole

_EXPORT = re.compile(r"msprof_(?:slice_)?[\d_]+\.json(?:\.gz)?", re.ASCII)
_PLACES = ("info.json.*", "device_*/info.json.*", "host/info.json*")
_ABOVE = 3  # directories: PROF_*/device_0/timeline
_DONE = ".done"  # ends the name of an empty file that marks another one as complete


class ProfileInfo(NamedTuple):
    """What the files of an export tell."""

    rank: int | None
    host: str | None  #: as written: never print it unescaped


def profile_files(trace: Path) -> list[Path]:
    """Return the files that tell of the export that a trace is or is a part of; [] of any other trace."""
    if not _EXPORT.fullmatch(trace.name):
        return []
    for directory in list(trace.absolute().parents)[:_ABOVE]:
        try:
            files = [path for place in _PLACES for path in sorted(directory.glob(place))]
        except (OSError, ValueError):
            files = []
        files = [path for path in files if path.suffix != _DONE]
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
    ranks = [rank for document in documents if (rank := whole(document.get("rank_id"))) is not None]
    hosts = [host for document in documents if isinstance(host := document.get("hostname"), str) and host]
    return ProfileInfo(next(iter(ranks), None), next(iter(hosts), None))
