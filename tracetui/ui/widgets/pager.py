"""Lines of styled text that scroll."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from tracetui.ui.drawing.glyphs import BLOCKS, Glyphs
from tracetui.ui.drawing.strips import fitted
from tracetui.ui.widgets.lines import Line

WHEEL_LINES = 3


class Pager(Widget, can_focus=True):
    """Lines, from `top` on."""

    DEFAULT_CSS = "Pager { width: 1fr; height: 1fr; }"

    def __init__(self, glyphs: Glyphs = BLOCKS) -> None:
        super().__init__()
        self.lines: Sequence[Line] = ()
        self.top = 0
        self._glyphs = glyphs

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines, from where one was as far as they reach."""
        self.lines = lines
        self.action_cursor(0)
        self.refresh()

    @property
    def place(self) -> str:
        """ "12-34/80", or "" where all is on screen."""
        last = min(self.top + self.size.height, len(self.lines))
        return f"{self.top + 1}-{last}/{len(self.lines)}" if self.size.height < len(self.lines) else ""

    def action_cursor(self, lines: int) -> None:
        self._go_to(self.top + lines)

    def action_page(self, pages: int) -> None:
        self._go_to(self.top + pages * max(self.size.height - 1, 1))

    def action_first(self) -> None:
        self._go_to(0)

    def action_last(self) -> None:
        self._go_to(len(self.lines))

    def _go_to(self, top: int) -> None:
        top = max(0, min(top, len(self.lines) - self.size.height))
        if top != self.top:
            self.top = top
            self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.action_cursor(WHEEL_LINES)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.action_cursor(-WHEEL_LINES)
        event.stop()

    def render_line(self, y: int) -> Strip:
        place = self.top + y
        if place >= len(self.lines):
            return Strip.blank(self.size.width)
        return fitted(self.lines[place], self.size.width, self._glyphs.ellipsis)
