"""Rows of which a widget shows some: the keys and the wheel move to the others."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from textual import events
from textual.geometry import Region
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


class CursorRows(WheelScrolled):
    """Rows below a head, one of them under the cursor; what they look like is the widget's."""

    HEAD: ClassVar[int] = 1  #: lines above the first row
    cursor = 0  #: place of the row under the cursor
    top = 0  #: place of the first row on screen

    @property
    @abstractmethod
    def row_count(self) -> int:
        """How many there are."""

    @abstractmethod
    def post_moved(self) -> None:
        """Post that the cursor is on another row."""

    @property
    def page(self) -> int:
        """How many rows fit under the head."""
        return max(self.size.height - self.HEAD, 1)

    def move_to(self, place: int) -> None:
        """Put the cursor on the n-th row shown, as near as there is one; scroll as little as needed."""
        place = max(min(place, self.row_count - 1), 0)
        if place == self.cursor:
            return
        before, self.cursor = self.cursor, place
        if not self.scroll_to_cursor():
            for y in (changed - self.top + self.HEAD for changed in (before, place)):
                if self.HEAD <= y < self.size.height:
                    self.refresh(Region(0, y, self.size.width, 1))
        self.post_moved()

    def scroll_to_cursor(self) -> bool:
        """Bring the cursor into view; True where everything is drawn anew."""
        return self.roll_to(min(max(self.top, self.cursor - self.page + 1), self.cursor))

    def roll_to(self, top: int) -> bool:
        """Show the rows from this one on, as far as there are enough of them; False where they are."""
        top = max(min(top, self.row_count - self.page), 0)
        if top == self.top:
            return False
        self.top = top
        self.refresh()
        return True

    def action_cursor(self, rows: int) -> None:
        self.move_to(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        self.move_to(self.cursor + pages * self.page)

    def action_first(self) -> None:
        self.move_to(0)

    def action_last(self) -> None:
        self.move_to(self.row_count - 1)
