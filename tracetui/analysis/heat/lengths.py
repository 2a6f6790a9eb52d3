"""Idle time by the length of its gap over time: many small gaps or few large ones?

The length of a gap is its idle time, by which gaps are ranked everywhere. All cells add up to the idle time
of all devices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.gaps import Measure
from tracetui.analysis.heat.cells import HeatCells, parts_in_columns
from tracetui.arrays import EMPTY, Int64s

_FINEST = 20  #: bounds a decade: each is 1.12 times the one before
_LONGEST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class LengthMap:
    """Idle time by length of gap and time. Rows are lengths, the longest first."""

    analysis: Analysis
    bounds: Int64s  #: int64[rows + 1], ns, falling: row r holds gaps of bounds[r + 1] up to below bounds[r]
    gaps: Int64s  #: int64[rows]: how many gaps each row has
    idle: Int64s  #: int64[rows]: their idle ns

    @classmethod
    def from_analysis(cls, analysis: Analysis, rows: int) -> LengthMap:
        """Map the idle time with at most so many rows; more where there are more decades of lengths."""
        length = analysis.gaps.idle[analysis.gaps.idle > 0]
        bounds = _bounds(int(length.min()), int(length.max()), rows) if len(length) else EMPTY
        row = _row_of(bounds, length)
        gaps, idle = (np.zeros(max(len(bounds) - 1, 0), np.int64) for _ in range(2))
        np.add.at(gaps, row, 1)
        np.add.at(idle, row, length)
        return cls(analysis, bounds, gaps, idle)

    def cells(self, edges: Int64s) -> HeatCells:
        """Return the cells of the columns between `edges`, int64[columns + 1], ns; `main`: place in `idle`.

        The capacity of a cell is the length of its column, times the number of devices.
        """
        idle, gaps = self.analysis.idle, self.analysis.gaps
        parts = parts_in_columns(idle.start, idle.end, edges)
        row = _row_of(self.bounds, gaps.idle[idle.gap[parts.interval]])
        capacity = np.diff(edges) * len(self.analysis.devices)
        whole = np.broadcast_to(capacity, (len(self.gaps), len(capacity)))
        return HeatCells.of_parts(row, parts.column, parts.ns, parts.interval, whole)


def half_of_idle(analysis: Analysis) -> tuple[int, int]:
    """Return how many of the longest gaps hold half of the idle time, and the idle ns of the last."""
    ranked = analysis.gaps.idle[analysis.gaps.ranked(Measure.IDLE)]
    total = np.cumsum(ranked)
    if not len(total) or not total[-1]:
        return 0, 0
    count = int(np.searchsorted(2 * total, total[-1])) + 1
    return count, int(ranked[count - 1])


def _bounds(shortest: int, longest: int, rows: int) -> Int64s:
    """Return falling bounds of lengths from longest to shortest, as fine as `rows` allow."""
    finest = int(rows / max(np.log10(longest / shortest), 0.1))
    for division in range(min(max(finest, 1), _FINEST), 0, -1):
        bounds = _divided(shortest, longest, division)
        if len(bounds) - 1 <= rows:
            break
    falling: Int64s = bounds[::-1].copy()
    return falling


def _divided(shortest: int, longest: int, division: int) -> Int64s:
    """Return rising bounds, `division` of them a decade, around the shortest and the longest length."""
    steps = {round(10 ** (step / division)) for step in range(18 * division + 1)}
    bounds = np.array(sorted(steps | {_LONGEST}), np.int64)
    first = int(np.searchsorted(bounds, shortest, "right")) - 1
    return bounds[first : int(np.searchsorted(bounds, longest, "right")) + 1]


def _row_of(bounds: Int64s, length: Int64s) -> Int64s:
    """Return the row of each length, all of which lie between the bounds."""
    return len(bounds) - 1 - np.searchsorted(bounds[::-1], length, "right")
