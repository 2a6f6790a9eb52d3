"""The step table against step_trace_time.csv, and the rules of a step's window one by one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis import gpu, real
from tests.analysis.machine import (
    AUTOGRAD,
    MAIN,
    call,
    collective,
    dequeue,
    enqueue,
    npu,
    operator,
    step,
    task,
    us,
)
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.host_steps import (
    MOST_NESTED,
    Drivers,
    host_steps,
    issued_by_process,
    tasks_of_steps,
)
from tracetui.analysis.steps import Step, step_of

#: column of the csv: field, and by how many ns the csv may be off. Two columns are differences of float64
#: epoch us, which have a grid of 0.25 us; the others add up durations rounded to ns.
COLUMNS = {
    "Computing": ("computing_ns", 30),
    "Communication(Not Overlapped)": ("communication_not_overlapped_ns", 30),
    "Overlapped": ("overlapped_ns", 30),
    "Communication": ("communication_ns", 30),
    "Free": ("free_ns", 30),
    "Stage": ("stage_ns", 250),
    "Bubble": ("bubble_ns", 0),
    "Communication(Not Overlapped and Exclude Receive)": (
        "communication_not_overlapped_exclude_receive_ns",
        30,
    ),
    "Preparing": ("until_work_ns", 250),
}


@pytest.mark.parametrize("rank", real.NPU)
def test_reproduces_the_producers_table(real_traces: Path, rank: str) -> None:
    with (real.npu_output(real_traces, rank) / "step_trace_time.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    steps = real.npu(real_traces, rank).steps
    assert [step.number for step in steps] == [int(row["Step"]) for row in rows] == [50]
    for found, row in zip(steps, rows):
        for column, (field, tolerance) in COLUMNS.items():
            assert abs(getattr(found, field) - float(row[column]) * 1000) <= tolerance, column


@pytest.mark.parametrize("rank", real.NPU)
def test_phases_of_a_real_step_follow_each_other(real_traces: Path, rank: str) -> None:
    (found,) = real.npu(real_traces, rank).steps
    assert found.iteration_gap is not None
    assert found.forward_backward is not None
    assert found.tail is not None
    assert found.iteration_gap == (found.host_start_ns, found.start_ns)
    assert found.forward_backward[0] == found.iteration_gap[1]
    assert found.tail == (found.forward_backward[1], found.end_ns)
    assert found.forward_backward[0] < found.forward_backward[1] < found.end_ns
    assert found.phase_idle_ns[0] == found.iteration_gap[1] - found.iteration_gap[0]


def issue(
    at: int, connection: int, start: int, dur: int, tid: int = MAIN, **args: Any
) -> list[dict[str, Any]]:
    """A kernel that an operator at `at` enqueues."""
    kind = args.pop("kind", "AI_CORE")
    return [
        operator(at, 8, args.pop("op", "aten::mm"), tid=tid),
        enqueue(at + 1, 1, connection, tid=tid),
        dequeue(at + 2, 6, connection),
        call(at + 3, 2, connection),
        task(start, dur, kind, connection=connection),
    ]


def steps_of(events: list[dict[str, Any]]) -> tuple[Step, ...]:
    return analyse(trace_of(events)).steps


def two_steps() -> list[dict[str, Any]]:
    """The second step's first kernel starts while the first step's window is still open."""
    return [
        *npu(),
        step(4, 0, 100),
        step(5, 100, 100),
        *issue(10, 1, 30, 10),
        *issue(50, 2, 70, 20),
        *issue(110, 3, 130, 10),
        *issue(150, 4, 190, 30),
        collective(85, 20),
    ]


def test_windows_follow_the_tasks_that_the_host_step_enqueued() -> None:
    first, second = steps_of(two_steps())
    assert (first.number, first.host_start_ns, first.host_end_ns) == (4, 0, 100)
    assert (first.start_ns, first.end_ns) == (30, 100)
    assert (second.start_ns, second.end_ns) == (130, 220)


def test_a_row_counts_whole_in_the_step_that_it_starts_in() -> None:
    first, second = steps_of(two_steps())
    assert (first.computing_ns, second.computing_ns) == (30, 40)
    assert (first.communication_ns, first.communication_not_overlapped_ns) == (20, 15)
    assert first.overlapped_ns == 5
    # Free: 40..70 and, after the collective of 85..105, outside of both windows, 105..130.
    assert (first.free_ns, second.free_ns) == (30, 50)
    assert (first.idle_ns, second.idle_ns) == (30, 50)
    assert (first.stage_ns, second.stage_ns) == (75, 90)
    # The collective of the first step goes on for 5 of the 30 ns that the second one prepares.
    assert (first.preparing_ns, second.preparing_ns) == (30, 25)
    assert (first.until_work_ns, second.until_work_ns) == (30, 30)


def test_overlapping_windows_give_a_row_to_the_first_step() -> None:
    """The first step's last kernel runs long after the second step's first one."""
    events = [
        *npu(),
        step(0, 0, 100),
        step(1, 100, 100),
        *issue(10, 1, 130, 10),
        *issue(50, 2, 150, 50),
        *issue(110, 3, 145, 5),
    ]
    first, second = steps_of(events)
    assert (first.start_ns, first.end_ns) == (130, 200)
    assert (second.start_ns, second.end_ns) == (145, 200)
    assert (first.computing_ns, second.computing_ns, second.preparing_ns) == (65, 0, 0)
    times = np.array([150, 129, 144, 200, 130])
    assert step_of((first, second), "NPU", times).tolist() == [0, -1, 0, -1, 0]
    assert step_of((first, second), "NPU 1", times).tolist() == [-1] * 5


def test_the_first_enqueued_task_opens_the_window_even_if_another_starts_earlier() -> None:
    events = [*npu(), step(0, 0, 100), *issue(10, 1, 60, 10), task(40, 5, stream=2, connection=2)]
    events += issue(30, 2, 80, 5)
    (found,) = steps_of(events)
    assert (found.start_ns, found.computing_ns) == (60, 15)


def test_a_step_without_kernels_has_the_window_of_the_host() -> None:
    idle, _ = steps_of([*npu(), step(1, 0, 20), step(2, 20, 80), *issue(30, 1, 50, 10)])
    assert (idle.start_ns, idle.end_ns, idle.stage_ns, idle.computing_ns) == (0, 20, 0, 0)
    assert (idle.iteration_gap, idle.forward_backward, idle.tail) == (None, None, None)


def test_without_a_queue_the_launches_inside_the_host_step_count() -> None:
    events = [
        *npu(),
        step(0, 0, 100),
        operator(10, 20),
        call(12, 3, 1, tid=MAIN),
        task(40, 70, connection=1),
        operator(110, 20),
        call(112, 3, 2, tid=MAIN),
        task(140, 10, connection=2),
    ]
    (found,) = steps_of(events)
    assert (found.start_ns, found.end_ns, found.computing_ns) == (40, 110, 70)


def test_receiving_is_a_bubble() -> None:
    (found,) = steps_of([*npu(), step(0, 0, 99), *issue(10, 1, 30, 10), collective(50, 7, "hcom_receive__1")])
    assert (found.bubble_ns, found.communication_ns, found.stage_ns) == (7, 7, 20)
    assert found.communication_not_overlapped_exclude_receive_ns == 0


def test_phases_split_at_the_last_backward_computation() -> None:
    events = [
        *npu(),
        step(0, 0, 200),
        *issue(10, 1, 30, 10),
        *issue(50, 2, 70, 20, tid=AUTOGRAD, op="autograd::engine::evaluate_function: MmBackward0"),
        *issue(100, 3, 120, 20),
    ]
    (found,) = steps_of(events)
    assert found.iteration_gap == (0, 30)
    assert found.forward_backward == (30, 90)
    assert found.tail == (90, 200)
    assert found.phase_idle_ns == (30, 30, 90)


def test_the_iteration_gap_begins_with_the_last_task_of_the_step_before() -> None:
    first, second = steps_of(two_steps())
    assert (first.iteration_gap, second.iteration_gap) == ((0, 30), (90, 130))
    assert second.forward_backward is second.tail is None


def test_steps_of_another_process_are_not_those_of_the_device() -> None:
    other = [*process(900, "Python", "CPU"), step(7, 0, 50, pid=900)]
    assert [found.number for found in steps_of([*two_steps(), *other])] == [4, 5]


def test_steps_that_no_task_links_to_are_shown_all_the_same() -> None:
    (found,) = steps_of([*npu(), step(3, 0, 50), task(10, 10)])
    assert (found.number, found.start_ns, found.end_ns, found.computing_ns) == (3, 0, 50, 10)


def test_gpu_steps_are_annotations_of_the_host() -> None:
    events = [
        *process(10, "python", "CPU"),
        *process(0, "python", "GPU 0"),
        *thread(0, 7, "stream 7 "),
        piece(10, 10, "ProfilerStep#3", us(0), us(90), "user_annotation"),
        piece(0, 7, "ProfilerStep#3", us(40), us(20), "gpu_user_annotation"),
        piece(10, 10, "cudaLaunchKernel", us(10), us(5), "cuda_runtime", correlation=5),
        piece(0, 7, "gemm", us(40), us(20), "kernel", correlation=5),
    ]
    (found,) = steps_of(events)
    assert (found.number, found.device, found.start_ns, found.end_ns) == (3, "GPU 0", 40, 90)


@pytest.mark.parametrize("name", ["ProfilerStep#", "ProfilerStep#x", "ProfilerStep#" + "9" * 30, "Step#1"])
def test_other_names_are_no_steps(name: str) -> None:
    assert steps_of([*npu(), operator(0, 50, name), task(10, 10)]) == ()


def test_real_gpu_steps(real_traces: Path) -> None:
    steps = real.gpu(real_traces, "sampled_rank-1.json.gz").steps
    assert [(found.number, found.device) for found in steps] == [(551, "GPU 1"), (552, "GPU 1")]
    assert all(found.start_ns >= found.host_start_ns for found in steps)


def many(devices: int, steps: int) -> list[dict[str, Any]]:
    """Devices that nothing links to steps, each with one kernel."""
    events = [*process(1, "Python", "CPU"), *(step(n, n * 100, 100, pid=1) for n in range(steps))]
    for device in range(devices):
        events += process(10 + device, "Ascend Hardware", f"NPU {device}")
        events.append(piece(10 + device, 1, "mm", us(device * 100), us(9), **{"Task Type": "AI_CORE"}))
    return events


def test_a_device_has_the_steps_in_which_it_did_something_where_all_would_be_too_many() -> None:
    assert len(steps_of(many(20, 30))) == 20 * 30
    steps = steps_of(many(150, 150))
    assert [(found.number, found.device) for found in steps] == [(n, f"NPU {n}") for n in range(150)]


def test_steps_inside_each_other_do_not_take_the_tasks_again_and_again() -> None:
    """The work is counted: the steps together look at the tasks a few times, not once for each step."""
    count = 60
    events = [*npu(), *(step(n, n, 10_000) for n in range(count))]
    for n in range(count):
        events += [operator(500 + 10 * n, 5), call(501 + 10 * n, 1, n, tid=MAIN)]
        events.append(task(505 + 10 * n, 2, connection=n))
    analysis = analyse(trace_of(events))
    drivers = Drivers(analysis.trace, host_steps(analysis.trace))
    issued = issued_by_process(analysis.trace, analysis.devices[0], analysis.launch_chains, drivers)
    held = tasks_of_steps(drivers.hosts, issued)
    assert 0 < held.tasks.sum() <= MOST_NESTED * count
    assert len(analysis.steps) == count


# ------------------------------------------------------------------- work launched before the first step


def gpu_steps(*more: dict[str, Any]) -> Any:
    """Two steps, a kernel of each, after two kernels that the recording has no launch of."""
    events = [
        *gpu.gpu(),
        gpu.step(4, 100, 100),
        gpu.step(5, 200, 100),
        gpu.kernel(50, 60, 1),
        gpu.kernel(120, 100, 2),
        gpu.launch(110, 5, 3),
        gpu.kernel(230, 50, 3),
        gpu.launch(210, 5, 4),
        gpu.kernel(290, 20, 4),
    ]
    return analyse(trace_of([*events, *more]))


def test_what_a_gpu_was_given_before_the_recording_belongs_to_no_step() -> None:
    copied = (gpu.launch(105, 2, 5, "cudaMemcpyAsync"), gpu.kernel(112, 3, 5, "copy", 8, "gpu_memcpy"))
    analysis = gpu_steps(*copied)
    first, second = analysis.steps
    assert (first.start_ns, first.work_start_ns, first.end_ns) == (112, 220, 280), "from its own first task"
    assert (second.start_ns, second.work_start_ns, second.end_ns) == (290, 290, 310)
    assert (first.computing_ns, first.free_ns, first.stage_ns, first.until_work_ns) == (50, 10, 60, 130)
    assert second.computing_ns == 20
    assert analysis.gaps.start.tolist() == [110, 220, 280]
    assert analysis.gaps.step.tolist() == [-1, 0, -1]
    assert analysis.tasks_of_no_step == {"GPU 0": 3}, "two before the recording, a copy beside them"
    assert first.iteration_gap == (112, 112), "the work before goes on after its first task"


def test_a_task_that_is_only_unlinked_is_not_taken_for_one_of_before() -> None:
    """On a stream of its own, or after one that was launched in the recording."""
    alone = gpu_steps(gpu.kernel(240, 45, 90, stream=9))
    after = gpu_steps(gpu.kernel(285, 4, 91))
    for analysis in (alone, after):
        assert [step.work_start_ns for step in analysis.steps] == [230, 290]


def test_on_ascend_the_windows_alone_tell_as_in_the_producers_table() -> None:
    events = [*npu(), step(0, 0, 100), task(5, 40), *issue(10, 2, 70, 10)]
    beside = [*issue(2, 1, 3, 9), task(46, 1, stream=2), task(4, 9, stream=2)]
    (only,) = steps_of([*events, *beside])
    assert (only.start_ns, only.work_start_ns, only.computing_ns) == (3, 3, 53)


def test_the_first_step_of_a_real_trace_takes_as_long_as_the_others(real_traces: Path) -> None:
    analysis = real.gpu(real_traces, "resnet_rank0.json.gz")
    stages = [step.stage_ns for step in analysis.steps]
    assert max(stages) - min(stages) < min(stages) // 50
    assert analysis.tasks_of_no_step == {"GPU 0": 899}
    assert (
        min(step.computing_ns for step in analysis.steps) * 20
        > max(s.computing_ns for s in analysis.steps) * 19
    )
