"""Idle intervals are split exactly, and each rule of their causes holds on a machine made to show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import gpu, real
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
    collective,
    dequeue,
    enqueue,
    frame,
    npu,
    operator,
    task,
    us,
)
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.explain import explain
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import idle_lines
from tracetui.trace.stack import parse_call_stack

COLLECTOR = 500
Told = list[tuple[int, int, str, "str | None", "int | None"]]


def causes_of(events: Events) -> tuple[Analysis, Causes]:
    analysis = analyse(trace_of(events))
    return analysis, explain(analysis.idle, analysis.launch_chains, analysis.host_threads)


def pieces_of(events: Events) -> Told:
    """Start, end, cause, operator and line of all pieces."""
    analysis, causes = causes_of(events)
    rules, trace = FrameRules(), analysis.trace
    pieces: Told = []
    for index in range(len(causes)):
        text = trace.string(int(causes.stack[index]))
        charged = None if text is None else rules.line_of(parse_call_stack(text))
        row = int(causes.operator[index])
        pieces.append(
            (
                int(causes.start[index]),
                int(causes.end[index]),
                Cause(int(causes.cause[index])).label,
                None if row < 0 else trace.name(row),
                None if charged is None else charged.line,
            )
        )
    return pieces


def stack(line: int) -> list[str]:
    return [f"train.py({line}): train"]


def launched(at: int, start: int, line: int = 1, tid: int = MAIN, **parts: Any) -> Events:
    """A kernel at `start`: enqueued at `at`, dequeued 10 later, launched until 30 later."""
    connection = at + 1
    return [
        operator(at - 5, 10, "aten::mm", tid, stack=stack(line)),
        enqueue(at, 2, connection, tid),
        dequeue(at + 10, 20, connection),
        call(at + 15, 15, connection),
        task(start, parts.pop("dur", 50), connection=connection, **parts),
    ]


FIRST = [*npu(), *launched(1_000, 1_100)]  #: the device runs from 1100 to 1150


def test_the_milestones_split_an_interval() -> None:
    assert pieces_of([*FIRST, *launched(2_000, 2_040, 7)]) == [
        (1_150, 1_995, "host.python", None, 7),
        (1_995, 2_000, "host.operator", "aten::mm", 7),
        (2_000, 2_010, "queue.wakeup", "aten::mm", 7),
        (2_010, 2_030, "launch.dispatch", "aten::mm", 7),
        (2_030, 2_040, "device.latency", "aten::mm", 7),
    ]


def test_what_was_launched_long_ago_is_not_explained() -> None:
    assert [part[2] for part in pieces_of([*FIRST, *launched(1_010, 60_000)])] == ["device.unknown"]


def test_a_busy_dequeue_thread_and_a_compilation() -> None:
    compiling = piece(CANN, QUEUE, "AscendCL@aclopCompileAndExecute", us(2_016), us(4), connection_id=1)
    other = dequeue(1_990, 15, 99)
    parts = pieces_of([*FIRST, *launched(2_000, 2_030, 7), compiling, other])
    assert [(first, last, cause) for first, last, cause, _, _ in parts if first >= 2_000] == [
        (2_000, 2_005, "queue.busy"),
        (2_005, 2_010, "queue.wakeup"),
        (2_010, 2_016, "launch.dispatch"),
        (2_016, 2_020, "launch.compile"),
        (2_020, 2_030, "launch.dispatch"),
    ]


def test_earlier_causes_win() -> None:
    events = [
        *FIRST,
        *launched(2_000, 2_040, 9),
        operator(1_200, 500, "aten::item", stack=stack(3)),
        operator(1_700, 100, "enumerate(DataLoader)#X.__next__", stack=stack(4)),
        operator(1_800, 50, "c10d::barrier", stack=stack(5)),
        *process(COLLECTOR, "Python GC", "CPU", 1),
        piece(COLLECTOR, MAIN, "GC", us(1_300), us(20), "GC"),
    ]
    assert [part for part in pieces_of(events) if part[0] < 1_995] == [
        (1_150, 1_200, "host.python", None, 3),
        (1_200, 1_300, "host.sync", "aten::item", 3),
        (1_300, 1_320, "host.gc", "aten::item", 3),
        (1_320, 1_700, "host.sync", "aten::item", 3),
        (1_700, 1_800, "host.dataloader", "enumerate(DataLoader)#X.__next__", 4),
        (1_800, 1_850, "host.communication", "c10d::barrier", 5),
        (1_850, 1_995, "host.python", None, 9),
    ]


def test_operators_that_only_wrap_python_do_not_count() -> None:
    events = [
        *FIRST,
        *launched(2_000, 2_040, 9),
        operator(1_100, 2_000, "ProfilerStep#1", stack=stack(1)),
        operator(1_170, 1_000, "my range", stack=stack(8)),
        operator(1_200, 10, "aten::add", stack=stack(9)),
    ]
    assert pieces_of(events)[:4] == [
        (1_150, 1_170, "host.python", None, 8),
        (1_170, 1_200, "host.python", None, 9),
        (1_200, 1_210, "host.operator", "aten::add", 9),
        (1_210, 1_995, "host.python", None, 9),
    ]


def test_python_before_a_step_is_that_of_the_line_that_begins_it() -> None:
    """Until `ProfilerStep#2` begins, Python is in `prof.step()`; then on its way to the next line."""
    events = [
        *FIRST,
        *launched(2_000, 2_040, 9),
        operator(900, 400, "ProfilerStep#1", stack=stack(4)),
        operator(1_340, 2_000, "ProfilerStep#2", stack=stack(70)),
        operator(1_500, 10, "Optimizer.step#SGD.step", stack=stack(30)),
        operator(1_600, 10, "aten::add", stack=stack(9)),
    ]
    assert pieces_of(events)[:4] == [
        (1_150, 1_340, "host.python", None, 70),
        (1_340, 1_500, "host.python", None, 30),
        (1_500, 1_600, "host.python", None, 9),
        (1_600, 1_610, "host.operator", "aten::add", 9),
    ]


def test_an_operator_without_a_stack_does_not_take_that_of_its_step() -> None:
    """The step was begun on a line of its own, long before; that of an optimizer's step is where it runs."""
    for around, line in (("ProfilerStep#1", None), ("Optimizer.step#SGD.step", 4)):
        events = [
            *FIRST,
            *launched(2_000, 2_040),
            operator(900, 2_000, around, stack=stack(4)),
            operator(1_200, 300, "aten::add"),
        ]
        assert (1_200, 1_500, "host.operator", "aten::add", line) in pieces_of(events)


