"""Recognise the file of a digest without reading all of it: by its name, or how its text begins."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

#: What a digest is called in a directory: `<name>.rank.json.gz`.
SUFFIX = ".rank.json.gz"
#: How its text begins: as it is written, and as earlier versions wrote it.
BEGINNINGS = (b'{"arrivals":{', b'{"advice":[')


def is_digest(path: Path) -> bool:
    """Return whether a file has the name of a digest or begins like one; it may still be damaged."""
    if path.name.endswith(SUFFIX):
        return True
    try:
        with gzip.open(path) as file:
            return file.read(max(map(len, BEGINNINGS))).startswith(BEGINNINGS)
    except (OSError, EOFError, zlib.error):
        return False
