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


def digest_key(trace: Path, siblings: Sequence[Path], arguments: Sequence[Any] = ()) -> dict[str, Any] | None:
    """Return the states of a trace and of the files beside it: while they are the same, its digest counts.

    None where one of them was only just written: a change since would not show.

    Args:
        trace: the path of the trace.
        siblings: the files beside it that its digest depends on.
        arguments: what else it is made with, for JSON.
    """
    try:
        path = os.path.realpath(trace)
        stamp, beside = stamp_of(Path(path)), {str(sibling): stamp_of(sibling) for sibling in siblings}
        if max(state.modified for state in (stamp, *beside.values())) > time.time_ns() - COARSEST_CLOCK:
            return None
        stamps = [[name, *state] for name, state in sorted(beside.items())]
        return entry_key(DIGEST, path, stamp, beside=stamps, arguments=list(arguments))
    except Exception as error:  # a file that went away: the trace itself may still be read
        _log.debug("not looked up: %s: %r", trace, error)
        return None


def find_digest(key: dict[str, Any] | None) -> bytes | None:
    """Return what was kept of a trace and the files beside it; None where it has to be made."""
    try:
        entry = None if key is None else read_entry(DIGEST, key)
        return None if entry is None else entry[1]["digest"].tobytes()
    except Exception as error:  # whatever an entry holds, the trace itself can still be read
        _log.debug("not used: %r", error)
        return None


def keep_digest(key: dict[str, Any] | None, digest: bytes) -> bool:
    """Keep the digest of a trace for `find_digest`; return whether that was done."""
    try:
        arrays = {"digest": np.frombuffer(digest, np.uint8)}
        return key is not None and keep_entry(DIGEST, key, lambda: ({}, arrays))
    except Exception as error:  # a full or read-only disk
        _log.debug("not kept: %r", error)
        return False