@pytest.mark.parametrize(
    "path", ["torch_npu/profiler/profiler.py", "/x/torch/profiler/profiler.py", "torch/autograd/profiler.py"]
)
def test_frames_of_the_profiler_are_its_own_overhead(path: str) -> None:
    events = [
        *FIRST,
        *launched(2_000, 2_040, 9),
        frame(900, 3_000, "train.py(1): train"),
        frame(1_200, 400, f"{path}(231): step"),
        operator(1_300, 50, "aten::add", stack=stack(9)),
    ]
    assert [part[:3] for part in pieces_of(events)][:5] == [
        (1_150, 1_200, "host.python"),
        (1_200, 1_300, "host.profiler"),
        (1_300, 1_350, "host.operator"),
        (1_350, 1_600, "host.profiler"),
        (1_600, 1_995, "host.python"),
    ]


def test_a_task_that_follows_another_of_its_graph_waited_inside_the_graph() -> None:
    """One launch, three kernels; then one launched alone, and two with one id that no graph launched."""
    events = [
        *gpu.gpu(),
        gpu.host(0, 100_000),
        gpu.launch(100, 50, 1, "cudaGraphLaunch"),
        gpu.kernel(200, 100, 1),
        gpu.kernel(350, 100, 1, stream=8),
        gpu.kernel(60_000, 100, 1),
        gpu.launch(300, 50, 2),
        gpu.kernel(60_150, 100, 2),
        gpu.launch(400, 50, 3),
        gpu.kernel(60_300, 100, 3),
        gpu.kernel(60_500, 100, 3),
    ]
    assert [part[:3] for part in pieces_of(events)] == [
        (300, 350, "device.graph"),
        (450, 60_000, "device.graph"),
        (60_100, 60_150, "device.latency"),
        (60_250, 60_300, "device.latency"),
        (60_400, 60_500, "device.latency"),
    ]


def test_graphs_of_a_real_inference_server(real_traces: Path) -> None:
    shares = real.gpu(real_traces, "vllm_graph_execution.json.gz").causes.by_cause()
    assert set(shares) == {Cause.LATENCY, Cause.GRAPH}
    assert 10_000 < shares[Cause.GRAPH] < 30_000


