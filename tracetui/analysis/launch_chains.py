"""From device tasks to what launched them: launch, dequeue, enqueue, operator, Python stack.

A task and its runtime call carry the same connection or correlation id. Where the calls are not in the trace,
the launch time is the start of the task's own launch arrow, or of the arrow of a task with the same id. The
dequeue encloses the launch time on the same OS thread, the enqueue has the dequeue's id, and the operator is
the innermost one around the enqueue; without a task queue it is the innermost one around the launch time.
Where arrows tell which thread handed that its work, as MindSpore's do, what took it on the last thread stands
for the dequeue, and what handed it over on the first one is the operator, and stands for the enqueue.
Where that chain is broken, the producer's arrow from operator to task stands in. Operators of the backward
pass take the stack of their forward operator. A missing hop is tolerated and named, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import TASK_FAMILIES
from tracetui.analysis.callers import Callers
from tracetui.analysis.launches import arrows_to, launches
from tracetui.analysis.search import group_by, of_category, pick, rows_by_process, rows_by_track, rows_of
from tracetui.arrays import Bools, Int32s, Int64s, Wholes, first_equal
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Family, Layer, Trace, TraceKind, Track
from tracetui.trace.nesting import enclosing
from tracetui.trace.stack import Frame, parse_call_stack, parse_frame

NEVER = np.iinfo(np.int64).max  #: the time of what is not known to have happened

#: Categories of slices of the framework's threads that are no operators.
NOT_OPERATORS = KNOWN.categories.enqueues | KNOWN.categories.dequeues | KNOWN.categories.annotations


class Hop(NamedTuple):
    """One slice on the way from an operator to its task."""

    name: str  #: "operator", "enqueue", "dequeue", "launch", "task"
    row: int
    start_ns: int
    dur_ns: int
    #: from its start to the start of the next hop, below 0 where clocks disagree; 0 for the last
    wait_ns: int


@dataclass(frozen=True)
class LaunchChain:
    """All that is known about where one device task comes from; rows are -1 where not found."""

    task: int
    launch: int
    dequeue: int
    enqueue: int
    operator: int
    forward: int  #: the forward operator of a backward one
    hops: tuple[Hop, ...]  #: those found, operator first, task last
    stack: tuple[Frame, ...]  #: leaf first; empty where the trace has none
    backward: bool  #: the operator belongs to the backward pass: the stack is that of its forward operator
    #: the first hop not found, seen from the task: "launch", "dequeue", "enqueue", "operator", "stack"
    missing: str | None


@dataclass(frozen=True, eq=False)
class LaunchChains:
    """The chains of all device tasks as columns of equal length, ordered by task row; -1 where not found."""

    trace: Trace
    callers: Callers  #: what tells where operators were called from
    tasks: Int64s  #: rows: all slices of streams, and the operations of communication groups
    launch: Wholes  #: rows of the runtime call
    launch_time: Int64s  #: ns: when the host launched it
    dequeue: Wholes  #: rows
    enqueue: Wholes  #: rows
    enqueue_time: Int64s  #: ns: when it was enqueued
    operator: Wholes  #: rows
    forward: Wholes  #: rows: the forward operator of a backward one
    stack: Int32s  #: string of the `Call stack` that belongs to the task
    frame: Wholes  #: rows: the innermost python_function slice that belongs to the task
    backward: Bools

    @property
    def total(self) -> int:
        """How many tasks there are."""
        return len(self.tasks)

    @cached_property
    def linked(self) -> int:
        """How many of them reach an operator."""
        return int(np.count_nonzero(self.operator >= 0))

    @cached_property
    def leads(self) -> Bools:
        """bool[slices]: those on the way to a task: its launch, dequeue, enqueue or operator."""
        leads = np.zeros(len(self.trace.slices), np.bool_)
        for hop in (self.launch, self.dequeue, self.enqueue, self.operator):
            leads[hop[hop >= 0]] = True
        return leads

    def index(self, rows: Int64s) -> Int64s:
        """Return the places of tasks in the columns, by slice row: -1 for -1, any for what is no task."""
        first, place = self._runs
        if not len(first):
            return np.zeros(len(rows), np.int64)
        run = np.searchsorted(first, rows, "right") - 1
        return np.where(rows < 0, -1, rows - first[run] + place[run])

    @cached_property
    def _runs(self) -> tuple[Int64s, Int64s]:
        """The first rows of consecutive tasks, and their places: as many to search as tracks, not tasks."""
        opens = np.ones(len(self.tasks), np.bool_)
        opens[1:] = self.tasks[1:] != self.tasks[:-1] + 1
        return self.tasks[opens], np.flatnonzero(opens)

    def enqueued(self, rows: Int64s) -> Int64s:
        """Return when the host enqueued each task, or launched it, or began its operator, ns; else NEVER."""
        places = self.index(rows)
        operator_start = pick(self.trace.slices.start, self.operator[places])
        first_known = [self.enqueue_time[places], self.launch_time[places], operator_start]
        return np.select([time >= 0 for time in first_known], first_known, NEVER)

    def chain(self, row: int) -> LaunchChain | None:
        """Return the chain of one task; None where the slice is no task of a stream or group."""
        place = int(np.searchsorted(self.tasks, row))
        if place == len(self.tasks) or int(self.tasks[place]) != row:
            return None
        launch, dequeue, enqueue, operator = (
            int(column[place]) for column in (self.launch, self.dequeue, self.enqueue, self.operator)
        )
        stack = self.stack_at(place)
        return LaunchChain(
            task=row,
            launch=launch,
            dequeue=dequeue,
            enqueue=enqueue,
            operator=operator,
            forward=int(self.forward[place]),
            hops=self._hops(operator, enqueue, dequeue, launch, row),
            stack=stack,
            backward=bool(self.backward[place]),
            missing=self._missing(place, stack),
        )

    def stack_at(self, place: int) -> tuple[Frame, ...]:
        """Return the frames of the task at a place of the columns, leaf first: call stack, else frames."""
        call_stack = self.trace.string(int(self.stack[place]))
        if call_stack is not None:
            return parse_call_stack(call_stack)
        frame = int(self.frame[place])
        return () if frame < 0 else frames_of(self.trace, frame)

    def _hops(self, *rows: int) -> tuple[Hop, ...]:
        slices = self.trace.slices
        names = ("operator", "enqueue", "dequeue", "launch", "task")
        starts = [
            (name, row, int(slices.start[row]))
            for place, (name, row) in enumerate(zip(names, rows))
            if row >= 0 and row not in rows[:place]
        ]
        nexts = [start for _, _, start in starts[1:]] + [starts[-1][2]]
        return tuple(
            Hop(name, row, start, int(slices.dur[row]), next_start - start)
            for (name, row, start), next_start in zip(starts, nexts)
        )

    def _missing(self, place: int, stack: tuple[Frame, ...]) -> str | None:
        if self.operator[place] >= 0:
            return None if stack else "stack"
        if self.launch_time[place] < 0:
            return "launch"
        if self.dequeue[place] >= 0:
            return "operator" if self.enqueue[place] >= 0 else "enqueue"
        return "dequeue" if (self.dequeue >= 0).any() else "operator"


def link_tasks(trace: Trace) -> LaunchChains:
    """Return the chains of all tasks of all devices."""
    devices = set(trace.devices)
    tasks = rows_of(t for t in trace.tracks if t.family in TASK_FAMILIES and t.device in devices)
    launch, launch_time, thread = launches(trace, tasks)
    dequeue, enqueue, operator = _operators(trace, launch_time, thread)
    arrow = pick(trace.flows.source, arrows_to(trace, tasks, KNOWN.flows.operator))
    operator = np.where(operator >= 0, operator, arrow)
    callers = Callers(trace)
    handoffs = callers.handoffs(operator)
    is_handed = (handoffs.giver >= 0) & (enqueue < 0)
    enqueue_time = np.where(is_handed, handoffs.time, pick(trace.slices.start, enqueue))
    operator = np.where(is_handed, handoffs.giver, operator).astype(np.int32)
    enqueue = np.where(is_handed, handoffs.giver, enqueue)
    dequeue = np.where(is_handed, handoffs.stage, dequeue)
    sites = callers.call_sites(operator)
    frame = np.where(is_handed, callers.frames_at(handoffs.giver, handoffs.time), sites.frame)
    return LaunchChains(
        trace=trace,
        callers=callers,
        tasks=tasks,
        launch=launch.astype(np.int32),
        launch_time=launch_time,
        dequeue=dequeue.astype(np.int32),
        enqueue=enqueue.astype(np.int32),
        enqueue_time=enqueue_time,
        operator=operator,
        forward=sites.forward.astype(np.int32),
        stack=sites.stack,
        frame=frame.astype(np.int32),
        backward=sites.backward,
    )


def frames_of(trace: Trace, row: int) -> tuple[Frame, ...]:
    """Return the python_function slice and those around it on its thread, leaf first."""
    lane, track = trace.lane_of(row), trace.track_of(row)
    start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
    frames = [parse_frame(trace.name(row))]
    for outer in range(lane - 1, track.lanes.start - 1, -1):
        span = trace.lane_slice_rows(outer)
        place = span.start + int(np.searchsorted(trace.slices.start[span], start, "right")) - 1
        if place >= span.start and trace.slices.end[place] >= end:
            frames.append(parse_frame(trace.name(place)))
    return tuple(frames)


def _operators(trace: Trace, launch_time: Int64s, thread: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return dequeue, enqueue and operator rows of the tasks launched at those times; -1 where not found."""
    dequeue = np.full(len(launch_time), -1, np.int64)
    hosts = host_tracks(trace)
    dequeues, enqueues, operators = _queue_and_operators(trace, hosts)
    for index, launched in group_by(thread):
        for track in tracks_of_thread(trace, hosts, trace.threads[index]) if index >= 0 else ():
            places = launched[dequeue[launched] < 0]
            dequeue[places] = enclosing(trace, track.lanes, launch_time[places], dequeues, closed_end=True)
    enqueue = _enqueues_of(trace, dequeue, enqueues)
    operator = _holders_of(trace, enqueue, operators)
    for index, launched in group_by(np.where(dequeue < 0, thread, -1)):
        for track in tracks_of_thread(trace, hosts, trace.threads[index]) if index >= 0 else ():
            places = launched[operator[launched] < 0]
            operator[places] = enclosing(trace, track.lanes, launch_time[places], operators)
    return dequeue, enqueue, operator


