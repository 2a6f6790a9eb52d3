"""Heat maps: streams over time, steps over phases, gap lengths over time. A cell is an interval to open."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.arrays import Floats, Int64s


@dataclass(frozen=True, eq=False)
class Heat:
    """A grid of values; all two-dimensional arrays have the shape (rows, columns)."""

    title: str
    rows: tuple[str, ...]  #: labels
    columns: tuple[str, ...]  #: labels; empty where the columns are times
    edges: Int64s  #: int64[columns + 1]: ns; empty where the columns are not times
    values: Floats  #: 0..1
    ns: Int64s  #: what a cell stands for
    start: Int64s  #: ns: the interval that a cell opens
    end: Int64s  #: ns; start == end where there is nothing to open