def test_a_loader_that_runs_operators_is_still_charged_to_its_own_line() -> None:
    events = [
        *FIRST,
        *launched(2_000, 2_040, 9),
        operator(1_160, 500, "enumerate(DataLoader)#X.__next__", stack=stack(3)),
        operator(1_200, 10, "aten::empty", stack=["dataset.py(5): load", *stack(3)]),
        operator(1_700, 100, "Function.forward", stack=None),
        frame(1_000, 2_000, "train.py(1): train"),
        frame(1_720, 30, "function.py(1): forward"),
    ]
    assert [part[2:] for part in pieces_of(events)][:6] == [
        ("host.python", None, 3),
        ("host.dataloader", "enumerate(DataLoader)#X.__next__", 3),
        ("host.dataloader", "aten::empty", 5),
        ("host.dataloader", "enumerate(DataLoader)#X.__next__", 3),
        ("host.python", None, 9),
        ("host.operator", "aten::mm", 9),
    ]


@pytest.mark.parametrize(
    ("direction", "name", "cause"),
    [
        ({"memcpy direction": "host to device"}, "copy", "host.copy"),
        ({"memcpy direction": "device to device"}, "copy", "host.operator"),
        ({}, "acl_memcpy_host_to_device", "host.copy"),
        ({}, "aclnnInplaceCopy", "host.operator"),
    ],
)
def test_only_copies_to_the_device_are_copies_of_the_host(
    direction: dict[str, str], name: str, cause: str
) -> None:
    args: dict[str, Any] = {"Task Type": "PCIE_DMA_SQE", "connection_id": 5, **direction}
    events = [
        *FIRST,
        operator(1_900, 200, "aten::to", stack=stack(2)),
        operator(1_910, 180, "aten::copy_", stack=stack(2)),
        enqueue(2_000, 2, 5),
        piece(PYTHON, QUEUE, f"Dequeue@{name}", us(2_010), us(20), "dequeue", correlation_id=5),
        call(2_015, 15, 5, "AscendCL@aclrtMemcpyAsync"),
        piece(HARDWARE, 1, "MEMCPY_ASYNC", us(2_040), us(10), **args),
        task(2_050, 10),
    ]
    assert {part[2] for part in pieces_of(events) if 1_900 <= part[0] < 2_000} == {cause}


def test_an_operator_that_copies_by_a_kernel_is_no_copy_of_the_host() -> None:
    events = [
        *FIRST,
        operator(1_900, 200, "aten::copy_", stack=stack(2)),
        call(2_015, 15, 5, tid=MAIN),
        task(2_050, 10, connection=5),
    ]
    assert {part[2] for part in pieces_of(events) if 1_900 <= part[0] < 2_000} == {"host.operator"}


def test_a_wait_of_the_stream_names_what_it_waited_for() -> None:
    events = [
        *FIRST,
        task(1_100, 2_000, "PCIE_DMA_SQE", stream=7, name="MEMCPY_ASYNC"),
        task(1_160, 0, "PCIE_DMA_SQE", stream=1),
        *launched(1_010, 3_200),
        task(1_200, 1_950, "EVENT_WAIT_SQE"),
        task(3_148, 1, "EVENT_RECORD_SQE", stream=7, name="EVENT_RECORD"),
    ]
    analysis, causes = causes_of(events)
    (waiting,) = np.flatnonzero(causes.cause == Cause.STREAM_WAIT)
    assert (causes.start[waiting], causes.end[waiting]) == (3_100, 3_150)
    assert analysis.trace.name(int(causes.waited_for[waiting])) == "MEMCPY_ASYNC"


def test_the_wait_before_a_collective_is_on_the_stream_of_its_tasks() -> None:
    part: dict[str, Any] = {"Task Type": "SDMA", "connection_id": 5}
    events = [
        *FIRST,
        operator(1_050, 20, "HcclAllreduce"),
        enqueue(1_055, 2, 5),
        dequeue(1_060, 20, 5),
        call(1_065, 10, 5),
        task(1_100, 300, "EVENT_WAIT_SQE", stream=4),
        collective(1_450, 100, connection=5),
        piece(HARDWARE, 4, "SDMA", us(1_450), us(90), **part),
    ]
    assert next(part[:3] for part in pieces_of(events)) == (1_150, 1_400, "device.stream_wait")


