"""What a slice is nested in: the operators around an operator, the frames around a frame."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.search import rows_by_track
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.nesting import parents


class Ancestors:
    """Rows and what they are nested in on their tracks; the parents of a track are found once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._parents: dict[int, Int64s] = {}

    def nearest(self, rows: Int64s, accept: Bools) -> Int64s:
        """The nearest of each row and its ancestors that is accepted, -1 where none is."""
        found: Int64s = rows.copy()
        (left,) = np.nonzero(found >= 0)
        while len(left):
            left = left[~accept[found[left]]]
            found[left] = self.parents_of(found[left])
            left = left[found[left] >= 0]
        return found

    def parents_of(self, rows: Int64s) -> Int64s:
        """The slice that each row is nested in on its track, -1 where none."""
        parent = np.full(len(rows), -1, np.int64)
        for track, places in rows_by_track(self._trace, rows):
            if track.index not in self._parents:
                self._parents[track.index] = parents(self._trace, track)
            parent[places] = self._parents[track.index][rows[places] - track.rows.start]
        return parent
