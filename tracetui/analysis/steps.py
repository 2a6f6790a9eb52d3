"""The steps of the training loop on each device: the table of step_trace_time.csv, in integer nanoseconds.

A step of the host is a slice `ProfilerStep#N`. Its window on a device starts with the first start of the
first task that it enqueued there (without one: with the host's step) and lasts until the last end of the last
one, or until the host's step ends where that is later. Windows of steps may overlap; what starts in several
belongs to the first. Nothing is cut: a row counts whole in the step that it starts in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np

from tracetui.analysis.activity import DeviceActivity, work_tasks
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.links import Links
from tracetui.analysis.search import pick
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.model import Activity, Layer, Trace

Span = Optional[tuple[int, int]]  # start and end, epoch ns; None where the trace does not tell

STEP_NAME = re.compile(r"ProfilerStep#(\d{1,18})")


@dataclass(frozen=True)
class Step:
    """One `ProfilerStep#N` on one device. Sums are of whole rows that start in [start_ns, end_ns)."""

    number: int
    device: str
    row: int  #: the slice of the step on the host
    host_start_ns: int
    host_end_ns: int
    start_ns: int  #: the device window
    end_ns: int
    computing_ns: int
    communication_not_overlapped_ns: int
    overlapped_ns: int
    communication_ns: int
    free_ns: int
    stage_ns: int  #: first start to last end of those rows, without the bubble
    bubble_ns: int  #: hcom_receive*
    communication_not_overlapped_exclude_receive_ns: int
    preparing_ns: int  #: from the host's start to the first compute or communication; 0 where there is none
    idle_ns: int
    iteration_gap: Span  #: from the previous step's last task (at first: the host's start) to the first task
    forward_backward: Span  #: from the first task to the end of the last backward one
    tail: Span  #: from there to the end of the step: optimizer, gradient collectives
    #: ns of each of those three in which the device does nothing at all, before its window W too
    phase_idle_ns: tuple[int, int, int] = (0, 0, 0)


class HostStep(NamedTuple):
    """One slice `ProfilerStep#N` of the host."""

    number: int
    row: int
    pid: str
    start: int  #: ns
    end: int


def host_steps(trace: Trace) -> list[HostStep]:
    """All steps of all processes, by start; in a trace without a device too."""
    numbers = {
        index: int(match.group(1))
        for index, name in enumerate(trace.strings)
        if name.startswith("ProfilerStep#") and (match := STEP_NAME.fullmatch(name))
    }
    if not numbers:
        return []
    names = np.array(sorted(numbers), np.int32)
    steps = []
    for track in trace.tracks:
        if track.layer != Layer.PYTHON:
            continue
        first = track.rows.start
        for row in (
            first + np.flatnonzero(np.isin(trace.slices.name[first : track.rows.stop], names))
        ).tolist():
            start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
            steps.append(HostStep(numbers[int(trace.slices.name[row])], row, track.pid, start, end))
    return sorted(steps, key=lambda step: (step.start, step.number, step.row))


def step_table(trace: Trace, activities: Sequence[DeviceActivity], links: Links) -> tuple[Step, ...]:
    """All steps of all devices, by device, then host start. Empty where the trace has no `ProfilerStep#N`."""
    hosts = host_steps(trace)
    if not hosts:
        return ()
    return tuple(step for activity in activities for step in _device_steps(trace, activity, hosts, links))


def step_of(steps: Sequence[Step], device: str, times: Int64s) -> Int32s:
    """Index into `steps` of the first step of that device whose window holds each time, or -1."""
    return StepWindows(steps).step_of(device, times)


class StepWindows:
    """The windows of steps by device, for many questions about the same steps."""

    def __init__(self, steps: Sequence[Step]) -> None:
        windows: dict[str, list[tuple[int, int, int]]] = {}
        for index, step in enumerate(steps):
            windows.setdefault(step.device, []).append((index, step.start_ns, step.end_ns))
        self._windows = {device: np.array(rows, np.int64) for device, rows in windows.items()}

    def step_of(self, device: str, times: Int64s) -> Int32s:
        """As the function of that name."""
        windows = self._windows.get(device)
        if windows is None:
            return np.full(len(times), -1, np.int32)
        window = _first_window(windows[:, 1], windows[:, 2], times).astype(np.int64)
        return pick(windows[:, 0], window).astype(np.int32)


class _Issued(NamedTuple):
    """Work tasks of a device that one process enqueued, in the order of time; columns of equal length."""

    time: Int64s  #: ns: when the host enqueued it
    order: Int64s  #: equal for the tasks of one enqueue
    start: Int64s  #: ns: on the device
    end: Int64s
    backward: Bools  #: computes for the backward pass

    def within(self, start: int, end: int) -> _Issued:
        """Those enqueued in [start, end]."""
        first, stop = np.searchsorted(self.time, np.array([start, end + 1])).tolist()
        return self.at(np.arange(first, stop))

    def at(self, places: Int64s) -> _Issued:
        """Those at some places."""
        return _Issued(
            self.time[places], self.order[places], self.start[places], self.end[places], self.backward[places]
        )


class _Tally(NamedTuple):
    """Of the rows that start in each step: their time, first start and last end; 0 rows: 0, FAR, -1."""

    total: Int64s
    first: Int64s
    last: Int64s


FAR = np.iinfo(np.int64).max


def _device_steps(trace: Trace, activity: DeviceActivity, hosts: list[HostStep], links: Links) -> list[Step]:
    """The steps of the processes that drive the device; those of all where no task tells which they are."""
    issued = _issued_by_process(trace, activity, links, {host.pid for host in hosts})
    own = [host for host in hosts if host.pid in issued] or hosts
    tasks = [issued[host.pid].within(host.start, host.end) if host.pid in issued else None for host in own]
    windows = [_window(host, part) for host, part in zip(own, tasks)]
    starts, ends = (np.array(column, np.int64) for column in zip(*windows))

    def tally(rows: Intervals) -> _Tally:
        return _tally(starts, ends, rows.starts, rows.ends)

    computing, communication = tally(activity.compute), tally(activity.communication)
    exposed, free, idle = (
        tally(activity.communication_not_overlapped),
        tally(activity.free),
        tally(activity.idle),
    )
    received = _received(trace, activity)
    bubble = _tally(starts, ends, trace.slices.start[received], trace.slices.end[received])
    counted = (computing, communication, exposed, free, bubble)
    first = np.minimum.reduce([part.first for part in counted])
    last = np.maximum.reduce([part.last for part in counted])
    stage = np.where(last >= 0, last - first, 0) - bubble.total
    first_work = np.minimum(computing.first, communication.first)
    busy = activity.compute | activity.communication | activity.copies
    steps: list[Step] = []
    previous: int | None = None
    for i, host in enumerate(own):
        phases = _phases(host, tasks[i], windows[i][1], previous)
        spans = np.array([span or (0, 0) for span in phases], np.int64)
        unused = spans[:, 1] - spans[:, 0] - busy.covered(spans[:, 0], spans[:, 1])
        gap_idle, forward_idle, tail_idle = unused.tolist()
        part = tasks[i]
        if part is not None and len(part.end):
            previous = int(part.end.max())
        not_overlapped, received_ns = int(exposed.total[i]), int(bubble.total[i])
        steps.append(
            Step(
                number=host.number,
                device=activity.device,
                row=host.row,
                host_start_ns=host.start,
                host_end_ns=host.end,
                start_ns=windows[i][0],
                end_ns=windows[i][1],
                computing_ns=int(computing.total[i]),
                communication_not_overlapped_ns=not_overlapped,
                overlapped_ns=int(communication.total[i]) - not_overlapped,
                communication_ns=int(communication.total[i]),
                free_ns=int(free.total[i]),
                stage_ns=int(stage[i]),
                bubble_ns=received_ns,
                communication_not_overlapped_exclude_receive_ns=not_overlapped - received_ns,
                preparing_ns=int(first_work[i]) - host.start if first_work[i] != FAR else 0,
                idle_ns=int(idle.total[i]),
                iteration_gap=phases[0],
                forward_backward=phases[1],
                tail=phases[2],
                phase_idle_ns=(gap_idle, forward_idle, tail_idle),
            )
        )
    return steps


def _issued_by_process(
    trace: Trace, activity: DeviceActivity, links: Links, pids: set[str]
) -> dict[str, _Issued]:
    """The device's work tasks by the process that enqueued them, for those of `pids` that enqueued any."""
    rows = work_tasks(trace, activity.tasks)
    at = links.index(rows)
    enqueue = links.enqueue[at]
    host = np.where(enqueue >= 0, enqueue, links.operator[at])
    host = np.where(host >= 0, host, links.launch[at])
    time = links.enqueued(rows)
    order = np.where(enqueue >= 0, trace.slices.correlation[enqueue], time)
    computes = np.isin(trace.slices.activity[rows], (Activity.AICORE, Activity.AICPU))
    everything = _Issued(
        time, order, trace.slices.start[rows], trace.slices.end[rows], links.backward[at] & computes
    )
    issued = {}
    for pid in pids:
        held = np.zeros(len(rows), np.bool_)
        for track in trace.tracks:
            if track.pid == pid and len(track.rows):
                held |= (host >= track.rows.start) & (host < track.rows.stop)
        if held.any():
            chosen = np.flatnonzero(held)
            chosen = chosen[np.argsort(time[chosen], kind="stable")]
            issued[pid] = everything.at(chosen)
    return issued