def test_a_graph_launched_by_the_first_call_of_a_trace() -> None:
    events = [gpu.launch(100, 50, 1, "cudaGraphLaunch"), gpu.kernel(200, 100, 1), gpu.kernel(350, 100, 1)]
    assert [part[:3] for part in pieces_of([*gpu.gpu(), *events])] == [(300, 350, "device.graph")]


def test_the_first_task_of_a_graph_waits_for_its_launch() -> None:
    events = [gpu.host(0, 1_000), gpu.launch(20, 10, 2), gpu.kernel(40, 20, 2)]
    events += [gpu.launch(100, 50, 1, "cudaGraphLaunch"), gpu.kernel(160, 100, 1), gpu.kernel(350, 100, 1)]
    assert [part[:3] for part in pieces_of([*gpu.gpu(), *events])][-2:] == [
        (150, 160, "device.latency"),
        (260, 350, "device.graph"),
    ]


def test_what_only_an_arrow_leads_to_is_of_no_graph() -> None:
    """Nothing tells when it was launched but that its operator had ended."""
    events = [*npu(), task(0, 5), operator(10, 50, "aten::mm"), task(80, 10)]
    events += arrow("async_npu", 80, (PYTHON, MAIN, 10), (HARDWARE, 1, 80))
    assert pieces_of(events)[-1][:3] == (60, 80, "device.latency")


@pytest.mark.parametrize(("wait", "cause"), [(6_000, "device.latency"), (6_001, "device.unknown")])
def test_a_wait_of_three_times_the_median_is_a_usual_one(wait: int, cause: str) -> None:
    """The second of three tasks starts 2 µs after its launch, which is the median."""
    events = [*FIRST, *launched(2_000, 4_030), *launched(13_000, 13_030 + wait)]
    assert pieces_of(events)[-1][:3] == (13_030, 13_030 + wait, cause)


@pytest.mark.parametrize(("wait", "cause"), [(5_000, "device.latency"), (5_001, "device.unknown")])
def test_five_microseconds_are_usual_where_too_few_tell(wait: int, cause: str) -> None:
    """Two tasks start 70 ns after their launch, which is the median."""
    events = [*FIRST, *launched(2_000, 2_100), *launched(3_000, 3_030 + wait)]
    assert pieces_of(events)[-1][:3] == (3_030, 3_030 + wait, cause)


def test_a_stream_is_empty_from_when_its_last_task_ends() -> None:
    """The second task was launched just then: of its 10, of 70 and of 5,001 ns the median is 70."""
    events = [*FIRST, *launched(1_120, 1_160), *launched(3_000, 3_030 + 5_001)]
    assert pieces_of(events)[-1][:3] == (3_030, 3_030 + 5_001, "device.unknown")


def test_a_burst_may_begin_with_its_enqueue() -> None:
    """Until then it is the thread that wakes autograd whose time it is."""
    events = [
        *npu(),
        *launched(1_000, 1_100, 3),
        operator(1_200, 100, "aten::ones_like", stack=stack(5)),
        operator(2_000, 200, "autograd::engine::evaluate_function: MmBackward0", AUTOGRAD),
        *(event for event in launched(2_000, 2_040, 4, AUTOGRAD) if event.get("cat") != "cpu_op"),
        operator(3_000, 10, "aten::add", stack=stack(6)),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 995), (PYTHON, AUTOGRAD, 2_000)),
    ]
    assert [part for part in pieces_of(events) if part[0] < 2_000] == [
        (1_150, 1_200, "host.python", None, 5),
        (1_200, 1_300, "host.operator", "aten::ones_like", 5),
        (1_300, 2_000, "host.python", None, 3),
    ]


def test_a_synchronisation_exposes_no_interval_of_another_thread() -> None:
    """The first thread waits while the device is idle until the other one has enqueued, then goes on."""
    events = [*FIRST, *launched(2_000, 2_040, 7, AUTOGRAD), *launched(3_000, 3_040, 9)]
    events.append(operator(1_100, 1_800, "aten::item", stack=stack(3)))
    analysis, causes = causes_of(events)
    assert analysis.idle.start.tolist() == [1_150, 2_090]
    assert [analysis.trace.name(row) if row >= 0 else None for row in causes.sync_operator.tolist()] == [
        None,
        "aten::item",
    ]


