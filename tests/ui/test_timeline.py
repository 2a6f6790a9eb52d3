"""The timeline on a screen: what its lines say after each key."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.machine import npu, operator, task
from tests.synthetic import trace_of
from tests.ui.training import screen_text, training
from tests.ui.viewing import analysis_of, case, lines_of, open_viewer, said, timeline, until, viewing
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.drawing.row import LineKind
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.statistics import window_bounds
from tracetui.ui.screens.time_prompt import TimePrompt
from tracetui.ui.state import Viewport, ViewState
from tracetui.ui.stories.time_window import measure_words, window_sentence
from tracetui.ui.widgets.curve import CurveView
from tracetui.ui.widgets.minimap import Minimap
from tracetui.ui.widgets.ruler import Ruler
from tracetui.ui.widgets.tracks import Tracks
from tracetui.units import format_clock, format_duration, format_exact, format_time


@pytest.fixture(scope="module")
def moba(samples: Path) -> Trace:
    with TraceFile(samples / "moba" / "trace_view.json") as trace_file:
        return build_trace(trace_file.read())


async def test_ranks_of_gaps_side_by_side_are_never_read_as_one_number(moba: Trace) -> None:
    async with viewing(moba, "timeline", (80, 24)) as (app, pilot):
        screen = timeline(app)
        await pilot.press("b")  # by idle time: the gap that lost most has no idle ink for its rank
        marks, idle = lines_of(screen.minimap)[1][20:], lines_of(screen.tracks)[0][20:]
        for line in (marks, idle):
            assert "1" in line and len(re.findall(r"\d", line)) > 3
            assert not re.search(r"\d\d", line)
        await pilot.press("x")
        assert "1" in re.findall(r"\d+", lines_of(screen.tracks)[0][20:])


def test_nothing_beside_the_line_of_marks_is_marked() -> None:
    minimap: Any = SimpleNamespace(columns=4, _marks=(1, 2))
    cells, style = [""] * 4, np.zeros(4, np.int64)
    for column in range(-2, 7):
        Minimap._mark(minimap, column, "x", 1, cells, style)
    assert cells == ["x", "", "", "x"], "the brackets of what is on screen stay"


async def test_a_press_folds_a_group_at_its_label_and_is_the_cursor_elsewhere(moba: Trace) -> None:
    """What begins within the cell that is pressed is selected."""
    async with viewing(moba, "timeline", (120, 36)) as (app, _):
        screen, state = timeline(app), app.session.state
        cell = state.viewport.span_ns // screen.tracks.columns
        screen.cursor.to_line = MagicMock()  # type: ignore[method-assign]
        lines = screen.tracks.lines.lines
        group = next(place for place, line in enumerate(lines) if line.kind is LineKind.GROUP)
        lane = next(place for place, line in enumerate(lines) if line.kind is LineKind.LANE)
        time = state.bounds.centre_ns
        for place, on_label in ((group, False), (lane, False), (lane, True)):
            screen._pressed(Tracks.Pressed(place, time, False, on_label))
            screen.cursor.to_line.assert_called_with(place, time, time + cell)
        assert not state.toggled
        screen._pressed(Tracks.Pressed(group, time, False, True))
        assert state.toggled == {lines[group].fold_key} and screen.cursor.to_line.call_count == 3


@pytest.mark.parametrize("length", [1, 2, 50, 150, 10_000, 3_000_000])
def test_the_ends_of_a_window_are_told_to_a_hundredth_of_it(length: int) -> None:
    analysis: Any = SimpleNamespace(trace=SimpleNamespace(start_ns=7))
    start, end = window_bounds(analysis, (2_000_007, 2_000_007 + length)).replace(" s", "").split(" .. ")
    assert Decimal(start) == Decimal("0.002") and len(start) == len(end)
    unit = 10 ** (9 - len(start.partition(".")[2]))
    assert 0 <= length - (Decimal(end) - Decimal(start)) * 10**9 < unit
    assert length < 1000 * unit and (unit == 1 or 100 * unit <= length)


async def test_a_gap_that_communicates_has_no_line_of_the_operator_after_it(moba: Trace) -> None:
    """The tables have none of the worst gap either: nothing records where its collective was issued."""
    async with viewing(moba, "timeline", (120, 36)) as (app, pilot):
        await pilot.press("x")
        await pilot.pause()
        text = "\n".join(screen_text(app))
        assert "Gap 1 of 150" in text
        assert "not known: no stack leads to it" in text
        assert "train_moba.py(135)" not in text


async def test_the_length_of_a_window_is_said_while_it_is_marked_and_after(moba: Trace) -> None:
    async with viewing(moba, "timeline", (100, 24)) as (app, pilot):
        screen = timeline(app)
        await pilot.press("b", "1", "[", "v")  # by idle time
        await pilot.pause()
        slices, first = moba.slices, app.session.state.row
        mark = int(slices.start[first])
        assert f"starts at {format_time(mark - moba.start_ns)}" in screen.key_line.text
        for _ in range(3):
            await pilot.press("right")
            await pilot.pause()
            start, end = int(slices.start[app.session.state.row]), int(slices.end[app.session.state.row])
            assert f"window {format_exact(end - mark)} " in screen.key_line.text
            assert f"here {format_exact(start - mark)} from the mark" in screen.key_line.text
            assert f" {format_duration(end - mark)} " in lines_of(screen.ruler)[0]
        await pilot.press("v")
        await pilot.pause()
        assert app.session.state.window == (mark, end)
        assert f"Window of {format_exact(end - mark)}: " in screen.key_line.text
        await pilot.press("left", "left")
        assert f" {format_duration(end - mark)} " in lines_of(screen.ruler)[0]
        await pilot.press("escape")
        assert f" {format_duration(end - mark)} " not in lines_of(screen.ruler)[0]


async def test_a_window_marked_backwards_and_given_up(moba: Trace) -> None:
    async with viewing(moba, "timeline", (100, 24)) as (app, pilot):
        screen = timeline(app)
        await pilot.press("1", "[", "v")
        mark, end = int(moba.slices.start[app.session.state.row]), 0
        await pilot.press("left", "left")
        await pilot.pause()
        start, end = (int(column[app.session.state.row]) for column in (moba.slices.start, moba.slices.end))
        assert end <= mark
        assert f"window {format_exact(mark - start)} " in screen.key_line.text
        assert f"here -{format_exact(mark - start)} from the mark" in screen.key_line.text
        await pilot.press("escape")
        await pilot.pause()
        assert (
            app.session.state.mark is None
            and app.session.state.window is None
            and "window" not in screen.key_line.text
        )


async def test_the_first_line_below_the_fixed_ones_tells_its_track(moba: Trace) -> None:
    async with viewing(moba, "timeline", (80, 24)) as (app, pilot):
        tracks = timeline(app).tracks
        deep = next(place for place, line in enumerate(tracks.lines.lines) if not line.label)
        label = tracks.lines.lines[deep - 1].label
        tracks.scroll_lines(deep - tracks.lines.fixed)
        await pilot.pause()
        assert lines_of(tracks)[tracks.lines.fixed].startswith(f" {label} ")
        assert lines_of(tracks)[tracks.lines.fixed + 1].startswith("  "), "and only the first"
        tracks.scroll_lines(deep - 1 - tracks.lines.fixed)
        await pilot.pause()
        assert [line.startswith(f" {label} ") for line in lines_of(tracks)[1:3]] == [True, False]


async def test_the_details_tell_times_as_the_tables_of_the_producer_do(moba: Trace) -> None:
    async with viewing(moba, "timeline", (120, 40)) as (app, pilot):
        details, gaps = timeline(app).details, analysis_of(app).gaps
        await pilot.press("1")
        await pilot.pause()
        start, end = (format_clock(int(column[app.session.state.gap])) for column in (gaps.start, gaps.end))
        assert f"epoch    {start[:-3]} to {end}" in details.text
        await pilot.press("]")
        await pilot.pause()
        row = app.session.state.row
        start, end = (format_clock(int(column[row])) for column in (moba.slices.start, moba.slices.end))
        assert f"epoch    {start[:-3]} to {end}" in details.text and start.startswith("17364124747")


async def test_the_prompt_for_a_time_goes_there_on_the_line_of_the_cursor(
    moba: Trace, thorough: bool
) -> None:
    async with viewing(moba, "timeline", (100, 24)) as (app, pilot):
        for written in ("0.0095 s", "clock", *(("9.5ms", "9500us") if thorough else ())):
            with case(written):
                state, wanted = app.session.state, moba.start_ns + 9_500_000
                await pilot.press("1", *"wwwj")
                cursor, span = state.place.cursor, state.viewport.span_ns
                text = format_clock(wanted)[:-3] if written == "clock" else written
                await pilot.press("at", *(" " if key == " " else key for key in text))
                await pilot.pause()
                assert f"0.009500000 s = {format_clock(wanted)}" in said(app, "title")
                await pilot.press("enter")
                await pilot.pause()
                assert (state.place.time_ns, state.place.cursor) == (wanted, cursor)
                assert state.viewport.span_ns == span and abs(state.viewport.centre_ns - wanted) <= 1
                assert "▼" in lines_of(timeline(app).ruler)[0]


async def test_a_time_that_is_none_of_the_trace_is_refused_in_words(moba: Trace) -> None:
    async with viewing(moba, "timeline", (100, 24)) as (app, pilot):
        for text, why in (("12", "unit"), ("1h", "number with a unit"), ("99s", "ends at 0.0229")):
            with case(text):
                place = app.session.state.place
                await pilot.press("at", *text, "enter")
                await pilot.pause()
                assert why in said(app, "title")
                await pilot.press("escape")
                await pilot.pause()
                assert app.session.state.place == place and app.screen is app.screen_stack[-1]
                assert timeline(app).tracks.has_focus


def recorded_long_before(work_ns: int, before_ns: int) -> Trace:
    """A device that works at the end of a recording."""
    events = [*npu(), task(1_000_000 + before_ns, work_ns, connection=1, name="matmul")]
    return trace_of([*events, operator(1_000_000, 10, "aten::import")])


async def test_what_is_first_shown_is_where_the_device_works() -> None:
    async with viewing(recorded_long_before(1000, 9000), "timeline", (80, 24)) as (app, pilot):
        state, (device,) = app.session.state, analysis_of(app).devices
        assert state.viewport == Viewport(device.start_ns - 20, device.end_ns)
        assert not state.undo_stack
        await pilot.press("0")
        assert state.viewport == state.bounds
        await pilot.press("backspace")
        assert state.viewport.start_ns == device.start_ns - 20


async def test_all_is_shown_where_the_device_works_most_of_the_time() -> None:
    async with viewing(recorded_long_before(9500, 300), "timeline", (80, 24)) as (app, _):
        assert app.session.state.viewport == app.session.state.bounds


async def test_who_has_looked_elsewhere_meanwhile_stays_there() -> None:
    app = open_viewer(Path("t"), ViewerOptions(palette="none"), trace=recorded_long_before(1000, 9000))
    async with app.run_test(size=(80, 24)) as pilot:
        app.session.analysing = True
        seen = Viewport(app.session.state.bounds.start_ns, app.session.state.bounds.start_ns + 5000)
        app.session.state.look(seen)
        await until(pilot, lambda: app.session.analysis is not None)
        assert app.session.state.viewport == seen


async def test_a_trace_without_a_device_is_mapped_by_how_busy_its_host_is() -> None:
    trace = trace_of([operator(1_000_000, 500_000, "aten::sort"), operator(9_000_000, 1_000_000, "aten::mm")])
    async with viewing(trace, "timeline", (80, 36)) as (app, _):
        first, *later_lines = lines_of(timeline(app).minimap)
        assert first.startswith(" busy host ") and first.endswith("█") and "  " in first[20:]
        assert len(later_lines) == 1, "no line for causes of idle time: there is no device"


async def test_home_and_end_show_the_ends_of_the_trace() -> None:
    async with viewing(training(), "timeline") as (app, pilot):
        state = app.session.state
        await pilot.press("W", "end")
        span = state.viewport.span_ns
        assert state.viewport.end_ns == state.bounds.end_ns and span < state.bounds.span_ns
        await pilot.press("home")
        assert state.viewport.start_ns == state.bounds.start_ns and state.viewport.span_ns == span


@pytest.mark.parametrize(("selected", "away"), [(None, 150), ((1_100, 1_230), 50), ((1_000, 1_230), -50)])
def test_a_window_is_measured_from_its_mark_and_told_from_the_beginning(
    selected: tuple[int, int] | None, away: int
) -> None:
    state = SimpleNamespace(
        mark=1_050,
        window=(1_050, 1_230),
        bounds=SimpleNamespace(start_ns=1_000),
        place=SimpleNamespace(time_ns=1_200),
    )
    session: Any = SimpleNamespace(state=state, marked_window=state.window, selected_span=selected)
    window, here, _ = measure_words(session, ASCII).split(f" {ASCII.dot} ")
    assert (window, here) == (f"window {format_exact(180)}", f"here {format_exact(away)} from the mark")
    assert (
        window_sentence(session) == f"Window of {format_exact(180)}: {format_time(50)} to {format_time(230)}."
    )
    state.mark, session.selected_span = 1_200, None
    assert measure_words(session, ASCII).startswith(f"The window starts at {format_time(200)}: ")
    state.mark = state.window = None
    assert measure_words(session, ASCII) == window_sentence(session) == ""


@pytest.mark.parametrize(("text", "known"), [("0ns", True), ("9ns", True), ("10ns", False)])
def test_a_time_is_in_a_trace_from_its_start_to_before_its_end(text: str, known: bool) -> None:
    session = SimpleNamespace(state=ViewState(Viewport(100, 110)), trace=None)
    prompt: Any = SimpleNamespace(session=session)
    assert isinstance(TimePrompt._parsed(prompt, text), int) == known


@given(st.integers(-200, 1200), st.integers(0, 1200), st.integers(1, 80))
def test_the_length_of_a_window_stands_in_the_middle_of_it(start: int, span: int, columns: int) -> None:
    viewport, window = Viewport(0, 1000), (start, start + span)
    session = SimpleNamespace(state=SimpleNamespace(viewport=viewport))
    ruler: Any = SimpleNamespace(window=window, session=session)
    first = max(viewport.column_of(start, columns) + 1, 0)
    stop = min(viewport.column_of(start + span, columns), columns)
    text = f" {format_duration(span)} "
    placed = Ruler._length(ruler, columns)
    assert [words for _, words in placed] == [text] * (stop - first >= len(text))
    for at, _ in placed:
        assert 0 <= (stop - at - len(text)) - (at - first) <= 1


def test_columns_of_time_and_labels_fill_the_width() -> None:
    tracks: Any = SimpleNamespace(size=SimpleNamespace(width=80), label_width=23)
    curve: Any = SimpleNamespace(_span=Viewport(0, 100), columns=10)
    assert Tracks.columns.fget(tracks) == 80 - 23  # type: ignore[attr-defined]
    cursors = []
    for curve.time_ns in (-1, 0, 99, 100):
        cursors.append(CurveView._cursor.fget(curve))  # type: ignore[attr-defined]
    assert cursors == [-1, 0, 9, -1]
