"""Sets of time in the cells of a grid: exact sums, and what takes most of each cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.search import ranges
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Floats, Int64s


class ColumnParts(NamedTuple):
    """The parts of intervals that lie in each column they touch; columns of equal length."""

    interval: Int64s  #: the place of the interval
    column: Int64s
    ns: Int64s  #: above 0


def parts_in_columns(starts: Int64s, ends: Int64s, edges: Int64s) -> ColumnParts:
    """Return the parts of intervals in the columns between `edges`; they add up to what lies there.

    Args:
        starts: int64[n], ns, in any order; intervals may overlap.
        ends: int64[n], ns.
        edges: int64[columns + 1], ns, never decreasing.
    """
    starts, ends = np.clip(starts, edges[0], edges[-1]), np.clip(ends, edges[0], edges[-1])
    (not_empty,) = np.nonzero(starts < ends)
    first = np.searchsorted(edges, starts[not_empty], "right") - 1
    stop = np.searchsorted(edges, ends[not_empty], "left")
    interval, column = np.repeat(not_empty, stop - first), ranges(first, stop)
    ns = np.minimum(ends[interval], edges[column + 1]) - np.maximum(starts[interval], edges[column])
    has_time = ns > 0  # columns without any time lie between equal edges
    return ColumnParts(interval[has_time], column[has_time], ns[has_time])


@dataclass(frozen=True, eq=False)
class HeatCells:
    """A grid of time; all arrays have the shape (rows, columns)."""

    ns: Int64s  #: what the map is about
    capacity: Int64s  #: ns: all that it could be; 0 where there is no such cell
    main: Int64s  #: what takes most of the cell (an index that the map defines), -1 where nothing does
    share: Floats  #: ns / capacity, at most 1; NaN where there is no such cell

    @classmethod
    def of_parts(cls, row: Int64s, column: Int64s, ns: Int64s, key: Int64s, capacity: Int64s) -> HeatCells:
        """Return the cells of parts, with row, column, ns and key; `capacity` has the shape of the grid."""
        total = np.zeros(capacity.shape, np.int64)
        np.add.at(total, (row, column), ns)
        main = most_of_each(row * capacity.shape[1] + column, key, ns, capacity.size).reshape(capacity.shape)
        return cls(total, capacity, main, cell_shares(total, capacity))

    @classmethod
    def of_totals(cls, ns: Int64s, capacity: Int64s) -> HeatCells:
        """Return cells with totals only: none has a part that takes most of it."""
        return cls(ns, capacity, np.full(ns.shape, -1, np.int64), cell_shares(ns, capacity))


def cell_shares(ns: Int64s, capacity: Int64s) -> Floats:
    """Return ns / capacity, at most 1; NaN where the capacity is 0. Any time above 0 has a share above 0."""
    share = np.full(ns.shape, np.nan)
    np.divide(ns, capacity, out=share, where=capacity > 0)
    capped: Floats = np.minimum(share, 1.0)
    return capped


class SharedColumns(NamedTuple):
    """Which things share a column, where there are more of them than columns."""

    first: Int64s  #: int64[columns + 1]: column c holds things first[c]:first[c + 1]

    @property
    def fullest(self) -> int:
        """How many things the fullest column holds."""
        return int(np.diff(self.first).max(initial=0))

    def spans(self, start: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
        """Return when the first thing of each column starts, and when its last one ends."""
        return start[self.first[:-1]], end[self.first[1:] - 1]

    def columns(self, cells: HeatCells) -> tuple[HeatCells, Int64s]:
        """Return the cells of the columns, and the thing that each shows (int64[rows, columns]).

        `ns` and `capacity` are sums over the things of a column. Its share, and what takes most of it, are
        those of the thing with the highest share, the first of equals: one odd step among many stays visible.
        """
        begin = self.first[:-1]
        if self.fullest <= 1:
            return cells, np.broadcast_to(begin, cells.ns.shape)
        filled = np.where(np.isnan(cells.share), -1.0, cells.share)
        highest = np.maximum.reduceat(filled, begin, axis=1)
        is_highest = filled == np.repeat(highest, np.diff(self.first), axis=1)
        thing = np.where(is_highest, np.arange(cells.ns.shape[1]), cells.ns.shape[1])
        best = np.minimum.reduceat(thing, begin, axis=1)
        column_cells = HeatCells(
            np.add.reduceat(cells.ns, begin, axis=1),
            np.add.reduceat(cells.capacity, begin, axis=1),
            np.take_along_axis(cells.main, best, axis=1),
            np.take_along_axis(cells.share, best, axis=1),
        )
        return column_cells, best


def share_columns(things: int, columns: int) -> SharedColumns:
    """Group things into at most so many columns of equally many; the last may have fewer."""
    per_column = max(-(-things // max(columns, 1)), 1)
    return SharedColumns(np.append(np.arange(0, things, per_column), things).astype(np.int64))
