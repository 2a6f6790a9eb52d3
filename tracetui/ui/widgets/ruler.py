"""The ruler over the tracks: round times from the start of the trace, cursor, hits, the scale, the window."""

from __future__ import annotations

import numpy as np
from rich.segment import Segment
from textual.strip import Strip

from tracetui.language import translate
from tracetui.places import moment_of
from tracetui.ui.drawing.lane import clip_cells, segments
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.ticks import apart, ticks
from tracetui.ui.session import Session
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget
from tracetui.units import format_duration

_PLAIN, _CURSOR, _WINDOW, _HIT = 0, 3, 6, 9


class Ruler(InViewer, CachedLineWidget):
    """One line."""

    DEFAULT_CSS = "Ruler { width: 1fr; height: 1; }"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.label_width = 0
        self.window: tuple[int, int] | None = None  #: the window of time, or the one that is being made, ns
        self._shown: object = None

    def show_state(self) -> None:
        """Draw again if the state has changed the look."""
        if self._key() != self._shown:
            self.redraw()

    def _key(self) -> object:
        state = self.session.state
        place = state.viewport, state.place.time_ns, self.window, self.session.notes
        return place, state.search, self.size, self.label_width

    def draw_line(self, y: int) -> Strip:
        self._shown = self._key()
        palette, state = self.palette, self.session.state
        columns = max(self.size.width - self.label_width, 1)
        scale = translate("{time}/col", time=format_duration(-(-state.viewport.span_ns // columns)))
        text = clip_cells(f" {scale}", self.label_width, self.glyphs.ellipsis)
        label = Segment(text, palette.style_of(Role.DIM))
        return Strip([label, *self._scale(columns)]).adjust_cell_length(self.size.width)

    def _scale(self, columns: int) -> list[Segment]:
        palette, glyphs, state = self.palette, self.glyphs, self.session.state
        cells = [" "] * columns
        style = np.full(columns, _PLAIN, dtype=np.int64)
        marks = self._marks(columns)
        scale = ticks(state.viewport, state.bounds.start_ns, columns)
        labels = [(tick.column, f"{glyphs.tick}{tick.label}"[: columns - tick.column]) for tick in scale]
        shown = apart([*self._length(columns), *labels], columns, [column for column, _, _ in marks])
        hits = set(state.search.columns(state.viewport.edges(columns)).tolist())
        style[[*hits]] = _HIT
        for column in hits:
            cells[column] = glyphs.hit
        for column, text in shown.items():
            cells[column : column + len(text)] = text
        if self.window:
            first, last = (state.viewport.column_of(time, columns) for time in self.window)
            style[max(first, 0) : max(last + 1, 0)] = _WINDOW
        for column, glyph, role in marks:
            cells[column], style[column] = glyph, role
        roles = (Role.DIM, Role.NUMBER, Role.WINDOW, Role.HIT)
        return segments(cells, style, [palette.style_of(role) for role in roles for _ in range(3)])

    def _marks(self, columns: int) -> list[tuple[int, str, int]]:
        """Return column, glyph and style of notes, the ends of the window and the cursor, which is on top."""
        glyphs, state = self.glyphs, self.session.state
        marks = [
            (state.bounds.start_ns + moment, glyphs.note, _WINDOW)
            for moment in (moment_of(note.place) for note in self.session.notes)
            if moment is not None
        ]
        if self.window:
            marks += [(time, glyph, _WINDOW) for time, glyph in zip(self.window, (glyphs.left, glyphs.right))]
        marks.append((state.place.time_ns, glyphs.cursor, _CURSOR))
        placed = ((state.viewport.column_of(time, columns), glyph, style) for time, glyph, style in marks)
        return [mark for mark in placed if 0 <= mark[0] < columns]

    def _length(self, columns: int) -> list[tuple[int, str]]:
        """Place the length of the window in the middle of what is on screen of it, if there is room."""
        if self.window is None:
            return []
        start, end = self.window
        text = f" {format_duration(end - start)} "
        viewport = self.session.state.viewport
        first = max(viewport.column_of(start, columns) + 1, 0)
        room = min(viewport.column_of(end, columns), columns) - first
        return [(first + (room - len(text)) // 2, text)] if room >= len(text) else []