def operators_of_dequeues(trace: Trace, dequeue: Int64s) -> Int64s:
    """Return the operators (rows) that enqueued what some Dequeue slices took; -1 where not found."""
    _, enqueues, operators = _queue_and_operators(trace, host_tracks(trace))
    return _holders_of(trace, _enqueues_of(trace, dequeue, enqueues), operators)


def _holders_of(trace: Trace, enqueue: Int64s, operators: Bools) -> Int64s:
    """Return the operator that each Enqueue starts in, rows; -1 where none."""
    operator = np.full(len(enqueue), -1, np.int64)
    for track, places in rows_by_track(trace, enqueue):
        operator[places] = enclosing(trace, track.lanes, trace.slices.start[enqueue[places]], operators)
    return operator


def _enqueues_of(trace: Trace, dequeue: Int64s, enqueues: Bools) -> Int64s:
    """Return the row of the Enqueue with the process and id of each Dequeue, -1 where there is none."""
    enqueue, correlation = np.full(len(dequeue), -1, np.int64), trace.slices.correlation
    for pid, places in rows_by_process(trace, dequeue):
        process_tracks = [t for t in trace.tracks if t.pid == pid and is_operator_track(t)]
        queued = rows_of(process_tracks)
        queued = queued[enqueues[queued] & (correlation[queued] >= 0)]
        enqueue[places] = pick(queued, first_equal(correlation[queued], correlation[dequeue[places]]))
    return enqueue


