"""When steps and devices are done: with their last work, or where the step ends on the host.

A step is done when all work that had ended by then has: in another course of things, that of another stream
may be the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.critical.device_points import DeviceTasks
from tracetui.analysis.critical.points import Edge, Point, Points, points
from tracetui.analysis.search import distinct, group_by, pick
from tracetui.analysis.steps import Step
from tracetui.arrays import EMPTY, Int64s, first_equal
from tracetui.trace.order import starts_run


class Walls(NamedTuple):
    """When steps and devices begin and are done, ns."""

    begin: int
    device_end: Int64s
    step_begin: Int64s
    step_end: Int64s
    step_device: Int64s  #: index
    last_step: Int64s  #: of each device: index of its last step, -1 where it has none


def walls_of(activities: Sequence[DeviceActivity], steps: Sequence[Step], clock_lag: Int64s) -> Walls:
    """Return when steps and devices begin and end, by how many ns the clock of each device is behind."""
    step_begin, step_end, step_device = (np.zeros(len(steps), np.int64) for _ in range(3))
    device_end, last_step = (np.full(len(activities), -1, np.int64) for _ in range(2))
    index_of = {activity.device: device for device, activity in enumerate(activities)}
    starts = []
    for index, step in enumerate(steps):
        device = index_of[step.device]
        finish = int(device_end[device])
        end = step.end_ns + int(clock_lag[device]) if step.end_ns > step.host_end_ns else step.end_ns
        step_begin[index] = step.host_start_ns if finish < 0 else finish
        device_end[device] = step_end[index] = max(int(step_begin[index]), end)
        step_device[index], last_step[device] = device, index
        starts.append(int(step_begin[index]))
    for device, (activity, late) in enumerate(zip(activities, clock_lag.tolist())):
        if activity.window_ns:
            starts.append(activity.start_ns + late)
            device_end[device] = max(int(device_end[device]), activity.end_ns + late)
    begin = min(starts, default=0)
    return Walls(begin, np.maximum(device_end, begin), step_begin, step_end, step_device, last_step)


def done_points(tasks: DeviceTasks, walls: Walls, first_task: int, first_done: int) -> Points:
    """Return where the last work of each stream before each end is done; each follows its device's last.

    The tasks begin at one place among all points, these at another.
    """
    task, device = [EMPTY], [EMPTY]
    (work,) = np.nonzero(~tasks.waits)
    work_by_device, steps_by_device = dict(group_by(tasks.device[work])), dict(group_by(walls.step_device))
    for index, end in enumerate(walls.device_end.tolist()):
        ends = distinct(np.append(walls.step_end[steps_by_device.get(index, EMPTY)], end))
        on_device = work[work_by_device.get(index, EMPTY)]
        on_device = on_device[tasks.end[on_device] <= end]
        end_index = np.searchsorted(ends, tasks.end[on_device])
        order = np.lexsort((tasks.end[on_device], tasks.stream[on_device], end_index))
        on_device, end_index = on_device[order], end_index[order]
        first = np.flatnonzero(starts_run(end_index, tasks.stream[on_device]))
        on_device = on_device[np.append(first[1:], len(on_device))[: len(first)] - 1]  # the last of each
        task.append(on_device[np.argsort(tasks.end[on_device], kind="stable")])
        device.append(np.full(len(on_device), index))
    tasks_done, devices = np.concatenate(task), np.concatenate(device)
    ends_of_work = points(Point.DONE, tasks.end[tasks_done], device=devices)
    ends_of_work.cause[Edge.WAIT] = tasks_done + first_task
    ends_of_work.lag[Edge.WAIT] = tasks.end[tasks_done] - tasks.start[tasks_done]
    ends_of_work.cause[Edge.BEFORE, 1:] = np.where(
        devices[1:] == devices[:-1], first_done + np.arange(len(tasks_done) - 1), -1
    )
    ends_of_work.binding[:] = Edge.WAIT
    return ends_of_work


def end_points(
    host: Points, completions: Points, steps: Sequence[Step], walls: Walls, first_done: int
) -> Points:
    """Return the points at which each step, then each device, is done."""
    devices = np.arange(len(walls.device_end))
    devices_of_ends = np.concatenate((walls.step_device, devices))
    steps_of_ends = np.concatenate((np.arange(len(steps)), walls.last_step))
    ends = points(Point.END, np.concatenate((walls.step_end, walls.device_end)), device=devices_of_ends)
    rows = np.array([step.row for step in steps], np.int64)
    host_end = np.array([step.host_end_ns for step in steps], np.int64)
    (marks,) = np.nonzero(host.point == Point.STEP_END)
    ends.cause[Edge.BEFORE] = pick(marks, first_equal(host.row[marks], pick(rows, steps_of_ends)))
    latest = np.full(len(ends), -1, np.int64)
    completions_by_device = dict(group_by(completions.device))
    for device, end_places in group_by(devices_of_ends):
        on_device = completions_by_device.get(device, EMPTY)
        last = pick(
            on_device, np.searchsorted(completions.time[on_device], ends.time[end_places], "right") - 1
        )
        latest[end_places] = pick(completions.time, last)
        ends.cause[Edge.WAIT, end_places] = np.where(last >= 0, last + first_done, -1)
    on_host = (
        (ends.cause[Edge.BEFORE] >= 0) & (pick(host_end, steps_of_ends) == ends.time) & (latest < ends.time)
    )
    ends.binding[:] = np.where(on_host, Edge.BEFORE, Edge.WAIT)
    return ends
