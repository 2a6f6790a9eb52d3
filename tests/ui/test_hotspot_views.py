"""The tables of the hotspots: what `c` goes through, synchronisations and their gaps, and their export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from simulator.mindspore.graph import GraphProfile
from tests.analysis.idle.test_explain import FIRST, launched, stack
from tests.analysis.machine import MAIN, call, npu, operator, step, task
from tests.synthetic import trace_of
from tests.ui.training import screen_text, viewer
from tests.ui.viewing import case, said, settled
from tracetui.analysis.analyse import analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.syncs import SyncCall
from tracetui.analysis.scopes import SEPARATOR
from tracetui.api import load
from tracetui.export.trace.frames import (
    frames_frame,
    hotspots_frame,
    modules_frame,
    scopes_frame,
    signatures_frame,
    syncs_frame,
)
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.screens.hotspots import NO_GAP, HotspotsScreen
from tracetui.ui.stories.line_story import _largest_causes, what_if_words
from tracetui.ui.stories.nested_story import NestedStory
from tracetui.ui.stories.sync_story import SyncStory
from tracetui.ui.tables.columns import named_column, with_line_number
from tracetui.ui.tables.hotspot_columns import line_label, line_of, times_a_step
from tracetui.ui.tables.hotspot_views import (
    FRAMES,
    LINES,
    MODULES,
    OPERATORS,
    SCOPES,
    SIGNATURES,
    SYNCS,
    VIEWS,
    hotspot_name,
    hotspot_view_after,
    line_of_row,
    views_of,
)
from tracetui.ui.widgets.source import SourcePane

TABLES = (hotspots_frame, signatures_frame, syncs_frame, modules_frame, frames_frame)
SYNC = "AscendCL@aclrtSynchronizeStreamWithTimeout"


def waiting() -> Trace:
    """One line waits twice and exposes two gaps; another while the device runs, one call for long."""
    return trace_of(
        [
            *FIRST,
            operator(1_120, 100, "aten::item", stack=stack(3)),
            call(1_130, 50, 75, SYNC, MAIN),
            *launched(2_000, 2_040, 7),
            operator(2_080, 300, "aten::item", stack=stack(3)),
            call(2_090, 50, 76, SYNC, MAIN),
            *launched(5_000, 5_040, 8, dur=3_000),
            call(5_500, 400, 77, SYNC, MAIN),
            call(6_500, 600, 78, SYNC, MAIN),
            step(1, 900, 3_000),
            step(2, 3_900, 6_000),
        ]
    )


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TraceApp:
    monkeypatch.chdir(tmp_path)
    return viewer(tmp_path, waiting())


async def synchronisations(app: TraceApp, pilot: Pilot[int]) -> HotspotsScreen:
    await pilot.pause()
    await pilot.press("H")
    await settled(app, pilot)
    await pilot.press(*["c"] * VIEWS.index(SYNCS))
    await settled(app, pilot)
    assert isinstance(app.screen, HotspotsScreen)
    return app.screen


async def test_c_goes_through_the_tables_and_header_and_footer_say_which(app: TraceApp) -> None:
    assert app.session.analysis is not None
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await synchronisations(app, pilot)
        for view, after in zip((SYNCS, LINES, SIGNATURES), (MODULES, SIGNATURES, SYNCS)):
            first, *_, keys = screen_text(app)
            assert first.startswith(f"{view.title}  {view.answer(app.session.analysis)}".replace("µ", "u"))
            assert said(app, "note") == view.note
            assert f"c {after.name}" in keys
            assert first.endswith(f"/{len(view.rows(app.session.analysis))}")
            assert len(screen.table.rows.view) == len(view.rows(app.session.analysis)) > 1
            if view is not SIGNATURES:
                assert screen.chosen is not None and screen.chosen.line == 3
            await pilot.press(*["c"] * (3 if view is SYNCS else 1))
            await settled(app, pilot)


async def test_synchronisations_tell_their_calls_and_what_they_expose(app: TraceApp) -> None:
    assert app.session.analysis is not None
    exposing, other = app.session.analysis.syncs
    assert (exposing.call, exposing.count, exposing.total_ns, exposing.longest_ns) == (
        "aten::item",
        2,
        400,
        300,
    )
    assert (other.call, other.count, other.total_ns, other.exposed_ns) == (SYNC, 2, 1_000, 0)
    async with app.run_test(size=(200, 36)) as pilot:
        screen = await synchronisations(app, pilot)
        text = [line.split() for line in screen_text(app)[1:4]]
        assert text[0][:7] == ["exposedv", "call", "line", "calls", "a", "step", "waited"]
        assert text[1][:8] == ["3.84", "us", "S", "aten::item", "train.py(3)", "train", "2", "1"]
        assert text[1][8:12] == ["400", "ns", "300", "ns"]
        assert text[2][:2] == ["0", "ns"]
        assert text[2][2] == SYNC.partition("@")[2]  # no letter: it exposes nothing
        assert (screen.panes.source.file, screen.panes.source.line) == ("train.py", 3)
        await pilot.press("down")
        await settled(app, pilot)
        assert screen.query_one(SourcePane).line == other.line
        assert SYNC in screen.panes.story.text


async def test_x_walks_the_gaps_of_a_synchronisation_and_enter_goes_to_the_worst(app: TraceApp) -> None:
    assert app.session.analysis is not None
    gaps = app.session.analysis.syncs[0].gap_indices.tolist()
    assert len(gaps) == 2 and gaps[0] == app.session.analysis.gaps.ranked()[0]
    async with app.run_test(size=(120, 36)) as pilot:
        await synchronisations(app, pilot)
        seen = []
        for key in ("x", "x", "X"):
            await pilot.press(key)
            seen.append(app.session.state.gap)
        assert seen == [gaps[0], gaps[1], gaps[0]]
        await pilot.press("down", "up", "enter")
        await pilot.pause()
        assert (app.shown, app.session.state.gap) == ("timeline", gaps[0])


async def test_enter_goes_to_the_longest_call_where_no_idle_time_is_exposed(app: TraceApp) -> None:
    assert app.session.analysis is not None
    longest = int(app.session.analysis.syncs[1].rows[0])
    assert app.session.analysis.trace.slices.dur[longest] == 600
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await synchronisations(app, pilot)
        await pilot.press("down", "x")
        assert said(app, "note") == NO_GAP
        await pilot.press("enter")
        await pilot.pause()
        assert (app.shown, app.session.state.row) == ("timeline", longest)
        screen.table.move_to(0)
        await pilot.press("H")
        await settled(app, pilot)
        assert app.screen is screen
        assert screen.table.cursor_row == 1


async def test_a_trial_is_of_the_line_of_the_synchronisation(app: TraceApp) -> None:
    assert app.session.analysis is not None
    key = line_of(app.session.analysis.syncs[0])
    trial = app.session.analysis.what_ifs.faster(key, 0.5)
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await synchronisations(app, pilot)
        await pilot.press("percent_sign")
        await settled(app, pilot)
        assert said(app, "note") == what_if_words(trial, screen.size.width, ASCII)
        await pilot.press("c", "c", "c")
        await settled(app, pilot)
        assert said(app, "note") == LINES.note


async def test_no_synchronisation_is_said_in_words_and_c_goes_on(tmp_path: Path) -> None:
    app = viewer(tmp_path)
    assert app.session.analysis is not None
    assert not app.session.analysis.syncs
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await synchronisations(app, pilot)
        text = screen_text(app)
        assert text[0].startswith("Synchronisations  0 calls")
        assert any("waited for no device" in line for line in text)
        await pilot.press("x", "X", "enter", "percent_sign", "e", "y")
        assert app.screen is screen
        await pilot.press("c", "c", "c")
        await settled(app, pilot)
        assert len(screen.table.rows.view) == len(app.session.analysis.lines)


async def test_each_table_is_exported_as_it_is_shown(app: TraceApp, tmp_path: Path) -> None:
    assert app.session.analysis is not None
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await synchronisations(app, pilot)
        await pilot.press(*["c"] * (len(VIEWS) - VIEWS.index(SYNCS)))
        for view, table in zip(VIEWS, TABLES):
            with case(view.name):
                screen.table.sort_by(0, False)
                await pilot.press("e")
                assert app.screen.query_one(Input).value == f"{tmp_path.name}_{view.export}.csv"
                await pilot.press("enter")
                written = pd.read_csv(tmp_path / f"{tmp_path.name}_{view.export}.csv")
                expected = table(app.session.analysis)
                assert list(written.columns) == list(expected.columns)
                key = "exposed_ns" if view is SYNCS else "idle_ns"
                assert len(written) > (view is not MODULES and view is not FRAMES)
                assert written[key].tolist() == sorted(expected[key].tolist())
                assert app.screen is screen
                await pilot.press("c")


def lines_told(trace: Trace, place: int, width: int = 100, height: int = 9) -> list[str]:
    analysis = analyse(trace)
    sync = analysis.syncs[place]
    story = SyncStory(Palette("none"), ASCII)
    lines = story.lines(analysis, sync, line_of_row(analysis, sync), {}, width, height)
    return ["".join(text for text, _ in pieces) for pieces in lines]


def test_the_story_of_a_synchronisation() -> None:
    first = lines_told(waiting(), 0)
    assert first[0].startswith("-- aten::item at train.py(3) train --") and len(first[0]) == 100
    assert first[1] == "The host waited 400 ns in 2 calls (1 a step), longest 300 ns"
    assert first[2].startswith("S exposes 3.84 µs of idle, ") and first[2].endswith(" of all, in 2 gaps")
    assert lines_told(waiting(), 1)[2] == "It exposes no idle time."
    assert len(lines_told(waiting(), 0, height=3)) == 3
    assert all(len(line) <= 60 for line in lines_told(waiting(), 0, width=60)[:1])


def test_the_story_without_idle_time_of_the_line() -> None:
    analysis = analyse(waiting())
    sync = SyncCall("a\x1b[2Jb", "/w/t.py", 5, "f", 1, 10, 10, 0, 0, {}, *[analysis.syncs[0].rows[:0]] * 2)
    assert line_of_row(analysis, sync) is None
    story = SyncStory(Palette("none"), ASCII).lines(analysis, sync, None, None, 80, 9)
    text = ["".join(text for text, _ in pieces) for pieces in story]
    assert all(line.isprintable() for line in text)
    assert text[1:] == [
        "The host waited 10 ns in 1 call (0.5 a step)",
        "It exposes no idle time.",
        "No idle time is charged to this line itself.",
    ]
    assert line_label(sync) == "t.py(5) f"


def test_the_story_without_a_stack_does_not_tell_of_all_that_has_none() -> None:
    events = [*FIRST, operator(1_120, 100, "aten::item"), *launched(2_000, 2_040, 7)]
    bare = [
        {**event, "args": {k: v for k, v in event.get("args", {}).items() if k != "Call stack"}}
        for event in events
    ]
    text = lines_told(trace_of(bare), 0)
    assert text[0].startswith("-- aten::item (no stack) --")
    assert text[-1] == "No Python stack is recorded: its line is not known."


def test_a_synchronisation_is_of_the_backward_pass_where_only_that_is_charged() -> None:
    analysis = analyse(waiting())
    line = replace(analysis.lines[0], backward=True)
    sync = replace(analysis.syncs[0], file=line.file, line=line.line, function=line.function)
    analysis.__dict__["lines"] = (line,)
    assert line_of_row(analysis, sync) is line
    forward = replace(line, backward=False)
    analysis.__dict__["lines"] = (line, forward)
    assert line_of_row(analysis, sync) is forward


def test_how_often_in_a_step() -> None:
    analysis = analyse(waiting())
    assert [times_a_step(analysis, count) for count in (1, 2, 5000)] == ["0.5", "1", "2,500"]
    assert times_a_step(analyse(trace_of([*FIRST])), 3) == ""


def test_scopes_come_first_where_no_python_is_recorded(tmp_path: Path) -> None:
    analysis = load(GraphProfile(2).write(tmp_path), cache=False)
    assert views_of(analysis)[0] is SCOPES and hotspot_view_after(SCOPES, views_of(analysis)) is LINES
    columns = SCOPES.columns(analysis, None, Palette("none"), ASCII)
    assert [column.key for column in columns][:5] == [
        "computing_ns",
        "share",
        "own_computing_ns",
        "idle_ns",
        "scope",
    ]
    rows: Any = SCOPES.rows(analysis)
    drawn = {column.key: column.draw for column in columns}
    assert len(rows) == len(scopes_frame(analysis)) and any(len(row.scope) > 2 for row in rows)
    for place, row in enumerate(rows):
        *around, name = row.scope or ("(outside any scope)",)
        assert (drawn["path"](place, 400), drawn["scope"](place, 400)) == (SEPARATOR.join(around), name)
    assert SCOPES.answer(analysis).endswith("of idle time before their tasks")
    assert SCOPES not in views_of(None)


def test_operators_come_first_where_neither_python_nor_scopes_are_recorded() -> None:
    analysis = analyse(trace_of([*FIRST, operator(1_120, 100, "aten::item"), *launched(2_000, 2_040, 7)]))
    assert views_of(analysis)[0] is LINES
    bare = analyse(trace_of([*npu(), task(0, 10), operator(20, 40, "aten::item"), task(90, 10)]))
    assert views_of(bare)[0] is OPERATORS and FRAMES not in views_of(bare)
    columns = OPERATORS.columns(bare, None, Palette("none"), ASCII)
    assert [column.title for column in columns if column.key == "frame"] == ["operator"]
    answer = "0 operators of the host, 80 ns of idle time; no Python stack is recorded"
    assert OPERATORS.answer(bare) == answer
    told = NestedStory(Palette("none"), ASCII).of_row(bare, bare.frames[0], 80, 8)
    assert told[0][0][0].startswith("-- (between operators) - idle 80 ns")
    assert hotspot_name(bare, bare.frames[0]) == "(between operators)"


def test_a_line_keeps_its_number_where_its_name_does_not_fit() -> None:
    names = ["resnet50_profiler_api.py(42) <module>", "train.py(7) step"]
    plain = named_column("line", "line", np.arange(2, dtype=np.int32), names)
    column = with_line_number(plain, "~")
    assert [column.draw(0, width) for width in (40, 30, 24)] == [
        names[0],
        names[0],
        "~t50_profiler_api.py(42)",
    ]
    assert column.draw(1, 14) == names[1], "the table cuts the function"


@pytest.mark.parametrize("room", [0, 1, 2, 3])
def test_causes_without_room_are_summed_up_in_the_last_place(room: int) -> None:
    causes = [(Cause.PYTHON, 50), (Cause.GC, 30), (Cause.COPY, 20)]
    shown = _largest_causes(causes, room)
    assert sum(ns for _, ns in shown) == 100 and len(shown) == max(room, 1)
    assert [cause for cause, _ in shown[:-1]] == [cause for cause, _ in causes[: len(shown) - 1]]
    assert (shown[-1][0] is None) == (room < 3)
