"""Rows of which a widget shows some: the keys and the wheel move to the others."""

from __future__ import annotations

from abc import abstractmethod

from textual import events
from textual.widget import Widget

WHEEL_ROWS = 3


class WheelScrolled(Widget):
    """Rows that the wheel moves; what moves with it is the widget's."""

    @abstractmethod
    def roll(self, rows: int) -> None:
        """Go so many rows down, or up where negative."""

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.roll(WHEEL_ROWS)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.roll(-WHEEL_ROWS)
        event.stop()


class TimeWheeled(Widget):
    """What the wheel moves along its time: up and down, and sideways, with shift too."""

    @abstractmethod
    def wheel(self, event: events.MouseEvent, turn: int, sideways: bool) -> None:
        """Take a turn of the wheel: up, or left, is -1."""

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.wheel(event, -1, event.shift)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.wheel(event, 1, event.shift)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        self.wheel(event, -1, True)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        self.wheel(event, 1, True)


class Scrolling(WheelScrolled):
    """Knows how many rows there are and which is the first on screen; what they look like is the widget's."""

    top = 0  #: the first row on screen

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many there are."""

    @property
    def shown_rows(self) -> int:
        """How many there is room for."""
        return self.size.height

    def roll(self, rows: int) -> None:
        self.action_cursor(rows)

    def action_cursor(self, rows: int) -> None:
        self.scroll_rows(self.top + rows)

    def action_page(self, pages: int) -> None:
        self.scroll_rows(self.top + pages * max(self.shown_rows - 1, 1))

    def action_first(self) -> None:
        self.scroll_rows(0)

    def action_last(self) -> None:
        self.scroll_rows(self.rows)

    def scroll_rows(self, top: int) -> None:
        """Show the rows from this one on, as far as there are enough of them."""
        top = max(0, min(top, self.rows - self.shown_rows))
        if top != self.top:
            self.top = top
            self.refresh()
