"""A widget drawn line by line: what is asked for is drawn once, what has not changed not again."""

from __future__ import annotations

import gc

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.cache import FIFOCache
from textual.geometry import Region
from textual.strip import Strip

from tracetui.ui.widgets.cached_lines import CachedLineWidget, WholeStrip

WIDTH, HEIGHT = 10, 4


class Numbered(CachedLineWidget):
    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[int] = []

    def draw_line(self, y: int) -> Strip:
        self.drawn.append(y)
        return Strip([Segment(f"line {y}".ljust(self.size.width))])


class OneWidget(App[None]):
    def compose(self) -> ComposeResult:
        yield Numbered()


async def test_only_lines_that_are_dirty_are_drawn() -> None:
    async with OneWidget().run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        widget = pilot.app.query_one(Numbered)
        assert sorted(widget.drawn) == [*range(HEIGHT)]
        for redraw, expected in (([2], [2]), ([], []), (None, [*range(HEIGHT)])):
            widget.drawn.clear()
            widget.redraw(redraw)
            await pilot.pause()
            assert sorted(widget.drawn) == expected
        widget.drawn.clear()
        await pilot.resize_terminal(WIDTH, HEIGHT + 1)
        await pilot.pause()
        assert set(widget.drawn) == {*range(HEIGHT + 1)}


def strips() -> int:
    """How many strips there are, but those that were frozen."""
    return sum(type(thing) is WholeStrip for thing in gc.get_objects())


async def test_what_is_drawn_anew_leaves_no_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.strip.FIFOCache", FIFOCache)
    async with OneWidget().run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        gc.disable()
        gc.freeze()  # what other tests have left behind is not looked at
        try:
            for _ in range(4):
                pilot.app.query_one(Numbered).redraw()
                await pilot.pause()
                assert strips() == HEIGHT
        finally:
            gc.enable()


async def test_a_part_is_cropped() -> None:
    async with OneWidget().run_test(size=(WIDTH, HEIGHT)) as pilot:
        await pilot.pause()
        lines = pilot.app.query_one(Numbered).render_lines(Region(5, 1, 3, 2))
        assert [line.text for line in lines] == ["1  ", "2  "]
