"""Heat maps: cells add up to the numbers of the analysis at any width, and know what takes most of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import gpu, real
from tests.analysis.machine import (
    AUTOGRAD,
    CANN,
    GROUPS,
    MAIN,
    PYTHON,
    Events,
    arrow,
    call,
    collective,
    frame,
    npu,
    operator,
    step,
    task,
    us,
)
from tests.export.training import PLAIN, training_events
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.heat.cause_map import CauseMap
from tracetui.analysis.heat.cells import HeatCells, cell_shares, parts_in_columns, share_columns
from tracetui.analysis.heat.fold import FoldMap
from tracetui.analysis.heat.lead_map import lead_of_lines, lead_of_steps
from tracetui.analysis.heat.lengths import LengthMap, half_of_idle
from tracetui.analysis.heat.mostly import IdleReasons
from tracetui.analysis.heat.step_map import StepMap
from tracetui.analysis.heat.work import Occupation, WorkMap, main_slice
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import union
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Int64s

times = st.lists(st.integers(0, 300), min_size=2, max_size=40)


def analysis_of(*events: Events) -> Analysis:
    return analyse(trace_of([*npu(), *(event for part in events for event in part)]))


def steps_of(*starts: int, dur: int = 100) -> Events:
    """Steps of two tasks each, 10 ns long: 20 and 60 ns after the start of the step."""
    events: Events = []
    for number, start in enumerate(starts):
        events.append(step(5 + number, start, dur))
        for place, at in enumerate((20, 60)):
            connection = 10 * number + place + 1
            events += [
                operator(start + at - 15, 5),
                call(start + at - 14, 2, connection, tid=MAIN),
                task(start + at, 10, connection=connection),
                *arrow("async_npu", connection, (PYTHON, MAIN, start + at - 15), (300, 1, start + at)),
            ]
    return events


def as_sums(cells: HeatCells) -> int:
    assert (cells.ns >= 0).all() and (cells.ns[cells.capacity == 0] == 0).all()
    assert np.array_equal(np.isnan(cells.share), cells.capacity == 0)
    known = cells.share[~np.isnan(cells.share)]
    assert ((known >= 0) & (known <= 1)).all()
    return int(cells.ns.sum())


def all_maps_add_up(analysis: Analysis, columns: int, rows: int) -> None:
    """Every map holds exactly the idle time, or the time of its rows, at this size."""
    trace = analysis.trace
    edges = even_edges(trace.start_ns, trace.end_ns, columns)
    work = WorkMap.from_analysis(analysis)
    cells = work.cells(edges)
    as_sums(cells)
    for thing, ns in zip(work.things, cells.ns):
        assert ns.sum() == thing.times.total > 0
    assert as_sums(LengthMap.from_analysis(analysis, rows).cells(edges)) == analysis.idle_ns
    causes = CauseMap(analysis)
    for by in (causes.by_time(edges), causes.by_step()):
        assert as_sums(by) == analysis.idle_ns
        assert by.ns.sum(axis=1).tolist() == list(causes.causes.values())
    for index in range(len(analysis.steps)):
        assert causes.by_step().ns[:, index].sum() == sum(analysis.causes.by_step(index).values())
    steps = StepMap.from_analysis(analysis)
    if len(steps):
        within = steps.cells(steps.edges(rows))
        assert as_sums(within) + steps.beyond_ns == analysis.idle_ns
        assert (within.ns <= within.capacity).all()
        whole = steps.whole_steps()
        assert whole.ns[0].sum() == sum(step.idle_ns for step in analysis.steps)
        assert whole.ns[1].sum() == sum(max(step.preparing_ns, 0) for step in analysis.steps)
    fold = FoldMap.from_analysis(analysis)
    phase, _ = fold.lines(rows)
    early = np.array([fold.phases[place].preparing for place in phase.tolist()], np.bool_)
    assert len(phase) <= max(rows, len(fold.phases))
    assert int(fold.cells(rows, columns).ns[~early].sum()) == analysis.idle_ns


# ---------------------------------------------------------------------------------------------- the grid


@given(times, times, times)
def test_parts_in_columns_add_up_to_what_lies_between_the_edges(
    a: list[int], b: list[int], c: list[int]
) -> None:
    starts, ends = np.array(a), np.array(a) + np.resize(b, len(a))
    edges = np.sort(np.array(c))
    parts = parts_in_columns(starts, ends, edges)
    assert (parts.ns > 0).all()
    total = np.zeros(len(starts), np.int64)
    np.add.at(total, parts.interval, parts.ns)
    inside = np.minimum(ends, edges[-1]) - np.maximum(starts, edges[0])
    assert np.array_equal(total, np.maximum(inside, 0))
    for interval, column, ns in zip(*(column_of.tolist() for column_of in parts)):
        assert ns == min(ends[interval], edges[column + 1]) - max(starts[interval], edges[column])


@given(st.integers(1, 400), st.integers(1, 90))
def test_a_pool_has_as_many_things_in_each_column_and_no_more_columns_than_asked_for(
    n: int, columns: int
) -> None:
    first = share_columns(n, columns).first
    assert len(first) - 1 <= columns and (first[0], first[-1]) == (0, n)
    assert set(np.diff(first)[:-1].tolist()) <= {share_columns(n, columns).fullest}
    assert n > columns or len(first) - 1 == n


def test_a_column_of_several_steps_shows_the_worst_and_holds_the_sum() -> None:
    ns = np.array([[1, 9, 2, 3, 0], [0, 0, 5, 5, 7]])
    of = np.array([[10, 10, 10, 10, 10], [0, 10, 10, 10, 10]])
    cells, shown = share_columns(5, 3).columns(HeatCells(ns, of, ns + 100, cell_shares(ns, of)))
    assert cells.ns.tolist() == [[10, 5, 0], [0, 10, 7]]
    assert cells.capacity.tolist() == [[20, 20, 10], [10, 20, 10]]
    assert shown.tolist() == [[1, 3, 4], [1, 2, 4]]
    assert cells.share.tolist() == [[0.9, 0.3, 0.0], [0.0, 0.5, 0.7]]
    assert cells.main.tolist() == [[109, 103, 100], [100, 105, 107]]


# ------------------------------------------------------------------------------------------ who works


def rows_of_work(analysis: Analysis) -> dict[tuple[str, str], list[int]]:
    trace = analysis.trace
    found = WorkMap.from_analysis(analysis)
    cells = found.cells(np.arange(trace.start_ns, trace.end_ns + 10, 10, dtype=np.int64))
    names = [(thing.doing.value, thing.tracks[0].name if thing.tracks else "") for thing in found.things]
    return dict(zip(names, cells.ns.tolist()))


def test_waiting_is_no_work_and_has_rows_of_its_own() -> None:
    tasks = [
        task(0, 10),
        task(30, 10),
        task(10, 20, "EVENT_WAIT_SQE"),
        task(5, 10, "NOTIFY_WAIT_SQE", stream=2),
    ]
    assert rows_of_work(analysis_of(tasks)) == {
        ("idle", ""): [0, 10, 10, 0],
        ("works", "Stream 1"): [10, 0, 0, 10],
        ("waits", "Stream 1"): [0, 10, 10, 0],
        ("waits", "Stream 2"): [5, 5, 0, 0],
    }


def test_a_collective_that_waits_for_other_ranks_does_not_work() -> None:
    planes = [
        *thread(GROUPS, 1, "Plane 1"),
        *thread(GROUPS, 2, "Plane 2"),
        piece(GROUPS, 1, "Notify_Wait", us(10), us(15)),
        piece(GROUPS, 1, "Memcpy", us(25), us(5)),
        piece(GROUPS, 2, "Notify_Wait", us(10), us(2)),
        piece(GROUPS, 2, "Memcpy", us(12), us(3)),
    ]
    rows = rows_of_work(analysis_of([task(0, 10), collective(10, 20)], planes))
    assert rows["waiting or moving", "Group 0 Communication"] == [0, 10, 10]
    assert rows["waits", "Group 0 Communication"] == [0, 7, 5]
    assert rows["works", "Group 0 Communication"] == [0, 3, 5]


def test_threads_work_in_python_operators_and_calls_and_wait_in_synchronisations() -> None:
    host = [
        step(1, 0, 100),
        frame(0, 100, "train.py(3): train"),
        operator(10, 20),
        operator(40, 20, "aten::item"),
        call(45, 10, 7, "AscendCL@aclrtSynchronizeStream", tid=MAIN),
        call(12, 4, 8, tid=MAIN),
        frame(80, 10, "<built-in method acquire of _thread.lock object at 0x7f>"),
        piece(CANN, 9, "AscendCL@aclDestroy", us(60), us(10)),
    ]
    rows = rows_of_work(analysis_of(host, [task(0, 10), task(90, 10)]))
    main, other = f"Thread {MAIN}", "Thread 9"
    by_doing = {key[0]: ns for key, ns in rows.items() if str(MAIN) in key[1]}
    assert by_doing == {
        "python": [10, 0, 0, 10, 0, 0, 10, 10, 0, 10],
        "operators": [0, 10, 10, 0, 0, 0, 0, 0, 0, 0],
        "calls": [0, 4, 0, 0, 0, 0, 0, 0, 0, 0],
        "waits": [0, 0, 0, 0, 10, 10, 0, 0, 10, 0],
    }, (main, other, rows)
    (other_calls,) = [ns for key, ns in rows.items() if key[0] == "calls" and str(MAIN) not in key[1]]
    assert other_calls == [0, 0, 0, 0, 0, 0, 10, 0, 0, 0]


def test_a_row_tells_how_much_of_the_idle_time_it_works_and_what_at() -> None:
    analysis = analysis_of(
        [operator(5, 20, "aten::mm"), operator(40, 5, "aten::add"), task(0, 10), task(60, 10)]
    )
    work = WorkMap.from_analysis(analysis)
    (thread_row,) = [thing for thing in work.things if thing.doing is Occupation.OPERATORS]
    assert work.while_idle(thread_row) == (20, 50)
    start = analysis.trace.start_ns
    for (first, stop), name in {(0, 60): "aten::mm", (30, 60): "aten::add"}.items():
        row = main_slice(analysis, thread_row, start + first, start + stop)
        assert analysis.trace.name(row) == name
    assert main_slice(analysis, thread_row, start + 26, start + 40) == -1


def test_a_wait_of_the_host_is_told_by_what_waits_not_by_what_is_around_it() -> None:
    """The step, the function and the frame around a wait have as much of its time."""
    lock = "<built-in method acquire of _thread.lock object at 0x7f>"
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    analysis = analysis_of(
        [
            step(1, 0, 100),
            frame(0, 100, "train.py(3): train"),
            operator(20, 30, "aten::mul"),
            operator(22, 26, "aten::item"),
            call(24, 20, 7, "AscendCL@aclrtSynchronizeStream", tid=MAIN),
            operator(60, 10, loader),
            frame(80, 10, lock),
        ],
        [task(0, 10), task(90, 10)],
    )
    (waits,) = (thing for thing in WorkMap.from_analysis(analysis).things if thing.doing is Occupation.WAITS)
    assert waits.times.total == 26 + 10 + 10
    start = analysis.trace.start_ns
    for (first, stop), name in {(0, 100): "aten::item", (55, 75): loader, (75, 100): lock}.items():
        assert analysis.trace.name(main_slice(analysis, waits, start + first, start + stop)) == name
    assert main_slice(analysis, waits, start, start + 20) == -1


@pytest.mark.parametrize("name", ["threading.py(359): wait", "/usr/lib/python3.10/selectors.py(416): select"])
def test_a_thread_that_was_blocked_before_the_recording_waits(name: str) -> None:
    """What of the interpreter blocks in these functions is recorded only where it begins later."""
    rows = rows_of_work(analysis_of([frame(0, 100, name, 9), operator(0, 5)], [task(0, 10), task(90, 10)]))
    assert {doing: ns for (doing, label), ns in rows.items() if label == "Thread 9"} == {"waits": [10] * 10}


def test_calls_are_of_the_thread_of_their_own_process() -> None:
    """Two processes of one program may have threads of one number, as in containers of their own."""
    events = [*gpu.gpu(), gpu.kernel(0, 10, 1), gpu.kernel(200, 10, 2)]
    for pid, start in ((1000, 10), (2000, 100)):
        events += [
            *process(pid, "python", "CPU"),
            piece(pid, 77, "aten::mm", us(start), us(20), "cpu_op"),
            piece(
                pid, 77, "cudaLaunchKernel", us(start + 5), us(start // 10), "cuda_runtime", correlation=start
            ),
        ]
    work = WorkMap.from_analysis(analyse(trace_of(events)))
    calls = {
        thing.tracks[0].pid: thing.times.total for thing in work.things if thing.doing is Occupation.CALLS
    }
    assert calls == {"1000": 1, "2000": 10}


# ------------------------------------------------------------------------------------------ the steps


def test_steps_lie_upon_each_other_at_their_first_work() -> None:
    analysis = analysis_of(steps_of(0, 100, 230))
    places = StepMap.from_analysis(analysis)
    start = analysis.trace.start_ns
    assert (places.base - start).tolist() == [20, 120, 250]
    assert (places.start - start).tolist() == [20, 70, 170]
    cells = places.cells(np.arange(-80, 70, 10, dtype=np.int64))
    assert cells.ns.T.tolist() == [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 10, 10, 0, 0],
        [0, 0, 0, 10, 10, 10, 10, 10, 0, 10, 10, 10, 0, 0],
        [10, 10, 10, 10, 10, 10, 10, 10, 0, 10, 10, 10, 0, 0],
    ]
    assert (cells.capacity.T[0] > 0).tolist() == [False] * 8 + [True] * 5 + [False]
    idle = analysis.idle
    assert (idle.start[cells.main[3, 1]], idle.end[cells.main[3, 1]]) == (start + 70, start + 120)
    assert places.beyond_ns == 0


def test_idle_time_before_the_first_step_is_said_and_not_drawn() -> None:
    analysis = analysis_of([task(0, 10), task(50, 10)], steps_of(100, 200))
    places = StepMap.from_analysis(analysis)
    assert places.beyond_ns == 40
    assert int(places.cells(places.edges(20)).ns.sum()) == analysis.idle_ns - 40


def test_idle_time_of_no_step_is_part_of_what_no_step_covers() -> None:
    """Windows of steps may overlap: what lies in two of them is not counted twice."""
    analysis = analysis_of([task(0, 10), task(50, 10)], steps_of(100, 200))
    steps = [replace(step, end_ns=step.end_ns + 90) for step in analysis.steps]
    (device,) = analysis.devices
    covered = {ns for step in steps for ns in range(step.start_ns, step.end_ns)}
    outside = sum(ns not in covered for ns in range(device.start_ns, device.end_ns))
    assert outside > device.window_ns - sum(step.end_ns - step.start_ns for step in steps)
    overlapping: Any = SimpleNamespace(
        causes=analysis.causes,
        devices=analysis.devices,
        steps=steps,
        steps_by_device=analysis.steps_by_device,
    )
    assert set(CauseMap(overlapping).by_step().capacity[:, -1].tolist()) == {outside}


def test_the_only_step_is_folded_by_phase_and_preparing_is_no_idle_time() -> None:
    analysis = analysis_of(steps_of(0))
    fold = FoldMap.from_analysis(analysis)
    start = analysis.trace.start_ns
    assert [(phase.name, phase.start_ns - start, phase.end_ns - start) for phase in fold.phases] == [
        ("preparing", 0, 20),
        ("step", 20, 70),
    ]
    cells = fold.cells(7, 2)
    assert fold.line_ns(7) == 10
    assert cells.ns.sum(axis=1).tolist() == [10, 10, 0, 10, 10, 10, 0]
    assert (cells.main >= 0).any(axis=1).tolist() == [False, False, False, True, True, True, False]


@pytest.mark.parametrize(
    ("backward", "phases"),
    [
        ((False, True, False), [("forward", 40, 80), ("backward", 80, 90), ("tail", 90, 130)]),
        ((False, True, True), [("forward", 40, 80), ("backward", 80, 130)]),
        ((True, False, False), [("forward + backward", 40, 50), ("tail", 50, 130)]),
        ((True, True, False), [("forward + backward", 40, 90), ("tail", 90, 130)]),
    ],
)
def test_a_step_is_folded_where_its_passes_meet(
    backward: tuple[bool, ...], phases: list[tuple[str, int, int]]
) -> None:
    """Tasks of 10 ns at 40, 80 and 120."""
    events = [step(5, 0, 200)]
    for connection, evaluated in enumerate(backward, 1):
        name, tid = ("autograd::engine::evaluate_function: Mm", AUTOGRAD) if evaluated else ("aten::mm", MAIN)
        at = 40 * connection
        events += [operator(at - 15, 5, name, tid), task(at, 10)]
        events += arrow("async_npu", connection, (PYTHON, tid, at - 15), (300, 1, at))
    found = FoldMap.from_analysis(analysis_of(events)).phases
    start = min(phase.start_ns for phase in found)
    found_phases = [
        (fold_phase.name, fold_phase.start_ns - start, fold_phase.end_ns - start)
        for fold_phase in found
        if not fold_phase.preparing
    ]
    assert found_phases == phases


def test_a_trace_without_steps_is_one_page() -> None:
    fold = FoldMap.from_analysis(analysis_of([task(0, 10), task(90, 10)]))
    assert [(phase.name, phase.end_ns - phase.start_ns) for phase in fold.phases] == [("", 100)]
    assert fold.cells(5, 2).ns.tolist() == [[0, 10], [10, 10], [10, 10], [10, 10], [10, 0]]


# ---------------------------------------------------------------------------------- lengths and causes


@given(st.lists(st.integers(1, 10**10), min_size=1, max_size=12), st.integers(1, 60))
def test_a_gap_lies_between_the_bounds_of_its_row(lengths: list[int], rows: int) -> None:
    at, tasks = 0, [task(0, 10)]
    for length in lengths:
        at += 10 + length
        tasks.append(task(at, 10))
    found = LengthMap.from_analysis(analysis_of(tasks), rows)
    assert (np.diff(found.bounds) < 0).all()
    assert len(found.gaps) <= max(rows, 11)
    for place, (gaps, idle) in enumerate(zip(found.gaps.tolist(), found.idle.tolist())):
        within = [length for length in lengths if found.bounds[place + 1] <= length < found.bounds[place]]
        assert (gaps, idle) == (len(within), sum(within))
    assert int(found.idle.sum()) == sum(lengths)


def test_half_of_the_idle_time_is_in_the_longest_gaps() -> None:
    tasks = [task(at, 10) for at in (0, 110, 170, 230, 290)]
    assert half_of_idle(analysis_of(tasks)) == (2, 50)
    assert half_of_idle(analysis_of([task(0, 10)])) == (0, 0)


def test_the_reason_of_a_stretch_is_the_cause_and_line_with_most_of_it() -> None:
    analysis = analysis_of(steps_of(0, 100))
    start, reasons = analysis.trace.start_ns, IdleReasons(analysis)
    whole = reasons.between(0, start, start + 200)
    assert whole.idle_ns == analysis.idle_ns
    assert whole.cause == next(iter(analysis.causes.by_cause()))
    assert reasons.between(0, start + 20, start + 30).cause is None
    for cause, ns in analysis.causes.by_cause().items():
        assert reasons.between(0, start, start + 200, only=cause)[:3] == (ns, cause, ns)
    assert reasons.between(0, start, start + 200, only=Cause.GC).cause is None


# ----------------------------------------------------------------------------------------- all of them


@given(times, st.integers(1, 40), st.integers(1, 12))
def test_all_cells_of_any_trace_add_up(at: list[int], columns: int, rows: int) -> None:
    starts = sorted(set(at))
    kinds = ("AI_CORE", "EVENT_WAIT_SQE", "PCIE_DMA_SQE", "AI_CPU")
    tasks = [task(start, 1 + start % 7, kinds[start % 4], stream=start % 3) for start in starts]
    host = [operator(start, 3) for start in starts[::3]]
    groups = [collective(start, 4) for start in starts[:1]]
    all_maps_add_up(analysis_of(tasks, host, groups, steps_of(*range(0, at[0], 90))), columns, rows)


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npu_traces_add_up(real_traces: Path, rank: str) -> None:
    all_maps_add_up(real.npu(real_traces, rank), 80, 30)


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpu_traces_add_up(real_traces: Path, name: str) -> None:
    all_maps_add_up(real.gpu(real_traces, name), 80, 30)


def waits_of_group(analysis: Analysis) -> int:
    (waits,) = [
        thing.times
        for thing in WorkMap.from_analysis(analysis).things
        if thing.doing is Occupation.WAITS and thing.tracks[0].name.startswith("Group")
    ]
    return waits.total


def test_the_waits_of_a_group_are_those_for_late_peers(real_traces: Path) -> None:
    """86.158, 0.822, 0 and 8.486 ms in the four collectives of that rank."""
    analysis = real.npu(real_traces, "level2/rank0")
    assert waits_of_group(analysis) == analysis.communication.waits.wait_ns.sum()
    assert round(waits_of_group(analysis), -4) == 95_470_000
    lost = {thing.doing: thing.times.total for thing in WorkMap.from_analysis(analysis).things if thing.lost}
    (split,) = analysis.communication.splits
    assert lost == {
        Occupation.IDLE: split.idle_ns,
        Occupation.WAITING: split.wait_ns,
        Occupation.MOVING: split.transfer_ns,
    }


def test_without_planes_a_collective_waits_while_a_task_waits_and_none_moves(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level0/rank1")
    assert not analysis.communication.waits.has_handshake.any()
    assert waits_of_group(analysis) == 64_171_260


def test_maps_of_nothing() -> None:
    analysis = analyse(trace_of([]))
    edges: Int64s = np.array([0, 5, 10], np.int64)
    assert not WorkMap.from_analysis(analysis).things
    assert not len(StepMap.from_analysis(analysis))
    assert not FoldMap.from_analysis(analysis).phases
    assert LengthMap.from_analysis(analysis, 5).cells(edges).ns.shape == (0, 2)
    assert CauseMap(analysis).by_time(edges).ns.shape == (0, 2)
    assert not union(edges[:0], edges[:0]).total


# -- the lead of the host ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("lines", "columns"), [(1, 7), (12, 90)])
def test_the_time_without_a_lead_adds_up_to_that_of_the_windows(
    real_traces: Path, lines: int, columns: int
) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    fold = FoldMap.from_analysis(analysis)
    lead_map = lead_of_lines(fold, lines + len(fold.phases), columns)
    ((device,), (lead,)) = analysis.devices, analysis.leads
    start = min(phase.start_ns for phase in fold.phases)
    empty = np.diff(lead.empty_before(np.array([start, device.end_ns])))[0]
    assert lead_map.cells.ns.sum() == empty > 0
    assert lead_map.cells.capacity.sum() == device.end_ns - start
    row, column = np.unravel_index(int(np.nanargmax(lead_map.work)), lead_map.work.shape)
    edges = np.array([lead_map.start[row, column], lead_map.end[row, column]])
    count, work = lead.mean_of(edges[:-1], edges[1:])
    assert (lead_map.count[row, column], lead_map.work[row, column]) == (count[0], work[0])
    assert (np.isnan(lead_map.work) == (lead_map.cells.capacity == 0)).all()


def test_each_step_has_the_lead_on_its_own_time() -> None:
    analysis = analyse(trace_of(training_events(PLAIN, steps=4)))
    steps = StepMap.from_analysis(analysis)
    down = steps.edges(9)
    lead_map = lead_of_steps(steps, down)
    assert lead_map.cells.ns.shape == (9, 4)
    (lead,) = analysis.leads
    for place in range(4):
        inside = np.clip(steps.base[place] + down, steps.start[place], steps.end[place])
        assert lead_map.cells.ns[:, place].tolist() == np.diff(lead.empty_before(inside)).tolist()
        assert lead_map.cells.capacity[:, place].sum() == steps.end[place] - steps.start[place]
