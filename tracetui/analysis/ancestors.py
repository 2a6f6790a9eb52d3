"""What a slice is nested in: the operators around an operator, the frames around a frame."""

from __future__ import annotations

from typing import Callable

import numpy as np

from tracetui.analysis.search import rows_by_track
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.nesting import parents

_UNASKED, _NONE, _FIRST = 0, 1, 2  # of a track nobody asked for yet; nested in nothing; in row 0


class Ancestors:
    """Rows and what they are nested in on their tracks; the parents of a track are found once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        # 4 bytes a slice where tracks are asked for; the system gives no memory for zeros that nobody touches
        self._parents = np.zeros(len(trace.slices), np.int32)

    def nearest(self, rows: Int64s, accept: Callable[[Int64s], Bools]) -> Int64s:
        """Return the nearest of each row and its ancestors that is accepted, -1 where none is."""
        nearest: Int64s = rows.copy()
        (pending,) = np.nonzero(nearest >= 0)
        while len(pending):
            pending = pending[~accept(nearest[pending])]
            nearest[pending] = self.parents_of(nearest[pending])
            pending = pending[nearest[pending] >= 0]
        return nearest

    def parents_of(self, rows: Int64s) -> Int64s:
        """Return the slice that each row is nested in on its track, -1 where none."""
        if not len(self._parents):
            return np.full(len(rows), -1, np.int64)
        self._ask(rows)
        parent = self._parents[rows].astype(np.int64) - _FIRST
        parent[rows < 0] = -1
        return parent

    def _ask(self, rows: Int64s) -> None:
        pending = rows[(self._parents[rows] == _UNASKED) & (rows >= 0)]
        for track, _ in rows_by_track(self._trace, pending):
            self._parents[track.rows.start : track.rows.stop] = parents(self._trace, track) + _FIRST
