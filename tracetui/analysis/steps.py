"""The steps of the training loop on each device: the table of step_trace_time.csv, in integer nanoseconds.

A step of the host is a slice `ProfilerStep#N`. Its window on a device starts with the first start of the
first task that it enqueued there (without one: with the host's step) and lasts until the last end of the last
one, or until the host's step ends where that is later. Windows of steps may overlap; what starts in several
belongs to the first. Nothing is cut: a row counts whole in the step that it starts in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.host_steps import (
    Drivers,
    HostStep,
    Issued,
    host_steps,
    issued_by_process,
    tasks_of_steps,
)
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.links import Links
from tracetui.analysis.search import pick
from tracetui.analysis.windows import Windows
from tracetui.arrays import Int32s, Int64s
from tracetui.trace.model import Activity, Trace

Span = Optional[tuple[int, int]]  # start and end, epoch ns; None where the trace does not tell

#: Rows of the table up to which a step of the host is one for each of its devices, even if it did nothing.
MOST_STEPS = 20_000


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


def step_table(trace: Trace, activities: Sequence[DeviceActivity], links: Links) -> tuple[Step, ...]:
    """All steps of all devices, by device, then host start. Empty where the trace has no `ProfilerStep#N`.

    Where that would be more than `MOST_STEPS`, steps in which a device did nothing are left out.
    """
    hosts = host_steps(trace)
    if not hosts:
        return ()
    drivers = Drivers(trace, hosts)
    keep_all = len(hosts) * len(activities) <= MOST_STEPS
    steps = [_device_steps(trace, activity, drivers, links, keep_all) for activity in activities]
    return tuple(step for own in steps for step in own)


def step_of(steps: Sequence[Step], device: str, times: Int64s) -> Int32s:
    """Index into `steps` of the first step of that device whose window holds each time, or -1."""
    return StepWindows(steps).step_of(device, times)


class StepWindows:
    """The windows of steps by device, for many questions about the same steps."""

    def __init__(self, steps: Sequence[Step]) -> None:
        rows: dict[str, list[tuple[int, int, int]]] = {}
        for index, step in enumerate(steps):
            rows.setdefault(step.device, []).append((index, step.start_ns, step.end_ns))
        columns = {device: np.array(own, np.int64).T for device, own in rows.items()}
        self._windows = {device: (own[0], Windows(own[1], own[2])) for device, own in columns.items()}

    def step_of(self, device: str, times: Int64s) -> Int32s:
        """As the function of that name."""
        if device not in self._windows:
            return np.full(len(times), -1, np.int32)
        index, windows = self._windows[device]
        return pick(index, windows.first(times)).astype(np.int32)


class _Tally(NamedTuple):
    """Of the rows that start in each step: their time, first start and last end; 0 rows: 0, FAR, -1."""

    total: Int64s
    first: Int64s
    last: Int64s


FAR = np.iinfo(np.int64).max


def _device_steps(
    trace: Trace, activity: DeviceActivity, drivers: Drivers, links: Links, keep_all: bool
) -> list[Step]:
    """The steps of the processes that drive the device; those of all where no task tells which they are."""
    issued = issued_by_process(trace, activity, links, drivers)
    own = drivers.steps(issued)
    tasks = tasks_of_steps(own, issued)
    starts = np.array([host.start for host in own], np.int64)
    ends = np.array([host.end for host in own], np.int64)
    for place, part in tasks.items():
        starts[place], ends[place] = _window(own[place], part)
    windows = Windows(starts, ends)

    def tally(rows: Intervals) -> _Tally:
        return _tally(windows, rows.starts, rows.ends)

    computing, communication = tally(activity.compute), tally(activity.communication)
    exposed, free, idle = (
        tally(activity.communication_not_overlapped),
        tally(activity.free),
        tally(activity.idle),
    )
    received = _received(trace, activity)
    bubble = _tally(windows, trace.slices.start[received], trace.slices.end[received])
    counted = (computing, communication, exposed, free, bubble)
    first = np.minimum.reduce([part.first for part in counted])
    last = np.maximum.reduce([part.last for part in counted])
    stage = np.where(last >= 0, last - first, 0) - bubble.total
    first_work = np.minimum(computing.first, communication.first)
    busy = activity.compute | activity.communication | activity.copies
    kept = range(len(own)) if keep_all else sorted({*tasks, *np.flatnonzero(last >= 0).tolist()})
    steps: list[Step] = []
    previous: int | None = None
    for i in kept:
        host, issue = own[i], tasks.get(i)
        phases = _phases(host, issue, int(ends[i]), previous)
        spans = np.array([span or (0, 0) for span in phases], np.int64)
        unused = spans[:, 1] - spans[:, 0] - busy.covered(spans[:, 0], spans[:, 1])
        gap_idle, forward_idle, tail_idle = unused.tolist()
        if issue is not None:
            previous = int(issue.end.max())
        not_overlapped, received_ns = int(exposed.total[i]), int(bubble.total[i])
        steps.append(
            Step(
                number=host.number,
                device=activity.device,
                row=host.row,
                host_start_ns=host.start,
                host_end_ns=host.end,
                start_ns=int(starts[i]),
                end_ns=int(ends[i]),
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


def _window(host: HostStep, tasks: Issued) -> tuple[int, int]:
    start = int(tasks.start[tasks.order == tasks.order.min()].min())
    end = int(tasks.end[tasks.order == tasks.order.max()].max())
    return start, max(end, host.end)


def _phases(host: HostStep, tasks: Issued | None, end: int, previous: int | None) -> tuple[Span, Span, Span]:
    if tasks is None:
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


def _tally(windows: Windows, row_starts: Int64s, row_ends: Int64s) -> _Tally:
    step = windows.first(row_starts)
    held = step >= 0
    step, row_starts, row_ends = step[held], row_starts[held], row_ends[held]
    count = len(windows)
    tally = _Tally(np.zeros(count, np.int64), np.full(count, FAR), np.full(count, -1, np.int64))
    np.add.at(tally.total, step, row_ends - row_starts)
    np.minimum.at(tally.first, step, row_starts)
    np.maximum.at(tally.last, step, row_ends)
    return tally
