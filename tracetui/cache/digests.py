"""Keeping the digest of a trace, which is small and takes long to make, and finding it again.

It counts for the trace and the files beside it as they are, and for one program. Nothing here ever fails.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tracetui.cache.entries import DIGEST, entry_key, keep_entry, read_entry
from tracetui.reader.joined import stamp_of
from tracetui.reader.source import COARSEST_CLOCK

_log = logging.getLogger("tracetui.cache")


def find_digest(trace: Path, siblings: Sequence[Path], arguments: Sequence[Any] = ()) -> bytes | None:
    """Return what was kept of a trace and the files beside it; None where it has to be made.

    `arguments`: what else it was made with, for JSON.
    """
    try:
        entry = read_entry(DIGEST, _key(trace, siblings, arguments))
        return None if entry is None else entry[1]["digest"].tobytes()
    except Exception as error:  # whatever an entry holds, the trace itself can still be read
        _log.debug("not used: %s: %r", trace, error)
        return None


def keep_digest(trace: Path, siblings: Sequence[Path], digest: bytes, arguments: Sequence[Any] = ()) -> bool:
    """Keep the digest of a trace for `find_digest`; return whether that was done."""
    try:
        key = _key(trace, siblings, arguments)
        if time.time_ns() - stamp_of(trace).modified < COARSEST_CLOCK:
            return False
        arrays = {"digest": np.frombuffer(digest, np.uint8)}
        return keep_entry(DIGEST, key, lambda: ({}, arrays))
    except Exception as error:  # a full or read-only disk
        _log.debug("not kept: %s: %r", trace, error)
        return False


def _key(trace: Path, siblings: Sequence[Path], arguments: Sequence[Any]) -> dict[str, Any]:
    path = os.path.realpath(trace)
    stamps = [[sibling.name, *stamp_of(sibling)] for sibling in siblings]
    return entry_key(DIGEST, path, stamp_of(Path(path)), beside=stamps, arguments=list(arguments))
