"""Two runs one above the other: what is drawn where, what moves, and what matches what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.comparison.planted import run
from tests.synthetic import piece, process, trace_of
from tests.ui.training import screen_text
from tests.ui.viewing import case, lines_of, said, until
from tracetui import load
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.comparison.axis import Axis
from tracetui.comparison.compared_run import run_of
from tracetui.trace.model import Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.comparing.joint_view import JointView
from tracetui.ui.comparing.stack_words import _causes, _change
from tracetui.ui.comparing.stacked_runs import Band, BandKind, Chosen, StackedRun, StackedRuns
from tracetui.ui.drawing.glyphs import ASCII
from tracetui.ui.options import ViewerOptions
from tracetui.ui.screens.stacked import StackedScreen
from tracetui.ui.session import Session
from tracetui.ui.state import UndoPoint, Viewport
from tracetui.ui.widgets.stacked import Stacked

OPTIONS = ViewerOptions(palette="none", ascii=True, cache=False)


def sides() -> tuple[Analysis, Analysis]:
    """A run of three steps, and one in which the kernels of gelu take twenty times as long."""
    return run("mixed", 3), run("mixed", 3, "gelu", 20.0)


@cache
def stack() -> StackedRuns:
    base, other = (StackedRun.of("", analysis, run_of(analysis)) for analysis in sides())
    return StackedRuns.of(base, other)


@asynccontextmanager
async def stacked(
    analyses: tuple[Analysis, Analysis], size: tuple[int, int] = (120, 36)
) -> AsyncIterator[tuple[TraceApp, Pilot[int]]]:
    """The viewer of both, on the screen that stacks them."""
    sessions = [
        Session(Path(f"{name}.json"), OPTIONS, trace=analysis.trace, name=name)
        for name, analysis in zip(("fast", "slow"), analyses)
    ]
    app = TraceApp(sessions, OPTIONS)
    async with app.run_test(size=size) as pilot:
        for session, analysis in zip(sessions, analyses):
            session.take_analysis(analysis)
        await pilot.press("escape", "vertical_line")
        await until(pilot, lambda: app.shown == "stacked" and "Aligning" not in said(app, "answer"))
        yield app, pilot


def screen(app: TraceApp) -> StackedScreen:
    assert isinstance(app.screen, StackedScreen)
    return app.screen


def look(app: TraceApp) -> JointView:
    """Where one looks at both, which are aligned."""
    found = screen(app).look
    assert found is not None
    return found


async def matched(app: TraceApp, pilot: Pilot[int]) -> tuple[Chosen, Chosen]:
    """What is marked in both once the counterpart is found."""
    await until(pilot, lambda: "looking" not in said(app, "chosen"))
    return look(app).chosen


async def test_both_are_shown_at_the_step_that_differs_most() -> None:
    async with stacked(sides(), (80, 24)) as (app, pilot):
        for size in ((80, 24), (120, 36)):
            await pilot.resize_terminal(*size)
            with case(size):
                lines = lines_of(app.screen.query_one(Stacked))
                heads = [at for at, line in enumerate(lines) if line.startswith("--")]
                assert len(heads) == 2 and "BASE fast" in lines[heads[0]] and "OTHER slow" in lines[heads[1]]
                ticks = [lines[at + 1].rindex("'") for at in heads]
                assert ticks[0] == ticks[1], "the step begins at once"
                assert size[0] == 80 or lines[heads[0] + 1].rstrip("/").endswith("-3.55 ms"), "and BASE waits"
                names = [line[1:].split()[0] for line in lines[heads[0] + 2 : heads[1]]]
                kinds = [kind.value for kind in stack().kinds(0)]
                assert names == [
                    {"communication": "comm"}.get(kind, kind) if size[0] == 80 else kind for kind in kinds
                ]
                whole, parts = stack().step_rows(2, 0) or (None, ())
                assert whole is not None and f"{float(whole.base_ns) / 1e6:.3f} > " in said(app, "answer")
                assert parts[0].name == "aicore" and sum(part.delta_ns for part in parts) == whole.delta_ns
                assert max(map(cell_len, screen_text(app))) <= size[0]


async def test_the_ruler_marks_the_cursor_in_every_column_and_lines_follow_below() -> None:
    async with stacked(sides()) as (app, _):
        widget = app.screen.query_one(Stacked)
        view = widget._view
        assert view is not None
        start, end, last = view.viewport.start_ns, view.viewport.end_ns, widget.columns - 1
        for time, column in ((start - 1, -1), (start, 0), (end - 1, last), (end, -1)):
            ruler = widget._ruler(stack(), view._replace(time_ns=time))
            assert "".join(segment.text for segment in ruler).find(ASCII.cursor) == column
        lines = len(widget.places)
        below = [widget._place(line) for line in (0, 1, lines, lines + 1)]
        assert below == [None, widget.places[0], widget.places[-1], None]


@pytest.mark.parametrize(
    ("base", "other", "words"),
    [
        ((130, 140), (210, 230), "OTHER takes 10 ns longer and begins 20 ns earlier in its step"),
        ((100, 120), (230, 240), "OTHER takes 10 ns shorter and begins 30 ns later in its step"),
        ((100, 110), (200, 210), "OTHER takes as long and begins at the same time in its step"),
        ((99, 110), (200, 210), "OTHER takes 1 ns shorter"),  # before the step of BASE
        ((100, 110), (300, 310), "OTHER takes as long"),  # after that of OTHER
    ],
)
def test_how_the_chosen_ones_differ_is_said_in_words(
    base: tuple[int, int], other: tuple[int, int], words: str
) -> None:
    side = SimpleNamespace(span_of=lambda chosen: chosen)
    steps = [SimpleNamespace(start=np.array([at]), end=np.array([at + 100])) for at in (100, 200)]
    both: Any = SimpleNamespace(sides=(side, side), steps=steps.__getitem__)
    chosen: Any = (base, other)
    assert _change(both, chosen) == words


async def test_moving_moves_both_and_is_undone() -> None:
    async with stacked(sides()) as (app, pilot):
        spans = []
        for key in ("w", "d", "left_square_bracket"):
            before = look(app).state.viewport
            await pilot.press(key)
            after = look(app).state.viewport
            assert after != before
            spans.append(after)
            for side, session in enumerate(app.sessions):
                axis, viewport = stack().axis, session.state.viewport
                assert viewport.start_ns == axis.moment(side, after.start_ns)
                assert viewport.end_ns == axis.moment(side, after.end_ns)
        bounds = look(app).state.bounds
        await pilot.press("home")
        assert look(app).state.viewport.start_ns == bounds.start_ns
        await pilot.press("end")
        assert look(app).state.viewport.end_ns == bounds.end_ns
        assert look(app).state.viewport.span_ns == spans[2].span_ns
        await pilot.press("backspace")
        assert look(app).state.viewport == spans[2], "moves on end are undone as one"
        moved = stack().axis.step_start(2) - stack().axis.step_start(1)
        assert spans[1].start_ns - spans[2].start_ns == moved, "the step before, at the same place"
        await pilot.press("backspace")
        assert look(app).state.viewport == spans[1]
        await pilot.press("0")
        assert look(app).state.viewport == look(app).state.bounds


async def test_what_matches_is_marked_in_the_other_and_flipping_goes_there() -> None:
    async with stacked(sides()) as (app, pilot):
        gelu = "aten::gelu"
        await pilot.press("down", "down", "down", "down")
        assert look(app).kind is BandKind.OPERATORS and look(app).side == 0
        for _ in range(80):
            await pilot.press("right")
            row = look(app).state.row
            if row >= 0 and app.sessions[0].trace is not None and app.sessions[0].trace.name(row) == gelu:
                break
        base, other = await matched(app, pilot)
        traces = [session.trace for session in app.sessions]
        assert [trace.name(of.row) for trace, of in zip(traces, (base, other)) if trace] == [gelu, gelu]
        start = app.sessions[1].trace.slices.start[other.row] if app.sessions[1].trace else 0
        place = stack().axis.place(1, int(start))
        await pilot.press("backslash")
        assert look(app).side == 1 and look(app).state.place.time_ns == place
        assert look(app).chosen == (base, other), "the same two"
        await pilot.press("enter")
        await until(pilot, lambda: app.shown == "timeline")
        assert app.session.name == "slow" and app.session.state.row == other.row
        viewport = app.session.state.viewport
        app.view_changed()
        app.selection_changed()
        await pilot.pause()
        assert app.session.state.viewport == viewport, "what is left does not move it any more"
        await pilot.press("vertical_line")
        await until(pilot, lambda: app.shown == "stacked")
        assert (await matched(app, pilot))[1] == other
        await pilot.press("escape")
        await until(pilot, lambda: app.shown == "timeline")


async def test_a_gap_has_that_before_the_matching_task_beside_it() -> None:
    async with stacked(sides()) as (app, pilot):
        await pilot.press("x")
        base, other = await matched(app, pilot)
        gaps = [analysis.gaps for analysis in sides()]
        assert base.gap == int(gaps[0].ranked()[0]) and other.gap >= 0
        ends = [
            analysis.trace.name(int(of.after[gap_before.gap]))
            for analysis, of, gap_before in zip(sides(), gaps, (base, other))
        ]
        assert ends[0] == ends[1]
        assert "gap, idle" in said(app, "chosen").split("\n")[1]


async def test_a_row_of_a_table_opens_in_both_and_escape_goes_back_to_it() -> None:
    async with stacked(sides()) as (app, pilot):
        await pilot.press("C")
        await until(pilot, lambda: app.shown == "compare" and "Comparing" not in said(app, "answer"))
        while app.screen.shown.by != "operator":  # type: ignore[attr-defined]
            await pilot.press("tab")
        await pilot.press("vertical_line")
        await until(pilot, lambda: app.shown == "stacked")
        await until(pilot, lambda: look(app).state.row >= 0)
        base, other = await matched(app, pilot)
        assert sides()[1].trace.name(other.row) == sides()[0].trace.name(base.row) == "aten::gelu"
        await pilot.press("escape")
        await until(pilot, lambda: app.shown == "compare")


def without_steps() -> Analysis:
    """Two kernels with names that try to reach the terminal."""
    names = ("[red]evil\x1b[2J", "\u202eevil\n")
    pieces = [piece(0, 7, name, at, 40, "kernel") for name, at in zip(names, (0, 100))]
    return analyse(trace_of([*process(0, "python", "GPU 0"), *pieces]))


async def test_any_terminal_a_side_without_steps_and_hostile_names() -> None:
    async with stacked((without_steps(), sides()[1]), (1, 1)) as (app, pilot):
        for size in [(1, 1), (20, 5), (300, 80)]:
            await pilot.resize_terminal(*size)
            with case(size):
                for key in ("down", "right", "f", "backslash", "right_square_bracket", "x"):
                    await pilot.press(key)
                    await pilot.pause()
                    texts = [strip.text for strip in app.screen._compositor.render_strips()]
                    assert [cell_len(text) for text in texts] == [size[0]] * size[1]
                    assert "\x1b" not in "".join(texts) and "\u202e" not in "".join(texts)
                assert "BASE without steps" in said(app, "answer")
                assert ("No step of both runs is here" in "".join(texts)) == (size[1] == 80), (
                    "where there is room"
                )


async def test_a_trace_without_a_device_is_said() -> None:
    empty = analyse(trace_of([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]))
    async with stacked((sides()[0], empty)) as (app, pilot):
        await until(pilot, lambda: "OTHER has no work of a device." in said(app, "answer"))
        assert "no device" in said(app, "chosen") and "tracetui A B opens two other" in said(app, "chosen")
        assert said(app, "keys") == "T timeline  L open traces  q quit\n? keys"
        await pilot.press("w", "right", "down", "enter", "backslash", "f", "x", "tab", "y")
        assert app.shown == "stacked"


#: start and length of slices of two streams that overlap each other
slices = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=12)


@given(slices, slices, st.lists(st.integers(-3, 150), min_size=2, max_size=9).map(sorted))
def test_a_line_of_several_streams_is_busy_where_any_is(
    one: list[tuple[int, int]], other: list[tuple[int, int]], edges: list[int]
) -> None:
    trace = streams(one, other)
    band = Band(trace, np.arange(len(trace.slices)))
    start, end = (column - trace.start_ns for column in (trace.slices.start, trace.slices.end))
    columns = band.columns(np.array(edges, np.int64) * 1000 + trace.start_ns)
    for place, (left, right) in enumerate(zip(edges, edges[1:])):
        inside = np.minimum(end, right * 1000) - np.maximum(start, left * 1000)
        covered = sum(bool(((start <= t * 1000) & (t * 1000 < end)).any()) for t in range(left, right))
        assert columns.busy[place] == covered * 1000
        assert columns.longest[place] == max(0, int(inside.max()))
        row = int(columns.row[place])
        assert (row >= 0) == (left < right and bool((inside > 0).any()))
        assert row < 0 or inside[row] == inside.max()


@given(slices, slices)
def test_the_slices_of_a_line_follow_each_other_by_start(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    trace = streams(one, other)
    band = Band(trace, np.arange(len(trace.slices)))
    row, found = band.beside(-1, trace.start_ns - 1, 1), []
    while row >= 0:
        found.append(row)
        row = band.beside(row, 0, 1)
    starts = trace.slices.start[found].tolist()
    assert sorted(found) == [*range(len(trace.slices))] and starts == sorted(starts)
    assert [band.beside(row, 0, -1) for row in found] == [-1, *found[:-1]]


def streams(*several: list[tuple[int, int]]) -> Trace:
    """Kernels on streams of a GPU, µs: (time since the one before, length)."""
    pieces = []
    for stream, lengths in enumerate(several):
        at = 0
        for wait, length in lengths:
            at += wait
            pieces.append(piece(0, stream, "kernel", at, length, "kernel"))
            at += length
    return trace_of([*process(0, "python", "GPU 0"), *pieces])


def test_what_one_side_cannot_tell_apart_stands_together_in_both(real_traces: Path) -> None:
    """At profiler level 0 neither waiting is told from moving, nor compiling from dispatching."""
    ranks = ("level2/rank0_ascend_pt", "level0/rank1_ascend_pt")
    analyses = [load(real_traces / "npu" / rank) for rank in ranks]
    pair = StackedRuns.of(*(StackedRun.of("", analysis, run_of(analysis)) for analysis in analyses))
    _, parts = pair.step_rows(0, 0) or (None, ())
    names = {part.name for part in parts}
    assert "communication.unsplit" in names
    assert names.isdisjoint({"communication.wait", "communication.transfer", "idle.launch.compile"})


def test_the_first_look_is_at_a_step_of_both() -> None:
    analyses = run("mixed", 3), run("mixed", 2, "gelu", 20.0)
    base, other = (StackedRun.of("", analysis, run_of(analysis)) for analysis in analyses)
    pair = StackedRuns.of(base, other)
    for step, gap in ((0, -1), (1, -1), (2, -1), (2, len(analyses[0].gaps) - 1)):
        state = Session(Path("fast.json"), OPTIONS, trace=analyses[0].trace).state
        start = int(base.run.walls.start[step])
        state.look(Viewport(start, start + 1_000_000))
        state.place = replace(state.place, time_ns=start, gap=gap)
        view = JointView(pair)
        view.look_as(0, state)
        assert view.step == step if step < 2 else 0 <= view.step < 2
        assert not view.selected


def test_who_has_not_looked_elsewhere_sees_the_step_that_differs_most() -> None:
    analysis = sides()[1]
    view = JointView(stack())
    assert view.side == 1 and view.state.bounds == Viewport(0, stack().axis.end)
    viewport, time = view._step_of_most()
    state = Session(Path("slow.json"), OPTIONS, trace=analysis.trace).state
    elsewhere, bounds = Viewport(state.bounds.start_ns, state.bounds.start_ns + 1000), state.bounds
    state.look(elsewhere)
    state.look(bounds)
    shown = [replace(state), replace(state, undo_stack=[])]
    shown[1].place = replace(state.place, viewport=elsewhere)
    for looked in shown:
        view.look_as(1, looked)
        assert (view.state.viewport, view.state.place.time_ns) == (viewport, time)
    state.place = replace(state.place, gap=0)
    view.look_as(1, state)
    assert view.selected == Chosen(gap=0) and view.state.place.time_ns == stack().span(1, Chosen(gap=0))[0]


def test_another_step_is_looked_at_with_nothing_selected() -> None:
    view = JointView(stack())
    view.state.look(Viewport(stack().axis.step_start(1), stack().axis.step_start(2)))
    gap = len(sides()[1].gaps) - 1
    view.choose(1, Chosen(gap=gap), BandKind.IDLE)
    before = view.step
    assert view.selected == Chosen(gap=gap) and view.go_beside_step(-1)
    assert view.step == before - 1 and view.selected == Chosen()
    assert view.go_beside_step(1) and view.step == before


def view_of(deltas: list[int | None]) -> JointView:
    """Where one looks at two runs of as many steps; None: a step that one of them lacks."""
    at = np.arange(2 * len(deltas) + 2, dtype=np.int64) * 100
    axis = Axis(at, (at, at), (np.arange(len(deltas)),) * 2)
    rows = [None if delta is None else (SimpleNamespace(delta_ns=delta), ()) for delta in deltas]
    both: Any = SimpleNamespace(axis=axis, step_rows=lambda step, _: rows[step], devices=3)
    return JointView(both)


@given(st.lists(st.none() | st.integers(-3, 3), min_size=1, max_size=5))
def test_the_first_of_the_steps_that_differ_most_is_looked_at_with_a_twentieth_free_at_each_end(
    deltas: list[int | None],
) -> None:
    view = view_of(deltas)
    known = [abs(delta) for delta in deltas if delta is not None]
    viewport, start = view.state.bounds, 100
    if known:
        start = 100 + 200 * [delta is not None and abs(delta) == max(known) for delta in deltas].index(True)
        viewport = Viewport(start - 5, start + 105).within(viewport)
    assert view._step_of_most() == (viewport, start)
    if known:
        view.state.look(Viewport(start, start + 1))
        assert view.fit_selection() and view.state.viewport == viewport, "nothing is selected"


@given(st.integers(0, 700), st.integers(1, 700), st.integers(-100, 900), st.sampled_from([-1, 1]))
def test_what_is_shown_of_a_step_is_shown_of_the_next_one(start: int, span: int, time: int, by: int) -> None:
    view = view_of([1, 2, 3])
    bounds, starts = view.state.bounds, [100, 300, 500]
    viewport = Viewport(start, start + span).within(bounds)
    view.state.place = UndoPoint(viewport, time_ns=time)
    on_screen = viewport.start_ns <= time < viewport.end_ns
    moment = time if on_screen else (viewport.start_ns + viewport.end_ns) // 2
    step = sum(moment >= at for at in starts) - 1
    assert (view.moment, view.step) == (moment, step)
    assert view.go_beside_step(by) == (0 <= step + by < 3)
    if 0 <= step + by < 3:
        moved = starts[step + by] - (starts[step] if step >= 0 else moment)
        assert view.state.viewport == viewport.pan(moved, bounds)
        assert view.state.place.time_ns == (min(time + moved, 700) if on_screen else starts[step + by])
    else:
        assert view.state.place == UndoPoint(viewport, time_ns=time)


@pytest.mark.parametrize("side", [0, 1])
def test_a_selection_and_its_counterpart_fill_the_screen_with_a_fortieth_free_at_each_end(side: int) -> None:
    view, pair = JointView(stack()), stack()
    assert not view.awaits_counterpart, "nothing is selected"
    counts = [len(analysis.gaps) for analysis in sides()]
    for gap in range(0, min(counts), 5):
        chosen, counterpart = Chosen(gap=gap), Chosen(gap=counts[1 - side] - 1 - gap)
        view.choose_gap(side, gap)
        assert view.awaits_counterpart
        view.take_counterpart(side, chosen, counterpart)
        assert not view.awaits_counterpart
        spans = pair.span(side, chosen), pair.span(1 - side, counterpart)
        start, end = min(spans)[0], max(end for _, end in spans)
        margin = max((end - start) // 40, 1)
        assert view.fit_selection()
        assert view.state.viewport == Viewport(start - margin, end + margin).within(view.state.bounds)
        view.flip()
        assert view.side == 1 - side and view.selected == counterpart
        view.choose(side, Chosen(), BandKind.IDLE)
        assert view.selected == counterpart, "nothing is no selection"


def test_devices_follow_each_other_in_a_ring() -> None:
    view = view_of([1])
    shown = [view.device for _ in range(4) if view.go_to_next_device(1)]
    shown += [view.device for _ in range(2) if view.go_to_next_device(-1)]
    assert shown == [1, 2, 0, 1, 0, 2]
    assert not JointView(stack()).go_to_next_device(1)


def test_a_run_with_fewer_devices_shows_its_last_one_beside_those_of_the_other() -> None:
    bands: Any = ({BandKind.COMPUTING: "first"}, {BandKind.COMPUTING: "last"})
    lanes: Any = SimpleNamespace(devices=(3, 7), bands=bands)
    devices = [StackedRun.device(lanes, number) for number in range(4)]
    assert devices == [3, 7, 7, 7]
    words: list[Any] = [StackedRun.band(lanes, number, BandKind.COMPUTING) for number in (0, 1, 3)]
    assert words == ["first", "last", "last"]


def test_a_line_is_drawn_where_either_run_has_anything_on_it() -> None:
    kinds = [BandKind.COMPUTING, BandKind.COMMUNICATION, BandKind.COPIES, BandKind.OPERATORS]
    filled = ({BandKind.COMPUTING, BandKind.COPIES}, {BandKind.COPIES, BandKind.OPERATORS})
    lanes = [
        SimpleNamespace(devices=(0,), bands=({kind: "x" * (kind in of) for kind in kinds},)) for of in filled
    ]
    both: Any = SimpleNamespace(sides=lanes)
    assert StackedRuns.kinds(both, 1) == [
        BandKind.IDLE, BandKind.COMPUTING, BandKind.COPIES, BandKind.OPERATORS,
    ]  # fmt: skip


def test_the_causes_of_a_gap_add_up_and_come_largest_first() -> None:
    for analysis in sides():
        gaps = analysis.gaps
        for gap in range(len(gaps)):
            found = _causes(analysis, gap)
            lengths = [ns for _, ns in found]
            assert sum(lengths) == gaps.idle[gap] and 0 not in lengths
            assert lengths == sorted(lengths, reverse=True)
            assert len({cause for cause, _ in found}) == len(found)
