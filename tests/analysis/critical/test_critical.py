"""The critical chain goes back the way that held things up, and takes all of the wall time apart, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.idle.test_explain import any_machine
from tests.analysis.machine import (
    AUTOGRAD,
    CANN,
    HARDWARE,
    MAIN,
    PYTHON,
    QUEUE,
    Events,
    arrow,
    call,
    dequeue,
    enqueue,
    npu,
    operator,
    step,
    task,
)
from tests.simulator import traces
from tests.synthetic import process, thread, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.critical.chain import CriticalKind
from tracetui.trace.stack import parse_call_stack

Told = list[tuple[int, int, str, "int | None"]]


def chain_of(events: Events, device: int = 0) -> Told:
    """Start, end, kind and line of the pieces; neighbours that differ in nothing as one."""
    analysis = analyse(trace_of(events))
    chain, trace = analysis.critical[device], analysis.trace
    pieces: Told = []
    for index in range(len(chain)):
        text = trace.string(int(chain.stack[index]))
        frame = None if text is None else analysis.rules.line_of(parse_call_stack(text))
        labels = CriticalKind(int(chain.kind[index])).label, None if frame is None else frame.line
        start, end = int(chain.start[index]), int(chain.end[index])
        if pieces and pieces[-1][2:] == labels:
            start = pieces.pop()[0]
        pieces.append((start, end, *labels))
    return pieces


def stack(line: int) -> list[str]:
    return [f"train.py({line}): train"]


def launched(at: int, start: int, line: int = 1, tid: int = MAIN, **parts: Any) -> Events:
    """A kernel at `start`: enqueued at `at`, dequeued 10 later, launched until 30 later."""
    connection, dequeued = at + 1, parts.pop("dequeued", at + 10)
    return [
        operator(at - 5, 10, "aten::mm", tid, stack=stack(line)),
        enqueue(at, 2, connection, tid),
        dequeue(dequeued, 20, connection),
        call(dequeued + 5, 15, connection),
        task(start, parts.pop("dur", 50), connection=connection, **parts),
    ]


#: the device runs from 1100 to 1150, the first step begins at 900
FIRST = [*npu(), step(1, 900, 150), *launched(1_000, 1_100, 3)]


SECOND = [*launched(2_000, 2_040, 7)]


def test_the_walk_goes_from_the_task_to_launch_queue_and_host() -> None:
    assert chain_of([*FIRST, *SECOND]) == [
        (900, 1_005, "host", 3),
        (1_005, 2_000, "host", 7),
        (2_000, 2_010, "queue", None),
        (2_010, 2_040, "launch", None),
        (2_040, 2_090, "device", None),
    ]


def test_a_task_whose_stream_was_busy_follows_the_task_before_it() -> None:
    long = launched(1_000, 1_100, 3, dur=2_000)
    assert chain_of([*npu(), step(1, 900, 150), *long, *launched(1_500, 3_101, 7)])[1:] == [
        (1_000, 1_010, "queue", None),
        (1_010, 1_100, "launch", None),
        (1_100, 3_151, "device", None),
    ]


def test_a_task_whose_dequeue_had_to_wait_follows_the_dequeue_before_it() -> None:
    busy = [*launched(2_000, 2_040, 7, dur=5), *launched(2_006, 2_070, 8, dequeued=2_031)]
    assert chain_of([*FIRST, *busy])[2:] == [
        (2_000, 2_010, "queue", None),
        (2_010, 2_030, "launch", None),
        (2_030, 2_031, "queue", None),
        (2_031, 2_070, "launch", None),
        (2_070, 2_120, "device", None),
    ]


@pytest.mark.parametrize("calls", [True, False])
def test_a_synchronisation_leads_to_the_task_it_waited_for(calls: bool) -> None:
    item = operator(1_060, 150, "aten::item", stack=stack(4))
    waits = call(1_060, 150, 99, "AscendCL@aclrtSynchronizeStream", MAIN)
    first = launched(1_000, 1_100, 3, dur=100)
    events = [*npu(), step(1, 900, 150), *first, item, *[waits] * calls, *launched(1_300, 1_340, 7)]
    assert chain_of(events)[2:] == [
        (1_010, 1_100, "launch", None),
        (1_100, 1_200, "device", None),
        (1_200, 1_210, "host", 4),
        (1_210, 1_300, "host", 7),
        (1_300, 1_310, "queue", None),
        (1_310, 1_340, "launch", None),
        (1_340, 1_390, "device", None),
    ]


@pytest.mark.parametrize("begin", [1_150, 1_400])
def test_a_synchronisation_that_waits_for_nothing_is_work_of_the_host(begin: int) -> None:
    """The task before it ends at 1,150."""
    item = operator(begin, 150, "aten::item", stack=stack(4))
    assert chain_of([*FIRST, item, *SECOND])[:3] == [
        (900, 1_005, "host", 3),
        (1_005, begin + 150, "host", 4),
        (begin + 150, 2_000, "host", 7),
    ]


def test_without_calls_a_long_copy_that_ends_in_its_operator_was_waited_for() -> None:
    operators = [operator(200_000, length, "aten::to", stack=stack(4)) for length in (150_000, 90_000)]
    copy = [
        enqueue(200_010, 2, 5),
        {**dequeue(200_020, 20, 5), "name": "Dequeue@acl_memcpy_host_to_device"},
        task(200_040, 80_000, "PCIE_DMA_SQE", connection=5, name="MEMCPY_ASYNC"),
        *arrow("HostToDevice", 5, (CANN, QUEUE, 200_030), (HARDWARE, 1, 200_040)),
        operator(400_000, 10, "aten::add", stack=stack(5)),
    ]
    events = [event for event in FIRST if event["pid"] != CANN or event["ph"] == "M"]
    kinds = [
        analyse(trace_of([*events, *copy, to, step(2, 1_060, 400_000)])).critical[0].by_kind()
        for to in operators
    ]
    assert [found[CriticalKind.DEVICE] for found in kinds] == [80_000, 0]


def test_a_wait_of_the_stream_leads_to_the_task_on_the_other() -> None:
    events = [
        *FIRST,
        task(1_160, 1_988, stream=7, name="other"),
        task(1_200, 1_950, "EVENT_WAIT_SQE"),
        task(3_148, 1, "EVENT_RECORD_SQE", stream=7, name="EVENT_RECORD"),
        *launched(1_010, 3_151),
    ]
    analysis = analyse(trace_of(events))
    rows = [analysis.trace.name(row) for row in analysis.critical[0].row.tolist() if row >= 0]
    assert "other" in rows
    assert chain_of(events)[-1][2] == "device"


@pytest.mark.parametrize(("latency", "device_since"), [(40, 3_070), (10, 3_000)])
def test_a_task_as_late_after_its_launch_as_usual_was_not_held_up_by_the_one_before_it(
    latency: int, device_since: int
) -> None:
    """The last begins 40 after its launch and 20 after the task before it; on a busy stream 2 are usual."""
    usual = [event for at in range(1_000, 1_800, 200) for event in launched(at, at + 30 + latency)]
    busy = [*launched(1_800, 1_840, dur=300), *launched(1_900, 2_142), *launched(2_000, 2_194)]
    last = [*launched(2_960, 3_000, 5), *launched(3_000, 3_070, 8)]
    pieces = chain_of([*npu(), step(1, 900, 150), *usual, *busy, *last])
    assert pieces[-1] == (device_since, 3_120, "device", None)


def test_the_autograd_thread_leads_to_the_one_that_woke_it_and_that_waits_for_it() -> None:
    backward = operator(1_800, 400, "autograd::engine::evaluate_function: MmBackward0", AUTOGRAD)
    events = [
        *npu(),
        step(1, 900, 2_600),
        *launched(1_000, 1_100, 3),
        operator(1_200, 100, "aten::ones_like", stack=stack(5)),
        backward,
        operator(1_810, 380, "MmBackward0", AUTOGRAD),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 995), (PYTHON, AUTOGRAD, 1_810)),
        *launched(3_000, 3_040, 8),
    ]
    assert chain_of(events) == [
        (900, 1_005, "host", 3),
        (1_005, 1_300, "host", 5),
        (1_300, 2_200, "host", 3),
        (2_200, 3_005, "host", 8),
        (3_005, 3_500, "host", None),
    ]


def test_the_end_of_a_step_on_the_host_is_where_the_walk_begins() -> None:
    last = operator(1_190, 10, "aten::add", stack=stack(9))
    assert chain_of([*npu(), step(1, 900, 300), *launched(1_000, 1_100), last])[-1] == (
        1_005,
        1_200,
        "host",
        9,
    )


def test_a_task_without_a_chain_follows_the_work_before_it() -> None:
    assert chain_of([*npu(), task(10, 5), task(100, 5, stream=2)]) == [(10, 105, "device", None)]


def test_a_device_whose_clock_is_behind_is_put_right() -> None:
    analysis = analyse(trace_of([*FIRST, *launched(2_000, 1_990, 7)]))
    assert analysis.dependencies.clock_lag.tolist() == [25]
    assert chain_of([*FIRST, *launched(2_000, 1_990, 7)])[2:] == [
        (2_000, 2_010, "queue", None),
        (2_010, 2_015, "launch", None),
        (2_015, 2_065, "device", None),
    ]
    assert chain_of([*npu(), *launched(2_000, 1_990, 7)]) == [(2_015, 2_065, "device", None)], (
        "as far as it goes"
    )


def test_a_step_that_ends_on_the_host_ends_by_its_clock() -> None:
    analysis = analyse(trace_of([*FIRST, *launched(2_000, 1_990, 7), step(2, 1_060, 5_000)]))
    depends = analysis.dependencies
    assert depends.clock_lag.tolist() == [25]
    assert depends.points.time[depends.step_end].tolist() == [1_175, 6_060]


def test_a_task_that_begins_with_its_dequeue_follows_from_it() -> None:
    """As at level 0, which records no calls."""
    queued = [operator(1_995, 10, stack=stack(7)), enqueue(2_000, 2, 9), dequeue(2_010, 20, 9)]
    arrows = [
        *arrow("async_npu", 1, (PYTHON, MAIN, 2_000), (HARDWARE, 1, 2_010)),
        *arrow("HostToDevice", 2, (PYTHON, QUEUE, 2_012), (HARDWARE, 1, 2_010)),
    ]
    assert chain_of([*FIRST, *queued, *arrows, task(2_010, 50)])[2:] == [
        (2_000, 2_010, "queue", None),
        (2_010, 2_060, "device", None),
    ]


@pytest.mark.parametrize(
    ("start", "way"),
    [
        (2_480, [(900, 2_480, "host", 7)]),
        (2_600, [(900, 2_500, "host", 7), (2_500, 2_600, "launch", None)]),
    ],
)
def test_without_a_queue_a_call_that_launches_is_work_of_its_line(start: int, way: Told) -> None:
    """Until it ends or its task starts: a copy may hold up the call that launches it."""
    first = [*npu(), step(1, 900, 150), operator(995, 10, stack=stack(7)), call(1_000, 10, 1, tid=MAIN)]
    events = [
        *first,
        task(1_100, 50, connection=1),
        operator(1_150, 1_400, stack=stack(7)),
        call(2_000, 500, 9, tid=MAIN),
        task(start, 400, connection=9),
    ]
    assert chain_of(events) == [*way, (way[-1][1], start + 400, "device", None)]


def test_what_is_before_a_dequeue_that_nobody_enqueued_is_the_queue() -> None:
    other = 105
    dequeued = [dequeue(2_010, 20, 9, other), call(2_015, 15, 9, tid=other), task(2_040, 50, connection=9)]
    assert chain_of([*npu(), step(1, 900, 20), *dequeued]) == [
        (900, 2_010, "queue", None),
        (2_010, 2_040, "launch", None),
        (2_040, 2_090, "device", None),
    ]


def test_a_step_lasts_from_when_the_one_before_it_is_done() -> None:
    analysis = analyse(trace_of([*FIRST, step(2, 1_060, 1_000), *SECOND]))
    first, second = (analysis.critical_in_step(index) for index in range(2))
    assert sum(first.values()) == 1_150 - 900
    assert second == {
        CriticalKind.HOST: 2_000 - 1_150,
        CriticalKind.QUEUE: 10,
        CriticalKind.LAUNCH: 30,
        CriticalKind.DEVICE: 50,
    }
    key, saving = next((key, saving) for key, saving in analysis.savings.items() if saving.line == 7)
    assert (saving.steps, saving.saves_at_most_ns) == ({1: 890}, 995), "the first step waits for none of it"
    without = analysis.what_ifs.faster(key, 0)
    assert (without.steps_before - without.steps_after).tolist() == [0, 890]


def test_of_several_devices_the_line_counts_where_it_takes_most() -> None:
    other = [*process(301, "Ascend Hardware", "NPU 1", 13), *thread(301, 1, "Stream 1")]
    first_device = [*launched(2_000, 2_040, 7)]
    second_device = [
        {**event, "pid": 301} if event["pid"] == HARDWARE else event for event in launched(3_000, 3_040, 8)
    ]
    analysis = analyse(trace_of([*FIRST, *first_device, *other, *second_device]))
    saving = {saving.line: saving for saving in analysis.savings.values()}
    assert [len(analysis.critical), saving[7].critical_ns, saving[8].critical_ns] == [2, 1_000, 995]


@st.composite
def any_run(draw: st.DrawFn) -> Events:
    """Any machine, with steps."""
    events = draw(any_machine())
    times = st.tuples(st.integers(0, 200), st.integers(0, 80))
    for number, (start, dur) in enumerate(draw(st.lists(times, max_size=3))):
        events.append(step(number, start, dur))
    return events


def test_a_profiler_of_level_0_tells_nearly_the_same() -> None:
    """It records no calls of the runtime: neither synchronisations nor launches."""
    chains = []
    for level in (0, 2):
        chains.append(traces.analysed("mixed", level).critical[0])
    little, much = (chain.by_kind() for chain in chains)
    assert all(abs(little[kind] - much[kind]) < 0.01 * chains[0].wall_ns for kind in CriticalKind)


@given(any_run())
def test_the_pieces_sum_to_the_wall_time(events: Events) -> None:
    check(analyse(trace_of(events)))


def check(analysis: Analysis) -> None:
    depends = analysis.dependencies
    points = depends.points
    assert (np.diff(points.time) >= 0).all()
    assert (points.cause < np.arange(len(points))).all()
    for chain in analysis.critical:
        assert (chain.start < chain.end).all()
        assert (chain.start[1:] == chain.end[:-1]).all()
        assert int((chain.end - chain.start).sum()) == chain.wall_ns == sum(chain.by_kind().values())
    for index in range(len(analysis.steps)):
        wall = int(points.time[depends.step_end[index]]) - int(depends.step_begin[index])
        assert sum(analysis.critical_in_step(index).values()) == wall
    ranks = [
        (-saving.saves_at_most_ns, -saving.saves_with_peers_ns, -saving.critical_ns)
        for saving in analysis.savings.values()
    ]
    assert ranks == sorted(ranks)
    for saving in analysis.savings.values():
        assert 0 <= saving.saves_at_most_ns <= saving.critical_ns
        assert all(ns >= 0 for ns in saving.steps.values())


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npu_traces(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    check(analysis)
    (chain,) = analysis.critical
    kinds = chain.by_kind()
    assert kinds[CriticalKind.DEVICE] > 0.5 * chain.wall_ns
    assert kinds[CriticalKind.HOST] > 0.2 * chain.wall_ns
    first = max(analysis.savings.values(), key=lambda saving: saving.saves_with_peers_ns)
    assert first.file is not None
    assert (first.file.rpartition("/")[2], first.line, first.function) == ("main.py", 354, "train")


@pytest.mark.parametrize("rank", [rank for rank in real.NPU if rank.startswith("level2")])
def test_lines_before_a_long_wait_save_nothing(real_traces: Path, rank: str) -> None:
    """It waits 84 to 86 ms in the first all-reduce, after the forward pass, for peer 5."""
    analysis = real.npu(real_traces, rank)
    (key,) = (key for key in analysis.savings if key[1:] == (354, "train", False))
    saving = analysis.savings[key]
    assert saving.saves_with_peers_ns > 19_000_000
    assert (saving.saves_at_most_ns, saving.steps) == (0, {})
    half = analysis.what_ifs_with_late_peers.faster(key, 0.5)
    assert half.before_ns == half.after_ns
    sooner = analysis.what_ifs.faster(key, 0.5)
    assert sooner.before_ns - sooner.after_ns > 9_000_000


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpu_traces(real_traces: Path, name: str) -> None:
    check(real.gpu(real_traces, name))
