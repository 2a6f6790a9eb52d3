"""Time per name: of a whole trace, of a step, of a window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import collective, dequeue, enqueue, npu, operator, step, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.operators import OperatorTable, operator_table
from tracetui.analysis.window import rows_in_window, window_statistics
from tracetui.trace.model import Activity


def totals(table: OperatorTable) -> dict[str, int]:
    return {table[at].name: table[at].total_ns for at in range(len(table))}


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50)), max_size=40))
def test_statistics_are_those_of_the_durations(tasks: list[tuple[str, int]]) -> None:
    trace = trace_of([*npu(), *(task(100 * at, dur, name=name) for at, (name, dur) in enumerate(tasks))])
    rows = np.arange(len(trace.slices))
    table = operator_table(trace, rows)
    assert sorted(totals(table)) == sorted({name for name, _ in tasks})
    for at in range(len(table)):
        row = table[at]
        durations = sorted(dur for name, dur in tasks if name == row.name)
        count = len(durations)
        assert (row.count, row.total_ns, row.mean_ns) == (count, sum(durations), sum(durations) // count)
        assert (row.min_ns, row.max_ns) == (durations[0], durations[-1])
        assert sum(dur <= row.p50_ns for dur in durations) * 2 >= count
        assert sum(dur < row.p50_ns for dur in durations) * 2 < count
        assert sum(dur <= row.p95_ns for dur in durations) * 100 >= count * 95
        assert sum(dur < row.p95_ns for dur in durations) * 100 < count * 95
        assert trace.slices.dur[table.longest[at]] == row.max_ns
    assert (np.diff(table.self_ns) <= 0).all()
    assert table.self_ns.tolist() == table.total_ns.tolist()
    assert not table.total_ns.sum() or abs(table.share.sum() - 1) < 1e-9


def test_a_name_is_one_row_per_activity() -> None:
    trace = trace_of([*npu(), task(0, 5, name="x"), task(10, 5, "AI_CPU", name="x"), operator(0, 9, "x")])
    table = operator_table(trace, np.arange(len(trace.slices)))
    assert [(table[at].kind, table[at].activity) for at in range(3)] == [
        ("host", Activity.NONE),
        ("device", Activity.COMPUTE),
        ("device", Activity.AICPU),
    ]


def training() -> list[dict[str, object]]:
    return [
        *npu(),
        step(0, 0, 100),
        step(1, 100, 100),
        operator(10, 50, "aten::mm"),
        enqueue(12, 3, 1),
        dequeue(14, 9, 1),
        operator(110, 20, "aten::add"),
        task(20, 30, name="mm"),
        task(90, 40, name="mm"),
        task(150, 10, name="add"),
        task(20, 99, "EVENT_WAIT_SQE", stream=2),
        collective(160, 10),
    ]


def test_tables_of_a_trace_hold_work_and_operators() -> None:
    analysis = analyse(trace_of(training()))
    assert totals(analysis.device_operators) == {"mm": 70, "add": 10, "hcom_allReduce_": 10}
    assert totals(analysis.host_operators) == {
        "ProfilerStep#0": 100,
        "ProfilerStep#1": 100,
        "aten::mm": 50,
        "aten::add": 20,
    }


def test_tables_of_a_step_hold_what_starts_in_it() -> None:
    analysis = analyse(trace_of(training()))
    assert totals(analysis.operators_in_step(0).by_name()) == {"mm": 70}
    assert totals(analysis.operators_in_step(1).by_name()) == {"add": 10, "hcom_allReduce_": 10}
    assert totals(analysis.operators_in_step(1, host=True).by_name()) == {
        "ProfilerStep#1": 100,
        "aten::add": 20,
    }


def test_tables_of_a_window_are_cut_to_it() -> None:
    analysis = analyse(trace_of(training()))
    assert totals(analysis.operators_in_window(40, 100).by_name()) == {"mm": 20}
    assert totals(analysis.operators_in_window(40, 60, host=True).by_name()) == {
        "ProfilerStep#0": 20,
        "aten::mm": 20,
    }


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8), st.lists(st.integers(-5, 99)))
def test_windows_side_by_side_add_up(tasks: list[tuple[int, int]], cuts: list[int]) -> None:
    events, time = npu(), 0
    for gap, dur in tasks:
        events.append(task(time + gap, dur))
        time += gap + dur
    analysis = analyse(trace_of(events))
    edges = sorted({-10, 200, *cuts})
    parts = [
        window_statistics(analysis.trace, analysis.trace.tracks, analysis.devices, start, end)
        for start, end in zip(edges, edges[1:])
    ]
    assert sum(int(part.names.total_ns.sum()) for part in parts) == sum(dur for _, dur in tasks)
    assert sum(part.idle_ns for part in parts) == analysis.idle_ns
    gaps = analysis.gaps
    assert sum(part.gap_ns for part in parts) == (gaps.end - gaps.start).sum()
    found = np.concatenate([part.rows for part in parts])
    assert len(np.unique(found)) == len(analysis.trace.slices)


def test_a_window_holds_what_overlaps_it() -> None:
    trace = trace_of(
        [*npu(), *(task(at, dur) for at, dur in ((0, 10), (10, 10), (20, 0), (25, 10), (40, 5)))]
    )
    rows = rows_in_window(trace, trace.tracks, 20, 40)
    assert trace.slices.start[rows].tolist() == [20, 25]
    statistics = window_statistics(trace, trace.tracks, analyse(trace).devices, 5, 38)
    assert (statistics.gaps, statistics.gap_ns, statistics.idle_ns, statistics.longest_idle_ns) == (
        2,
        8,
        8,
        5,
    )
    assert totals(statistics.names) == {"kernel": 25}


def test_kernels_of_a_real_trace_take_its_computing_time(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    table = analysis.device_operators
    computes = np.isin(table.activity, (Activity.COMPUTE, Activity.AICPU))
    assert table.count[computes].sum() == 187
    assert table.total_ns[computes].sum() == analysis.devices[0].computing_ns
