"""The trace of an opened file: as it was read before where that is kept, else read now, and kept."""

from __future__ import annotations

from collections.abc import Callable

from tracetui.cache.keeping import keep_meanwhile
from tracetui.cache.traces import reopen
from tracetui.reader.source import Progress, TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace


def read_trace(
    trace_file: TraceFile, on_progress: Callable[[Progress], None] | None = None, cache: bool = True
) -> Trace:
    """Return the trace of a file; without `cache` it is read anew, and nothing of it is kept.

    Raises UnreadableTrace where it holds not one whole event.
    """
    trace = reopen(trace_file) if cache else None
    if trace is None:
        trace = build_trace(trace_file.read(on_progress))
        if cache:
            keep_meanwhile(trace_file, trace)
    return trace
