"""From the shades of a heat map to lines of styled text.

Pure: knows levels, ramps and glyphs; not the widget, the trace or what a cell means. Two rows share a line
where their shades are colours: the upper one in front, the lower one behind an upper half block.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style

from tracetui.ui.drawing.ramp import Ramp
from tracetui.ui.drawing.strips import StyledText

UPPER, LOWER = "▀", "▄"
BLANK = -1  #: in place of a row: a line without any
NO_CELL = -1  #: in place of a level
NO_CURSOR = -1
_PLAIN = Style.null()

#: the rows of a line: equal where one fills it
RowPair = tuple[int, int]


class HalfCursor(NamedTuple):
    """The column under the cursor in the upper and the lower row of a line."""

    upper: int
    lower: int
    colour: str


def layout(
    rows: int, apart: Sequence[int], dense: int | None, lines: int, halves: bool, tallest: int
) -> list[RowPair]:
    """Return the rows of each line, from top to bottom; more lines than there are where the rows need them.

    Args:
        rows: how many rows there are.
        apart: rows before which a blank line stands, if all still fit.
        dense: the first row that may share a line with the next; None: none may.
        lines: how many lines there are.
        halves: whether rows may share lines at all.
        tallest: how many lines a row may have, where none may share one. What is over goes to the rows before
            the first gap.
    """
    first = min(dense, rows) if dense is not None and halves else rows
    needed = first + (rows - first + 1) // 2
    gaps = [row for row in apart if row > 0]
    if needed + len(gaps) > lines:
        gaps = []
    share, surplus = divmod(max(lines - len(gaps), 0), max(rows, 1)) if dense is None else (1, 0)
    lead = min(gaps, default=0)
    found: list[RowPair] = []
    for row in range(first):
        height = max(min(share + (surplus // lead if row < lead else 0), tallest), 1)
        found += [(BLANK, BLANK)] * (row in gaps) + [(row, row)] * height
    for row in range(first, rows, 2):
        found += [(BLANK, BLANK)] * (row in gaps) + [(row, min(row + 1, rows - 1))]
    return found


def whole_cells(
    levels: Sequence[int],
    ramp: Ramp,
    widths: Sequence[int],
    cursor: tuple[int, Style],
    pin: str,
    texts: Sequence[str] = (),
) -> list[StyledText]:
    """Draw one row, each cell in its width; `cursor`: the column under it; `texts`: written in the cells."""
    pieces: list[StyledText] = []
    columns = zip(range(len(levels)), levels, widths, texts or [""] * len(levels))
    # Numbers are written in each cell; cells without are one piece with those beside them.
    for (level, chosen, text, _), run in groupby(
        columns, lambda cell: (cell[1], cell[0] == cursor[0], cell[3], cell[0] if cell[3] else None)
    ):
        width = sum(cell[2] for cell in run)
        if text and level >= 0:
            pieces.append(_written(level, ramp, width, text, cursor[1] if chosen else None))
        elif chosen:
            pieces.append((pin.center(width), cursor[1]))
        elif level < 0:
            pieces.append((" " * width, _PLAIN))
        else:
            pieces.append((ramp.glyphs[level] * width, ramp.styles[level]))
    return pieces


def _written(level: int, ramp: Ramp, width: int, text: str, chosen: Style | None) -> StyledText:
    if chosen is not None:
        return (text.center(width), chosen)
    if ramp.colours is not None:
        return (text.center(width), ramp.written[level])
    bar = ramp.glyphs[level] * max(width - cell_len(text) - 2, 0)
    return (f"{bar} {text} "[-width:].rjust(width), ramp.styles[level] if level else _PLAIN)


def half_cells(
    upper: Sequence[int],
    lower: Sequence[int],
    ramps: tuple[Ramp, Ramp],
    widths: Sequence[int],
    cursor: HalfCursor,
) -> list[StyledText]:
    """Draw two rows in one line, each cell in its width."""
    above, below = (ramp.colours or () for ramp in ramps)
    pieces: list[StyledText] = []
    keys = (
        (
            cursor.colour if column == cursor.upper else above[one] if one >= 0 else "",
            cursor.colour if column == cursor.lower else below[other] if other >= 0 else "",
            width,
        )
        for column, (one, other, width) in enumerate(zip(upper, lower, widths))
    )
    for (one, other), run in groupby(keys, lambda key: key[:2]):
        cells = sum(key[2] for key in run)
        if one == other:
            pieces.append((" " * cells, _style("", one)))
        elif not one:
            pieces.append((LOWER * cells, _style(other, "")))
        else:
            pieces.append((UPPER * cells, _style(one, other)))
    return pieces


@lru_cache(maxsize=1024)
def _style(front: str, back: str) -> Style:
    return Style.parse(f"{front or 'default'} on {back or 'default'}") if front or back else _PLAIN


def placed(labels: Sequence[str], starts: Sequence[int], room: int) -> str:
    """Place labels where their columns start, from the left, but those for which there is no room."""
    cells, free = [" "] * room, 0
    for label, at in zip(labels, starts):
        stop = at + len(label)
        if label and at >= free and stop <= room and cell_len(label) == len(label):
            cells[at:stop] = label
            free = stop + 1
    return "".join(cells)
