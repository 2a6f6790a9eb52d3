"""AICore gaps and idle intervals: what they add up to, and which tasks bound them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import PYTHON, QUEUE, call, collective, dequeue, enqueue, npu, operator, task
from tests.synthetic import piece, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.gaps import ending_tasks
from tracetui.trace.model import Activity

KINDS = ("AI_CORE", "DSA_SQE", "PCIE_DMA_SQE", "EVENT_WAIT_SQE", "collective")


@st.composite
def device_events(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Tasks of four streams and a group, none overlapping another of its own stream."""
    events = npu()
    for stream, kind in enumerate(KINDS):
        time = draw(st.integers(0, 20))
        for gap, dur in draw(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=6)):
            time += gap
            events.append(collective(time, dur) if kind == "collective" else task(time, dur, kind, stream))
            time += dur
    return events


def times(starts: Any, ends: Any) -> set[int]:
    return {t for start, end in zip(starts.tolist(), ends.tolist()) for t in range(start, end)}


def check_identities(analysis: Analysis) -> None:
    gaps, idle = analysis.gaps, analysis.idle
    length = gaps.end - gaps.start
    assert (gaps.idle + gaps.beside_cores + gaps.communication + gaps.copy == length).all()
    for column in (gaps.idle, gaps.beside_cores, gaps.communication, gaps.copy):
        assert (column >= 0).all()
    for index, activity in enumerate(analysis.devices):
        on_device = gaps.device == index
        assert activity.window_ns == activity.aicore_ns + length[on_device].sum()
        assert activity.idle_ns == gaps.idle[on_device].sum()
        assert activity.free_ns == gaps.idle[on_device].sum() + gaps.copy[on_device].sum()
        assert activity.idle_ns == (idle.end - idle.start)[idle.device == index].sum()
    assert (gaps.device[idle.gap] == idle.device).all()
    assert (gaps.start[idle.gap] <= idle.start).all()
    assert (idle.end <= gaps.end[idle.gap]).all()
    assert (idle.task >= 0).all()
    assert (analysis.trace.slices.start[idle.task] == idle.end).all()


@given(device_events())
def test_gaps_split_the_window_exactly(events: list[dict[str, Any]]) -> None:
    analysis = analyse(trace_of(events))
    slices = analysis.trace.slices
    held = {
        activity: times(slices.start[rows], slices.end[rows])
        for activity in Activity
        for rows in [slices.activity == activity]
    }
    aicore, copies, communication = (
        held[activity] for activity in (Activity.COMPUTE, Activity.COPY, Activity.COMMUNICATION)
    )
    compute = aicore | held[Activity.AICPU]
    work = compute | communication
    window = set(range(min(work), max(work) + 1)) if work else set()
    gaps, idle = analysis.gaps, analysis.idle
    assert times(gaps.start, gaps.end) == window - aicore
    assert times(idle.start, idle.end) == window - work - copies
    for at in range(len(gaps)):
        inside = set(range(int(gaps.start[at]), int(gaps.end[at])))
        assert gaps.beside_cores[at] == len(inside & (compute - aicore))
        assert gaps.communication[at] == len(inside & (communication - compute))
        assert gaps.copy[at] == len(inside & (copies - work))
    check_identities(analysis)


@given(device_events())
def test_gaps_are_bounded_by_the_tasks_at_their_edges(events: list[dict[str, Any]]) -> None:
    analysis = analyse(trace_of(events))
    slices, gaps = analysis.trace.slices, analysis.gaps
    for at in range(len(gaps)):
        start, end = int(gaps.start[at]), int(gaps.end[at])
        before, after = int(gaps.before[at]), int(gaps.after[at])
        (activity,) = analysis.devices
        if start > activity.start_ns:
            assert (slices.activity[before], slices.end[before]) == (Activity.COMPUTE, start)
        else:
            assert slices.start[before] == start
        if end < activity.end_ns:
            assert (slices.activity[after], slices.start[after]) == (Activity.COMPUTE, end)
        else:
            assert slices.end[after] == end


@pytest.mark.parametrize("rank", real.NPU)
def test_real_npu_traces_add_up(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    check_identities(analysis)
    assert analysis.gaps.idle.sum() == analysis.idle_ns > 0
    assert (analysis.idle.step >= 0).sum() == len(analysis.idle)


@pytest.mark.parametrize("name", real.GPU)
def test_real_gpu_traces_add_up(real_traces: Path, name: str) -> None:
    check_identities(real.gpu(real_traces, name))


def test_the_most_idle_gap_is_first_and_the_earlier_of_equals() -> None:
    analysis = analyse(trace_of([*npu(), *[task(time, 5) for time in (0, 10, 20, 40)]]))
    assert analysis.gaps.idle.tolist() == [5, 5, 15]
    assert analysis.gaps.ranked().tolist() == [2, 0, 1]


def test_of_two_tasks_in_one_nanosecond_the_one_enqueued_first_ends_the_gap() -> None:
    events = [*npu(), task(0, 5), task(90, 5, stream=2, connection=7), task(90, 5, stream=1, connection=8)]
    for at, connection in ((10, 7), (30, 8)):
        events += [operator(at, 9), enqueue(at + 1, 2, connection)]
        events += [dequeue(at + 5, 9, connection), call(at + 6, 5, connection)]
    analysis = analyse(trace_of(events))
    (ends,) = analysis.idle.task
    assert analysis.trace.slices.correlation[ends] == 7


def test_where_no_work_starts_no_task_ends_an_interval() -> None:
    analysis = analyse(trace_of([*npu(), task(0, 10), task(20, 10)]))
    ended = ending_tasks(analysis.trace, analysis.devices[0], analysis.launch_chains, np.array([19, 20, 21]))
    assert [row if row < 0 else int(analysis.trace.slices.start[row]) for row in ended.tolist()] == [
        -1,
        20,
        -1,
    ]


def test_two_devices_are_apart() -> None:
    other = [
        {**event, "pid": event["pid"] + 1000}
        for event in (*npu(), task(3, 10), task(23, 10))
        if event["pid"] != PYTHON
    ]
    for event in other:
        if event["name"] == "process_labels":
            event["args"] = {"labels": "NPU 1"}
    analysis = analyse(trace_of([*npu(), task(0, 10), task(50, 10), *other]))
    assert [activity.device for activity in analysis.devices] == ["NPU", "NPU 1"]
    assert analysis.gaps.device.tolist() == [0, 1]
    assert analysis.gaps.idle.tolist() == [40, 10]
    check_identities(analysis)


def test_a_trace_without_device_has_no_gaps() -> None:
    analysis = analyse(trace_of([piece(PYTHON, QUEUE, "aten::mm", "1", "2", "cpu_op")]))
    assert len(analysis.gaps) == len(analysis.idle) == len(analysis.gaps.ranked()) == analysis.idle_ns == 0
    assert analysis.gaps.step.dtype == np.int32
