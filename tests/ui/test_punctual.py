"""What is called after a while is called on a busy machine, too: Textual gives up what begins late."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual._time import get_time

from tests.ui.rest import PATIENCE_S
from tests.ui.training import viewer
from tracetui.ui._textual import TrackedWidget
from tracetui.ui.app import TraceApp


@pytest.fixture
def held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes between the first and the second look of each timer at the clock."""
    begun: set[object] = set()

    def now() -> float:
        begins = asyncio.current_task() not in begun
        begun.add(asyncio.current_task())
        return get_time() - begins

    monkeypatch.setattr("textual.timer._time", SimpleNamespace(get_time=now))


@pytest.fixture
def app(tmp_path: Path) -> TraceApp:
    return viewer(tmp_path)


@pytest.mark.parametrize("key", ["T", "H", "slash"])
async def test_screens_panels_and_what_is_on_them_are_called(app: TraceApp, held_up: None, key: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(key)
        tracked = [widget for widget in app.screen.query("*") if isinstance(widget, TrackedWidget)]
        assert tracked
        for pump in (app, app.screen, *tracked):
            called = asyncio.Event()
            pump.set_timer(0.05, called.set)
            await asyncio.wait_for(called.wait(), PATIENCE_S)


async def test_another_screen_is_drawn_and_a_new_size_counts(app: TraceApp, held_up: None) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("G")
        assert app.shown == "gaps" and not app._batch_count
        await pilot.resize_terminal(100, 30)
        assert app.screen.size == (100, 30)
