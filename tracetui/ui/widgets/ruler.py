"""The ruler over the tracks: round times from the start of the trace, cursor, window, hits, the scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.segment import Segment
from textual.strip import Strip

from tracetui.ui.drawing.lane import segments
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.ticks import ticks
from tracetui.ui.widgets.sparing import SparingWidget
from tracetui.units import format_duration

if TYPE_CHECKING:
    from tracetui.ui.app import TraceApp

_PLAIN, _CURSOR, _WINDOW, _HIT = 0, 3, 6, 9


class Ruler(SparingWidget):
    """One line."""

    DEFAULT_CSS = """
    Ruler { width: 1fr; height: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.label_width = 0
        self._shown: object = None

    @property
    def trace_app(self) -> TraceApp:
        return self.app  # type: ignore[return-value]

    def show_state(self) -> None:
        """Draw again if the state has changed the look."""
        if self._key() != self._shown:
            self.redraw()

    def _key(self) -> object:
        state = self.trace_app.state
        place = state.viewport, state.place.time_ns, state.window, state.mark
        return place, state.search, self.size, self.label_width

    def draw_line(self, y: int) -> Strip:
        self._shown = self._key()
        palette, state = self.trace_app.palette, self.trace_app.state
        columns = max(self.size.width - self.label_width, 1)
        scale = f" {format_duration(-(-state.viewport.span_ns // columns))}/col"
        label = Segment(scale.ljust(self.label_width)[: self.label_width], palette.style_of(Role.DIM))
        return Strip([label, *self._scale(columns)]).adjust_cell_length(self.size.width)

    def _scale(self, columns: int) -> list[Segment]:
        palette, glyphs, state = self.trace_app.palette, self.trace_app.glyphs, self.trace_app.state
        cells = [" "] * columns
        style = np.full(columns, _PLAIN, dtype=np.int64)
        for tick in ticks(state.viewport, state.bounds.start_ns, columns):
            text = f"{glyphs.tick}{tick.label}"[: columns - tick.column]
            cells[tick.column : tick.column + len(text)] = text
        for column in state.search.columns(state.viewport.edges(columns)).tolist():
            cells[column] = glyphs.hit if cells[column] == " " else cells[column]
            style[column] = _HIT
        window = state.window or ((state.mark, state.place.time_ns) if state.mark is not None else None)
        if window:
            first, last = (state.viewport.column_of(time, columns) for time in sorted(window))
            style[max(first, 0) : max(last + 1, 0)] = _WINDOW
            for at, glyph in ((first, glyphs.left), (last, glyphs.right)):
                if 0 <= at < columns:
                    cells[at] = glyph
        at = state.viewport.column_of(state.place.time_ns, columns)
        if 0 <= at < columns:
            cells[at], style[at] = glyphs.cursor, _CURSOR
        roles = (Role.DIM, Role.NUMBER, Role.WINDOW, Role.HIT)
        return segments(cells, style, [palette.style_of(role) for role in roles for _ in range(3)])
