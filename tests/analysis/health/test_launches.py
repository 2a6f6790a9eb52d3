"""Which launches are expected to have a task, and which of them have none."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis import gpu, machine
from tests.analysis.machine import Events
from tests.synthetic import trace_of
from tracetui.analysis.health.launches import launches_of, tasks_launched
from tracetui.analysis.launch_chains import link_tasks


def launched(events: Events) -> list[tuple[int, bool]]:
    """The start of each launch, us, and whether it has no task."""
    trace = trace_of(events)
    found = launches_of(trace, link_tasks(trace))
    assert (trace.slices.start[found.row] == found.start).all()
    assert (trace.slices.end[found.row] == found.end).all()
    return [*zip((found.start // 1000).tolist(), found.lost.tolist())]


def launch(at: int, number: int, name: str = "cudaLaunchKernel", tid: int = gpu.HOST) -> Events:
    """A call at so many us."""
    return [{**gpu.launch(at * 1000, 5_000, number, name), "tid": tid}]


def kernel(at: int, number: int) -> Events:
    return [gpu.kernel(at * 1000, 5_000, number)]


def test_a_launch_without_a_task_of_its_number_has_lost_it() -> None:
    events = [*gpu.gpu(), *launch(30, 3), *launch(10, 1), *launch(20, 2), *kernel(40, 1), *kernel(50, 3)]
    assert launched(events) == [(10, False), (20, True), (30, False)]
    twice = [*launch(60, 4), *launch(70, 4), *kernel(80, 4)]
    assert launched([*events, *twice])[3:] == [(60, False), (70, False)], "either may have launched it"


def test_what_has_no_number_has_no_task() -> None:
    unnumbered = [gpu.host(20_000, 5_000, "cudaLaunchKernel", "cuda_runtime")]
    task = [{**e, "args": {"stream": 7, "device": 0}} for e in kernel(40, 1)]
    assert launched([*gpu.gpu(), *launch(10, 1), *unnumbered, *kernel(30, 1), *task]) == [
        (10, False),
        (20, True),
    ]


def test_copies_and_other_calls_are_no_launches() -> None:
    names = ("cudaMemcpyAsync", "cudaMemsetAsync", "cudaMalloc", "cudaStreamSynchronize", "cudaGraphLaunch")
    others = [event for n, name in enumerate(names) for event in launch(10 * n, 10 + n, name)]
    assert launched([*gpu.gpu(), *others, *launch(90, 1)]) == [(90, True)]


@pytest.mark.parametrize("first", [0, 1])
def test_what_a_process_launches_while_a_thread_captures_is_kept_for_a_graph(first: int) -> None:
    """Until that thread ends it, and if it has no task; in whichever order the file has the calls."""
    other = gpu.HOST + 1
    turns = [
        *launch(20, -1, "cudaStreamBeginCapture"),
        *launch(40, -1, "cudaStreamEndCapture"),
        *launch(60, -1, "cudaStreamBeginCapture"),
    ]
    launches = [event for n, at in enumerate((10, 30, 50, 70)) for event in launch(at, n)]
    elsewhere = [
        *launch(35, 8, tid=other),
        *launch(37, 7, tid=other),
        *kernel(90, 7),
        *launch(38, -1, "cudaStreamEndCapture", tid=other),
        *launch(39, 6),
    ]
    late = launch(20, 9)  # at the time at which the capture begins, and after it
    events = [*turns[:: -1 if first else 1], *launches, *elsewhere, *late]
    assert launched([*gpu.gpu(), *events]) == [(10, True), (37, False), (50, True)]


@pytest.mark.parametrize(
    ("over", "lost"),
    [
        ([], []),
        (launch(40, 9, "cudaGraphInstantiate"), [50, 60]),
        (launch(40, 9, "cudaGraphInstantiate", gpu.HOST + 1), []),
        (launch(40, 9, "cudaGraphLaunch", gpu.HOST + 1), [50, 60]),
        (launch(10, 9, "cudaGraphLaunch"), []),
        ([*launch(40, 9), *kernel(70, 9)], [50, 60]),
        ([*launch(40, 9, tid=gpu.HOST + 1), *kernel(70, 9)], []),
        ([*launch(40, 9, "cudaGraphLaunch"), *launch(55, -1, "cudaStreamEndCapture")], [60]),
        ([*launch(40, 9, "cudaGraphLaunch"), *launch(55, -1, "cudaStreamBeginCapture")], [50]),
    ],
)
def test_a_capture_without_an_end_is_over_where_its_graph_or_a_kernel_runs(
    over: Events, lost: list[int]
) -> None:
    begun = [*launch(20, -1, "cudaStreamBeginCapture"), *launch(30, 1), *launch(50, 2), *launch(60, 3)]
    assert [at for at, is_lost in launched([*gpu.gpu(), *begun, *over]) if is_lost] == lost


@pytest.mark.parametrize(
    ("before", "lost"),
    [
        ([], [70]),
        (launch(40, 9, "cudaGraphLaunch", gpu.HOST + 1), [20, 30, 70]),
        ([*launch(40, 9), *kernel(90, 9)], [20, 30, 70]),
        (launch(40, -1, "cudaStreamEndCapture"), [70]),
        (launch(80, 9, "cudaGraphInstantiate"), [70]),
        (launch(65, 9, "cudaGraphInstantiate", gpu.HOST + 1), [70]),
        (launch(25, 9, "cudaGraphInstantiate"), [20, 70]),
        ([*launch(25, -1, "cudaStreamBeginCapture"), *launch(40, -1, "cudaStreamEndCapture")], [20, 70]),
    ],
)
def test_a_capture_without_a_beginning_is_older_than_the_recording(before: Events, lost: list[int]) -> None:
    """Or began since the thread launched what ran."""
    launches = [*launch(20, 0), *launch(30, 1), *launch(50, 2), *launch(70, 3)]
    events = [*gpu.gpu(), *launches, *launch(60, -1, "cudaStreamEndCapture"), *before]
    assert [at for at, is_lost in launched(events) if is_lost] == lost


def dequeued(at: int, number: int, name: str = "Dequeue@aclnnMm") -> Events:
    """What a queue takes out; it has a task where its number is even."""
    event = {**machine.dequeue(at * 1000, 5_000, number), "name": name}
    if number % 2:
        return [event]
    begin, end = (machine.CANN, machine.QUEUE, (at + 1) * 1000), (machine.HARDWARE, 1, (at + 100) * 1000)
    task = machine.task((at + 100) * 1000, 5_000, connection=number)
    return [event, task, *machine.arrow("HostToDevice", number, begin, end)]


def test_without_calls_what_a_queue_takes_out_stands_for_launches() -> None:
    """Of kinds of which some have a task."""
    queue = [*dequeued(10, 2), *dequeued(20, 3), *dequeued(30, 4), *dequeued(25, 5, "Dequeue@release")]
    operators = [machine.operator(12_000, 2_000)]
    assert launched([*machine.npu(), *queue, *operators]) == [(10, False), (20, True), (30, False)]


def test_each_task_knows_its_launch() -> None:
    trace = trace_of(
        [*gpu.gpu(), *launch(10, 1), *launch(20, 2), *kernel(30, 2), *kernel(40, 1), *kernel(50, 9)]
    )
    chains = link_tasks(trace)
    assert tasks_launched(trace, chains, launches_of(trace, chains)).tolist() == [1, 0, -1]
    trace = trace_of([*machine.npu(), *dequeued(10, 2), *dequeued(20, 4), machine.task(500_000, 5)])
    chains = link_tasks(trace)
    found = tasks_launched(trace, chains, launches_of(trace, chains))
    assert found.tolist() == [0, 1, -1] and found.dtype == np.int64
