"""Sets of time: disjoint half-open intervals `[start, end)` of integer nanoseconds, and their algebra.

Every operation is exact and takes sorted columns, no loop over intervals.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.search import ranges
from tracetui.arrays import EMPTY, Int64s, searchsorted
from tracetui.trace.model import Slices


@dataclass(frozen=True, eq=False)
class Intervals:
    """A set of time: sorted, disjoint, non-empty intervals that do not touch each other."""

    starts: Int64s  #: ns
    ends: Int64s  #: ns

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def total(self) -> int:
        """The measure of the set, ns."""
        return int((self.ends - self.starts).sum())

    @property
    def durations(self) -> Int64s:
        """The length of each interval, ns."""
        return self.ends - self.starts

    def __or__(self, other: Intervals) -> Intervals:
        return union(np.concatenate((self.starts, other.starts)), np.concatenate((self.ends, other.ends)))

    def __and__(self, other: Intervals) -> Intervals:
        """Return the time in both: every pair that overlaps, found by search, cut to what is common."""
        first = searchsorted(other.ends, self.starts, "right")
        stop = np.maximum(searchsorted(other.starts, self.ends, "left"), first)
        left, right = np.repeat(np.arange(len(self)), stop - first), ranges(first, stop)
        return Intervals(
            np.maximum(self.starts[left], other.starts[right]),
            np.minimum(self.ends[left], other.ends[right]),
        )

    def __sub__(self, other: Intervals) -> Intervals:
        if not len(self):
            return self
        return self & other.complement(int(self.starts[0]), int(self.ends[-1]))

    def complement(self, start: int, end: int) -> Intervals:
        """Return the time of `[start, end)` that is not in the set."""
        inside = self.clip(start, end)
        starts = np.concatenate((np.array([start], np.int64), inside.ends))
        ends = np.concatenate((inside.starts, np.array([end], np.int64)))
        not_empty = starts < ends
        return Intervals(starts[not_empty], ends[not_empty])

    def clip(self, start: int, end: int) -> Intervals:
        """Return the part of the set inside `[start, end)`."""
        first = int(np.searchsorted(self.ends, start, "right"))
        last = max(first, int(np.searchsorted(self.starts, end, "left")))
        return Intervals(np.maximum(self.starts[first:last], start), np.minimum(self.ends[first:last], end))

    def before(self, times: Int64s) -> Int64s:
        """Return how much of the set lies before each time, ns, in the shape of `times`."""
        index = searchsorted(self.starts, times, "right") - 1
        if not len(self):
            return np.zeros_like(times)
        partial = np.minimum(times, self.ends[index]) - self.starts[index]
        return np.where(index < 0, 0, self._elapsed[index] + partial)

    def covered(self, starts: Int64s, ends: Int64s) -> Int64s:
        """Return how much of the set is inside each `[start, end)`, ns; in any order, they may overlap."""
        return self.before(ends) - self.before(starts)

    def index_at(self, times: Int64s) -> Int64s:
        """Return the interval that holds each time, -1 where none does."""
        if not len(self):
            return np.full(len(times), -1, np.int64)
        index = searchsorted(self.starts, times, "right") - 1
        return np.where((index >= 0) & (times < self.ends[index]), index, -1)

    @cached_property
    def _elapsed(self) -> Int64s:
        elapsed: Int64s = np.cumsum(self.ends - self.starts)
        return elapsed - (self.ends - self.starts)


def union(starts: Int64s, ends: Int64s) -> Intervals:
    """Return the time in any `[start, end)`, given in any order; empty and reversed ones hold no time."""
    not_empty = starts < ends
    if not not_empty.all():
        starts, ends = starts[not_empty], ends[not_empty]
    if not len(starts):
        return NOTHING
    if (starts[1:] < starts[:-1]).any():
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    reach = np.maximum.accumulate(ends)
    opens = np.concatenate((np.array([True]), starts[1:] > reach[:-1]))
    closes = np.concatenate((opens[1:], np.array([True])))
    return Intervals(starts[opens], reach[closes])


def time_in_spans(spans: Collection[tuple[int, int]]) -> Intervals:
    """Return the union of (start, end) spans, ns."""
    return union(*np.array([*spans], np.int64).reshape(-1, 2).T)


def time_of(slices: Slices, rows: Int64s) -> Intervals:
    """Return the time in any of some slices, given as rows."""
    return union(slices.start[rows], slices.end[rows])


NOTHING = Intervals(EMPTY, EMPTY)
