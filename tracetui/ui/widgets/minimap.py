"""The whole trace in two lines: how idle the devices are, where the worst gaps are, what is on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tracetui.arrays import Int64s
from tracetui.ui.drawing import segments, shades
from tracetui.ui.palette import Role
from tracetui.ui.picture import Picture

if TYPE_CHECKING:
    from tracetui.ui.app import TraceApp


class Minimap(Widget):
    """Line 0: idle of all devices, as bright ink. Line 1: the viewport, steps, ranks of gaps."""

    DEFAULT_CSS = """
    Minimap { width: 1fr; height: 2; }
    """

    class Pressed(Message):
        """The mouse points at a time of the whole trace."""

        def __init__(self, time_ns: int) -> None:
            super().__init__()
            self.time_ns = time_ns

    def __init__(self) -> None:
        super().__init__()
        self._picture: Picture | None = None
        self._label_width = 0
        self._ink: tuple[object, list[Segment]] | None = None
        self._marks: tuple[int, int] = (0, 0)

    @property
    def trace_app(self) -> TraceApp:
        return self.app  # type: ignore[return-value]

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self.size.width - self._label_width, 1)

    def show_trace(self, picture: Picture | None, label_width: int) -> None:
        """Draw this trace, beside labels of this width."""
        self._picture, self._label_width, self._ink = picture, label_width, None
        self.refresh()

    def show_state(self) -> None:
        """The viewport has moved: draw line 1 again if its brackets do."""
        if self._brackets() != self._marks:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        palette = self.trace_app.palette
        label = ("whole trace", "")[y] if y < 2 else ""
        segments_ = [
            Segment(f" {label}".ljust(self._label_width)[: self._label_width], palette.style_of(Role.DIM))
        ]
        segments_ += self._idle_line() if y == 0 else self._mark_line()
        return Strip(segments_).adjust_cell_length(self.size.width)

    def _idle_line(self) -> list[Segment]:
        key = (self.size.width, self._label_width, self._picture)
        if self._ink is None or self._ink[0] != key:
            self._ink = (key, self._idle_ink())
        return self._ink[1]

    def _idle_ink(self) -> list[Segment]:
        edges = self.trace_app.state.bounds.edges(self.columns)
        idle = self._idle_ns(edges)
        if idle is None:
            return [Segment(" " * self.columns)]
        width = np.diff(edges) * max(len(self._picture.trace.devices) if self._picture else 1, 1)
        level = shades(idle, width, idle > 0)
        cells = [self.trace_app.glyphs.shades[shade] for shade in level.tolist()]
        style = np.where(level > 0, 0, -1).astype(np.int64)
        return segments(cells, style, [self.trace_app.palette.style_of(Role.IDLE)])

    def _idle_ns(self, edges: Int64s) -> Int64s | None:
        if self._picture is None:
            return None
        parts = [self._picture.idle(device, edges) for device in range(len(self._picture.trace.devices))]
        found = [columns.busy for columns in parts if columns is not None]
        return np.sum(found, axis=0) if found else None

    def _brackets(self) -> tuple[int, int]:
        """The columns of the whole trace in which the viewport starts and ends."""
        state = self.trace_app.state
        start = state.bounds.column_of(state.viewport.start_ns, self.columns)
        stop = state.bounds.column_of(state.viewport.end_ns - 1, self.columns)
        return start, min(stop, self.columns - 1)

    def _mark_line(self) -> list[Segment]:
        palette, glyphs, state = self.trace_app.palette, self.trace_app.glyphs, self.trace_app.state
        start, stop = self._marks = self._brackets()
        cells = [" "] * self.columns
        style = np.full(self.columns, -1, dtype=np.int64)
        cells[start : stop + 1] = glyphs.rule * (stop + 1 - start)
        style[start : stop + 1] = 3
        cells[stop], cells[start] = glyphs.right, glyphs.left
        if start == stop:
            cells[start] = glyphs.full
        analysis = self._picture.analysis if self._picture else None
        if self._picture and analysis:
            for step in analysis.steps if 4 * len(analysis.steps) <= self.columns else ():
                self._mark(state.bounds.column_of(step.start_ns, self.columns), glyphs.tick, 6, cells, style)
            for gap, rank in sorted(self._picture.ranks.items(), key=lambda item: -item[1]):
                middle = int(analysis.gaps.start[gap] + analysis.gaps.end[gap]) // 2
                self._mark(state.bounds.column_of(middle, self.columns), str(rank), 0, cells, style)
        plain = palette.style_of(Role.TEXT)
        styles = [palette.style_of(Role.IDLE)] * 3 + [plain] * 3 + [palette.style_of(Role.STEP)] * 3
        return segments(cells, style, styles)

    def _mark(self, column: int, glyph: str, style_at: int, cells: list[str], style: Int64s) -> None:
        if 0 <= column < self.columns and column not in self._marks:
            cells[column], style[column] = glyph, style_at

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._press(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if event.button == 1:
            self._press(event)

    def on_mouse_up(self) -> None:
        self.capture_mouse(False)

    def _press(self, event: events.MouseEvent) -> None:
        column = min(max(event.x - self._label_width, 0), self.columns)
        self.post_message(self.Pressed(self.trace_app.state.bounds.time_of(column, self.columns)))
