"""From the columns of lanes to lines of styled text.

Pure: knows columns of time (tracetui.analysis.raster), glyphs and paints; not the widget, the trace or the
state. A slice that covers whole columns is a box with its name in it. All other columns show how much of
their time is busy as a height in eighths: a column is never drawn fuller than it is, and what is there is
never drawn as nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style

from tracetui.analysis.raster import RasterColumns
from tracetui.arrays import Bools, Int64s
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Paint

#: below this many cells a name is not worth reading
NAME_CELLS = 5
#: stands after a character that is two cells wide, and is taken out at the end
_WIDE = "\0"

Name = Callable[[int], str]


class Unread(NamedTuple):
    """Where lanes are not read yet."""

    levels: Int64s  #: int64[columns] or [lanes, columns]: of the glyph; 0 where all is read
    paint: int  #: the place in the paints


def shades(part: Int64s, whole: Int64s, touched: Bools) -> Int64s:
    """Return int64[columns]: part / whole in eighths, rounded; 0 only where nothing is."""
    level = (part * 16 + whole) // np.maximum(2 * whole, 1)
    shown: Int64s = np.minimum(np.maximum(level, touched), 8)
    return shown


def draw_lane(
    columns: RasterColumns,
    paints: Sequence[Paint],
    chosen: Int64s,
    name: Name,
    glyphs: Glyphs,
    name_cells: int = NAME_CELLS,
    unread: Unread | None = None,
    crowd: int = -1,
    selected: int = -1,
) -> list[Segment]:
    """Return one line, as many cells as there are columns: as `draw_lanes`."""
    one = RasterColumns(columns.edges, columns.busy[None], columns.row[None], columns.longest[None])
    crowds = np.array([crowd], np.int64)
    return draw_lanes(one, paints, chosen, name, glyphs, crowds, selected, name_cells, unread)[0]


def painted_selected(columns: RasterColumns, chosen: Int64s, row: int, start_ns: int, paint: int) -> Int64s:
    """Paint a slice as selected, in one column at least, also where longer slices share the column."""
    of_row = columns.row == row
    chosen = np.where(of_row, paint, chosen)
    column = int(np.searchsorted(columns.edges, start_ns, "right")) - 1
    if 0 <= column < len(of_row) and not of_row.any():
        chosen[column] = paint
    return chosen


def draw_lanes(
    columns: RasterColumns,
    paints: Sequence[Paint],
    chosen: Int64s,
    name: Name,
    glyphs: Glyphs,
    crowds: Int64s | None = None,
    selected: int = -1,
    name_cells: int = NAME_CELLS,
    unread: Unread | None = None,
) -> list[list[Segment]]:
    """Return a line for each lane, as many cells as there are columns. No slice is in two lanes.

    chosen : int64[lanes, columns], the place in `paints` for the slice in `columns.row`; any value where that
        is -1.
    name : slice row -> printable name.
    crowds : int64[lanes], the place in `paints` for columns without a box. The hue of one of many slices says
        nothing, and costs a third of the bytes of a dense frame. -1 or None: painted as `chosen` says.
    selected : the place in `paints` that is kept also in a crowd.
    name_cells : boxes narrower than this have no name.
    unread : what to draw where no slice is.
    """
    lanes, across = columns.row.shape
    # All lanes as one long line, with as many calls of numpy as for one: 37 lines take 1 ms, not 2
    columns = RasterColumns(columns.edges, columns.busy.ravel(), columns.row.ravel(), columns.longest.ravel())
    width, row, chosen = np.tile(np.diff(columns.edges), lanes), columns.row, chosen.ravel()
    touched = row >= 0
    level = shades(columns.busy, width, touched)
    boxed = boxed_columns(columns, width)
    cells = [glyphs.shades[shade] for shade in level.tolist()]
    if crowds is not None:
        crowd = np.repeat(crowds, across)
        chosen = np.where(_crowded(row, boxed) & (chosen != selected) & (crowd >= 0), crowd, chosen)
    #: style of a column: 3 * paint + 0 ink, 1 box, 2 edge
    style = np.where(touched, 3 * chosen, -1) + boxed
    first, stop = equal_stretches(np.where(boxed, row, -1))
    _partial_edges(columns, width, boxed, first, stop, style, cells, glyphs)
    if unread is not None:
        levels = unread.levels.ravel()
        for at in np.flatnonzero(~touched & (levels > 0)).tolist():
            cells[at], style[at] = glyphs.unread[levels[at]], 3 * unread.paint
    for start, end in zip(first.tolist(), stop.tolist()):
        follows = start % across > 0 and bool(boxed[start - 1])
        cells[start:end] = _box(name, int(row[start]), end - start, follows, glyphs, name_cells)
    styles = [look for paint in paints for look in (paint.ink, paint.box, paint.edge)]
    return _lines(cells, style, styles, across)


def draw_unread(levels: Int64s, style: Style, glyphs: Glyphs) -> list[Segment]:
    """Return a line of which nothing is read; int64[columns], the levels of its glyphs."""
    cells = [glyphs.unread[level] for level in levels.tolist()]
    return segments(cells, np.where(levels > 0, 0, -1).astype(np.int64), [style])


def segments(cells: Sequence[str], style: Int64s, styles: Sequence[Style]) -> list[Segment]:
    """Join runs of equal styles to segments; blanks (-1) join the ink before them unless it underlines."""
    return _lines(cells, style, styles, len(cells))[0]


def _lines(cells: Sequence[str], style: Int64s, styles: Sequence[Style], across: int) -> list[list[Segment]]:
    """Return the segments of lines of `across` cells each that stand one after the other."""
    blank = style < 0
    if blank.any():
        joined = np.array([place % 3 == 0 and not ink.underline for place, ink in enumerate(styles)])
        inks = np.where(~blank & joined[style], style, -1)
        place = np.arange(len(style))
        last = np.maximum.accumulate(np.where(blank, -1, place))
        style = np.where(blank & (last >= place - place % across), inks[np.maximum(last, 0)], style)
    opens = np.ones(len(style), np.bool_)
    opens[1:] = style[1:] != style[:-1]
    opens[::across] = True
    first = np.flatnonzero(opens)
    bounds = first.tolist()
    line, looks = "".join(cells), [*styles, None]
    texts = [line[start:end] for start, end in zip(bounds, [*bounds[1:], len(line)])]
    if _WIDE in line:
        texts = [text.replace(_WIDE, "") for text in texts]
    found = [*map(Segment, texts, [looks[look] for look in style[first].tolist()])]
    ends = np.searchsorted(first, np.arange(0, len(style) + 1, across)).tolist()
    return [found[start:end] for start, end in zip(ends, ends[1:])]


def clip_cells(text: str, width: int, ellipsis: str) -> str:
    """Return the text in exactly `width` cells: padded, or cut with an ellipsis."""
    if width < 1:
        return ""
    if text.isascii():
        return text.ljust(width) if len(text) <= width else text[: width - 1] + ellipsis
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return set_cell_size(text, width - 1) + ellipsis


def boxed_columns(columns: RasterColumns, width: Int64s) -> Bools:
    """Return the columns that one slice covers, and full ones beside them that it shares with a neighbour."""
    whole = (columns.longest == width) & (width > 0)
    full = (columns.busy * 16 >= width * 15) & (width > 0) & (columns.row >= 0)
    same = columns.row[1:] == columns.row[:-1]
    beside = np.zeros(len(width), np.bool_)
    beside[1:] |= whole[:-1] & same
    beside[:-1] |= whole[1:] & same
    boxed: Bools = whole | (full & beside)
    return boxed


def _crowded(row: Int64s, boxed: Bools) -> Bools:
    """Return the columns that are no part of a slice with a box."""
    part = boxed.copy()
    same = row[1:] == row[:-1]
    part[1:] |= boxed[:-1] & same
    part[:-1] |= boxed[1:] & same
    crowded: Bools = ~part
    return crowded


def equal_stretches(values: Int64s) -> tuple[Int64s, Int64s]:
    """Return starts and stops of the runs of equal values that are not -1."""
    bounds = np.concatenate(([0], (values[1:] != values[:-1]).nonzero()[0] + 1, [len(values)]))
    first, stop = bounds[:-1], bounds[1:]
    kept = values[first] >= 0
    return first[kept], stop[kept]


def _partial_edges(
    columns: RasterColumns,
    width: Int64s,
    boxed: Bools,
    first: Int64s,
    stop: Int64s,
    style: Int64s,
    cells: list[str],
    glyphs: Glyphs,
) -> None:
    """Fill columns at both ends of a box, which its slice has to itself, from its side, in eighths."""
    if glyphs.eighths.isspace() or not len(first):
        return
    alone = ~boxed & (columns.busy == columns.longest) & (columns.longest > 0)
    eighths = columns.longest * 8 // np.maximum(width, 1)
    last = len(width) - 1
    row = columns.row
    for at in stop[(stop <= last) & alone[np.minimum(stop, last)]].tolist():
        if row[at] == row[at - 1]:
            cells[at] = glyphs.eighths[max(int(eighths[at]), 1)]
    for at in (first[first > 0] - 1).tolist():
        if alone[at] and row[at] == row[at + 1]:
            part = int(eighths[at])
            cells[at] = glyphs.eighths[min(8 - part, 7)]
            style[at] += 2


def text_cells(text: str) -> list[str]:
    """Return a text cell by cell: after a wide character stands one that is taken out when it is drawn."""
    cells = []
    for character in text:
        if width := cell_len(character):  # a combining character has no cell of its own
            cells += [character, *_WIDE * (width - 1)]
    return cells


def _box(name: Name, row: int, width: int, follows: bool, glyphs: Glyphs, name_cells: int) -> list[str]:
    """Return the cells of a box: its name if there is room, after a line where another box ends."""
    lead = glyphs.sliver if follows else ""
    room = width - len(lead)
    if room < name_cells:
        return list((lead + " " * room)[:width])
    whole = name(row)
    text = clip_cells(whole, room, glyphs.ellipsis)
    if whole.isascii():
        return list(lead + text)
    cells = [*([lead] if lead else []), *text_cells(text)]
    return cells[:width] + [" "] * (width - len(cells))
