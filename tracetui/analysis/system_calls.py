"""The calls of the system that a database records of threads: `futex`, `ioctl`, `pthread_cond_wait`."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.search import rows_of
from tracetui.trace.model import Family, Layer, Trace


class SystemCalls:
    """What the threads of the host called; empty where nothing was recorded of it."""

    def __init__(self, trace: Trace) -> None:
        self._slices = trace.slices
        self._tracks = {
            track.tid: (track,)
            for track in trace.tracks
            if track.layer is Layer.OTHER and track.family is Family.CALLS
        }

    def __len__(self) -> int:
        """Return of how many threads calls are recorded."""
        return len(self._tracks)

    def call_during(self, tid: str, start: int, end: int) -> int | None:
        """Return the slice of the call in which a thread spent most of [start, end), ns; None without one."""
        rows = rows_of(self._tracks.get(tid, ()))
        if not len(rows):
            return None
        starts, ends = self._slices.start[rows], self._slices.end[rows]
        spent = np.minimum(ends, end) - np.maximum(starts, start)
        longest = int(spent.argmax())
        return int(rows[longest]) if spent[longest] > 0 else None
