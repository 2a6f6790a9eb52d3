"""Device activity against the producer's own Overlap Analysis, and on devices that do little or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.analysis import real
from tests.analysis.machine import HARDWARE, collective, npu, task, us
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.activity import device_activities, device_activity, overlap_rows, task_counts
from tracetui.analysis.analyse import analyse
from tracetui.trace.dialects.known import KNOWN

OVERLAP = 500


@pytest.mark.parametrize("rank", real.NPU)
def test_reproduces_every_row_of_the_overlap_analysis(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    (activity,), slices = analysis.devices, analysis.trace.slices
    ours = {
        "computing_ns": activity.compute,
        "communication_ns": activity.communication,
        "communication_not_overlapped_ns": activity.communication_not_overlapped,
        "free_ns": activity.free,
    }
    producer_rows = overlap_rows(analysis.trace, analysis.trace.tracks)
    assert set(ours) == set(KNOWN.tasks.overlap_rows.values())
    for name, intervals in ours.items():
        rows = producer_rows[name][np.argsort(slices.start[producer_rows[name]])]
        assert len(intervals) == len(rows) > 0
        assert np.abs(intervals.starts - slices.start[rows]).max() <= 1
        assert np.abs(intervals.ends - slices.end[rows]).max() <= 1
    assert activity.producer is not None
    assert not activity.differs
    assert abs(activity.computing_ns - activity.producer["computing_ns"]) < 30
    assert activity.window_ns == (
        activity.computing_ns + activity.communication_not_overlapped_ns + activity.free_ns
    )


@pytest.mark.parametrize(
    ("rank", "computing", "communication"),
    [("level0/rank1", 8_813_153, 68_605_712), ("level2/rank0", 8_868_214, 99_973_277)],
)
def test_sums_of_real_traces(real_traces: Path, rank: str, computing: int, communication: int) -> None:
    (activity,) = real.npu(real_traces, rank).devices
    assert (activity.computing_ns, activity.communication_ns) == (computing, communication)


def test_each_activity_counts_where_it_belongs() -> None:
    trace = trace_of(
        [
            *npu(),
            task(0, 10),
            task(5, 10, stream=2),
            task(20, 10, "DSA_SQE"),
            task(40, 10, "PCIE_DMA_SQE"),
            task(45, 100, "EVENT_WAIT_SQE", stream=2),
            collective(25, 40),
        ]
    )
    (activity,) = device_activities(trace)
    assert (activity.start_ns, activity.end_ns) == (0, 65)
    assert (activity.aicore_ns, activity.computing_ns) == (15, 25)
    assert (activity.communication_ns, activity.communication_not_overlapped_ns) == (40, 35)
    assert (activity.overlapped_ns, activity.free_ns, activity.idle_ns) == (5, 5, 5)
    assert len(activity.tasks) == 6


def test_a_producer_that_counts_otherwise_differs() -> None:
    rows = [*process(OVERLAP, "Overlap Analysis", "NPU"), piece(OVERLAP, 0, "Computing", us(0), us(14))]
    (activity,) = device_activities(trace_of([*npu(), task(0, 10), *rows]))
    assert activity.producer is not None
    assert activity.producer["computing_ns"] == 14
    assert activity.differs


@pytest.mark.parametrize(
    "tasks", [[], [task(50, 0)], [task(50, 7, "EVENT_WAIT_SQE")], [task(50, 7, "PCIE_DMA_SQE")]]
)
def test_a_device_that_does_not_work_has_an_empty_window(tasks: list[dict[str, object]]) -> None:
    events = [*npu(), task(10, 3), *tasks]
    idle = [event for event in events if event.get("pid") != HARDWARE or event["ph"] == "M"] + tasks
    trace = trace_of(idle)
    activity = device_activity(trace, "NPU", trace.tracks)
    assert activity.window_ns == activity.free_ns == activity.idle_ns == activity.computing_ns == 0
    assert len(activity.free) == len(activity.idle) == 0


def test_a_single_task_fills_its_window() -> None:
    (activity,) = device_activities(trace_of([*npu(), task(50, 7)]))
    assert (activity.start_ns, activity.end_ns, activity.free_ns, activity.computing_ns) == (50, 57, 0, 7)


def test_tasks_are_told_apart_by_what_they_do(real_traces: Path) -> None:
    analysis = real.npu(real_traces, "level2/rank0")
    counts = task_counts(analysis.trace, analysis.devices[0])
    assert counts == (187, 4, 24, 324)  # kernel_details.csv has 191 rows: the first two
    assert (counts.work, counts.total) == (len(analysis.work), len(analysis.devices[0].tasks)) == (215, 539)


def test_a_task_of_no_length_is_a_task() -> None:
    """Older Kineto writes whole µs: a kernel of less is one of 0."""
    analysis = analyse(trace_of([*npu(), task(10, 3), task(15, 0), task(20, 2)]))
    assert task_counts(analysis.trace, analysis.devices[0]) == (3, 0, 0, 0)
    assert analysis.device_operators.count.sum() == 3
