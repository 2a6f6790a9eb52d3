"""Two open traces compared in the viewer: what changed, the way to it, and from one trace to the other."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.comparison.planted import run
from tests.comparison.test_walls import steps_of
from tests.ui.training import screen_text, training
from tests.ui.viewing import open_viewer, said, until
from tracetui.analysis.analyse import analyse
from tracetui.comparison.compared_row import ComparedRow, RowScale
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.counterpart import Counterpart, CounterpartSide, counterpart
from tracetui.comparison.memory_rows import MemoryRow
from tracetui.comparison.tally import Sum
from tracetui.comparison.waterfall import TERMS
from tracetui.export.csv_table import write_table
from tracetui.export.sentences.verdict import verdict
from tracetui.export.tables.comparison import BY, MEMORY, WATERFALL, ComparedRows
from tracetui.places import parse_place
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.comparing import comparing
from tracetui.ui.comparing.comparing import Comparing, Flipped, _anchor, gap_ended_by
from tracetui.ui.comparing.pair import ComparedPair, Runs, absence_lines
from tracetui.ui.comparing.row_story import story
from tracetui.ui.comparing.tables import SHOWN, columns, instance, most_telling_table
from tracetui.ui.drawing.glyphs import ASCII, BLOCKS, Glyphs
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.compare import CompareScreen
from tracetui.ui.session import Session
from tracetui.ui.state import UndoPoint, Viewport, around

OPTIONS = ViewerOptions(palette="none", ascii=True, cache=False)
STEPS = 3


def traces() -> tuple[Trace, Trace]:
    """A run of three steps, and one in which the kernels of gelu take twenty times as long."""
    return run("mixed", STEPS).trace, run("mixed", STEPS, "gelu", 20.0).trace


@cache
def sides() -> tuple[CounterpartSide, CounterpartSide]:
    base, other = run("mixed", STEPS), run("mixed", STEPS, "gelu", 20.0)
    return CounterpartSide(base, run_of(base)), CounterpartSide(other, run_of(other))


def test_a_run_is_of_the_steps_that_are_asked_for() -> None:
    """The first of seven steps takes three times as long as the others."""
    analysis = steps_of([300, *[100] * 6])
    first = int(analysis.steps[0].number)
    assert first not in Runs(all_steps=False).of(0, analysis).numbers
    assert first in Runs(all_steps=True).of(0, analysis).numbers


@asynccontextmanager
async def compared(size: tuple[int, int] = (120, 36)) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    """The viewer of both, on the screen that compares them."""
    sessions = [
        Session(Path(f"{name}.json"), OPTIONS, trace=trace, name=name)
        for name, trace in zip(("fast", "slow"), traces())
    ]
    app = TraceApp(sessions, OPTIONS)
    async with app.run_test(size=size) as pilot:
        await pilot.press("escape", "C")
        app.start(sessions[1])
        await until(
            pilot, lambda: app.comparing.pair is not None and app.comparing.pair.comparison is not None
        )
        await until(pilot, lambda: len(screen(app).table.rows.view) > 0)
        yield app, pilot


def screen(app: TraceApp) -> CompareScreen:
    assert isinstance(app.screen, CompareScreen)
    return app.screen


def comparison_of(app: TraceApp) -> Comparison:
    assert app.comparing.pair is not None and app.comparing.pair.comparison is not None
    return app.comparing.pair.comparison


async def table(app: TraceApp, pilot: Pilot[int], by: str) -> None:
    """Go to a table of the screen."""
    for _ in BY:
        if screen(app).shown.by == by:
            return
        await pilot.press("tab")
    raise AssertionError(by)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), pytest.param((200, 60), marks=pytest.mark.thorough)])
async def test_the_verdict_and_the_parts_of_a_step_are_on_the_first_screen(size: tuple[int, int]) -> None:
    async with compared(size) as (app, pilot):
        await pilot.pause()
        text = screen_text(app)
        comparison = comparison_of(app)
        assert " ".join(said(app, "verdict").split("\n")).startswith(verdict(comparison))
        assert len(said(app, "keys")) <= 80
        (title,) = (line for line in text if line.startswith("part of a step"))
        assert "changed" in title and any("yes 3/3" in line for line in text)
        assert text[1].startswith("BASE   fast") and text[2].startswith("OTHER  slow")
        (aicore,) = (line.split() for line in text if line.startswith("aicore"))
        usual = next(row for row in comparison.operators if row.name == "aten::gelu").base_ns
        assert float(aicore[3]) == pytest.approx(19 * float(usual) / 1e6, rel=0.01)
        assert ("\naten::gelu" in "\n".join(text)) == (size[1] >= 34), (
            "with the operators below, where room is"
        )


async def test_tables_follow_each_other_sort_filter_and_tell_a_row() -> None:
    async with compared() as (app, pilot):
        seen = []
        for _ in range(12):
            seen.append(screen(app).shown.by)
            await pilot.press("tab")
        assert {*seen} == {"term", *(by for by in BY if by not in ("rank", "root"))}, "all that --by has"
        assert screen(app).shown.by == seen[0]
        await pilot.press("shift+tab")
        assert screen(app).shown.by == seen[-1]
        await table(app, pilot, "operator")
        await pilot.pause()
        assert said(app, "story").split("\n")[0].startswith("-- aten::gelu -")
        assert "Changed by +3.473 ms: 3/3 steps, shift +3.447 ms (90 %: +3.418 to +3.554)." in said(
            app, "story"
        )
        await pilot.press("slash", *"softmax", "enter")
        await pilot.pause()
        names = {screen(app)._rows[row].name for row in screen(app).table.rows.view.tolist()}
        assert names and all("softmax" in name.lower() for name in names)


def test_memory_is_told_in_bytes() -> None:
    sums = [Sum(size, 1, size, size) for size in (2_000_000_000, 2_500_000_000)]
    scale = RowScale(1, 1, Fraction(2_000_000_000))
    row = MemoryRow("alive", sums[0], sums[1], scale, True, "alive", "", None, None)
    (base, other, change, *_) = columns(ComparedRows([row]), MEMORY, Palette("none"), ASCII, 120)[1:]
    assert [column.title for column in (base, other, change)] == ["base", "other", "change"]
    cells = [column.draw(0, 20) for column in (base, other)]
    assert cells == ["2.00 GB", "2.50 GB"] and change.draw(0, 20)[0][0] == "+500 MB"
    assert story(row)[0] == "BASE   2.00 GB" and "Changed by +500 MB" in story(row)[2]


@pytest.mark.parametrize("largest", [1000, 1])
@pytest.mark.parametrize("glyphs", [BLOCKS, ASCII])
@pytest.mark.parametrize(
    ("screen_cells", "least", "side"), [(99, 16, 5), (100, 32, 10), (159, 32, 10), (160, 32, 24)]
)
def test_a_bar_is_as_long_as_its_change_and_names_keep_room(
    screen_cells: int, least: int, side: int, glyphs: Glyphs, largest: int
) -> None:
    """The largest change takes a side of the bar, any other at least half a cell; ASCII has no halves."""
    changes = (-largest, -370 % largest, -1, 0, 60 % largest, 512 % largest, largest - 1)
    sums = [(Sum(2000, 1, 2000, 2000), Sum(2000 + ns, 1, 2000 + ns, 2000 + ns)) for ns in changes]
    scale = RowScale(1, 1, Fraction(2000))
    rows = [MemoryRow("alive" * 20, *pair, scale, True, "alive", "", None, None) for pair in sums]
    names, _, _, _, bars, *_ = columns(ComparedRows(rows), MEMORY, Palette("none"), glyphs, screen_cells)
    assert (names.least, bars.width) == (least, 2 * side + 1)
    for row, ns in enumerate(changes):
        cell = bars.draw(row, bars.width)
        assert isinstance(cell, list)
        left, right = "".join(text for text, _ in cell).split(glyphs.bar)
        halves = max(2 * side * abs(ns) // largest, ns != 0)
        full, half = (halves // 2, halves % 2) if glyphs is BLOCKS else (-(-halves // 2), 0)
        assert left == (glyphs.left * half + glyphs.full * full if ns < 0 else "").rjust(side)
        assert right == (glyphs.full * full + glyphs.right * half if ns > 0 else "")


async def test_the_place_of_a_row_opens_its_table_again() -> None:
    async with compared() as (app, pilot):
        await table(app, pilot, "operator")
        await pilot.press("u")
        await pilot.pause()
        first = parse_place(shlex.split(app.clipboard)[-1])
        await pilot.press("down", "u")
        await pilot.pause()
        place = parse_place(shlex.split(app.clipboard)[-1])
        assert (place.screen, place.view) == ("compare", "operator")
        assert place.rows[-1].startswith("operator=") and first.rows[-1].startswith("operator=")
        assert first.rows[-1] != place.rows[-1]
        await pilot.press("tab", "u")
        await pilot.pause()
        assert parse_place(shlex.split(app.clipboard)[-1]).view != "operator"
        app.places.open(place)
        await pilot.pause()
        await pilot.press("u")
        await pilot.pause()
        assert parse_place(shlex.split(app.clipboard)[-1]) == place


async def test_a_row_opens_in_either_trace_and_a_key_flips_to_the_counterpart() -> None:
    async with compared() as (app, pilot):
        await table(app, pilot, "operator")
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == "timeline")
        slow = app.session
        assert slow.name == "slow" and selected(app) == "aten::gelu"
        viewport = slow.state.viewport
        await pilot.press("backslash")
        await until(pilot, lambda: app.session.name == "fast")
        assert selected(app) == "aten::gelu", "the matched one"
        fast = app.session
        assert fast.state.viewport.span_ns == viewport.span_ns
        assert offset(fast) == offset(slow), "at the same place of the screen"
        await pilot.press("C", "backslash")
        await until(pilot, lambda: app.shown == "timeline")
        assert app.session is fast


@pytest.mark.parametrize(
    ("shown", "row", "anchor"),
    [
        ((40, 80), -1, 50),  # the first step that begins on screen
        ((50, 100), -1, 50),
        ((51, 90), -1, 70),  # none does: the middle
        ((60, 80), -1, 70),
        ((40, 80), 0, 7),  # what is selected, row 0 too
        ((40, 80), 1, 99),
    ],
)
def test_a_flip_keeps_what_is_selected_in_place_else_a_step_or_the_middle(
    shown: tuple[int, int], row: int, anchor: int
) -> None:
    analysis: Any = SimpleNamespace(
        host_spans=np.array([[10, 20], [50, 60], [90, 95]]),
        trace=SimpleNamespace(slices=SimpleNamespace(start=np.array([7, 99]))),
    )
    session: Any = SimpleNamespace(state=SimpleNamespace(row=row, viewport=Viewport(*shown)))
    assert _anchor(session, analysis) == anchor


@pytest.mark.parametrize("row", [-1, 0, 3])
def test_a_flip_selects_the_row_that_was_found_or_nothing(row: int) -> None:
    place = UndoPoint(Viewport(0, 9), row=2, gap=1)
    selected: list[int] = []
    there: Any = SimpleNamespace(
        state=SimpleNamespace(place=place, go=lambda place: selected.append(place.row)),
        select=selected.append,
    )
    viewer = MagicMock(sessions=[there])
    comparing: Any = SimpleNamespace(viewer=viewer)
    Comparing._take_flip(comparing, Flipped(there, None, Counterpart(0, row, 0, 0), ""))
    assert selected == [row]


def test_idle_time_is_that_of_the_gap_right_before_a_task() -> None:
    """The first task follows none, and neither does what the host does."""
    analysis = analyse(training())
    tasks = np.flatnonzero(np.isin(analysis.trace.slices.start, analysis.gaps.end)).tolist()
    found = {row: gap_ended_by(analysis, row) for row in range(len(analysis.trace.slices))}
    gaps = {row: gap for row, gap in found.items() if gap != -1}
    assert sorted(gaps.values()) == [*range(len(analysis.gaps))]
    assert all(analysis.gaps.after[gap] == row for row, gap in gaps.items()) and set(gaps) <= set(tasks)


def test_before_all_gaps_the_last_step_that_begins_before_a_task_is_shown_until_it() -> None:
    spans = np.array([[10, 40], [40, 70], [70, 99]])
    slices = SimpleNamespace(start=np.array([60]), end=np.array([65]))
    analysis: Any = MagicMock(host_spans=spans, trace=MagicMock(slices=slices))
    session = MagicMock(go_to_gap=lambda gap: False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "gap_ended_by", lambda analysis, row: -1)
        comparing.go_to_idle(session, analysis, 0)
    session.select.assert_called_once_with(0)
    assert session.state.show.call_args.args == (40, 60)


def test_only_idle_time_of_a_step_has_a_slice_that_is_the_longest() -> None:
    comparison = compare_runs(*(side.run for side in sides()))
    causes = {cause.name: cause for cause in comparison.causes}
    for term in comparison.waterfall:
        cause = causes.get(term.name.partition("idle.")[2])
        expected = (-1, -1) if cause is None else (cause.base.row, cause.other.row)
        assert (
            instance(comparison, WATERFALL, term, True),
            instance(comparison, WATERFALL, term, False),
        ) == expected
    operator = comparison.operators[0]
    assert instance(comparison, SHOWN["operator"], operator, False) == operator.other.row >= 0


def test_two_traces_that_cannot_be_compared_are_told_by_what_they_are() -> None:
    def session(name: str, start: int, devices: int) -> Any:
        trace = SimpleNamespace(start_ns=start, end_ns=start + 1_500_000)
        return SimpleNamespace(name=name, analysis=SimpleNamespace(trace=trace, devices=[None] * devices))

    sessions = [session("host", 5_000_000, 0), session("one", 0, 1), session("both", 70, 2)]
    pairs = {places: ComparedPair(*places) for places in ((0, 1), (1, 2))}
    shown = {
        places: [
            "".join(text for text, _ in line) for line in absence_lines(sessions, pair, 200, Palette("none"))
        ]
        for places, pair in pairs.items()
    }
    assert shown[0, 1][:3] == ["", "BASE   1.50 ms, no device: host", "OTHER  1.50 ms, 1 device: one"]
    assert shown[1, 2][1:3] == ["BASE   1.50 ms, 1 device: one", "OTHER  1.50 ms, 2 devices: both"]
    assert shown[0, 1][3] == "" and " ".join(shown[0, 1]).endswith("} compares with the next open trace.")
    two = absence_lines(sessions[:2], pairs[0, 1], 200, Palette("none"))
    assert two[-1][0][0].endswith("tracetui A B opens two other traces.")


async def test_the_first_flip_to_a_screen_says_where_it_led() -> None:
    async with compared() as (app, pilot):
        for shown in ("timeline", "hotspots"):  # two kinds of last lines, both made anew with a screen
            app.show_session(app.sessions[0], shown)
            await until(pilot, lambda: app.screen.is_current and app.session.name == "fast")
            await pilot.press("backslash")
            await until(pilot, lambda: app.session.name == "slow")
            await until(pilot, lambda: "slow: step 50, the same place" in screen_text(app)[-1])
            assert "slow: step 50, the same place" in screen_text(app)[-1]


async def test_a_cause_opens_the_gap_and_a_part_of_a_step_that_step() -> None:
    async with compared() as (app, pilot):
        await table(app, pilot, "cause")
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == "timeline")
        assert app.session.name == "slow" and app.session.state.gap >= 0
        await pilot.press("C")
        await table(app, pilot, "term")
        await pilot.press("slash", *"aicore", "enter", "escape")
        part = next(place for place, row in enumerate(screen(app)._rows) if row.name == "aicore")
        screen(app).table.move_to(part)
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == "timeline")
        run = comparison_of(app).other
        wall = run.terms_ns[:, TERMS.index("aicore")].argmax()
        state = app.session.state
        span = int(run.walls.start[wall]), int(run.walls.end[wall])
        assert state.viewport == around(*span, state.bounds, state.least_ns)


async def test_it_fits_every_terminal() -> None:
    async with compared() as (app, pilot):
        for size in ((20, 5), (1, 1), (9, 3), (300, 100)):
            await pilot.resize_terminal(*size)
            await pilot.press("tab", "j", "tab")
            texts = [strip.text for strip in app.screen._compositor.render_strips()]
            assert [cell_len(text) for text in texts] == [size[0]] * size[1], size


async def test_of_three_traces_the_last_two_are_compared_and_braces_choose_another() -> None:
    sessions = [
        Session(Path(f"{name}.json"), OPTIONS, trace=trace, name=name)
        for name, trace in zip(("fast", "slow", "third"), (*traces(), traces()[0]))
    ]
    app = TraceApp(sessions, OPTIONS)
    for session in sessions:
        session.analysis = run("mixed", STEPS)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("escape", "right_curly_bracket", "C")
        await until(
            pilot,
            lambda: (
                app.comparing.pair is not None
                and (app.comparing.pair.base, app.comparing.pair.other) == (0, 1)
            ),
        )
        await pilot.press("right_curly_bracket")
        await until(
            pilot,
            lambda: (
                app.comparing.pair is not None
                and (app.comparing.pair.base, app.comparing.pair.other) == (0, 2)
            ),
        )
        assert app.sessions[0].is_open and not app.sessions[1].is_open, "two stay in memory"
        await until(pilot, lambda: "OTHER  third" in "\n".join(screen_text(app)))


async def test_screens_of_two_traces_are_told_nothing_that_is_of_the_first_alone() -> None:
    async with compared() as (app, _):
        calls = [
            (mode, app.is_told(mode, app.sessions[0])) for mode in ("timeline@0", "timeline@1", "compare@0")
        ]
        assert calls == [("timeline@0", True), ("timeline@1", False), ("compare@0", False)]


async def test_one_trace_has_nothing_to_compare() -> None:
    app = open_viewer(Path("trace_view.json"), OPTIONS, trace=traces()[0])
    async with app.run_test(size=(100, 24)) as pilot:
        for key in ("C", "backslash"):
            await pilot.press(key)
            await until(pilot, lambda: "tracetui A B opens two" in screen_text(app)[-1])
        assert app.shown == "timeline" and not app.has_screen("compare")


async def test_the_second_is_read_and_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]))
    bad.write_text("no trace at all")
    for other, sentence in ((bad, "OTHER bad.json: "), (good, "BASE has no work of a device to compare.")):
        sessions = [Session(path, OPTIONS) for path in (good, other)]
        sessions[0].open()
        app = TraceApp(sessions, OPTIONS)
        async with app.run_test(size=(100, 24)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)  # noqa: B023
            await pilot.press("escape", "C")
            await until(pilot, lambda: sentence in "\n".join(screen_text(app)))  # noqa: B023
            text = screen_text(app)
            assert text[-1].split("  ")[:3] == ["T timeline", "L open traces", "q quit"], (
                "no key that has nothing to do"
            )
            explained = "A trace of the host alone has none of that" in " ".join(text)
            assert explained == (other is good)
            assert sum(sentence in line for line in text) == 1 + (other is bad), "said once, and why below"
        for session in app.sessions:
            session.end()


async def test_the_rows_shown_are_exported_as_the_command_line_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with compared() as (app, pilot):
        await table(app, pilot, "line")
        await pilot.press("e")
        await pilot.pause()
        await pilot.press("enter")
        written = tmp_path / "fast_compare_lines.csv"
        await until(pilot, written.exists)
        expected = io.BytesIO()
        lines = BY["line"]
        write_table(expected, lines.table, ComparedRows(lines.rows(comparison_of(app))))
        assert written.read_text() == expected.getvalue().decode()


def selected(app: TraceApp) -> str:
    trace, row = app.session.trace, app.session.state.row
    assert trace is not None
    return trace.name(row) if row >= 0 else ""


def offset(session: Session) -> int:
    """How far from the left edge the selected slice starts, ns."""
    assert session.trace is not None
    return int(session.trace.slices.start[session.state.row]) - session.state.viewport.start_ns


# Counterparts


def test_every_operator_of_a_run_is_the_counterpart_of_its_counterpart() -> None:
    base, other = sides()
    rows = base.run.operators.row[:: max(len(base.run.operators.row) // 40, 1)].tolist()
    for row in rows:
        start = int(base.analysis.trace.slices.start[row])
        found = counterpart(base, other, start, row)
        assert found is not None and found.row >= 0 and found.step == found.asked_step
        back = counterpart(other, base, found.time_ns, found.row)
        assert back is not None and (back.row, back.time_ns) == (row, start)


def test_a_task_is_the_counterpart_of_the_task_of_the_matched_operator() -> None:
    base, other = sides()
    trace, chains = base.analysis.trace, base.analysis.launch_chains
    work = base.analysis.work
    tasks = work[chains.operator[chains.index(work)] >= 0][::25].tolist()
    assert len(tasks) > 5
    for task in tasks:
        found = counterpart(base, other, int(trace.slices.start[task]), task)
        assert found is not None and found.row >= 0
        assert other.analysis.trace.name(found.row) == trace.name(task)


def test_time_is_shared_out_within_a_step_and_keeps_its_order() -> None:
    base, other = sides()
    start, end = (column[base.run.walls.host_places] for column in (base.run.walls.start, base.run.walls.end))
    times = [int(start[0]) - 50, int(start[0])]
    times += [int(start[0]) + share * int(end[0] - start[0]) // 9 for share in range(1, 9)]
    found = [counterpart(base, other, time) for time in times]
    moved = [place.time_ns for place in found if place is not None]
    first = int(other.run.walls.start[other.run.walls.host_places][0])
    assert moved[:2] == [first - 50, first] and moved == sorted(moved)
    assert moved[-1] < int(other.run.walls.end[other.run.walls.host_places][0])


def test_a_step_more_on_one_side_has_a_counterpart_in_turn() -> None:
    longer = run("mixed", STEPS + 1)
    side, base = CounterpartSide(longer, run_of(longer)), sides()[0]
    last = int(side.run.walls.start[side.run.walls.host_places][-1])
    found = counterpart(side, base, last)
    assert found is not None and (found.asked_step, found.step) == (STEPS, 0)
    assert found.time_ns == int(base.run.walls.start[base.run.walls.host_places][0])


def test_the_longest_instance_is_told_of_the_step_with_most() -> None:
    comparison = compare_runs(sides()[0].run, sides()[1].run)
    rows = [row for row in comparison.operators if row.base.ns and row.base.row >= 0]
    assert len(rows) > 5
    for row in rows:
        for side, total in zip(sides(), (row.base, row.other)):
            operators = side.run.operators
            of_name = operators.name == operators.names.index(row.name)
            of_step = [int(operators.ns[of_name & (operators.step == step)].sum()) for step in range(STEPS)]
            inside = of_name & (operators.step == of_step.index(max(of_step)))
            assert total.row == operators.row[inside][operators.ns[inside].argmax()]


@pytest.mark.parametrize(("more", "words"), [(0, "No change."), (1_000, "at most 1 % of"), (1_001, "chance")])
def test_a_change_of_a_hundredth_is_at_most_a_hundredth(more: int, words: str) -> None:
    """Of 100 us a step: what is not said to be chance is as small as the words say, a hundredth included."""
    sums = [Sum(ns, 1, ns, ns) for ns in (5_000, 5_000 + more)]
    unknown = None if more > 1_000 else False
    row = ComparedRow("MatMul", sums[0], sums[1], RowScale(1, 1, Fraction(100_000)), unknown)
    assert words in story(row)[-1] and story(row)[0] == "BASE   0.005 ms a step, once"
    if more <= 1_000:
        memory = MemoryRow("alive", sums[0], sums[1], row.scale, False, "alive", "", None, None)
        assert words in story(memory)[-1]


@pytest.mark.parametrize(
    ("shown", "before", "two"),
    [(0, -1, (0, 1)), (2, -1, (0, 2)), (2, 1, (1, 2)), (0, 2, (0, 2)), (1, 1, (1, 2))],
)
def test_the_trace_shown_and_the_one_before_are_compared_in_the_order_of_opening(
    shown: int, before: int, two: tuple[int, int]
) -> None:
    viewer = SimpleNamespace(sessions=["a", "b", "c"], session="abc"[shown])
    comparing: Any = SimpleNamespace(viewer=viewer, _before=before)
    assert Comparing.last_two(comparing) == two


def test_the_table_with_the_largest_change_tells_most() -> None:
    comparison = compare_runs(*(side.run for side in sides()))
    rows = {by: SHOWN[by].rows(comparison) for by in ("line", "operator", "communication")}
    largest = max(abs(of[0].delta_ns) for of in rows.values() if of)
    table = most_telling_table(comparison)
    assert abs(rows[table][0].delta_ns) == largest
