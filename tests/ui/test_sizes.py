"""Terminals of any size: every line fills it exactly, nothing raises, and what is looked at stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.synthetic import piece, process, trace_of
from tests.ui.training import screen_text, training, viewer
from tests.ui.viewing import case, lines_of, viewing
from tracetui.ui.app import TraceApp
from tracetui.ui.screen_specs import SCREENS, ScreenScope
from tracetui.ui.state import Viewport
from tracetui.ui.widgets.tracks import Tracks

#: screens that one trace does not have
ONLY_OF_SEVERAL = tuple(name for name, spec in SCREENS.items() if spec.scope is not ScreenScope.TRACE)
SIZES = ((1, 1), (9, 3), (20, 5))
KEYS = ("j", "k", "w", "x", "d", "tab", "enter")


@pytest.fixture
def sizes(thorough: bool) -> tuple[tuple[int, int], ...]:
    return SIZES if thorough else SIZES[::2]


@pytest.fixture
def app(tmp_path: Path) -> TraceApp:
    return viewer(tmp_path)


async def resized(app: TraceApp, pilot: Pilot[int], size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)
    await pilot.pause()
    texts = [strip.text for strip in app.screen._compositor.render_strips()]
    assert [cell_len(text) for text in texts] == [size[0]] * size[1], texts


async def test_every_screen_fits_every_terminal_and_keeps_its_state(
    app: TraceApp, sizes: tuple[tuple[int, int], ...], thorough: bool
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for screen in SCREENS:
            with case(screen):
                await pilot.resize_terminal(80, 24)
                app.action_go(screen)
                app.go_to_gap(0)
                await pilot.pause()
                assert app.shown == screen or screen in ONLY_OF_SEVERAL
                place = app.session.state.place
                for size in sizes:
                    await resized(app, pilot, size)
                    assert app.session.state.place == place
                for key in KEYS if thorough else KEYS[::2]:
                    await pilot.press(key)
                await resized(app, pilot, (18, 8))
                assert len(app.screen_stack) == 1, "nothing stays open over the next one"


async def test_the_last_line_ends_with_the_key_that_names_the_others(app: TraceApp) -> None:
    async with app.run_test(size=(60, 15)) as pilot:
        for screen in (name for name in SCREENS if name not in (*ONLY_OF_SEVERAL, "sql")):
            for size in ((60, 15), (80, 24), (36, 15)):
                app.action_go(screen)
                await pilot.resize_terminal(*size)
                await pilot.pause()
                with case(screen, size):
                    assert screen_text(app)[-1].rstrip().endswith(("? keys", "? help"))
                    assert len(screen_text(app)[-1].split()) > 4, "it names others as well"


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


@pytest.mark.parametrize(("first", "then"), [((80, 24), (200, 60)), ((200, 60), (80, 24))])
async def test_a_resized_timeline_is_as_one_opened_so(first: tuple[int, int], then: tuple[int, int]) -> None:
    texts = []
    for size in (then, first):
        async with viewing(training(), "timeline", size) as (app, pilot):
            await resized(app, pilot, then)
            texts.append(screen_text(app))
    opened, grown = texts
    assert grown == opened


async def test_what_opens_over_a_screen_fits_too(app: TraceApp, sizes: tuple[tuple[int, int], ...]) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("slash", "question_mark", "colon", "e", "t", "at"):
            with case(key):
                await pilot.resize_terminal(80, 24)
                await pilot.press(key)
                assert len(app.screen_stack) == 2
                for size in sizes:
                    await resized(app, pilot, size)
                await pilot.press("escape")
                assert len(app.screen_stack) == 1


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
