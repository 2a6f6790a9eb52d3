"""The own time of slices that hold others: of each, what is left without those directly inside."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.search import first_equal
from tracetui.arrays import Bools, Int64s
from tracetui.trace.order import order_by_group


def self_times(ancestors: Ancestors, rows: Int64s, starts: Int64s, ends: Int64s) -> Int64s:
    """Return the ns of each slice without those among the others that are nested in it.

    For slices that nest, as operators of one thread do, the sum is the time in which any runs.

    Args:
        ancestors: what slices are nested in.
        rows: int64[n], distinct rows; whatever else lies between them does not count.
        starts, ends: int64[n], ns, of each: cut to a window, or whole.
    """
    self_ns = ends - starts
    outer = first_equal(rows, _enclosing_rows(ancestors, rows))
    inner = np.flatnonzero(outer >= 0)
    if not len(inner):
        return self_ns
    inner = inner[order_by_group(outer[inner], starts[inner])]
    outer = outer[inner]
    (first,) = np.nonzero(np.concatenate(([True], outer[1:] != outer[:-1])))
    holders = outer[first]
    # One line of time for all holders, one after the other: what overlaps in one of them counts once.
    length = self_ns[holders]
    begins = np.repeat(np.cumsum(length) - length - starts[holders], np.diff(first, append=len(outer)))
    reached = np.maximum.accumulate(begins + ends[inner])
    previous = np.concatenate(([0], reached[:-1]))
    covered = reached - np.maximum(previous, begins + starts[inner])
    self_ns[holders] -= np.add.reduceat(covered, first)
    return self_ns


def _enclosing_rows(ancestors: Ancestors, rows: Int64s) -> Int64s:
    """Return the innermost of the rows that each is nested in, -1 where none."""
    is_member = np.zeros(int(rows.max(initial=-1)) + 1, np.bool_)
    is_member[rows] = True
    last = len(is_member) - 1

    def is_among(candidates: Int64s) -> Bools:
        matches: Bools = is_member[np.minimum(candidates, last)] & (candidates <= last)
        return matches

    return ancestors.nearest(ancestors.parents_of(rows), is_among)
