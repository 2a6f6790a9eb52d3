"""The screen of operators and the statistics of a window: cells against the analysis, limits, instances."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from tests.analysis import real
from tests.analysis.machine import call, dequeue, enqueue, npu, operator, task
from tests.export.training import PLAIN, training_events
from tests.synthetic import trace_of
from tests.ui.training import screen_text
from tests.ui.viewing import analysis_of, lines_of, open_viewer, said, until, viewing
from tracetui.analysis.analyse import analyse
from tracetui.analysis.operators import OperatorTable
from tracetui.analysis.window import window_statistics
from tracetui.trace.model import Activity, Trace
from tracetui.ui.app import TraceApp
from tracetui.ui.screens.operators import OperatorsScreen
from tracetui.ui.screens.statistics import StatisticsPanel, idle_answer
from tracetui.ui.widgets.lines import Lines
from tracetui.units import format_count, format_duration, format_percent


@pytest.fixture(scope="module")
def trace() -> Trace:
    return trace_of(training_events(PLAIN, steps=6))


def screen_of(app: TraceApp) -> OperatorsScreen:
    assert isinstance(app.screen, OperatorsScreen)
    return app.screen


def cells_of(names: OperatorTable, place: int, host: bool = False) -> list[str]:
    """What a row has to show, apart from the activity and the bar."""
    row = names[place]
    times = [row.mean_ns, row.p50_ns, row.p95_ns, row.min_ns, row.max_ns]
    share = format_percent(row.self_ns, int(names.self_ns.sum()))
    several = [format_count(row.names)] if (names.names > 1).any() else []
    ranked = format_duration(row.self_ns if host else row.total_ns)
    cells = [row.name, *several, format_count(row.count), ranked, share]
    return [*cells, *map(format_duration, [row.total_ns, *times] if host else times)]


def drawn_cells(line: str) -> list[str]:
    return [cell for cell in re.split(r" {2,}", line.strip()) if not set(cell) <= set("█▏▎▍▌▋▊▉")]


async def test_the_rows_are_the_names_of_the_analysis_on_device_and_host(trace: Trace) -> None:
    async with viewing(trace, "operators", (200, 40)) as (app, pilot):
        analysis = analysis_of(app)
        views = (
            (analysis.operators().by_type(), "z"),
            (analysis.device_operators, "tab"),
            (analysis.host_operators, "z"),
            (analysis.operators(host=True).by_type(), ""),
        )
        for at, (table, key) in enumerate(views):
            lines, host = lines_of(screen_of(app).table)[1:], at > 1
            for place in range(len(table)):
                drawn = drawn_cells(lines[place])
                cells = [cell for cell in drawn if not re.search(r"\(no stack\)|\.py\(", cell)]
                assert (cells if host else [cells[0], *cells[2:]]) == cells_of(table, place, host)
                assert (cells == drawn) == host, "what launched a task is told"
            names = int(table.names.sum())
            assert f"{names:,} names: {int(table.count.sum()):,}" in said(app, "answer")
            if key:
                await pilot.press(key)
                await pilot.pause()


async def test_a_type_opens_into_its_names_and_closes_again(real_traces: Path) -> None:
    async with viewing(real.npu(real_traces, "level2/rank0").trace, "operators") as (app, pilot):
        screen, operators = screen_of(app), analysis_of(app).operators()
        assert "35 types of 83 names: 215 of 539 tasks (187 compute, 4 communication, 24 copies)" in said(
            app, "answer"
        )
        await pilot.press("j", "j", "space")
        await pilot.pause()
        names = operators.of_type("TransData", Activity.COMPUTE).by_name()
        assert "29 names: 57 tasks, 1.39 ms" in said(app, "answer")
        assert len(names) == len(screen.table.rows.view) == 29
        await pilot.press("full_stop")
        assert (
            app.session.state.row == operators.of_type("TransData", Activity.COMPUTE).instances(names, 0)[0]
        )
        await pilot.press("escape")
        await pilot.pause()
        assert (len(screen.table.rows.view), screen.table.cursor_row) == (35, 2)
        await pilot.press("full_stop")
        assert "instance 23 of 57, aclnnMaxPool" in said(app, "answer")  # after the one selected


async def test_it_is_limited_to_the_window_or_to_a_step_and_says_so(trace: Trace) -> None:
    async with viewing(trace, "operators") as (app, pilot):
        analysis = analysis_of(app)
        step = analysis.steps[1]
        app.session.state.place = app.session.state.place.__class__(
            app.session.state.viewport, window=(step.start_ns, step.end_ns)
        )
        app.view_changed()
        await pilot.pause()
        inside = analysis.operators_in_window(step.start_ns, step.end_ns).by_name()
        assert "in the window" in said(app, "answer")
        assert f"names: {int(inside.count.sum()):,} tasks" in said(app, "answer")
        await pilot.press("right_square_bracket")
        await pilot.pause()
        of_step = analysis.operators_in_step(0).by_name()
        assert f"of step {analysis.steps[0].number} on" in said(app, "answer")
        assert f"names: {int(of_step.count.sum()):,} tasks" in said(app, "answer")
        await pilot.press("left_square_bracket")
        await pilot.pause()
        assert "in the window" in said(app, "answer")


async def test_enter_goes_to_the_longest_and_full_stop_through_all(trace: Trace) -> None:
    async with viewing(trace, "operators") as (app, pilot):
        names = analysis_of(app).operators().by_type()
        place = screen_of(app).table.cursor_row
        operators = analysis_of(app).operators()
        rows = operators.instances(operators.by_type(), place).tolist()
        assert len(rows) == int(names.count[place])
        seen = []
        for _ in rows:
            await pilot.press("full_stop")
            seen.append(app.session.state.row)
        assert seen == rows
        assert f"instance {len(rows)} of {len(rows)}" in said(app, "answer")
        await pilot.press("comma")
        assert app.session.state.row == rows[-2]
        await pilot.press("enter")
        await pilot.pause()
        assert (app.shown, app.session.state.row) == ("timeline", int(names.longest[place]))


async def test_the_statistics_are_those_of_the_window_over_the_screen_in_front(trace: Trace) -> None:
    async with viewing(trace, "timeline", (160, 40)) as (app, pilot):
        analysis = analysis_of(app)
        window = (analysis.steps[0].start_ns, analysis.steps[1].end_ns)
        app.session.state.place = app.session.state.place.__class__(app.session.state.viewport, window=window)
        await pilot.press("i")
        await pilot.pause()
        panel = app.screen
        assert isinstance(panel, StatisticsPanel)
        names = analysis.operators_in_window(*window).by_name()
        lines = lines_of(panel.table)[1:]
        for place in range(min(len(names), len(lines))):
            drawn = drawn_cells(lines[place])
            assert [drawn[0], *drawn[2:]] == cells_of(names, place)
        answer = panel.query_one("#numbers Lines", Lines).text
        idle = sum(device.idle.clip(*window).total for device in analysis.devices)
        assert f"idle {format_duration(idle)} ({format_percent(idle, window[1] - window[0])})" in answer
        await pilot.press("tab")
        await pilot.pause()
        assert "host operators" in panel.query_one("#numbers Lines", Lines).text
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, StatisticsPanel)


async def test_without_a_device_the_statistics_are_of_the_host() -> None:
    async with viewing(trace_of([operator(0, 1000, "aten::add")]), "timeline", (80, 24)) as (app, pilot):
        for key in ("i", "tab"):
            await pilot.press(key)
            await pilot.pause()
            panel = app.screen
            assert isinstance(panel, StatisticsPanel)
            assert "host operator" in panel.query_one("#numbers Lines", Lines).text


def test_a_window_without_a_device_has_no_idle_time() -> None:
    analysis = analyse(trace_of([]))
    assert "no known device" in idle_answer(analysis, window_statistics(analysis.trace, (), (), 0, 1000))


async def test_the_idle_share_of_a_window_is_that_of_the_timeline() -> None:
    """Tasks from 0 to 10 and from 30 to 40 ns, the host on until 100 ns: idle 20 of 40 ns."""
    events = [*npu(), task(0, 10), task(30, 10), operator(0, 100, "aten::add")]
    async with viewing(trace_of(events), "timeline", (80, 24)) as (app, pilot):
        analysis = analysis_of(app)
        await pilot.press("0")
        await pilot.pause()
        (row,) = (line for line in screen_text(app) if line.startswith(" NPU idle"))
        whole = window_statistics(analysis.trace, (), analysis.devices, *app.session.state.shown_window)
        assert whole.device_ns == 40 and "50.0 %" in row
        assert "idle 20 ns (50.0 % of the device's 40 ns)" in idle_answer(analysis, whole)
        start = analysis.devices[0].start_ns
        part = window_statistics(analysis.trace, (), analysis.devices, start, start + 20)
        assert "idle 10 ns (50.0 %)" in idle_answer(analysis, part)
        later = window_statistics(analysis.trace, (), analysis.devices, start + 40, start + 50)
        assert idle_answer(analysis, later) == "10 ns: outside the device's window"


async def test_the_rows_are_exported_in_the_order_shown(trace: Trace) -> None:
    async with viewing(trace, "operators") as (app, _):
        screen, names = screen_of(app), analysis_of(app).operators().by_type()
        counts = {names[place].name: names[place].count for place in range(len(names))}
        by_name = sorted(counts, key=str.casefold)
        by_count = sorted(counts, key=counts.__getitem__, reverse=True)
        columns = [column.key for column in screen.table.rows.columns]
        for key, descending, expected in (("name", False, by_name), ("count", True, by_count)):
            screen.table.sort_by(columns.index(key), descending)
            drawn = [drawn_cells(line)[0] for line in lines_of(screen.table)[1:] if line]
            assert drawn == expected
            frame = screen.frame(screen.table.rows.view)
            assert frame["name"].tolist() == expected
            assert frame["count"].tolist() == [counts[name] for name in expected]


async def test_the_filter_is_shared_with_the_other_tables(trace: Trace) -> None:
    async with viewing(trace, "operators") as (app, pilot):
        await pilot.press("slash", "M", "a", "t", "enter")
        await pilot.pause()
        assert not app.screen.query_one("#filter", Input).display
        shown = len(screen_of(app).table.rows.view)
        names = analysis_of(app).device_operators
        assert shown == sum("mat" in names[place].name.casefold() for place in range(len(names)))
        await pilot.press("G")
        await pilot.pause()
        assert "/Mat" in said(app, "answer")


def busy_events(idle: int) -> list[dict[str, Any]]:
    """A device that computes 1,000 ns in two tasks of one line, but for some ns between them."""
    stack = "/me/a/train.py(7): step"
    return [
        *npu(),
        operator(5, 50, "aten::mm", stack=(stack,)),
        enqueue(10, 5, 1),
        dequeue(16, 20, 1),
        call(20, 10, 1),
        task(100, 600, connection=1),
        task(700 + idle, 400 - idle),
    ]


async def test_a_busy_device_opens_on_what_it_computes() -> None:
    for idle, screen in ((90, "operators"), (110, "timeline")):
        app = open_viewer(Path("trace_view.json"), trace=trace_of(busy_events(idle)))
        async with app.run_test(size=(100, 24)) as pilot:
            await until(pilot, lambda: app.session.analysis is not None)  # noqa: B023
            await until(pilot, lambda: app.shown == screen)  # noqa: B023
            if screen == "operators":
                shown = screen_text(app)
                assert "NPU computes 91.0 % of 1.00 µs" in shown[0]
                assert "launched by" in shown[1] and "train.py(7) step" in shown[2]
                await pilot.press("escape")
                assert app.shown == "timeline"


async def test_whoever_looks_already_is_left_where_they_look() -> None:
    app = open_viewer(Path("trace_view.json"), trace=trace_of(busy_events(0)))
    async with app.run_test(size=(100, 24)) as pilot:
        await until(pilot, lambda: app.shown == "operators")
        await pilot.press("escape")
        state = app.session.state
        state.look(state.viewport.zoom(1, 2, 500, state.bounds, 1))
        app.show_first(app.session)
        await pilot.pause()
        assert app.shown == "timeline"
