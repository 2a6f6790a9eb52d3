"""What traces a host sees, each with what tells it from others whatever the path it is seen under."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tracetui.databases.exports import Export
from tracetui.job.sources import Source, find_sources
from tracetui.reader.errors import UnreadableTrace

_SAMPLES, _SAMPLE = 64, 1 << 14  # pieces of a file that are looked at, evenly spread, and their bytes


class VisibleTrace(NamedTuple):
    """A trace, or a digest, as one host sees it."""

    path: str
    shown: str  #: as people call it: below the directory that was named
    bytes: int  #: of the file
    mark: str  #: the same wherever the same file is seen, another one of another file

    @property
    def identity(self) -> tuple[int, str]:
        """What is the same for all who see the trace."""
        return self.bytes, self.mark


def visible_traces(paths: Sequence[str], only: str = "*", export: Export | None = None) -> list[VisibleTrace]:
    """Return the traces and digests that are seen here below some paths, but those that can't be read."""
    traces = (_visible_trace(source) for path in paths for source in _sources(path, only, export))
    return [trace for trace in traces if trace is not None]


def _sources(path: str, only: str, export: Export | None) -> tuple[Source, ...]:
    try:
        return find_sources([Path(path)], only, export).found
    except UnreadableTrace:  # it is not there: others may see it
        return ()


def _visible_trace(source: Source) -> VisibleTrace | None:
    try:
        with source.path.open("rb") as file:
            size = file.seek(0, 2)
            seen = hashlib.sha256()
            for sample in range(_SAMPLES):
                file.seek(max(size - _SAMPLE, 0) * sample // (_SAMPLES - 1))
                seen.update(file.read(_SAMPLE))
    except OSError:
        return None
    return VisibleTrace(str(source.path.absolute()), source.shown, size, seen.hexdigest())
