"""The whole trace in two or three lines: what the devices lost and why, the worst gaps, what is on screen.

Until that is known the first line tells how busy they are, and what is not read yet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.cause_raster import main_causes
from tracetui.arrays import Int64s
from tracetui.export.text import padded
from tracetui.language import counted, translate
from tracetui.trace.model import Activity
from tracetui.ui.drawing.causes import (
    LossCause,
    cause_legend,
    cause_style,
    communication_glyph,
    lost_by_cause,
    main_legend,
)
from tracetui.ui.drawing.lane import segments, shades
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.strips import StyledText, fitted
from tracetui.ui.drawing.ticks import apart
from tracetui.ui.session import Session
from tracetui.ui.state import Search
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget


class Minimap(InViewer, CachedLineWidget):
    """Line 0: lost time of all devices, idle or communicating, coloured by cause.

    Line 1: the viewport, steps, hits, worst gaps. Line 2, where there is one: what the colours and letters of
    the causes stand for.
    """

    DEFAULT_CSS = "Minimap { width: 1fr; height: 2; }"

    @dataclass
    class Pressed(Message):
        """The mouse points at a time of the whole trace."""

        time_ns: int

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._picture: Picture | None = None
        self._label_width = 0
        self._ink: tuple[object, list[Segment]] | None = None
        self._marks: tuple[int, int] = (0, 0)
        self._search: Search | None = None  # whose hits are shown

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self.size.width - self._label_width, 1)

    def show_trace(self, picture: Picture | None, label_width: int) -> None:
        """Draw this trace, beside labels of this width."""
        self._picture, self._label_width, self._ink = picture, label_width, None
        self.refresh()

    def show_state(self) -> None:
        """Draw line 1 again where it looks otherwise: the viewport has moved, or hits were found."""
        if (self._brackets(), self.session.state.search) != (self._marks, self._search):
            self.redraw([1])

    def draw_line(self, y: int) -> Strip:
        if y == 2:
            return fitted(self._legend(), self.size.width, "")
        line = self._lost_line() if y == 0 else self._mark_line()
        return Strip([*self._label(y), *line]).adjust_cell_length(self.size.width)

    def _label(self, y: int) -> Strip:
        """Return what the line is; where there is no legend, which cause there is most of."""
        palette, width = self.palette, self._label_width
        pieces: list[StyledText] = [(self._title() if y == 0 else " ", palette.style_of(Role.DIM))]
        if y == 1 and self._picture is not None and self._picture.ranks:
            if self.size.height > 2:
                count = len(self._picture.ranks)
                words = counted(count, "1 is the only gap", "worst gaps 1 to {count}")
                pieces.append((words, palette.style_of(Role.DIM)))
            else:
                lost = lost_by_cause(self._picture.analysis) if self._picture.analysis else []
                pieces += main_legend(lost, palette, self.glyphs, width - 2)
        return fitted(pieces, width, "")

    def _legend(self) -> list[StyledText]:
        """List all causes of lost time with their shares; until they are known, say when they will be."""
        palette, picture = self.palette, self._picture
        dim = palette.style_of(Role.DIM)
        label: StyledText = (padded(f" {translate('why lost')} ", self._label_width), dim)
        if picture is None or picture.analysis is None:
            return (
                [label, (translate("known once all is read"), dim)]
                if picture and picture.trace.devices
                else []
            )
        lost = lost_by_cause(picture.analysis)
        width = self.size.width - cell_len(label[0])
        return [label, *cause_legend(lost, palette, self.glyphs, width)] if lost else []

    def _title(self) -> str:
        picture = self._picture
        if picture is None:
            return f" {translate('whole trace')}"
        if picture.analysis is not None and picture.trace.devices:
            return f" {translate('lost, whole trace')}"
        what = translate("busy host") if picture.is_of_host else translate("busy device")
        so_far = picture.sketch is None and self.session.progress
        return f" {translate('{what} so far', what=what) if so_far else what}"

    def _lost_line(self) -> list[Segment]:
        key = (self.size.width, self._label_width, self._picture)
        if self._ink is None or self._ink[0] != key:
            self._ink = (key, self._lost_ink())
        return self._ink[1]

    def _lost_ink(self) -> list[Segment]:
        picture, palette = self._picture, self.palette
        if picture is None:
            return [Segment(" " * self.columns)]
        if picture.analysis is None or not picture.trace.devices:
            return self._load_ink(picture)
        glyphs, edges = self.glyphs, self.session.state.bounds.edges(self.columns)
        devices = range(len(picture.trace.devices))
        whole = np.diff(edges) * len(devices)
        causes: tuple[LossCause, ...] = (*Cause, *CommunicationCause)
        ns = np.sum([self._lost(picture, device, edges) for device in devices], axis=0)
        lost = ns.sum(axis=0)
        level, main = shades(lost, whole, lost > 0), main_causes(ns).astype(np.int64)
        cells = [glyphs.shades[shade] for shade in level.tolist()]
        for at in np.flatnonzero((main >= len(Cause)) & (2 * lost >= whole)).tolist():
            cells[at] = communication_glyph(CommunicationCause(main[at] - len(Cause)), glyphs)
        styles = [cause_style(cause, palette) for cause in causes for _ in range(3)]
        style = 3 * main
        if picture.sketch is not None:
            self._veil(picture.load(edges)[1], level, cells, style, len(styles))
        return segments(cells, style, [*styles, *[palette.style_of(Role.UNREAD)] * 3])

    def _lost(self, picture: Picture, device: int, edges: Int64s) -> Int64s:
        """Return ns that a device lost to each cause: int64[causes of idle, of communication, columns]."""
        return np.concatenate([picture.causes(device, edges), picture.exposed(device, edges)])

    def _load_ink(self, picture: Picture) -> list[Segment]:
        """Draw how busy the devices are where they are read, and about how busy where they are not."""
        palette, edges = self.palette, self.session.state.bounds.edges(self.columns)
        busy, unread = picture.load(edges)
        level = shades(busy, np.diff(edges), busy > 0)
        cells = [self.glyphs.shades[shade] for shade in level.tolist()]
        style = np.where(level > 0, 0, -1).astype(np.int64)
        self._veil(unread, level, cells, style, 3)
        inks = (palette.paint_of(Activity.COMPUTE).ink, palette.style_of(Role.UNREAD))
        return segments(cells, style, [ink for ink in inks for _ in range(3)])

    def _veil(self, unread: Int64s, level: Int64s, cells: list[str], style: Int64s, ink: int) -> None:
        """Draw what is not read, where nothing else is drawn."""
        for at in np.flatnonzero((unread > 0) & (level == 0)).tolist():
            cells[at], style[at] = self.glyphs.unread[unread[at]], ink

    def _brackets(self) -> tuple[int, int]:
        """Return the columns of the whole trace in which the viewport starts and ends."""
        state = self.session.state
        start = state.bounds.column_of(state.viewport.start_ns, self.columns)
        stop = state.bounds.column_of(state.viewport.end_ns - 1, self.columns)
        return start, min(stop, self.columns - 1)

    def _mark_line(self) -> list[Segment]:
        palette, glyphs, state = self.palette, self.glyphs, self.session.state
        start, stop = self._marks = self._brackets()
        self._search = state.search
        cells = [" "] * self.columns
        style = np.full(self.columns, -1, dtype=np.int64)
        cells[start : stop + 1] = glyphs.rule * (stop + 1 - start)
        style[start : stop + 1] = 3
        cells[stop], cells[start] = glyphs.right, glyphs.left
        if start == stop:
            cells[start] = glyphs.full
        analysis = self._picture.analysis if self._picture else None
        for step in analysis.steps if analysis and 4 * len(analysis.steps) <= self.columns else ():
            self._mark(state.bounds.column_of(step.start_ns, self.columns), glyphs.tick, 6, cells, style)
        for column in state.search.columns(state.bounds.edges(self.columns)).tolist():
            self._mark(column, glyphs.hit, 9, cells, style)
        for column, digit in self._worst().items():
            self._mark(column, digit, 0, cells, style)
        roles = (Role.IDLE, Role.TEXT, Role.STEP, Role.HIT)
        return segments(cells, style, [palette.style_of(role) for role in roles for _ in range(3)])

    def _worst(self) -> dict[int, str]:
        """Return the ranks of the worst gaps by column, as many as can stand apart."""
        picture, bounds = self._picture, self.session.state.bounds
        if picture is None or picture.analysis is None:
            return {}
        gaps = picture.analysis.gaps
        middles = ((int(gaps.start[gap] + gaps.end[gap]) // 2, rank) for gap, rank in picture.ranks.items())
        ranks = [(bounds.column_of(middle, self.columns), str(rank)) for middle, rank in middles]
        return apart((rank for rank in ranks if rank[0] not in self._marks), self.columns)

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
        self.post_message(self.Pressed(self.session.state.bounds.time_of(column, self.columns)))
