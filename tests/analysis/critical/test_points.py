"""Points of a run in causal order, each with the cause that came last."""

from __future__ import annotations

import tracemalloc

import numpy as np

from tests.analysis.machine import AUTOGRAD, MAIN, PYTHON, arrow, npu, operator
from tests.synthetic import trace_of
from tracetui.analysis.critical.host_points import host_points
from tracetui.analysis.critical.points import Edge, Point, finish_points, points
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.launch_chains import link_tasks


def test_work_of_a_device_follows_the_work_before_it_only_where_nothing_else_is_its_cause() -> None:
    """The second task of three was launched by the first point of all."""
    launch = points(Point.DEQUEUE, np.array([0]))
    tasks = points(Point.TASK, np.array([5, 10, 20]), device=np.zeros(3, np.int64))
    tasks.cause[Edge.LAUNCH, 1] = 0
    found, place = finish_points([launch, tasks])
    assert place.tolist() == [0, 1, 2, 3]
    assert found.cause.tolist() == [[-1, -1, -1, 2], [-1, -1, 0, -1], [-1] * 4]
    assert found.bound_by.tolist() == [-1, -1, 0, 2]


def test_a_cause_that_does_not_come_before_its_point_is_none() -> None:
    late = points(Point.ENQUEUE, np.array([7]), thread=np.zeros(1, np.int64))
    queued = points(Point.DEQUEUE, np.array([7, 5]))
    queued.cause[Edge.LAUNCH] = 0
    found, place = finish_points([late, queued])
    assert place.tolist() == [1, 2, 0], "of those at one time the enqueue comes first"
    assert found.bound_by.tolist() == [-1, -1, 1]


def test_there_is_no_room_for_all_points_twice() -> None:
    """The columns of the parts go as those of all points come."""
    tracemalloc.start()
    try:
        parts = [points(Point.TASK, np.arange(50_000), row=np.arange(50_000)) for _ in range(4)]
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        finish_points(parts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * size


def test_the_first_of_all_points_may_wake_a_burst() -> None:
    """Nothing is enqueued; the waker waits for the end of the burst, as it begins nothing before."""
    events = [
        *npu(),
        operator(0, 10),
        operator(20, 10, "autograd::engine::evaluate_function: Mm", AUTOGRAD),
        *arrow("fwdbwd", 1, (PYTHON, MAIN, 0), (PYTHON, AUTOGRAD, 20)),
    ]
    trace, none = trace_of(events), np.empty(0, np.int64)
    found, _ = host_points(trace, HostThreads(link_tasks(trace)), (), none, none, none, none)
    assert found.point.tolist() == [Point.WAKER, Point.BURST, Point.BURST_END, Point.JOINED]
    assert found.binding.tolist() == [Edge.BEFORE, Edge.WAIT, Edge.BEFORE, Edge.WAIT]
    assert found.bound_by.tolist() == [-1, 0, 1, 2]