def test_the_first_frame_of_a_trace_may_be_waiting() -> None:
    events = [
        *FIRST,
        *launched(2_000, 2_040, 9),
        frame(900, 2_000, "train.py(1): main"),
        frame(1_990, 100, "train.py(2): forward"),
        call(1_100, 100, 99, "AscendCL@aclrtSynchronizeStream", MAIN),
    ]
    _, causes = causes_of(events)
    assert (causes.sync_frame.tolist(), causes.frame[0]) == ([0], 0)


def test_autograd_follows_the_thread_that_woke_it() -> None:
    events = [
        *npu(),
        *launched(1_000, 1_100, 3),
        *launched(2_000, 2_040, 4, AUTOGRAD),
        operator(1_200, 100, "aten::ones_like", stack=stack(5)),
        operator(1_800, 400, "autograd::engine::evaluate_function: MmBackward0", AUTOGRAD),
        operator(1_810, 390, "MmBackward0", AUTOGRAD),
        operator(3_000, 10, "aten::add", stack=stack(6)),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 995), (PYTHON, AUTOGRAD, 1_810)),
    ]
    for event in events:
        if event.get("tid") == AUTOGRAD:
            event.get("args", {}).pop("Call stack", None)
    assert [part for part in pieces_of(events) if part[0] < 2_000] == [
        (1_150, 1_200, "host.python", None, 5),
        (1_200, 1_300, "host.operator", "aten::ones_like", 5),
        (1_300, 1_800, "host.python", None, 3),
        (1_800, 1_810, "host.operator", "autograd::engine::evaluate_function: MmBackward0", 3),
        (1_810, 1_995, "host.operator", "MmBackward0", 3),
        (1_995, 2_000, "host.operator", "aten::mm", 3),
    ]


def test_a_synchronisation_under_way_exposes_the_interval() -> None:
    events = [*FIRST, *launched(2_000, 2_040, 9), operator(1_100, 100, "aten::item", stack=stack(3))]
    analysis, causes = causes_of(events)
    assert analysis.trace.name(int(causes.sync_operator[0])) == "aten::item"
    assert analysis.trace.string(int(causes.sync_stack[0])) == stack(3)[0]


def test_outside_of_operators_a_synchronisation_has_a_line_but_no_operator() -> None:
    """The operator that follows tells the line; it did not synchronise."""
    events = [*FIRST, *launched(2_000, 2_040, 9)]
    events.append(call(1_100, 100, 99, "AscendCL@aclrtSynchronizeStream", MAIN))
    analysis, causes = causes_of(events)
    assert (causes.sync_operator[0], causes.sync_thread[0]) == (-1, 0)
    assert analysis.trace.string(int(causes.sync_stack[0])) == stack(9)[0]


@pytest.mark.parametrize(("begin", "exposes"), [(1_149, True), (1_150, False)])
def test_only_a_synchronisation_that_has_begun_before_exposes_the_interval(begin: int, exposes: bool) -> None:
    events = [*FIRST, *launched(2_000, 2_040, 9), operator(begin, 100, "aten::item", stack=stack(3))]
    analysis, causes = causes_of(events)
    assert analysis.idle.start.tolist() == [1_150]
    assert (causes.sync_operator[0] >= 0) == exposes
    assert Cause.SYNC in causes.cause


def test_without_call_stacks_the_frames_are_charged() -> None:
    events = [
        *npu(),
        *launched(1_000, 1_100),
        *launched(2_000, 2_040),
        frame(900, 2_000, "train.py(1): train"),
        frame(1_200, 300, "train.py(20): think"),
        frame(1_700, 20, "torch/utils/data/dataloader.py(6): __next__"),
    ]
    for event in events:
        event.get("args", {}).pop("Call stack", None)
    analysis, causes = causes_of(events)
    lines = {
        (line.line, line.function): line.idle_ns
        for line in idle_lines(analysis.trace, causes.charges, FrameRules())
    }
    assert lines == {(20, "think"): 300, (1, "train"): 2_040 - 1_150 - 300}
    assert causes.by_cause()[Cause.DATALOADER] == 20


