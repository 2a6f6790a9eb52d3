"""The steps of the host, and what work of a device each of them enqueued.

Knows slices `ProfilerStep#N` and chains; nothing of the windows that steps have on a device.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import among, group_by, pick, ranges, track_of_rows
from tracetui.arrays import EMPTY, Bools, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Layer, Trace

#: How many times over the steps of a process may hold its tasks: steps follow each other.
MOST_NESTED = 8

FAR = np.iinfo(np.int64).max  #: a time after all others

_STEP_NAME = re.compile(rf"(?:{'|'.join(map(re.escape, KNOWN.operators.step_beginnings))})(\d{{1,18}})")


class HostStep(NamedTuple):
    """One slice `ProfilerStep#N` of the host."""

    number: int
    row: int
    pid: str
    start: int  #: ns
    end: int


def host_steps(trace: Trace) -> list[HostStep]:
    """Return all steps of all processes, by start; in a trace without a device too."""
    numbers = {
        index: int(match.group(1))
        for index, name in enumerate(trace.strings)
        if name.startswith(KNOWN.operators.step_beginnings) and (match := _STEP_NAME.fullmatch(name))
    }
    if not numbers:
        return []
    is_step = np.zeros(len(trace.strings), np.bool_)
    is_step[list(numbers)] = True
    steps = []
    for track in trace.tracks:
        if track.layer != Layer.PYTHON:
            continue
        first = track.rows.start
        for row in (first + np.flatnonzero(is_step[trace.slices.name[first : track.rows.stop]])).tolist():
            start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
            steps.append(HostStep(numbers[int(trace.slices.name[row])], row, track.pid, start, end))
    return sorted(steps, key=lambda step: (step.start, step.number, step.row))


class IssuedTasks(NamedTuple):
    """Work tasks of a device that one process enqueued, in the order of time; columns of equal length."""

    time: Int64s  #: ns: when the host enqueued it
    order: Int64s  #: equal for the tasks of one enqueue
    start: Int64s  #: ns: on the device
    end: Int64s
    backward: Bools  #: computes for the backward pass

    def within(self, hosts: list[HostStep]) -> tuple[Int64s, Int64s]:
        """Return the first place, and the one after the last, of the tasks enqueued in each step.

        Where steps overlap so that tasks would count many times, a step ends where the next one starts.
        """
        starts, ends = (np.array(column, np.int64) for column in zip(*((h.start, h.end) for h in hosts)))
        first, stop = np.searchsorted(self.time, starts), np.searchsorted(self.time, ends, "right")
        if (stop - first).sum() > MOST_NESTED * len(self.time):
            stop[:-1] = np.minimum(stop[:-1], first[1:])
        return first, stop

    def at(self, places: Int64s) -> IssuedTasks:
        """Return those at some places."""
        return IssuedTasks._make(column[places] for column in self)


class StepTasks(NamedTuple):
    """The tasks that each of some steps enqueued on a device; columns of equal length, ns on the device."""

    step: Int64s  #: its place among all steps asked for, in order
    tasks: Int64s  #: how many there are, one at least
    opens: Int64s  #: the first start of the first enqueue's tasks
    closes: Int64s  #: the last end of the last one's
    first: Int64s  #: the first start of all
    last: Int64s  #: the last end of all
    backward_end: Int64s  #: the last end of those that compute for the backward pass, -1 without any


class Drivers:
    """The processes that have steps."""

    def __init__(self, trace: Trace, hosts: list[HostStep]) -> None:
        self.hosts = hosts
        self.by_pid: dict[str, list[HostStep]] = {}
        for host in hosts:
            self.by_pid.setdefault(host.pid, []).append(host)
        numbers = {pid: number for number, pid in enumerate(self.by_pid)}
        self.of_track = np.array([numbers.get(track.pid, -1) for track in trace.tracks], np.int64)

    def steps(self, pids: Collection[str]) -> list[HostStep]:
        """Return the steps of some processes, by start; of all processes where those have none."""
        return [host for host in self.hosts if host.pid in pids] if pids else self.hosts


def issued_by_process(
    trace: Trace, activity: DeviceActivity, chains: LaunchChains, drivers: Drivers
) -> dict[str, IssuedTasks]:
    """Return the device's work tasks by the process that enqueued them, of processes whose steps did."""
    rows = activity.work
    link_places = chains.index(rows)
    enqueue = chains.enqueue[link_places]
    host = np.where(enqueue >= 0, enqueue, chains.operator[link_places])
    host = np.where(host >= 0, host, chains.launch[link_places])
    time = chains.enqueued(rows)
    queued = pick(trace.slices.correlation, enqueue)
    order = np.where(queued >= 0, queued, time)
    computes = among(trace.slices.activity[rows], (Activity.COMPUTE, Activity.AICPU))
    all_issued = IssuedTasks(
        time, order, trace.slices.start[rows], trace.slices.end[rows], chains.backward[link_places] & computes
    )
    pids = list(drivers.by_pid)
    issued = {}
    for number, places in group_by(pick(drivers.of_track, track_of_rows(trace, host))):
        if number >= 0:
            issued[pids[number]] = all_issued.at(places[np.argsort(time[places], kind="stable")])
    return issued


def tasks_of_steps(host_steps: list[HostStep], issued: dict[str, IssuedTasks]) -> StepTasks:
    """Return the tasks that each step enqueued, for steps with any; in the order of `host_steps`."""
    places: dict[str, list[int]] = {}
    for place, host in enumerate(host_steps):
        places.setdefault(host.pid, []).append(place)
    parts = [StepTasks._make(EMPTY for _ in StepTasks._fields)]
    for pid, tasks in issued.items():
        indices = np.array(places[pid], np.int64)
        first, stop = tasks.within([host_steps[place] for place in places[pid]])
        has_tasks = stop > first
        if has_tasks.any():
            parts.append(_sum_tasks(indices[has_tasks], tasks, first[has_tasks], stop[has_tasks]))
    step_tasks = StepTasks._make(np.concatenate(columns) for columns in zip(*parts))
    order = np.argsort(step_tasks.step, kind="stable")
    return StepTasks._make(column[order] for column in step_tasks)


def _sum_tasks(step: Int64s, tasks: IssuedTasks, first: Int64s, stop: Int64s) -> StepTasks:
    """Return what there is to know of the tasks [first, stop) of each step."""
    issued, count = tasks.at(ranges(first, stop)), stop - first
    begins = np.cumsum(count) - count

    def earliest_of(values: Int64s) -> Int64s:
        return np.minimum.reduceat(values, begins)

    def latest_of(values: Int64s) -> Int64s:
        return np.maximum.reduceat(values, begins)

    earliest = issued.order == np.repeat(earliest_of(issued.order), count)
    latest = issued.order == np.repeat(latest_of(issued.order), count)
    return StepTasks(
        step=step,
        tasks=count,
        opens=earliest_of(np.where(earliest, issued.start, FAR)),
        closes=latest_of(np.where(latest, issued.end, -1)),
        first=earliest_of(issued.start),
        last=latest_of(issued.end),
        backward_end=latest_of(np.where(issued.backward, issued.end, -1)),
    )
