"""The search prompt: hits as one types, enter goes to one, escape drops them."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui.training import STEPS, screen_text, training, viewer
from tests.ui.viewing import settled
from tracetui.ui.app import TraceApp
from tracetui.ui.messages import TraceGrew
from tracetui.ui.screens.search import SearchPrompt
from tracetui.ui.screens.timeline import TimelineScreen


@pytest.fixture
def app(tmp_path: Path) -> TraceApp:
    return viewer(tmp_path)


async def type_in(app: TraceApp, pilot: Pilot[int], text: str) -> None:
    await pilot.pause()
    await pilot.press("slash", *text)
    await settled(app, pilot)


async def test_hits_are_counted_as_one_types_and_enter_goes_to_one(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await type_in(app, pilot, "matmul")
        assert isinstance(app.screen, SearchPrompt)
        assert len(app.session.state.search.hits) == 4  # two operators and their tasks
        assert any("Search  4 slices" in line for line in screen_text(app))
        await pilot.press("enter")
        await pilot.pause()
        assert not isinstance(app.screen, SearchPrompt)
        assert app.session.state.row in app.session.state.search.hits.tolist()
        first = app.session.state.search.at
        await pilot.press("n")
        assert app.session.state.search.at == first + 1
        assert app.session.state.row == app.session.state.search.hits[first + 1]
        await pilot.press("N")
        assert app.session.state.search.at == first


async def test_hits_are_marked_in_the_ruler_and_on_the_map_until_the_search_is_dropped(app: TraceApp) -> None:
    async with app.run_test(size=(120, 24)) as pilot:
        await type_in(app, pilot, "matmul")
        await pilot.press("enter")
        await pilot.pause()
        assert app.session.trace is not None and isinstance(app.screen, TimelineScreen)
        tracks, bounds = app.screen.tracks, app.session.state.bounds
        starts = app.session.trace.slices.start[app.session.state.search.hits].tolist()
        marked = {tracks.label_width + bounds.column_of(start, tracks.columns) for start in starts}
        _, _, map_line, ruler, *_ = screen_text(app)
        assert len(marked) > 1 and app.session.state.viewport == bounds
        for line in (map_line, ruler):
            stars = {place for place, cell in enumerate(line) if cell == "*"}
            assert stars and stars <= marked
            assert all(line.ljust(120)[place] != " " for place in marked), "but where something else stands"
        await type_in(app, pilot, "matmul")
        await pilot.press("escape")
        await pilot.pause()
        assert "*" not in screen_text(app)[2] + screen_text(app)[3]


async def test_enter_pressed_before_the_answer_goes_there_too(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("slash", *"matmul", "enter")
        await settled(app, pilot)
        assert not isinstance(app.screen, SearchPrompt)
        assert app.session.state.row >= 0


async def test_escape_drops_the_search(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await type_in(app, pilot, "matmul")
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, SearchPrompt)
        assert not len(app.session.state.search.hits)
        assert app.session.state.row == -1


async def test_a_trace_that_grew_meanwhile_is_searched_anew(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await type_in(app, pilot, "matmul")
        before = app.session.state.search.hits
        grown = training([*STEPS, *STEPS])
        app.post_message(TraceGrew(app.session, grown))
        await settled(app, pilot)
        assert len(app.session.state.search.hits) == 2 * len(before)
        assert {grown.name(int(row)) for row in app.session.state.search.hits} == {"matmul", "aten::matmul"}


async def test_a_bad_pattern_is_said_and_the_prompt_stays(app: TraceApp) -> None:
    async with app.run_test(size=(100, 24)) as pilot:
        await type_in(app, pilot, "re:(")
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.screen, SearchPrompt)
        assert any("Not a regular expression" in line for line in screen_text(app))


async def test_a_name_of_the_trace_is_found_as_it_is_and_not_parsed(app: TraceApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await type_in(app, pilot, "[red]")
        assert len(app.session.state.search.hits) == 2