def _queue_and_operators(trace: Trace, hosts: dict[str, list[Track]]) -> tuple[Bools, Bools, Bools]:
    """Return which slices are dequeues, enqueues and operators on some tracks; bool[slices] each."""
    columns = [np.zeros(len(trace.slices), np.bool_) for _ in range(3)]
    for track in (track for tracks in hosts.values() for track in tracks):
        span = slice(track.rows.start, track.rows.stop)
        category = trace.slices.category[span]
        for column, names in zip(columns, (KNOWN.categories.dequeues, KNOWN.categories.enqueues)):
            column[span] = of_category(trace, category, names)
        columns[2][span] = ~of_category(trace, category, NOT_OPERATORS)
    return columns[0], columns[1], columns[2]


def host_tracks(trace: Trace) -> dict[str, list[Track]]:
    """Return the framework's operator tracks by tid."""
    hosts: dict[str, list[Track]] = {}
    for track in trace.tracks:
        if is_operator_track(track) and len(track.rows):
            hosts.setdefault(track.tid, []).append(track)
    return hosts


def is_operator_track(track: Track) -> bool:
    """Return whether a track holds operators of the framework."""
    return track.layer == Layer.PYTHON and track.family == Family.OPERATORS


def tracks_of_thread(trace: Trace, hosts: dict[str, list[Track]], thread: tuple[str, str]) -> list[Track]:
    """Return the operator tracks of the OS thread that another layer calls (pid, tid).

    Layers of one OS process have pids of their own, and equal tids: of several processes with such a thread,
    the one of the same pid counts, else the one of the same OS process, else all; on GPUs, whose layers have
    the pid of their process, only where a producer names the layers.
    """
    pid, tid = thread
    tracks = hosts.get(tid, [])
    same_pid = [track for track in tracks if track.pid == pid]
    near = same_pid or [track for track in tracks if trace.same_process(track.pid, pid)]
    on_gpu = trace.kind == TraceKind.GPU
    return near or [track for track in tracks if not on_gpu or track.process in KNOWN.processes.places]