def test_the_tree_of_stacks_is_cut_by_frames() -> None:
    events = [
        *FIRST,
        *launched(2_000, 2_040, 7),
        frame(1_000, 1_500, "train.py(1): train"),
        frame(1_200, 300, "train.py(20): think"),
    ]
    analysis = analyse(trace_of(events))
    (root,) = analysis.stacks.children
    assert str(root.frame) == "train.py(1): train"
    assert [(str(child.frame), child.idle_ns) for child in root.children] == [("train.py(20): think", 300)]
    assert root.own_ns == analysis.idle_ns - 300


def test_a_thread_is_unrecorded_outside_its_frames() -> None:
    frames = [frame(1_000, 300, "train.py(1): train"), frame(1_600, 800, "train.py(1): train")]
    parts = pieces_of([*FIRST, *launched(2_000, 2_040, 7), *frames])
    assert [part[:3] for part in parts][:3] == [
        (1_150, 1_300, "host.python"),
        (1_300, 1_600, "host.unrecorded"),
        (1_600, 1_995, "host.python"),
    ]


def test_without_a_chain_nothing_is_guessed() -> None:
    assert pieces_of([*npu(), task(10, 5), task(100, 5)]) == [(15, 100, "unlinked", None, None)]
    known = [*npu(), task(10, 5), call(80, 10, 3), task(100, 5, connection=3)]
    assert pieces_of(known) == [
        (15, 80, "host.unrecorded", None, None),
        (80, 90, "launch.dispatch", None, None),
        (90, 100, "device.latency", None, None),
    ]


def test_a_copy_without_a_launch_stands_for_the_task_that_it_feeds() -> None:
    """Where that was enqueued since the device is idle, and no other work of unknown origin is between.

    A call that the host makes between the copy and what enqueues the task had another task in view.
    """
    fed = launched(2_000, 2_100, 7)
    copies = [task(1_900, 20, "PCIE_DMA_SQE", stream=2), task(1_920, 30, "PCIE_DMA_SQE", stream=2)]
    python = (1_150, 1_900, "host.python", None, 7)
    assert pieces_of([*FIRST, *copies, task(1_930, 5, "EVENT_RECORD", stream=2), *fed])[0] == python
    unlinked = (1_150, 1_900, "unlinked", None, None)
    assert pieces_of([*FIRST, *copies, task(1_960, 5), *fed])[0] == unlinked
    assert pieces_of([*FIRST, *copies, *launched(1_120, 2_100)])[0] == unlinked
    assert pieces_of([*FIRST, *copies, operator(1_910, 20), *fed])[0] == unlinked
    for calls in ([operator(1_900, 20)], [operator(1_890, 400), operator(1_910, 20)]):
        assert pieces_of([*FIRST, *copies, *calls, *fed])[0][2] == "host.python"


def test_without_a_task_queue_the_launch_splits() -> None:
    events = [
        *npu(),
        task(10, 5, connection=2),
        operator(60, 90, stack=stack(4)),
        call(80, 10, 3, tid=MAIN),
        task(100, 5, connection=3),
    ]
    assert pieces_of(events) == [
        (15, 60, "host.unrecorded", None, 4),
        (60, 80, "host.operator", "aten::mm", 4),
        (80, 90, "launch.dispatch", "aten::mm", 4),
        (90, 100, "device.latency", "aten::mm", 4),
    ]


names = st.sampled_from(
    [
        "aten::mm",
        "aten::item",
        "aten::copy_",
        "ProfilerStep#3",
        "c10d::x",
        "autograd::engine::evaluate_function: M",
        "enumerate(DataLoader)#",
    ]
)
times, lengths = st.integers(0, 200), st.integers(0, 40)
threads, ids = st.sampled_from([MAIN, QUEUE, AUTOGRAD]), st.integers(1, 6)
kinds = st.sampled_from(["AI_CORE", "AI_CPU", "PCIE_DMA_SQE", "EVENT_WAIT_SQE", "EVENT_RECORD_SQE", "SDMA"])


