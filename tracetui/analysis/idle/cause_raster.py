"""The causes of idle time per column of a screen: exact sums at every zoom, O(causes × columns × log n)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.search import distinct
from tracetui.arrays import Int8s, Int64s

if TYPE_CHECKING:
    from tracetui.analysis.idle.causes import Causes


@dataclass(frozen=True, eq=False)
class CauseRaster:
    """Idle time of one device as one set of time for each cause that there is."""

    sets: dict[Cause, Intervals]

    @classmethod
    def from_causes(cls, causes: Causes, device: int) -> CauseRaster:
        """Return the raster of a device, by its index."""
        on_device = causes.of_device(device)
        return cls.from_pieces(causes, np.arange(on_device.start, on_device.stop))

    @classmethod
    def from_pieces(cls, causes: Causes, places: Int64s) -> CauseRaster:
        """Return the raster of the pieces of one device, given in order."""
        sets = {}
        for index in distinct(causes.cause[places]).tolist():
            matching = places[causes.cause[places] == index]
            sets[Cause(index)] = union(causes.start[matching], causes.end[matching])
        return cls(sets)

    def ns(self, edges: Int64s) -> Int64s:
        """Return the ns of each cause between `edges` (int64[columns + 1], ns); int64[causes, columns]."""
        sums = np.zeros((len(Cause), len(edges) - 1), np.int64)
        for cause, intervals in self.sets.items():
            sums[cause] = np.diff(intervals.before(edges))
        return sums


def main_causes(ns: Int64s) -> Int8s:
    """Return the cause with the most time in each column of int64[causes, columns]; int8[columns], or -1."""
    cause = np.where(ns.any(axis=0), ns.argmax(axis=0), -1)
    return cause.astype(np.int8)
