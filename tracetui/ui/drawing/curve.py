"""A curve of bytes over time on several lines: what is most in each column, the scale, the cells.

Pure: columns and text, no widget.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.ui.drawing.glyphs import Glyphs

LEVELS = 8  #: levels of a cell
_ROUND = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)  #: tenths that a scale may end at


def most_in_columns(time: Int64s, values: Int64s, edges: Int64s) -> Int64s:
    """Return the most that a curve holds in each column: int64[columns], -1 where nothing is known.

    What it held when the column begins counts: a value holds until the next one.

    Args:
        time: int64[samples], ns, sorted.
        values: int64[samples], -1 where unknown.
        edges: int64[columns + 1], ns: column c is [edges[c], edges[c + 1]).
    """
    known = values >= 0
    if not known.all():
        time, values = time[known], values[known]
    first = np.searchsorted(time, edges, "left")
    padded = np.append(values, -1)
    inside = np.maximum.reduceat(padded, first)[:-1]
    inside[first[:-1] == first[1:]] = -1
    before = padded[first[:-1] - 1]  # of place -1: unknown, too
    highest: Int64s = np.maximum(inside, before)
    return highest


def round_up(count: int) -> int:
    """Return the end of a scale of bytes that holds a count: 1, 1.2, 1.5, 2, ... times a power of ten."""
    power = 1
    while True:
        for tenths in _ROUND:
            if tenths * power >= 10 * count:
                return max(tenths * power // 10, 1)
        power *= 10


def area_levels(highest: Int64s, top: int, rows: int) -> Int64s:
    """Return the levels of the cells of an area: int64[rows, columns], the uppermost row first.

    What is unknown is empty; what is more than nothing is at least one level high.
    """
    scaled = (np.maximum(highest, 0) / top * (rows * LEVELS)).astype(np.int64)
    filled = np.where(highest > 0, np.maximum(scaled, 1), 0)
    above = LEVELS * np.arange(rows - 1, -1, -1)[:, np.newaxis]
    levels: Int64s = np.clip(filled[np.newaxis, :] - above, 0, LEVELS)
    return levels


def curve_line_rows(highest: Int64s, top: int, rows: int) -> Int64s:
    """Return the row in which a line runs through each column: int64[columns], -1 where it does not."""
    row = rows - 1 - (np.maximum(highest, 0) / top * rows).astype(np.int64)
    inside: Int64s = np.where(highest == top, 0, np.where((highest >= 0) & (row >= 0), row, -1))
    return inside


def curve_cells(levels: Int64s, line: Int64s, row: int, glyphs: Glyphs) -> list[str]:
    """Return the cells of one row of an area, and of a line that is seen where the area is not."""
    cells = [glyphs.shades[level] for level in levels[row].tolist()]
    for column in np.flatnonzero((line == row) & (levels[row] == 0)).tolist():
        cells[column] = glyphs.rule
    return cells
