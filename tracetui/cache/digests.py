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

from tracetui.cache.container import pack, read_arrays, read_document
from tracetui.cache.directory import write_entry
from tracetui.cache.traces import DIGEST, name_of, program, reading
from tracetui.reader.joined import stamp_of
from tracetui.reader.source import COARSEST_CLOCK

_log = logging.getLogger("tracetui.cache")


def find_digest(trace: Path, siblings: Sequence[Path], arguments: Sequence[Any] = ()) -> bytes | None:
    """Return what was kept of a trace and the files beside it; None where it has to be made.

    `arguments`: what else it was made with, for JSON.
    """
    try:
        path = os.path.realpath(trace)
        with reading(name_of(path, DIGEST)) as descriptor:
            if descriptor is None:
                return None
            document = read_document(descriptor)
            key = _key(path, siblings, arguments)
            if {name: document.get(name) for name in key} != key:
                return None
            return read_arrays(descriptor, document)["digest"].tobytes()
    except Exception as error:  # whatever an entry holds, the trace itself can still be read
        _log.debug("not used: %s: %r", trace, error)
        return None


def keep_digest(trace: Path, siblings: Sequence[Path], digest: bytes, arguments: Sequence[Any] = ()) -> bool:
    """Keep the digest of a trace for `find_digest`; whether that was done."""
    try:
        path = os.path.realpath(trace)
        key = _key(path, siblings, arguments)
        if time.time_ns() - stamp_of(trace).modified < COARSEST_CLOCK:
            return False
        arrays = {"digest": np.frombuffer(digest, np.uint8)}
        return write_entry(name_of(path, DIGEST), lambda: pack(key, arrays))
    except Exception as error:  # a full or read-only disk
        _log.debug("not kept: %s: %r", trace, error)
        return False


def _key(path: str, siblings: Sequence[Path], arguments: Sequence[Any]) -> dict[str, Any]:
    """Return what an entry counts for, as JSON gives it back."""
    stamps = [[sibling.name, *stamp_of(sibling)] for sibling in siblings]
    return {
        "path": path,
        "stamp": list(stamp_of(Path(path))),
        "beside": stamps,
        "arguments": list(arguments),
        "program": program(DIGEST),
    }
