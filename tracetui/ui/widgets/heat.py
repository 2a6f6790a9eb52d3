"""A heat map of characters: rows of cells in six shades, one of them under the cursor.

Knows a grid of values between 0 and 1 with labels; what a cell means is the screen's affair.
The shade is a character, so the map reads without colours; a row has one colour, so that it costs few bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tracetui.analysis.heat import Heat
from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import BLOCKS, Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import Piece, fitted
from tracetui.ui.drawing.ticks import ticks
from tracetui.ui.state import Viewport
from tracetui.ui.tables.columns import clipped
from tracetui.ui.widgets.scrolling import Wheeled
from tracetui.units import format_duration

LABEL_CELLS = 28  #: the longest label
WRITTEN_CELLS = 14  #: a cell from this width on has its number written in it
WIDEST_CELLS = 28
_NUMBER_CELLS = 8


def shades(glyphs: Glyphs) -> str:
    """Six shades from nothing to full; only exactly nothing is the first."""
    return " ·░▒▓█" if glyphs.full == "█" else " .:+%#"


def shade_of(value: float) -> int:
    """The shade of a value between 0 and 1: 0 for none, else 1 to 5 by fifths."""
    return 0 if not value > 0 else min(1 + int(value * 5), 5)


class HeatMap(Wheeled, can_focus=True):
    """The grid under an axis line."""

    DEFAULT_CSS = """
    HeatMap { width: 1fr; height: 1fr; }
    """

    class Moved(Message):
        """The cursor is on another cell."""

        def __init__(self, heat_map: HeatMap, row: int, column: int) -> None:
            super().__init__()
            self.heat_map, self.row, self.column = heat_map, row, column

        @property
        def control(self) -> HeatMap:
            return self.heat_map

    class Activated(Moved):
        """A cell was chosen with a double click."""

    def __init__(self, palette: Palette, glyphs: Glyphs = BLOCKS, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.heat: Heat | None = None
        self.row = 0
        self.column = 0
        self.top = 0  #: the first row on screen
        self.left = 0  #: the first column on screen
        self.origin_ns = 0  #: the time that the axis calls 0
        self._style_of: Callable[[int], Style] = lambda row: Style.null()
        self._palette, self._glyphs = palette, glyphs
        self._shades = shades(glyphs)

    def show(self, heat: Heat | None, style_of: Callable[[int], Style], origin_ns: int = 0) -> None:
        """Show another grid; `style_of` gives the ink of a row. The cursor stays as near as it can."""
        self.heat, self._style_of, self.origin_ns = heat, style_of, origin_ns
        rows, columns = heat.values.shape if heat is not None else (0, 0)
        self.row, self.column = max(min(self.row, rows - 1), 0), max(min(self.column, columns - 1), 0)
        self._follow()
        self.refresh()
        if rows and columns:
            self.post_message(self.Moved(self, self.row, self.column))

    # -------------------------------------------------------------- layout

    def time_columns(self, labels: Sequence[str] = ("",)) -> int:
        """How many columns of time fit beside labels."""
        return max(self.size.width - self._label_cells(labels) - 1, 1)

    @property
    def label_cells(self) -> int:
        return 0 if self.heat is None else self._label_cells(self.heat.rows)

    def _label_cells(self, labels: Sequence[str]) -> int:
        longest = max((cell_len(printable(label, LABEL_CELLS)) for label in labels), default=0)
        return min(longest, LABEL_CELLS, max(self.size.width // 3, 1))

    @property
    def cell_width(self) -> int:
        """Columns of time are one cell wide; others share the width."""
        if self.heat is None or len(self.heat.edges):
            return 1
        room = self.size.width - self.label_cells - 1
        return max(min(room // max(len(self.heat.columns), 1), WIDEST_CELLS), 1)

    @property
    def row_height(self) -> int:
        if self.heat is None or not len(self.heat.rows):
            return 1
        return max(min((self.size.height - 1) // len(self.heat.rows), 3 if len(self.heat.edges) else 1), 1)

    def _rows_shown(self) -> int:
        return max((self.size.height - 1) // self.row_height, 1)

    def _columns_shown(self) -> int:
        return max((self.size.width - self.label_cells - 1) // self.cell_width, 1)

    def _follow(self) -> bool:
        """Bring the cursor into view; True where everything moves."""
        before = (self.top, self.left)
        self.top = min(max(self.top, self.row - self._rows_shown() + 1), self.row)
        self.left = min(max(self.left, self.column - self._columns_shown() + 1), self.column)
        return before != (self.top, self.left)

    # -------------------------------------------------------------- cursor

    def move_to(self, row: int, column: int) -> None:
        """Put the cursor on a cell, as near as there is one."""
        if self.heat is None or not self.heat.values.size:
            return
        rows, columns = self.heat.values.shape
        row, column = max(min(row, rows - 1), 0), max(min(column, columns - 1), 0)
        if (row, column) == (self.row, self.column):
            return
        old, self.row, self.column = self.row, row, column
        if self._follow():
            self.refresh()
        else:
            self.refresh(Region(0, 0, self.size.width, 1))
            for changed in {old, row}:
                y = 1 + (changed - self.top) * self.row_height
                self.refresh(Region(0, y, self.size.width, self.row_height))
        self.post_message(self.Moved(self, row, column))

    def on_click(self, event: events.Click) -> None:
        x = event.x - self.label_cells - 1
        if event.y >= 1 and x >= 0:
            self.move_to(self.top + (event.y - 1) // self.row_height, self.left + x // self.cell_width)
            if event.chain == 2:
                self.post_message(self.Activated(self, self.row, self.column))

    def roll(self, rows: int) -> None:
        self.move_to(self.row + rows, self.column)

    def on_resize(self, event: events.Resize) -> None:
        self._follow()

    # ------------------------------------------------------------- drawing

    def render_line(self, y: int) -> Strip:
        heat, width = self.heat, self.size.width
        if heat is None or not heat.values.size:
            return Strip.blank(width)
        dim = self._palette.style_of(Role.DIM)
        if y == 0:
            axis = self._time_axis(heat) if len(heat.edges) else self._titles(heat)
            return fitted(
                [(" " * (self.label_cells + 1), dim), *self._marked(axis)], width, self._glyphs.ellipsis
            )
        row = self.top + (y - 1) // self.row_height
        if row >= len(heat.rows):
            return Strip.blank(width)
        first = (y - 1) % self.row_height == 0
        label = printable(heat.rows[row], LABEL_CELLS) if first else ""
        label = clipped(label, self.label_cells, self._glyphs.ellipsis)
        style = self._palette.style_of(Role.TITLE if row == self.row else Role.TEXT)
        pieces: list[Piece] = [(set_cell_size(label, self.label_cells) + " ", style)]
        return fitted([*pieces, *self._cells(heat, row, first)], width, self._glyphs.ellipsis)

    def _cells(self, heat: Heat, row: int, first: bool) -> list[Piece]:
        stop = min(self.left + self._columns_shown(), heat.values.shape[1])
        texts = [self._cell(heat, row, column, first) for column in range(self.left, stop)]
        style, at = self._style_of(row), self.column - self.left
        if row != self.row or not 0 <= at < len(texts):
            return [("".join(texts), style)]
        selected = self._palette.style_of(Role.SELECTED)
        # A shade reversed is another shade: under the cursor stands its number, or a mark.
        bar, chosen = "", (self._glyphs.pin if first else " ").center(self.cell_width)
        if self.cell_width >= WRITTEN_CELLS:
            bar, chosen = texts[at][: -_NUMBER_CELLS - 1], texts[at][-_NUMBER_CELLS - 1 :]
        return [("".join(texts[:at]) + bar, style), (chosen, selected), ("".join(texts[at + 1 :]), style)]

    def _cell(self, heat: Heat, row: int, column: int, first: bool) -> str:
        shade = self._shades[shade_of(float(heat.values[row, column]))]
        if self.cell_width < WRITTEN_CELLS:
            return shade * self.cell_width
        bar = shade * (self.cell_width - _NUMBER_CELLS - 2)
        number = format_duration(int(heat.ns[row, column])) if first else ""
        return f"{bar} {number:>{_NUMBER_CELLS}} "

    def _titles(self, heat: Heat) -> str:
        """The labels of the columns over their cells."""
        shown = heat.columns[self.left : self.left + self._columns_shown()]
        return axis_of([printable(label, 40) for label in shown], self.cell_width)

    def _time_axis(self, heat: Heat) -> str:
        """Round times over the columns that hold them."""
        columns = heat.values.shape[1]
        cells = [" "] * columns
        for tick in ticks(Viewport(int(heat.edges[0]), int(heat.edges[-1])), self.origin_ns, columns):
            text = f"{self._glyphs.tick}{tick.label}"
            if tick.column + len(text) <= columns:
                cells[tick.column : tick.column + len(text)] = text
        return "".join(cells)[self.left : self.left + self._columns_shown()]

    def _marked(self, axis: str) -> list[Piece]:
        """The axis with the column of the cursor marked."""
        at = (self.column - self.left) * self.cell_width
        dim, mark = (
            self._palette.style_of(Role.DIM),
            (self._glyphs.cursor, self._palette.style_of(Role.NUMBER)),
        )
        if self.cell_width > 1:
            return [(axis, dim)]
        axis = axis.ljust(at + 1)
        mark = (self._glyphs.cursor, self._palette.style_of(Role.NUMBER))
        return [(axis[:at], dim), mark, (axis[at + 1 :], dim)]


def axis_of(labels: Sequence[str], cells: int) -> str:
    """Labels over cells of one width; where they do not fit, only every k-th is written."""
    if not labels:
        return ""
    longest = max(cell_len(label) for label in labels)
    every = 1 if cells >= 6 else int(np.ceil((min(longest, 12) + 1) / cells))
    room = every * cells
    shown = [labels[place] if place % every == 0 else None for place in range(len(labels))]
    return "".join(set_cell_size(clipped(label, room - 1), room) for label in shown if label is not None)
