"""What traces a host sees, each with what tells it from others whatever the path it is seen under."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_DEEPEST = 6  # levels of directories below a path
_TRACE = re.compile(r"trace_view\.json|msprof_\d+\.json|.+\.pt\.trace\.json(\.gz)?")
_EDGE = 1 << 16  # bytes of a file's begin and end that are looked at


class Seen(NamedTuple):
    """A trace as one host sees it."""

    path: str
    bytes: int  #: of the file
    mark: str  #: the same wherever the same file is seen, another one of another file

    @property
    def identity(self) -> tuple[int, str]:
        """What is the same for all who see the trace."""
        return self.bytes, self.mark


def look(paths: Sequence[str]) -> list[Seen]:
    """Return the traces of ranks that are seen here below some paths, but those that can't be read."""
    found = map(_seen, _traces(paths))
    return [seen for seen in found if seen is not None]


def _seen(path: Path) -> Seen | None:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            edges = file.read(_EDGE)
            file.seek(max(size - _EDGE, 0))
            edges += file.read(_EDGE)
    except OSError:
        return None
    return Seen(str(path), size, hashlib.sha256(edges).hexdigest())


def _traces(paths: Sequence[str]) -> list[Path]:
    found: set[Path] = set()
    for path in map(Path, paths):
        if path.is_file():
            found.add(path.absolute())
        for directory, below, files in os.walk(path):  # which doesn't follow links
            here = Path(directory)
            if len(here.relative_to(path).parts) == _DEEPEST:
                below.clear()
            found.update(here.absolute() / name for name in files if _TRACE.fullmatch(name))
    return sorted(found)
