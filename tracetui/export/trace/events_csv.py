"""The slices of a window of time as csv, each with where it comes from: step, operator, Python line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.window import rows_in_window
from tracetui.arrays import Int64s
from tracetui.trace.model import Trace, Track


def write_events(
    stream: BinaryIO, analysis: Analysis, start_ns: int, end_ns: int, tracks: Sequence[Track] | None = None
) -> int:
    """Write the slices that touch [start_ns, end_ns), of all tracks or of some; returns how many."""
    from tracetui.export.data_frame import write_frames  # imports pandas
    from tracetui.export.trace.frames import event_frames  # imports pandas

    trace = analysis.trace
    rows = rows_touching(trace, trace.tracks if tracks is None else tracks, start_ns, end_ns)
    return write_frames(stream, event_frames(analysis, rows))


def rows_touching(trace: Trace, tracks: Sequence[Track], start_ns: int, end_ns: int) -> Int64s:
    """Return slice rows with a part in [start_ns, end_ns), by start, empty ones that start in it included."""
    rows = rows_in_window(trace, tracks, start_ns, end_ns)
    order: Int64s = np.lexsort((rows, trace.slices.start[rows]))
    return rows[order]


def matching_tracks(trace: Trace, text: str) -> list[Track]:
    """Return the tracks with `text` in "process/thread", whatever the case."""
    wanted = text.casefold()
    return [track for track in trace.tracks if wanted in f"{track.process}/{track.name}".casefold()]
