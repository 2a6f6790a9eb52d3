"""Points of a run in causal order, each with the cause that came last."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.critical.points import By, Point, finished, points


def test_work_of_a_device_follows_the_work_before_it_only_where_nothing_else_is_its_cause() -> None:
    """The second task of three was launched by the first point of all."""
    launch = points(Point.DEQUEUE, np.array([0]))
    tasks = points(Point.TASK, np.array([5, 10, 20]), device=np.zeros(3, np.int64))
    tasks.cause[By.LAUNCH, 1] = 0
    found, place = finished([launch, tasks])
    assert place.tolist() == [0, 1, 2, 3]
    assert found.cause.tolist() == [[-1, -1, -1, 2], [-1, -1, 0, -1], [-1] * 4]
    assert found.bound_by.tolist() == [-1, -1, 0, 2]


def test_a_cause_that_does_not_come_before_its_point_is_none() -> None:
    late = points(Point.ENQUEUE, np.array([7]), thread=np.zeros(1, np.int64))
    queued = points(Point.DEQUEUE, np.array([7, 5]))
    queued.cause[By.LAUNCH] = 0
    found, place = finished([late, queued])
    assert place.tolist() == [1, 2, 0], "of those at one time the enqueue comes first"
    assert found.bound_by.tolist() == [-1, -1, 1]