class Milestones(NamedTuple):
    """Times of tasks, in columns of equal length, ns; -1 where nothing is known of a task's chain."""

    enqueued: Int64s  #: start of its enqueue; without a queue, of its launch
    dequeued: Int64s  #: start of its dequeue; without a queue, of its launch
    launched: Int64s  #: end of its launch; without one, of its dequeue


def milestones(chains: LaunchChains, places: Int64s | None = None) -> Milestones:
    """Return the milestones of the tasks at some places of the columns, -1 for none; of all tasks by default.

    Where neither launch nor dequeue is in the trace, all three are the time of its launch arrow; where that
    is missing too, the end of the operator from which the producer's own arrow leads to the task.
    """
    places = np.arange(chains.total) if places is None else places
    start, end = chains.trace.slices.start, chains.trace.slices.end
    launch, dequeue = pick(chains.launch, places), pick(chains.dequeue, places)
    point = pick(chains.launch_time, places)
    point = np.where(point >= 0, point, pick(end, pick(chains.operator, places)))
    dequeued = _first_known(pick(start, dequeue), pick(start, launch), point)
    return Milestones(
        enqueued=_first_known(pick(chains.enqueue_time, places), dequeued),
        dequeued=dequeued,
        launched=_first_known(pick(end, launch), pick(end, dequeue), point),
    )


def _first_known(*columns: Int64s) -> Int64s:
    times = columns[0]
    for column in columns[1:]:
        times = np.where(times >= 0, times, column)
    return times
