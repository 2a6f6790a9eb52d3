"""Keeping a trace while the caller works on: waits for the disk only a little, leaves nothing half done."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from tracetui.cache.traces import keep
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace

#: seconds that a slow disk may hold up a caller who is done: writing 150 MB takes 0.1 s on a fast one
_PATIENCE = 2.0


@contextlib.contextmanager
def kept_meanwhile(trace_file: TraceFile, trace: Trace) -> Iterator[None]:
    """Keep a trace that was just read during the body of a `with`; given up where that fails."""
    stop = threading.Event()
    thread = threading.Thread(target=keep, args=(trace_file, trace, stop.is_set), daemon=True)
    try:
        with contextlib.suppress(RuntimeError):  # no more threads: nothing is kept
            thread.start()
        yield
        if thread.ident is not None:
            thread.join(_PATIENCE)
    finally:
        stop.set()
        if thread.ident is not None:
            thread.join(_PATIENCE)
