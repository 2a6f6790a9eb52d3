"""Terminals of any size: every line fills it exactly, nothing raises, and what is looked at stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.synthetic import piece, process, trace_of
from tests.ui.training import viewer
from tests.ui.viewing import lines_of, viewing
from tracetui.ui.actions import SCREENS
from tracetui.ui.app import TraceApp
from tracetui.ui.state import Viewport
from tracetui.ui.widgets.tracks import Tracks

SIZES = ((20, 5), (1, 1), (9, 3), (300, 100), (81, 25))


@pytest.fixture
def app(tmp_path: Path) -> TraceApp:
    return viewer(tmp_path)


async def resized(app: TraceApp, pilot: Pilot[int], size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)
    await pilot.pause()
    texts = [strip.text for strip in app.screen._compositor.render_strips()]
    assert [cell_len(text) for text in texts] == [size[0]] * size[1], texts


@pytest.mark.parametrize("screen", SCREENS)
async def test_every_screen_fits_every_terminal_and_keeps_its_state(app: TraceApp, screen: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.action_go(screen)
        app.go_to_gap(0)
        await pilot.pause()
        place = app.session.state.place
        for size in SIZES[:3]:
            await resized(app, pilot, size)
            assert app.session.state.place == place
        await resized(app, pilot, (20, 5))
        for key in ("j", "k", "w", "x", "d", "tab", "enter"):
            await pilot.press(key)
            await pilot.pause()
        await resized(app, pilot, (18, 8))


@pytest.mark.parametrize("size", [(40, 10), (20, 5)])
async def test_the_timeline_keeps_its_first_line_whatever_has_the_focus(
    app: TraceApp, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        for key in ("x", "tab", "j", "tab"):
            await pilot.press(key)
            await pilot.pause()
            lines = [strip.text for strip in app.screen._compositor.render_strips()]
            assert "Asce" in lines[0] and app.screen.scroll_offset.y == 0, key


@pytest.mark.parametrize("key", ["slash", "question_mark", "colon", "e", "t", "equals_sign"])
async def test_what_opens_over_a_screen_fits_too(app: TraceApp, key: str) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(key)
        await pilot.pause()
        for size in SIZES[:3]:
            await resized(app, pilot, size)


async def test_a_numbered_device_and_its_share_of_idle_time_are_read_at_80_columns() -> None:
    kernels = [piece(0, 7, "gemm", at, 10, "kernel") for at in (0, 500, 800)]
    trace = trace_of([*process(0, "python", "GPU 0"), *kernels])
    async with viewing(trace, "timeline", (80, 24)) as (app, pilot):
        tracks = app.screen.query_one(Tracks)
        assert lines_of(tracks)[0].startswith(" GPU 0 idle  96.3 % ")
        start = app.session.state.bounds.start_ns
        app.session.state.look(Viewport(start + 100_000, start + 200_000))
        app.view_changed()
        await pilot.pause()
        assert lines_of(tracks)[0].startswith(" GPU 0 idle 100.0 % ")
