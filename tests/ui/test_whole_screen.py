"""What Textual is told to draw is drawn."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.widgets import Static

from tracetui.ui._textual import SeeThrough, WholeScreen, strips_of


class Shown(App[None]):
    """Keeps what it would have sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def get_default_screen(self) -> Screen[Any]:
        return WholeScreen()

    def on_mount(self) -> None:
        self.screen.mount(Static("before"))

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        self.sent += [strip.text for _, _, strip in strips_of(renderable)] if renderable else []
        super()._display(screen, renderable)


async def test_a_widget_is_drawn_even_where_a_part_of_its_screen_is_drawn_at_once() -> None:
    app = Shown()
    async with app.run_test() as pilot:
        await pilot.pause()
        app.sent.clear()
        app.screen.query_one(Static).update("after", layout=False)
        app.screen.refresh(Region(0, 9, 1, 1))  # as when something behind a panel has changed
        await pilot.pause()
        assert any("after" in text for text in app.sent)


class Over(SeeThrough[None]):
    """Has nothing of its own, so that all of the screen below is seen."""


async def test_a_screen_that_is_seen_through_shows_what_the_one_below_shows() -> None:
    app = Shown()
    async with app.run_test(size=(20, 4)) as pilot:
        await pilot.pause()
        below = app.screen
        assert "before" in below._compositor.render_strips()[0].text
        await app.push_screen(Over())
        for text in ("before", "after"):
            below.query_one(Static).update(text)
            await pilot.pause(0.05)
            lines = [strip.text for strip in app.screen._compositor.render_strips()]
            assert text in lines[0] and [len(line) for line in lines] == [20] * 4
        await pilot.resize_terminal(30, 2)
        await pilot.pause(0.05)
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert "after" in lines[0] and [len(line) for line in lines] == [30] * 2
