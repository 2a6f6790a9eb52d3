"""A heat map: rows of shaded cells under an axis, between labels and totals, one of them under the cursor.

Knows a sheet (tracetui.ui.heat.sheet) and how to draw it; what a cell means is the view's affair.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from tracetui.arrays import Bools
from tracetui.export.text import aligned
from tracetui.language import heading
from tracetui.ui.drawing.heat_lines import (
    BLANK,
    NO_CELL,
    NO_CURSOR,
    HalfCursor,
    RowPair,
    half_cells,
    layout,
    placed,
    whole_cells,
)
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.ramp import Heat, cursor_colour, cursor_style, ramp_of
from tracetui.ui.drawing.strips import StyledText, fitted, wrapped
from tracetui.ui.drawing.ticks import ticks
from tracetui.ui.heat.sheet import AxisSpans, Sheet
from tracetui.ui.state import Viewport
from tracetui.ui.tables.columns import clipped
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget
from tracetui.ui.widgets.scrolling import WheelScrolled
from tracetui.units import format_duration

TALLEST = 3  #: lines of a row where there is room for more
WRITTEN_CELLS = 11  #: a cell from this width on has its number written in it
SAID_FROM = 2  #: the line on which it is said why there is no map
TOTALS_FROM = 60  #: columns of the terminal from which there are totals
MARKS_FROM = 8  #: lines from which the marks of the timeline have a line of their own


_Label = tuple[int, str]  # where on an axis it begins, and its text


class Marks(NamedTuple):
    """What of the timeline is marked, ns."""

    viewport: tuple[int, int] | None = None
    window: tuple[int, int] | None = None


class HeatMap(InViewer, WheelScrolled, CachedLineWidget, can_focus=True):
    """The map under its axis."""

    DEFAULT_CSS = "HeatMap { width: 1fr; height: 1fr; }"

    @dataclass
    class Moved(Message):
        """The cursor is on another cell."""

        row: int
        column: int

    class Activated(Moved):
        """A cell was chosen with a double click."""

    def __init__(self) -> None:
        super().__init__()
        self.sheet: Sheet | None = None
        self.row = 0
        self.column = 0
        self.top = 0  #: the first line of rows on screen
        self.marks = Marks()
        self._origin_ns = 0
        self.label_cells = self._total_cells = 0  #: to the left of the map, and to its right
        self._empty = ""  # why there is no map
        self._levels = np.empty((0, 0), np.int64)
        self._lines: list[RowPair] = []
        palette = self.palette
        self.ramps = {heat: ramp_of(heat, palette.name, self.glyphs, palette.light) for heat in Heat}

    # -------------------------------------------------------------- layout

    @property
    def halves(self) -> bool:
        """Whether two rows may share a line."""
        return self.ramps[Heat.LOST].solid and self.glyphs.full == "█"

    def room(self, label_cells: int, total_cells: int) -> tuple[int, int]:
        """Return how many columns and lines there are for cells, beside labels and totals of so many."""
        labels, totals = self._beside(label_cells, total_cells)
        return max(self.size.width - labels - totals, 1), self._shown_lines

    def _beside(self, label_cells: int, total_cells: int) -> tuple[int, int]:
        """Return the cells of labels and of totals, with the blank between them and the cells of the map."""
        width = self.size.width
        labels = min(label_cells, max(width // 3, 1)) + 1
        return labels, total_cells + 1 if total_cells and width >= TOTALS_FROM else 0

    @property
    def _axis_lines(self) -> int:
        return 2 if self.size.height >= MARKS_FROM else 1

    @property
    def _shown_lines(self) -> int:
        return max(self.size.height - self._axis_lines, 1)

    @property
    def columns(self) -> int:
        """How many columns the map has, of a cell each."""
        return self._levels.shape[1]

    @property
    def _cells_across(self) -> int:
        """The cells of the terminal that the columns share."""
        return max(self.size.width - self.label_cells - self._total_cells, self.columns)

    def _starts(self) -> list[int]:
        """Return where each column starts and the last one ends, int[columns + 1]; they are about equal."""
        across, columns = self._cells_across, max(self.columns, 1)
        return [column * across // columns for column in range(columns + 1)]

    def show(
        self,
        sheet: Sheet | None,
        side_widths: tuple[int, int] = (0, 0),
        cursor: tuple[int, int] = (0, 0),
        origin_ns: int = 0,
    ) -> None:
        """Show another map; `side_widths`: cells of labels and totals, `origin_ns`: 0 of the axis."""
        self.sheet, self._origin_ns, self.top = sheet, origin_ns, 0
        self.label_cells, self._total_cells = self._beside(*side_widths)
        self._levels = sheet.levels if sheet is not None else np.empty((0, 0), np.int64)
        self._arrange()
        rows, columns = self._levels.shape
        self.row, self.column = max(min(cursor[0], rows - 1), 0), max(min(cursor[1], columns - 1), 0)
        self._follow()
        self.refresh()
        if rows and columns:
            self.post_message(self.Moved(self.row, self.column))

    def say(self, sentence: str) -> None:
        """Show no map, and why."""
        self._empty = sentence
        self.show(None)

    def mark(self, marks: Marks) -> None:
        """Mark what the timeline shows."""
        if marks != self.marks:
            self.marks = marks
            if self.sheet is not None and self.sheet.row_spans is not None:
                self.refresh()
            else:
                self.redraw(range(self._axis_lines))

    def _arrange(self) -> None:
        sheet = self.sheet
        if sheet is None:
            self._lines = []
            return
        apart = [place for place, row in enumerate(sheet.rows) if row.apart]
        tallest = 1 if self.palette.name == "none" else TALLEST
        self._lines = layout(len(sheet.rows), apart, sheet.dense, self._shown_lines, self.halves, tallest)

    def _lines_of(self, row: int) -> list[int]:
        """Return the lines that a row is in."""
        return [place for place, rows in enumerate(self._lines) if row in rows]

    def _follow(self) -> bool:
        """Bring the cursor into view; True where everything moves."""
        before, lines = self.top, self._lines_of(self.row)
        if lines:
            self.top = min(max(self.top, lines[-1] - self._shown_lines + 1), lines[0])
        self.top = max(min(self.top, len(self._lines) - self._shown_lines), 0)
        return before != self.top

    # -------------------------------------------------------------- cursor

    def move_to(self, row: int, column: int) -> None:
        """Put the cursor on a cell, as near as there is one."""
        if not self._levels.size:
            return
        rows, columns = self._levels.shape
        row, column = max(min(row, rows - 1), 0), max(min(column, columns - 1), 0)
        if (row, column) == (self.row, self.column):
            return
        old = self._lines_of(self.row)
        self.row, self.column = row, column
        if self._follow():
            self.refresh()
        else:
            changed = {line - self.top + self._axis_lines for line in (*old, *self._lines_of(row))}
            self.redraw(sorted({self._axis_lines - 1, *changed}))
        self.post_message(self.Moved(row, column))

    def on_click(self, event: events.Click) -> None:
        line, x = self.top + event.y - self._axis_lines, event.x - self.label_cells
        if event.y < self._axis_lines or x < 0 or line >= len(self._lines):
            return
        row, column = self._lines[line][0], bisect_right(self._starts(), x) - 1
        if row != BLANK and column < self.columns:
            self.move_to(row, column)
            if event.chain == 2:
                self.post_message(self.Activated(self.row, self.column))

    def roll(self, rows: int) -> None:
        self.move_to(self.row + rows, self.column)

    def on_resize(self, event: events.Resize) -> None:
        before, top = self._lines, self.top
        self._arrange()
        self._follow()
        if (before, top) != (self._lines, self.top):  # it may have been drawn at this size already
            self.refresh()

    # ------------------------------------------------------------- drawing

    def draw_line(self, y: int) -> Strip:
        sheet, width = self.sheet, self.size.width
        if sheet is None or not self._levels.size:
            notice = wrapped(self._empty, width - 2) if self._empty else []
            text = f" {notice[y - SAID_FROM]}" if 0 <= y - SAID_FROM < len(notice) else ""
            return fitted([(text, self.style_of(Role.TEXT))], width, self.glyphs.ellipsis)
        if y == 0:
            pieces = self._axis(sheet)
        elif y < self._axis_lines:
            pieces = self._mark_line(sheet)
        else:
            line = self.top + y - self._axis_lines
            if line >= len(self._lines) or self._lines[line][0] == BLANK:
                return Strip.blank(width)
            pieces = self._row_line(sheet, line)
        return fitted(pieces, width, self.glyphs.ellipsis)

    def _axis(self, sheet: Sheet) -> list[StyledText]:
        """Name what the columns are, and what the totals are."""
        dim = self.style_of(Role.DIM)
        starts = self._starts()
        if sheet.edges is not None:
            span = Viewport(int(sheet.edges[0]), int(sheet.edges[-1]))
            times = ticks(span, self._origin_ns, self._cells_across)
            labels = [(tick.column, f"{self.glyphs.tick}{tick.label}") for tick in times]
        else:
            labels = [*zip(starts, sheet.columns)]
        at = starts[self.column]
        if self._axis_lines == 1:
            labels = self._with_cursor(labels, at, sheet)
        text = placed([label for _, label in labels], [start for start, _ in labels], self._cells_across)
        total_title = clipped(heading(sheet.total_title), max(self._total_cells - 1, 0), "")
        total_title = aligned(total_title, self._total_cells)
        pieces: list[StyledText] = [
            (self._label(aligned(heading(sheet.axis), self.label_cells - 1)) + " ", dim)
        ]
        if self._axis_lines > 1:
            return [*pieces, (text, dim), (total_title, dim)]
        mark = (text[at], self.style_of(Role.NUMBER))
        return [*pieces, (text[:at], dim), mark, (text[at + 1 :], dim), (total_title, dim)]

    def _with_cursor(self, labels: Sequence[_Label], at: int, sheet: Sheet) -> list[_Label]:
        """Return labels with the cursor before the name of its column, in place of those it would cover."""
        name = sheet.columns[self.column] if sheet.edges is None else ""
        cursor_label = f"{self.glyphs.cursor}{name}"
        if at + len(cursor_label) > self._cells_across or cell_len(cursor_label) != len(cursor_label):
            cursor_label = self.glyphs.cursor
        apart = [
            label for label in labels if label[0] + len(label[1]) < at or label[0] > at + len(cursor_label)
        ]
        return sorted([*apart, (at, cursor_label)])

    def _mark_line(self, sheet: Sheet) -> list[StyledText]:
        """Mark the columns of the viewport and the window of the timeline, and that of the cursor."""
        glyphs, starts = self.glyphs, self._starts()
        cells, roles = [" "] * self._cells_across, [Role.DIM] * self._cells_across
        for span, role in ((self.marks.viewport, Role.TEXT), (self.marks.window, Role.WINDOW)):
            (touched,) = np.nonzero(_overlapping(sheet.column_spans, span))
            for column in touched.tolist():
                for at in range(starts[column], starts[column + 1]):
                    cells[at], roles[at] = glyphs.rule, role
            if len(touched) and role is Role.TEXT:
                cells[starts[int(touched[0])]] = glyphs.left
                cells[starts[int(touched[-1]) + 1] - 1] = glyphs.right
        at = (starts[self.column] + starts[self.column + 1] - 1) // 2
        cells[at], roles[at] = glyphs.cursor, Role.NUMBER
        runs = groupby(zip(cells, roles), key=itemgetter(1))
        marks = (("".join(cell for cell, _ in run), self.style_of(role)) for role, run in runs)
        return [(" " * self.label_cells, Style.null()), *marks]

    def _label(self, text: str) -> str:
        size = self.label_cells - 1
        return set_cell_size(clipped(text, size, self.glyphs.ellipsis), size)

    def _row_line(self, sheet: Sheet, line: int) -> list[StyledText]:
        upper, lower = self._lines[line]
        first = self._begins(line)
        named = self.row if self.row in (upper, lower) else upper
        if not sheet.rows[named].label.strip() and not sheet.rows[upper].label.strip():
            named = lower if sheet.rows[lower].label.strip() else named
        style = self.style_of(Role.TITLE if self.row in (upper, lower) else Role.TEXT)
        label = self._label(sheet.rows[named].label if first else "")
        gutter = " "
        if sheet.row_spans is not None and _overlapping(sheet.row_spans, self.marks.viewport)[upper]:
            gutter = self.glyphs.left
        pieces: list[StyledText] = [(label, style), (gutter, self.style_of(Role.TEXT))]
        pieces += self._cells(sheet, line)
        if self._total_cells:
            total = self._total(sheet, upper, lower) if first else ""
            pieces.append((total.rjust(self._total_cells), style))
        return pieces

    def _total(self, sheet: Sheet, upper: int, lower: int) -> str:
        """Return the total of the cursor's row, where two share a line; else of the upper one, or both."""
        if self.row in (upper, lower):
            return sheet.rows[self.row].total
        return sheet.rows[upper].total or sheet.rows[lower].total

    def _cells(self, sheet: Sheet, line: int) -> list[StyledText]:
        (upper, lower), starts = self._lines[line], self._starts()
        widths = [stop - start for start, stop in zip(starts, starts[1:])]
        one, other = (self.ramps[sheet.rows[row].heat] for row in (upper, lower))
        levels = self._levels[upper].tolist()
        if self.halves and (upper != lower or self._ends_tall(line)):
            # The lower half of the last line of a tall row is left blank: rows of one shade stay apart.
            beneath = self._levels[lower].tolist() if upper != lower else [NO_CELL] * len(levels)
            at = [self.column if row == self.row else NO_CURSOR for row in (upper, lower)]
            cursor = HalfCursor(
                at[0], at[1] if upper != lower else NO_CURSOR, cursor_colour(self.palette.name)
            )
            return half_cells(levels, beneath, (one, other), widths, cursor)
        texts: list[str] = []
        if (
            min(widths) >= WRITTEN_CELLS
            and self._begins(line)
            and (sheet.dense is None or upper < sheet.dense)
        ):
            texts = [format_duration(ns) if ns else " " for ns in sheet.cells.ns[upper].tolist()]
        chosen = self.column if upper == self.row else NO_CURSOR
        return whole_cells(
            levels, one, widths, (chosen, cursor_style(self.palette.name)), self.glyphs.pin, texts
        )

    def _begins(self, line: int) -> bool:
        """Return whether a line is the first one of its row."""
        return line == 0 or self._lines[line - 1] != self._lines[line]

    def _ends_tall(self, line: int) -> bool:
        """Return whether a line is the last of several lines of its row."""
        return not self._begins(line) and self._lines[line + 1 : line + 2] != [self._lines[line]]


def _overlapping(spans: AxisSpans | None, span: tuple[int, int] | None) -> Bools:
    """Return which spans of an axis overlap a span of time, bool[spans]; none where either is missing."""
    if spans is None or span is None:
        return np.zeros(0 if spans is None else len(spans.start), np.bool_)
    found: Bools = (spans.start < span[1]) & (spans.end > span[0])
    return found