def _window(host: HostStep, tasks: _Issued | None) -> tuple[int, int]:
    if tasks is None or not len(tasks.time):
        return host.start, host.end
    start = int(tasks.start[tasks.order == tasks.order.min()].min())
    end = int(tasks.end[tasks.order == tasks.order.max()].max())
    return start, max(end, host.end)


def _phases(host: HostStep, tasks: _Issued | None, end: int, previous: int | None) -> tuple[Span, Span, Span]:
    if tasks is None or not len(tasks.time):
        return None, None, None
    first = int(tasks.start.min())
    iteration_gap = (min(host.start if previous is None else previous, first), first)
    if not tasks.backward.any():
        return iteration_gap, None, None
    turn = int(tasks.end[tasks.backward].max())
    return iteration_gap, (first, turn), (turn, max(end, turn))


def _received(trace: Trace, activity: DeviceActivity) -> Int64s:
    tasks = activity.tasks[trace.slices.activity[activity.tasks] == Activity.COMMUNICATION]
    names = trace.slices.name[tasks]
    receiving = [n for n in np.unique(names).tolist() if trace.strings[n].startswith("hcom_receive")]
    received: Int64s = tasks[np.isin(names, receiving)]
    return received


def _tally(starts: Int64s, ends: Int64s, row_starts: Int64s, row_ends: Int64s) -> _Tally:
    step = _first_window(starts, ends, row_starts)
    held = step >= 0
    step, row_starts, row_ends = step[held], row_starts[held], row_ends[held]
    tally = _Tally(
        np.zeros(len(starts), np.int64), np.full(len(starts), FAR), np.full(len(starts), -1, np.int64)
    )
    np.add.at(tally.total, step, row_ends - row_starts)
    np.minimum.at(tally.first, step, row_starts)
    np.maximum.at(tally.last, step, row_ends)
    return tally


def _first_window(starts: Int64s, ends: Int64s, times: Int64s) -> Int32s:
    """Index of the first [start, end) that holds each time, or -1; windows may overlap."""
    order = np.argsort(times, kind="stable")
    sorted_times = times[order]
    first, stop = np.searchsorted(sorted_times, starts), np.searchsorted(sorted_times, ends)
    found = np.full(len(times), -1, np.int32)
    for index in range(len(starts) - 1, -1, -1):
        found[first[index] : stop[index]] = index
    step = np.empty(len(times), np.int32)
    step[order] = found
    return step
