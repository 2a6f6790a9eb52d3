"""The memory of a device over time: an area on several lines with its scale, its peak and a cursor.

Knows how to draw and where the cursor is; what the cursor is moved for is the screen's affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from tracetui.analysis.memory.model import Curve, MemoryStep
from tracetui.arrays import Int64s
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.curve import area_levels, curve_cells, curve_line_rows, most_in_columns, round_up
from tracetui.ui.drawing.lane import segments
from tracetui.ui.drawing.lane import text_cells as text_cells
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, fitted
from tracetui.ui.drawing.ticks import apart, ticks
from tracetui.ui.state import Viewport
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget
from tracetui.units import format_bytes, format_count, format_time

LABEL = 9  #: cells of the scale
_AROUND = 3  #: lines that are not the area: value, marks, axis
_AREA, _CURSOR, _DIM, _NUMBER = 0, 3, 6, 9


class CurveView(InViewer, CachedLineWidget):
    """One curve: the value at the cursor, marks, the area, an axis with the steps."""

    @dataclass
    class Moved(Message):
        """The cursor was moved, to a time in ns."""

        time_ns: int

    def __init__(self) -> None:
        super().__init__()
        self.curve: Curve | None = None
        self.time_ns = 0  #: where the cursor is
        self._span = Viewport(0, 1)
        self._origin_ns: int | None = 0
        self._steps: Sequence[MemoryStep] = ()
        self._styles = [
            self.style_of(role)
            for role in (Role.COUNTER, Role.USER_LINE, Role.DIM, Role.NUMBER)
            for _ in range(3)
        ]
        self._text, self._dim = self.style_of(Role.TEXT), self.style_of(Role.DIM)
        self._bold = self.style_of(Role.NUMBER)
        self._levels: Int64s
        self._line: Int64s
        self._top = 1
        self._peak, self._peak_bytes = -1, 0  # its column
        self._drawn_for: object = None

    def show(
        self, curve: Curve | None, span: Viewport, origin_ns: int | None, steps: Sequence[MemoryStep]
    ) -> None:
        """Show a curve in a span of time. Times count from `origin_ns`; None: they are numbers of events."""
        self.curve, self._span, self._origin_ns, self._steps = curve, span, origin_ns, steps
        self._drawn_for = None
        self.redraw()

    def point(self, time_ns: int) -> None:
        """Put the cursor at a time."""
        if time_ns != self.time_ns:
            self.time_ns = time_ns
            self.redraw()

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self.size.width - LABEL - 1, 1)

    @property
    def rows(self) -> int:
        """Lines of the area."""
        return max(self.size.height - _AROUND, 1)

    def move(self, columns: int) -> None:
        """Move the cursor so many columns, to the most that is held in that one."""
        if self.curve is not None:
            at = self._span.column_of(self.time_ns, self.columns)
            self._go_to(min(max(at, -1 if columns > 0 else 0), self.columns) + columns)

    def _go_to(self, column: int) -> None:
        curve, columns = self.curve, self.columns
        column = min(max(column, 0), columns - 1)
        start, end = self._span.edges(columns)[column : column + 2].tolist()
        assert curve is not None
        peak = curve.peak(start, end)
        self.point(max(int(curve.time[peak]), start) if peak >= 0 else start)
        self.post_message(self.Moved(self.time_ns))

    def on_click(self, event: events.Click) -> None:
        if self.curve is not None and event.x >= LABEL + 1:
            self._go_to(event.x - LABEL - 1)

    # --------------------------------------------------------------- drawing

    def draw_line(self, y: int) -> Strip:
        width, rows = self.size.width, self.rows
        if self.curve is None:
            return Strip.blank(width)
        self._prepare(self.curve)
        if y == 0:
            return fitted(self._value(self.curve), width, self.glyphs.ellipsis)
        if y == 1:
            return self._row("", *self._marks())
        if y < 2 + rows:
            row = y - 2
            shown = row in (0, rows // 2) if rows > 2 else row == 0
            label = format_bytes(self._top * (rows - row) // rows) if shown else ""
            return self._row(label, *self._area(row))
        if y == 2 + rows:
            return self._row("0 B", *self._axis())
        return Strip.blank(width)

    def _row(self, label: str, cells: list[str], style: Int64s) -> Strip:
        gutter = Segment(f"{label:>{LABEL}} ", self._dim)
        return Strip([gutter, *segments(cells, style, self._styles)]).adjust_cell_length(self.size.width)

    def _prepare(self, curve: Curve) -> None:
        """Work out what is drawn, once for each size."""
        if self._drawn_for == self.size:
            return
        self._drawn_for = self.size
        edges = self._span.edges(self.columns)
        reserved = most_in_columns(curve.time, curve.reserved, edges)
        highest = most_in_columns(curve.time, curve.allocated, edges)
        if not len(curve.known_places):
            highest, reserved = reserved, np.full(len(reserved), -1, np.int64)
        self._top = round_up(max(int(highest.max()), 1))
        self._peak = int(np.argmax(highest)) if int(highest.max()) > 0 else -1
        self._peak_bytes = int(highest.max())
        self._levels = area_levels(highest, self._top, self.rows)
        self._line = curve_line_rows(reserved, self._top, self.rows)

    def _value(self, curve: Curve) -> list[StyledText]:
        """Say "NPU 0 PTA+GE at 0.054424 s in step 55: 2.95 GB allocated, 8.59 GB reserved"."""
        at = self.time_ns
        name = f"{printable(curve.device, 20)} {printable(curve.component, 20)}"
        steps = [step.number for step in self._steps if step.start <= at < step.end]
        origin = self._origin_ns
        when = translate("after event {number}", number=format_count(at))
        if origin is not None:
            when = translate("at {time}", time=format_time(at - origin))
        if steps:
            when = translate("{when} in step {number}", when=when, number=steps[-1])
        pieces = [(name, self._bold), (translate(" {when}: ", when=when), self._text)]
        allocated, reserved = curve.allocated_at(at), curve.reserved_at(at)
        amounts = [
            (allocated, translate("allocated"), self._bold),
            (reserved, translate("reserved"), self._text),
        ]
        known = [(count, what, style) for count, what, style in amounts if count >= 0]
        for place, (count, what, style) in enumerate(known):
            comma = translate(", ") if place else ""
            pieces += [(f"{comma}{format_bytes(count)}", style), (f" {what}", self._text)]
        return pieces if known else [*pieces, (translate("nothing is known yet"), self._dim)]

    def _marks(self) -> tuple[list[str], Int64s]:
        """Draw the cursor, and the name of the peak."""
        columns, glyphs = self.columns, self.glyphs
        cells, style = [" "] * columns, np.full(columns, _NUMBER, np.int64)
        at, peak = self._cursor, self._peak
        if peak >= 0:
            text = text_cells(translate("peak {size}", size=format_bytes(self._peak_bytes)))
            cells[peak] = glyphs.pin
            for first in (peak + 2, peak - 1 - len(text), at + 2, at - 1 - len(text)):
                last = first + len(text)
                if first >= 0 and last <= columns and not {at, peak} & {*range(first, last)}:
                    cells[first:last] = text
                    break
        if at >= 0:
            cells[at], style[at] = glyphs.cursor, _CURSOR
        return cells, style

    @property
    def _cursor(self) -> int:
        """The column of the cursor, -1 outside."""
        at = self._span.column_of(self.time_ns, self.columns)
        return at if 0 <= at < self.columns else -1

    def _area(self, row: int) -> tuple[list[str], Int64s]:
        cells = curve_cells(self._levels, self._line, row, self.glyphs)
        style = np.where(self._levels[row] > 0, _AREA, _DIM)
        at = self._cursor
        if at >= 0:
            style[at] = _CURSOR
            if cells[at] == " ":
                cells[at] = self.glyphs.bar
        return cells, style

    def _axis(self) -> tuple[list[str], Int64s]:
        """Draw where the steps begin; without any, round times, or the first and the last event."""
        columns, tick = self.columns, self.glyphs.tick
        if self._steps:
            marks = [
                (max(self._span.column_of(step.start, columns), 0), f"{tick}step {step.number}")
                for step in self._steps
                if step.end > self._span.start_ns
            ]
        elif self._origin_ns is None:
            last = f"{tick}event {format_count(self._span.end_ns - 1)}"
            first = f"{tick}event {format_count(self._span.start_ns)}"
            marks = [(0, first), (max(columns - len(last), 0), last)]
        else:
            times = ticks(self._span, self._origin_ns, columns)
            marks = [(mark.column, f"{tick}{mark.label}") for mark in times]
        cells = [" "] * columns
        for column, text in apart(marks, columns).items():
            cells[column : column + len(text)] = text
        return cells, np.full(columns, _DIM, np.int64)
