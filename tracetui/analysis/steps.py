"""The steps of the training loop on each device: the table of step_trace_time.csv, in integer nanoseconds.

A step of the host is a slice `ProfilerStep#N`. Its window on a device starts with the first start of the
first task that it enqueued there (without one: with the host's step) and lasts until the last end of the last
one, or until the host's step ends where that is later. Windows of steps may overlap; what starts in several
belongs to the first. What starts while a GPU still works at tasks launched before the first step belongs to
no step. Nothing is cut: a stretch of computing, of exposed communication and of free time counts whole in the
step that it starts in, with the communication that it overlaps, and the idle time that it consists of. These
stretches tile the time of the device: the sums of a step hold whatever its clocks say. Where no step of the
host is recorded, the iterations of a graph are the steps.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.host_steps import (
    FAR,
    Drivers,
    HostStep,
    StepTasks,
    host_steps,
    issued_by_process,
    tasks_of_steps,
)
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.iterations import iterations
from tracetui.analysis.launch_chains import NEVER, LaunchChains
from tracetui.analysis.search import distinct, pick, track_of_rows
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Trace, TraceKind

DeviceSpan = Optional[tuple[int, int]]  # start and end, epoch ns; None where the trace does not tell

#: Rows of the table up to which a step of the host is one for each of its devices, even if it did nothing.
MOST_STEPS = 20_000


@dataclass(frozen=True)
class Step:
    """One `ProfilerStep#N`, or iteration, on one device. Sums are of whole rows that start in its window."""

    number: int
    device: str
    row: int  #: the slice of the step on the host
    host_start_ns: int
    host_end_ns: int
    start_ns: int  #: the device window, [start_ns, end_ns)
    end_ns: int
    work_start_ns: int  #: start of its own work: what starts before is of work launched before all steps
    computing_ns: int
    communication_not_overlapped_ns: int
    overlapped_ns: int
    communication_ns: int
    free_ns: int
    stage_ns: int  #: computing, communication not overlapped and free together, without the bubble
    bubble_ns: int  #: hcom_receive*
    communication_not_overlapped_exclude_receive_ns: int
    #: from the host's start to the first compute or communication of the step, or to the next step of the
    #: host, without what the device still computes and communicates for steps before; 0 where the step has
    #: no such work, and where that comes first because the clocks of host and device disagree
    preparing_ns: int
    #: from the host's start to that work, whatever runs: `Preparing` of step_trace_time.csv
    until_work_ns: int
    prepared_ns: int  #: when preparing ends, epoch ns; the host's start where there is none
    idle_ns: int
    #: from the previous step's last task (at first: the host's start) to the first task
    iteration_gap: DeviceSpan
    forward_backward: DeviceSpan  #: from the first task to the end of the last backward one
    tail: DeviceSpan  #: from there to the end of the step: optimizer, gradient collectives
    #: ns of each of those three in which the device does nothing at all, before its window W too
    phase_idle_ns: tuple[int, int, int] = (0, 0, 0)

    @property
    def only_communicates(self) -> bool:
        """Whether nothing but communication is recorded of it: what it computed, then, counts as idle."""
        return self.computing_ns == 0 < self.communication_ns


def steps_by_device(steps: Sequence[Step]) -> dict[str, list[int]]:
    """Return the places of the steps of each device that has any."""
    places: dict[str, list[int]] = {}
    for place, step in enumerate(steps):
        places.setdefault(step.device, []).append(place)
    return places


def uncomputed_steps(steps: Sequence[Step]) -> list[int]:
    """Return the places of the steps whose computing is not recorded, of devices that compute in others.

    Of them only communication is recorded; or they stand beside such a step and compute less than half of
    what every other step does, as computing ended or began to be recorded within them.
    """
    uncomputed: list[int] = []
    for places in steps_by_device(steps).values():
        empty = {place for place in places if steps[place].only_communicates}
        if not empty or not any(steps[place].computing_ns for place in places):
            continue
        beside = {
            place
            for pair in zip(places, places[1:])
            for place in pair
            if len(empty.intersection(pair)) == 1 and place not in empty
        }
        least = min((steps[place].computing_ns for place in places if place not in empty | beside), default=0)
        uncomputed += empty | {place for place in beside if 2 * steps[place].computing_ns < least}
    return sorted(uncomputed)


def step_table(trace: Trace, activities: Sequence[DeviceActivity], chains: LaunchChains) -> tuple[Step, ...]:
    """Return all steps of all devices, by device, then host start. Empty where the trace tells none.

    Where that would be more than `MOST_STEPS`, steps in which a device did nothing are left out.
    """
    hosts = host_steps(trace)
    if not hosts:
        return tuple(step for activity in activities for step in _iteration_steps(trace, activity))
    drivers = Drivers(trace, hosts)
    keep_all = len(hosts) * len(activities) <= MOST_STEPS
    steps = [_device_steps(trace, activity, drivers, chains, keep_all) for activity in activities]
    return tuple(step for device_steps in steps for step in device_steps)


def _iteration_steps(trace: Trace, activity: DeviceActivity) -> Iterator[Step]:
    """Yield the iterations of a graph as steps, with the phases that the producer tells.

    A step begins where the work of the one before ends: the iteration gap is its own. There is no host: its
    times are those of the device.
    """
    sequence = iterations(trace, activity.device)
    if not sequence:
        return
    begins, ends = (
        np.array(column, np.int64)
        for column in zip(*((iteration.start, iteration.end) for iteration in sequence))
    )
    ends = np.maximum.accumulate(ends)
    busy = activity.busy
    last_work = np.searchsorted(busy.starts, ends) - 1  # the last work that starts before each end
    has_work = (
        (last_work >= 0) & (busy.ends[last_work] > begins) if len(busy) else np.zeros(len(ends), np.bool_)
    )
    close = np.where(has_work, np.minimum(pick(busy.ends, last_work), ends), ends)
    start = np.concatenate((begins[:1], close[:-1]))
    columns, _ = _columns(trace, activity, Windows(start, close), start, close)
    for place, (iteration, values) in enumerate(
        zip(sequence, zip(*(column.tolist() for column in columns.values())))
    ):
        previous = int(ends[place - 1]) if place else iteration.start
        first, last = iteration.passes or (iteration.start, iteration.start)
        gap, tail = (min(previous, first), first), (last, iteration.end)
        spans = np.array([gap, iteration.passes or (0, 0), tail if iteration.passes else (0, 0)], np.int64)
        idle = spans[:, 1] - spans[:, 0] - busy.covered(spans[:, 0], spans[:, 1])
        yield Step(
            number=iteration.number,
            device=activity.device,
            row=iteration.row,
            host_start_ns=int(start[place]),
            host_end_ns=int(close[place]),
            start_ns=int(start[place]),
            end_ns=int(close[place]),
            work_start_ns=int(start[place]),
            **dict(zip(columns, values)),
            iteration_gap=gap,
            forward_backward=iteration.passes,
            tail=tail if iteration.passes else None,
            phase_idle_ns=(int(idle[0]), int(idle[1]), int(idle[2])),
        )


def step_of(steps: Sequence[Step], device: str, times: Int64s) -> Int32s:
    """Return the place in `steps` of the first of a device whose window holds each time; -1 without one."""
    return StepWindows(steps).step_of(device, times)


class StepWindows:
    """The windows of steps by device, for many questions about the same steps."""

    def __init__(self, steps: Sequence[Step]) -> None:
        starts = np.array([step.work_start_ns for step in steps], np.int64)
        ends = np.array([step.end_ns for step in steps], np.int64)
        indices = {device: np.array(places) for device, places in steps_by_device(steps).items()}
        self._windows = {
            device: (index, Windows(starts[index], ends[index])) for device, index in indices.items()
        }

    def step_of(self, device: str, times: Int64s) -> Int32s:
        """Return the index of the step of the device that each time is in, -1 for none."""
        if device not in self._windows:
            return np.full(len(times), -1, np.int32)
        index, windows = self._windows[device]
        return pick(index, windows.first(times)).astype(np.int32)


class _Tally(NamedTuple):
    """Of the rows that start in each step: their time, first start and last end; 0 rows: 0, FAR, -1."""

    total: Int64s
    first: Int64s
    last: Int64s


def _device_steps(
    trace: Trace, activity: DeviceActivity, drivers: Drivers, chains: LaunchChains, keep_all: bool
) -> list[Step]:
    """Return the steps of processes that drive the device; of all processes where no task tells which do."""
    issued = issued_by_process(trace, activity, chains, drivers)
    host_steps = drivers.steps(issued)
    tasks = tasks_of_steps(host_steps, issued)
    host_start = np.array([host.start for host in host_steps], np.int64)
    start, end = host_start.copy(), np.array([host.end for host in host_steps], np.int64)
    start[tasks.step] = tasks.opens
    end[tasks.step] = np.maximum(tasks.closes, end[tasks.step])
    earlier_end = _end_of_earlier(trace, activity, chains, host_steps)
    work_start = np.clip(earlier_end, start, np.maximum(start, end))
    following = distinct(host_start)
    host_after = np.append(following, FAR)[np.searchsorted(following, host_start, "right")]
    columns, does_anything = _columns(trace, activity, Windows(work_start, end), host_start, host_after)
    columns = {"start_ns": start, "end_ns": end, "work_start_ns": work_start, **columns}
    phases = dict(
        zip(tasks.step.tolist(), _phases(activity, tasks, np.maximum(host_start, earlier_end), end))
    )
    is_kept = np.full(len(host_steps), True) if keep_all else does_anything
    is_kept[tasks.step] = True
    numbers = zip(*(column[is_kept].tolist() for column in columns.values()))
    return [
        Step(
            number=host_steps[place].number,
            device=activity.device,
            row=host_steps[place].row,
            host_start_ns=host_steps[place].start,
            host_end_ns=host_steps[place].end,
            **dict(zip(columns, values)),
            **phases.get(place, _NO_PHASES),
        )
        for place, values in zip(np.flatnonzero(is_kept).tolist(), numbers)
    ]


def _end_of_earlier(
    trace: Trace, activity: DeviceActivity, chains: LaunchChains, host_steps: list[HostStep]
) -> int:
    """Return when a GPU ends what was launched before the first of its steps, ns; 0 where nothing was.

    On Ascend the windows alone count, as in the producer's own table.
    """
    if trace.kind is not TraceKind.GPU:
        return 0
    earlier = _launched_before(trace, activity, chains, min(step.start for step in host_steps))
    return int(trace.slices.end[earlier].max(initial=0))


def _columns(
    trace: Trace, activity: DeviceActivity, windows: Windows, host_start: Int64s, host_after: Int64s
) -> tuple[dict[str, Int64s], Bools]:
    """Return the sums of all steps, by the names of `Step`, and in which of them the device does anything.

    host_after : int64[steps], ns: when the next step of the host starts.
    """

    def tally(rows: Intervals) -> _Tally:
        return _tally(windows, rows.starts, rows.ends)

    received = _received(trace, activity)
    bubble = _tally(windows, trace.slices.start[received], trace.slices.end[received])
    # These three tile the window of the device, so that their sums are the stage in every step.
    computing, free = tally(activity.compute), tally(activity.free)
    exposed = tally(activity.communication_not_overlapped)
    overlapped = _sum_by_step(windows, activity.compute.starts, _overlap(activity))
    first_work = np.minimum(computing.first, tally(activity.communication).first)
    until_work = np.where(first_work != FAR, np.maximum(first_work - host_start, 0), 0)
    ready = host_start + np.minimum(until_work, np.maximum(host_after - host_start, 0))
    working = (activity.compute | activity.communication).covered(host_start, ready)
    idle = activity.idle
    columns = {
        "computing_ns": computing.total,
        "communication_not_overlapped_ns": exposed.total,
        "overlapped_ns": overlapped,
        "communication_ns": overlapped + exposed.total,
        "free_ns": free.total,
        "stage_ns": computing.total + exposed.total + free.total - bubble.total,
        "bubble_ns": bubble.total,
        "communication_not_overlapped_exclude_receive_ns": exposed.total - bubble.total,
        "preparing_ns": ready - host_start - working,
        "prepared_ns": ready,
        "until_work_ns": until_work,
        "idle_ns": _sum_by_step(windows, free_starts(activity, idle.starts), idle.durations),
    }
    rows = [computing, exposed, free, bubble]
    return columns, np.maximum.reduce([part.last for part in rows]) >= 0


def free_starts(activity: DeviceActivity, times: Int64s) -> Int64s:
    """Return when the free stretch began that holds each time: the step of the stretch is that of its parts.

    So the idle time of a step is never more than its free time, and the rest of that is copies.
    """
    starts = activity.free.starts
    return pick(starts, np.searchsorted(starts, times, "right") - 1)


def _overlap(activity: DeviceActivity) -> Int64s:
    """Return the communication within each stretch of computing, ns."""
    return activity.communication.covered(activity.compute.starts, activity.compute.ends)


def _sum_by_step(windows: Windows, starts: Int64s, ns: Int64s) -> Int64s:
    """Sum some times (ns) by the step in whose window each starts."""
    step = windows.first(starts)
    total = np.zeros(len(windows), np.int64)
    np.add.at(total, step[step >= 0], ns[step >= 0])
    return total


_NO_PHASES: dict[str, Any] = {"iteration_gap": None, "forward_backward": None, "tail": None}


def _phases(
    activity: DeviceActivity, tasks: StepTasks, host_start: Int64s, end: Int64s
) -> Iterator[dict[str, Any]]:
    """Yield the phases of each step with tasks, and the idle time in them, by the names of `Step`.

    A phase begins where the one before it ends. Without a backward pass the last two are empty, and None.
    """
    begin = np.concatenate((host_start[tasks.step[:1]], tasks.last[:-1]))
    has_backward = tasks.backward_end >= 0
    backward_end = np.where(has_backward, tasks.backward_end, tasks.first)
    close = np.where(has_backward, np.maximum(end[tasks.step], backward_end), backward_end)
    edges = np.stack((np.minimum(begin, tasks.first), tasks.first, backward_end, close))
    busy = activity.busy
    idle = np.diff(edges, axis=0) - busy.covered(edges[:-1], edges[1:])
    for (gap, first, backward, finish), in_phases, has_passes in zip(
        edges.T.tolist(), idle.T.tolist(), has_backward.tolist()
    ):
        yield {
            "iteration_gap": (gap, first),
            "forward_backward": (first, backward) if has_passes else None,
            "tail": (backward, finish) if has_passes else None,
            "phase_idle_ns": tuple(in_phases),
        }


def _received(trace: Trace, activity: DeviceActivity) -> Int64s:
    tasks = activity.tasks[trace.slices.activity[activity.tasks] == Activity.COMMUNICATION]
    names = trace.slices.name[tasks]
    receiving = [
        n for n in distinct(names).tolist() if trace.strings[n].startswith(KNOWN.collectives.receives)
    ]
    received: Int64s = tasks[np.isin(names, receiving)]
    return received


def _tally(windows: Windows, row_starts: Int64s, row_ends: Int64s) -> _Tally:
    step = windows.first(row_starts)
    in_step = step >= 0
    step, row_starts, row_ends = step[in_step], row_starts[in_step], row_ends[in_step]
    count = len(windows)
    tally = _Tally(np.zeros(count, np.int64), np.full(count, FAR), np.full(count, -1, np.int64))
    np.add.at(tally.total, step, row_ends - row_starts)
    np.minimum.at(tally.first, step, row_starts)
    np.maximum.at(tally.last, step, row_ends)
    return tally


class Windows:
    """Half-open windows [start, end), numbered in the order given; ns."""

    def __init__(self, starts: Int64s, ends: Int64s) -> None:
        self._count = len(starts)
        self._edges = distinct(np.concatenate((starts, ends)))
        self._owner = _owners(starts, ends, self._edges)

    def __len__(self) -> int:
        return self._count

    def first(self, times: Int64s) -> Int64s:
        """Return the lowest number of the windows that hold each time, -1 where none does."""
        place = np.searchsorted(self._edges, times, "right") - 1
        return self._owner[place]


def _owners(starts: Int64s, ends: Int64s, edges: Int64s) -> Int64s:
    """Return the lowest window from each edge to the next; the last is -1, which place -1 of no edge is.

    One sweep: 2 µs for each window, however they overlap.
    """
    owners = np.full(max(len(edges), 1), -1, np.int64)
    order = np.argsort(starts, kind="stable").tolist()
    begins, stops = starts[order].tolist(), ends.tolist()
    opened: list[int] = []
    following = 0
    for place, edge in enumerate(edges.tolist()):
        while following < len(order) and begins[following] <= edge:
            heapq.heappush(opened, order[following])
            following += 1
        while opened and stops[opened[0]] <= edge:
            heapq.heappop(opened)
        if opened:
            owners[place] = opened[0]
    return owners


def _launched_before(trace: Trace, activity: DeviceActivity, chains: LaunchChains, begin_ns: int) -> Int64s:
    """Return the work of a device that was launched before a time: int64[n], rows by start.

    A stream runs its tasks in the order of their launches. So what it ran before the first task known to be
    launched at `begin_ns` or later was launched before that, with or without a launch in the trace. Tasks
    without one count only in the wake of such a stream: from the first work of the device on, until the last
    of those streams comes to what was launched later. What is merely unlinked is not taken for early.
    """
    work = activity.work
    start, launched = trace.slices.start[work], chains.enqueued(work)
    later = (launched != NEVER) & (launched >= begin_ns)
    if not later.any():
        return work[:0]
    track = track_of_rows(trace, work)
    turn = np.full(len(trace.tracks), NEVER)  # of each stream: the start of its first task launched later
    np.minimum.at(turn, track[later], start[later])
    earlier = start < turn[track]
    opens = np.full(len(trace.tracks), NEVER)
    np.minimum.at(opens, track, start)
    queued = earlier & ((opens < start[later].min()) & (turn != NEVER))[track]
    last_start = int(start[queued].max(initial=-1))
    return work[earlier & (start <= last_start)]