@st.composite
def any_machine(draw: st.DrawFn) -> Events:
    """Events with little sense in them: whatever a trace holds, the sums must hold."""
    events = npu()
    events += [*process(301, "Ascend Hardware", "NPU 1", 13), *thread(301, 1, "Stream 1")]
    events += [*process(COLLECTOR, "Python GC", "CPU", 1)]
    with_stacks = draw(st.booleans())
    for start, dur, name, tid, line in draw(
        st.lists(st.tuples(times, lengths, names, threads, st.integers(1, 3)), max_size=12)
    ):
        events.append(
            operator(start, dur, name, tid, stack=stack(line) if with_stacks and tid == MAIN else None)
        )
    for start, dur, number, tid in draw(st.lists(st.tuples(times, lengths, ids, threads), max_size=6)):
        events.append(enqueue(start, dur, number, tid))
    for start, dur, number in draw(st.lists(st.tuples(times, lengths, ids), max_size=6)):
        events.append(dequeue(start, dur, number))
    for start, dur, number, tid in draw(st.lists(st.tuples(times, lengths, ids, threads), max_size=6)):
        name = draw(
            st.sampled_from(["Node@launch", "AscendCL@aclopCompileAndExecute", "AscendCL@aclrtMemcpy"])
        )
        events.append(call(start, dur, number, name, tid))
    for start, dur, kind, stream, connection in draw(
        st.lists(st.tuples(times, lengths, kinds, st.integers(1, 3), st.none() | ids), max_size=12)
    ):
        event = task(start, dur, kind, stream, connection)
        events.append({**event, "pid": draw(st.sampled_from([HARDWARE, 301]))})
    for start, dur, number in draw(st.lists(st.tuples(times, lengths, ids), max_size=2)):
        events.append(collective(start, dur, connection=number))
    for start, dur, line in draw(st.lists(st.tuples(times, lengths, st.integers(1, 3)), max_size=5)):
        events.append(frame(start, dur, f"train.py({line}): f{line}"))
    for start, dur in draw(st.lists(st.tuples(times, lengths), max_size=2)):
        events.append(piece(COLLECTOR, MAIN, "GC", us(start), us(dur), "GC"))
    for number, (first, last) in enumerate(draw(st.lists(st.tuples(times, times), max_size=3))):
        events += arrow("fwdbwd", number, (PYTHON, MAIN, first), (PYTHON, AUTOGRAD, last))
    return events


@given(any_machine())
def test_pieces_sum_to_intervals_and_causes_and_lines_to_idle_time(events: Events) -> None:
    analysis, causes = causes_of(events)
    check_sums(analysis, causes)


def check_sums(analysis: Analysis, causes: Causes) -> None:
    idle = analysis.idle
    assert (causes.ns > 0).all()
    for index in range(len(idle)):
        pieces = causes.of_interval(index)
        starts, ends = causes.start[pieces], causes.end[pieces]
        assert starts[0] == idle.start[index]
        assert ends[-1] == idle.end[index]
        assert (starts[1:] == ends[:-1]).all()
    for index, device in enumerate(analysis.devices):
        assert sum(causes.by_cause(index).values()) == device.idle_ns
    by_step = [causes.by_step(step) for step in range(-1, len(analysis.steps))]
    assert sum(ns for step in by_step for ns in step.values()) == analysis.idle_ns
    lines = idle_lines(analysis.trace, causes.charges, analysis.rules)
    assert sum(line.idle_ns for line in lines) == analysis.idle_ns
    for line in lines:
        for parts in (line.ops, line.causes, line.steps, line.devices):
            assert sum(parts.values()) == line.idle_ns
    gaps = analysis.gaps
    for gap in range(len(gaps)):
        pieces = causes.of_gap(gap)
        assert int(causes.ns[pieces].sum()) == gaps.idle[gap]
        assert (causes.start[pieces] >= gaps.start[gap]).all() and (causes.end[pieces] <= gaps.end[gap]).all()
    dominant = causes.of_gaps(len(gaps))
    assert ((dominant >= 0) == (gaps.idle > 0)).all()


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npu_traces(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    causes = explain(analysis.idle, analysis.launch_chains, analysis.host_threads)
    check_sums(analysis, causes)
    shares = {cause.label: ns / analysis.idle_ns for cause, ns in causes.by_cause().items()}
    assert "unlinked" not in shares
    assert shares["host.operator"] > 0.5
    assert ("launch.compile" in shares) == ("level2" in rank)
    (first, *_) = idle_lines(analysis.trace, causes.charges, analysis.rules)
    assert first.file is not None
    assert first.file.endswith("imagenet_script/main.py")
    assert (first.line, first.function) == (354, "train")


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpu_traces(real_traces: Path, name: str) -> None:
    analysis = real.gpu(real_traces, name)
    causes = explain(analysis.idle, analysis.launch_chains, analysis.host_threads)
    check_sums(analysis, causes)
    assert causes.by_cause()[Cause.UNKNOWN] > 0
