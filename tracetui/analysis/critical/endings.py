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
from tracetui.analysis.critical.points import By, Point, Points, points
from tracetui.analysis.search import distinct, first_equal, pick, runs
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s


class Walls(NamedTuple):
    """When steps and devices begin and are done, ns."""

    begin: int
    device_end: Int64s
    step_begin: Int64s
    step_end: Int64s
    step_device: Int64s  #: index
    last_step: Int64s  #: of each device: index of its last step, -1 where it has none


def walls_of(activities: Sequence[DeviceActivity], steps: Sequence[Step], behind: Int64s) -> Walls:
    """When the steps and devices begin and are done, given what the clock of each device is behind."""
    step_begin, step_end, step_device = (np.zeros(len(steps), np.int64) for _ in range(3))
    device_end, last_step = (np.full(len(activities), -1, np.int64) for _ in range(2))
    index_of = {activity.device: device for device, activity in enumerate(activities)}
    starts = []
    for index, step in enumerate(steps):
        device = index_of[step.device]
        done = int(device_end[device])
        end = step.end_ns + int(behind[device]) if step.end_ns > step.host_end_ns else step.end_ns
        step_begin[index] = step.host_start_ns if done < 0 else done
        device_end[device] = step_end[index] = max(int(step_begin[index]), end)
        step_device[index], last_step[device] = device, index
        starts.append(int(step_begin[index]))
    for device, (activity, late) in enumerate(zip(activities, behind.tolist())):
        if activity.window_ns:
            starts.append(activity.start_ns + late)
            device_end[device] = max(int(device_end[device]), activity.end_ns + late)
    begin = min(starts, default=0)
    return Walls(begin, np.maximum(device_end, begin), step_begin, step_end, step_device, last_step)


def done_points(tasks: DeviceTasks, walls: Walls, first_task: int, first_done: int) -> Points:
    """Return where the last work of each stream before each end is done; each follows the
    one before on its device.

    The tasks begin at one place among all points, these at another.
    """
    task, device = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    (work,) = np.nonzero(~tasks.waits)
    of_devices, of_steps = dict(runs(tasks.device[work])), dict(runs(walls.step_device))
    for index, end in enumerate(walls.device_end.tolist()):
        ends = distinct(np.append(walls.step_end[of_steps.get(index, _NONE)], end))
        own = work[of_devices.get(index, _NONE)]
        own = own[tasks.end[own] <= end]
        before = np.searchsorted(ends, tasks.end[own])
        order = np.lexsort((tasks.end[own], tasks.stream[own], before))
        own, before = own[order], before[order]
        last = np.ones(len(own), np.bool_)
        last[:-1] = (before[1:] != before[:-1]) | (tasks.stream[own[1:]] != tasks.stream[own[:-1]])
        own = own[last]
        task.append(own[np.argsort(tasks.end[own], kind="stable")])
        device.append(np.full(len(own), index))
    done, of_device = np.concatenate(task), np.concatenate(device)
    found = points(Point.DONE, tasks.end[done], device=of_device)
    found.cause[By.WAIT] = done + first_task
    found.lag[By.WAIT] = tasks.end[done] - tasks.start[done]
    found.cause[By.BEFORE, 1:] = np.where(
        of_device[1:] == of_device[:-1], first_done + np.arange(len(done) - 1), -1
    )
    found.binding[:] = By.WAIT
    return found


def end_points(host: Points, done: Points, steps: Sequence[Step], walls: Walls, first_done: int) -> Points:
    """Return the points at which each step, then each device, is done."""
    devices = np.arange(len(walls.device_end))
    of_device = np.concatenate((walls.step_device, devices))
    of_step = np.concatenate((np.arange(len(steps)), walls.last_step))
    found = points(Point.END, np.concatenate((walls.step_end, walls.device_end)), device=of_device)
    rows = np.array([step.row for step in steps], np.int64)
    host_end = np.array([step.host_end_ns for step in steps], np.int64)
    (marks,) = np.nonzero(host.point == Point.STEP_END)
    found.cause[By.BEFORE] = pick(marks, first_equal(host.row[marks], pick(rows, of_step)))
    ended = np.full(len(found), -1, np.int64)
    of_done = dict(runs(done.device))
    for device, wanted in runs(of_device):
        own = of_done.get(device, _NONE)
        last = pick(own, np.searchsorted(done.time[own], found.time[wanted], "right") - 1)
        ended[wanted] = pick(done.time, last)
        found.cause[By.WAIT, wanted] = np.where(last >= 0, last + first_done, -1)
    on_host = (found.cause[By.BEFORE] >= 0) & (pick(host_end, of_step) == found.time) & (ended < found.time)
    found.binding[:] = np.where(on_host, By.BEFORE, By.WAIT)
    return found


_NONE = np.empty(0, np.int64)
