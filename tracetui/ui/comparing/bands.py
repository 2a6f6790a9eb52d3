"""What a device did and the host launched, a line for each kind of work, whatever the streams and threads.

So that the lines of two runs are the same, also of two makes of devices. Knows an analysis and rasters; not
the terminal.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.intervals import union
from tracetui.analysis.raster import Raster, RasterColumns
from tracetui.analysis.search import among
from tracetui.arrays import Int64s
from tracetui.comparison.compared_run import Run
from tracetui.trace.model import Activity, Trace


class BandKind(Enum):
    """What a line is of, in the order of the screen."""

    IDLE = "idle"
    COMPUTING = "computing"
    COMMUNICATION = "communication"
    COPIES = "copies"
    OPERATORS = "operators"  #: of level 1, on all threads of the host


#: The work that a line is of.
_WORK = {
    BandKind.COMPUTING: (Activity.COMPUTE, Activity.AICPU),
    BandKind.COMMUNICATION: (Activity.COMMUNICATION,),
    BandKind.COPIES: (Activity.COPY,),
}


class Band:
    """Some slices of a trace as one line: busy where any of them is."""

    def __init__(self, trace: Trace, rows: Int64s) -> None:
        """Join slice rows, in any order; those of one lane do not overlap."""
        self.rows = np.sort(rows)  #: by lane, then start
        self._starts, self._ends = trace.slices.start[self.rows], trace.slices.end[self.rows]
        self._order = np.argsort(self._starts, kind="stable")  # places in `rows`, by start
        self._by_start = self._starts[self._order]
        self._rank = np.empty_like(self._order)
        self._rank[self._order] = np.arange(len(self.rows))
        self._raster = Raster(self._starts, self._ends)
        edges = np.searchsorted(self.rows, trace.lane_rows).tolist()
        self._lanes = [range(first, stop) for first, stop in zip(edges, edges[1:]) if first < stop]
        self._busy = union(self._starts, self._ends)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, row: int) -> bool:
        """Return whether a slice row is one of them."""
        place = int(np.searchsorted(self.rows, row))
        return place < len(self.rows) and int(self.rows[place]) == row

    def columns(self, edges: Int64s) -> RasterColumns:
        """Return its columns between `edges` (ns, never decreasing); `row`: the slice that covers most."""
        if not self._lanes:
            return self._raster.columns(range(0), edges)
        lanes = self._raster.lanes(self._lanes, edges)
        longest = lanes.longest.argmax(axis=0)[None]
        place, covered = (np.take_along_axis(of, longest, axis=0)[0] for of in (lanes.row, lanes.longest))
        touched = lanes.row.max(axis=0)  # one without a length covers nothing, and is there all the same
        place = np.where(place < 0, touched, place)
        row = np.where(place < 0, -1, self.rows[place])
        return RasterColumns(edges, np.diff(self._busy.before(edges)), row, covered)

    def busy_ns(self, start_ns: int, end_ns: int) -> int:
        """Return for how much of a time any of its slices lasts, ns."""
        before, until = self._busy.before(np.array([start_ns, end_ns], np.int64)).tolist()
        return int(until - before)

    def at(self, start_ns: int, end_ns: int) -> int:
        """Return the slice row with most of a stretch of time, -1 where there is none."""
        return int(self.columns(np.array([start_ns, max(end_ns, start_ns + 1)], np.int64)).row[0])

    def beside(self, row: int, time_ns: int, by: int) -> int:
        """Return the next slice (1) or the one before (-1) by start: of one of them, else of a time.

        -1 where there is none.
        """
        if row in self:
            at = int(self._rank[np.searchsorted(self.rows, row)]) + by
        elif by > 0:
            at = int(np.searchsorted(self._by_start, time_ns, "right"))
        else:
            at = int(np.searchsorted(self._by_start, time_ns, "left")) - 1
        return int(self.rows[self._order[at]]) if 0 <= at < len(self) else -1


def bands(analysis: Analysis, run: Run, device: int) -> dict[BandKind, Band]:
    """Return the lines of a device without its idle time; `device` is its index in the analysis."""
    trace, work = analysis.trace, analysis.devices[device].work
    activity = trace.slices.activity[work]
    found = {kind: Band(trace, work[among(activity, of)]) for kind, of in _WORK.items()}
    found[BandKind.OPERATORS] = Band(trace, run.operators.row)
    return found
