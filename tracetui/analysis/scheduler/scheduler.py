"""The scheduler beside a trace: what its threads did, what idle time that explains, and who is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Union

import numpy as np

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.pieces import Cuts, cut_at_edges, edges_of
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.scheduler.clock import AlignedRecording, align
from tracetui.analysis.scheduler.cores import IDLE, Cores, Occupancy
from tracetui.analysis.scheduler.matching import TraceThread
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.analysis.scheduler.states import Interrupts, State, ThreadStates, losses_by_cpu, thread_states
from tracetui.analysis.search import group_by
from tracetui.arrays import EMPTY, Int8s, Int64s
from tracetui.language import state
from tracetui.siblings.beside import Refusal
from tracetui.siblings.scheduler.events import NO_PID, SchedulerEvents
from tracetui.siblings.scheduler.files import find_recording, read_recording
from tracetui.siblings.scheduler.nodes import core_nodes
from tracetui.siblings.scheduler.recording import OnProgress
from tracetui.trace.model import Trace

_Blamed = tuple[str, int, Union[bool, None]]  # name, number, whether of the same process

NOBODY = "nobody (wake-up)"
UNKNOWN_TASK = "unknown"

#: In which sleep has its cause already, or says nothing.
_WAITS = (Cause.SYNC, Cause.DATALOADER, Cause.COMMUNICATION, Cause.UNRECORDED, Cause.QUEUE_WAKEUP)
#: The causes that the scheduler finds.
SCHEDULED = (Cause.PREEMPTED, Cause.INTERRUPTED, Cause.DISK, Cause.BLOCKED)
#: The families of causes of which it takes a part.
SPLIT_FAMILIES = ("host", "queue", "launch")


def _table() -> Int8s:
    """Return int8[causes, states]: the cause of idle time that a thread in that state is to blame for."""
    table = np.tile(np.array(Cause, np.int8)[:, None], (1, len(State)))
    for cause in Cause:
        if cause.family in SPLIT_FAMILIES:
            table[cause, State.READY] = Cause.PREEMPTED
            table[cause, State.INTERRUPTED] = Cause.INTERRUPTED
            table[cause, State.DISK] = Cause.DISK
            if cause not in _WAITS:
                table[cause, State.BLOCKED] = Cause.BLOCKED
    return table


_CAUSE_OF = _table()


class CoreOwner(IntEnum):
    """Who has a core, as seen from the trace."""

    THREAD = 0  #: a thread of the trace
    PROCESS = 1  #: another thread of its process
    STRANGER = 2  #: what is known to be another process
    INTERRUPT = 3
    NOBODY = 4  #: it is idle
    UNKNOWN = 5


class RecordedThread(NamedTuple):
    """A thread of the recording, as people know it."""

    comm: str  #: as written: never print it unescaped
    pid: int | None  #: as the trace has it, 0 of nobody; None where not known
    host_pid: int | None  #: as the recording has it, where that is another number


@dataclass(frozen=True)
class Culprit:
    """Who had the core that a thread waited for: a task, nobody, or one that is not known."""

    task: RecordedThread
    own_process: bool | None  #: a thread of the process that waited; None where a process is unknown
    idle_ns: int


class Scheduler:
    """What the operating system did while a trace was recorded; all times are those of the trace."""

    def __init__(
        self, trace: Trace, events: SchedulerEvents, aligned: AlignedRecording, nodes: Mapping[int, int]
    ) -> None:
        """`aligned`: how the events stand to the trace; `nodes`: the NUMA node of each core that is known."""
        self.events, self.clock, self.matching = events, aligned.clock, aligned.matching
        self.nodes = nodes
        self.agreeing = aligned.agreeing
        self._trace, self._mapping = trace, aligned.mapping
        offset = self.clock.offset_ns
        #: [start, end) ns: what both recordings cover
        self.window = (
            max(trace.start_ns, events.start_ns + offset),
            min(trace.end_ns, events.end_ns + offset + 1),
        )
        self.cores = Cores(events, offset)
        self._interrupts = Interrupts(events.columns, losses_by_cpu(events.losses))
        self._states: dict[int, ThreadStates] = {}
        self._index_states(self.matching.host.values())

    @property
    def threads(self) -> tuple[TraceThread, ...]:
        """The threads of the trace that are in the recording."""
        return tuple(thread for thread in self.matching.threads if thread.tid in self.matching.host)

    def states(self, thread: TraceThread) -> ThreadStates:
        """Return what a thread of the trace did."""
        return self.states_of(self.matching.host[thread.tid])

    def states_of(self, pid: int) -> ThreadStates:
        """Return what a thread of the recording did."""
        if pid not in self._states:
            self._index_states([pid])
        return self._states[pid]

    def interrupts(self, cpu: int) -> Intervals:
        """Return when a core served interrupts."""
        found = self._interrupts.of_cpu(cpu)
        return Intervals(found.starts + self.clock.offset_ns, found.ends + self.clock.offset_ns)

    def owners(self, cpu: int) -> tuple[Intervals, ...]:
        """Return when a core belonged to each kind of owner, in the window that trace and recording share."""
        start, end = self.window
        known = self.cores.runs(cpu)
        starts, ends = np.maximum(known.time, start), np.minimum(np.append(known.time[1:], end), end)
        kinds = np.array([self._owner(pid) for pid in known.pid.tolist()], np.int8)
        interrupted = self.interrupts(cpu).clip(start, end)
        found = []
        for owner in CoreOwner:
            kept = (kinds == owner) & (starts < ends)
            spans = union(starts[kept], ends[kept])
            found.append(interrupted if owner is CoreOwner.INTERRUPT else spans - interrupted)
        return tuple(found)

    def _owner(self, pid: int) -> CoreOwner:
        if pid <= 0:
            return CoreOwner.NOBODY if pid == IDLE else CoreOwner.UNKNOWN
        traced = self.matching.container
        if pid in traced:
            return CoreOwner.THREAD
        is_own = {self._same_process(thread, pid) for thread in traced}
        if True in is_own:
            return CoreOwner.PROCESS
        return CoreOwner.UNKNOWN if None in is_own else CoreOwner.STRANGER

    def _index_states(self, pids: Iterable[int]) -> None:
        offset = self.clock.offset_ns
        window = self.window[0] - offset, self.window[1] - offset
        for pid, states in thread_states(self.events, pids, window).items():
            known = states if self.events.has_wakes else states.without_sleep()
            self._states[pid] = known.shifted(offset)

    @cached_property
    def pid_of_track(self) -> Int64s:
        """int64[tracks]: the number of the thread of each track in the recording, -1 where it has none."""
        found = np.full(len(self._trace.tracks), NO_PID, np.int64)
        for thread in self.threads:
            for track in thread.tracks:
                found[track.index] = self.matching.host[thread.tid]
        return found

    def without_core(self, pid: int) -> Intervals:
        """Return when a thread of the recording was ready while its core was not known to be idle."""
        states = self.states_of(pid)
        ready = states.state == State.READY
        had = self.cores.occupants(states.cpu[ready], states.start[ready], states.end[ready])
        return union(had.start[had.pid != IDLE], had.end[had.pid != IDLE])

    def cores_at(self, times: Int64s, tracks: Int64s) -> set[int]:
        """Return the cores that threads (of these tracks) were on, or waited for, at some times."""
        found = set[int]()
        for pid, places in group_by(self.pid_of_track[tracks]):
            states = self.states_of(pid)
            found.update(states.cpu[states.piece_at(times[places])].tolist())
        return found

    def split(self, starts: Int64s, ends: Int64s, causes: Int8s, tracks: Int64s) -> tuple[Cuts, Int8s]:
        """Cut pieces of idle time by what the thread to blame did; return the cuts and the cause of each.

        Args:
            starts: ns, of each piece.
            ends: ns.
            causes: why the device was idle, by what the trace knows.
            tracks: of the thread to blame, -1 where none is.
        """
        pids = np.where(tracks >= 0, self.pid_of_track[tracks], NO_PID)
        parts = [Cuts(*(EMPTY for _ in Cuts._fields))]
        found = [np.empty(0, np.int8)]
        for pid, places in group_by(pids):
            states = None if pid < 0 else self._states[pid]
            edges = EMPTY if states is None else edges_of(states.start, states.end)
            cuts = cut_at_edges(starts[places], ends[places], edges)
            cause = causes[places[cuts.place]]
            if states is not None and len(states.start):
                place = states.piece_at(cuts.start)
                state = np.where(place >= 0, states.state[place], State.RUNNING)
                cause = _CAUSE_OF[cause, state]
            parts.append(Cuts(places[cuts.place], cuts.start, cuts.end))
            found.append(cause)
        joined = Cuts._make(np.concatenate(columns) for columns in zip(*parts))
        return joined, np.concatenate(found)

    # -- who is to blame ------------------------------------------------------------------------------

    def culprits(self, starts: Int64s, ends: Int64s, tracks: Int64s) -> tuple[Culprit, ...]:
        """Return who had the core while threads waited for one in stretches of time, most time first.

        `tracks`: of the threads; their times ready in the stretches are looked at, and no other.
        """
        total: dict[_Blamed, int] = {}
        for pid, places in group_by(np.where(tracks >= 0, self.pid_of_track[tracks], NO_PID)):
            if pid >= 0:
                self._add_culprits(pid, starts[places], ends[places], total)
        return self._ranked(total)

    def culprits_of_thread(self, pid: int, starts: Int64s, ends: Int64s) -> tuple[Culprit, ...]:
        """Return who had the core while one thread of the recording waited for it in stretches of time."""
        total: dict[_Blamed, int] = {}
        self._add_culprits(pid, starts, ends, total)
        return self._ranked(total)

    def longest_occupancy(
        self, culprit: Culprit, starts: Int64s, ends: Int64s, tracks: Int64s
    ) -> tuple[int, int] | None:
        """Return the longest time on end that a culprit had the core of threads in stretches of time."""
        found = []
        for pid, places in group_by(np.where(tracks >= 0, self.pid_of_track[tracks], NO_PID)):
            if pid >= 0:
                had = self._occupants(pid, starts[places], ends[places])
                for start, end, other in zip(had.start.tolist(), had.end.tolist(), had.pid.tolist()):
                    if self._task(other, culprit.task.comm) == culprit.task:
                        found.append((start, end))
        return max(found, key=lambda stretch: stretch[1] - stretch[0], default=None)

    def _occupants(self, pid: int, starts: Int64s, ends: Int64s) -> Occupancy:
        """Return who had the core of a thread of the recording while it waited in stretches of time."""
        states = self.states_of(pid)
        cuts = cut_at_edges(starts, ends, edges_of(states.start, states.end))
        place = states.piece_at(cuts.start)
        kept = (place >= 0) & (states.state[place] == State.READY)
        return self.cores.occupants(states.cpu[place[kept]], cuts.start[kept], cuts.end[kept])

    def _add_culprits(self, pid: int, starts: Int64s, ends: Int64s, total: dict[_Blamed, int]) -> None:
        had = self._occupants(pid, starts, ends)
        for other, rows in group_by(had.pid):
            is_own = self._same_process(pid, other) if other != IDLE else False
            for comm, ns in self._by_name(other, had.start[rows], had.end[rows]).items():
                key = comm, other, is_own
                total[key] = total.get(key, 0) + ns

    def _ranked(self, total: dict[_Blamed, int]) -> tuple[Culprit, ...]:
        found = [
            Culprit(self._task(other, comm), is_own, ns) for (comm, other, is_own), ns in total.items() if ns
        ]
        found.sort(key=lambda culprit: (-culprit.idle_ns, culprit.task.comm, culprit.task.pid or 0))
        return tuple(found)

    def task(self, pid: int, time: int) -> RecordedThread:
        """Return a thread of the recording as people know it at a time."""
        return self._task(pid, self._comm(pid, time))

    def _by_name(self, pid: int, starts: Int64s, ends: Int64s) -> dict[str, int]:
        """Return ns of stretches by what a thread was called then."""
        changes = self.events.names.changes.get(pid, ())
        if len(changes) < 2:
            return {self._comm(pid, 0): int((ends - starts).sum())}
        names: dict[str, int] = {}
        times = np.array([time for time, _ in changes[1:]], np.int64) + self.clock.offset_ns
        cuts = cut_at_edges(starts, ends, edges_of(times))
        which = np.searchsorted(times, cuts.start, "right")
        for place, rows in group_by(which):
            name = changes[place][1]
            names[name] = names.get(name, 0) + int((cuts.end[rows] - cuts.start[rows]).sum())
        return names

    def _comm(self, pid: int, time: int) -> str:
        if pid == IDLE:
            return NOBODY
        if pid < 0:
            return UNKNOWN_TASK
        return self.events.names.at(pid, time - self.clock.offset_ns)

    def _task(self, pid: int, comm: str) -> RecordedThread:
        if pid < 0:
            return RecordedThread(comm, None, None)
        inside = self._inside.get(pid, pid)
        return RecordedThread(comm, inside, None if inside == pid else pid)

    @cached_property
    def _inside(self) -> dict[int, int]:
        """The numbers of threads in their container, by those on the host."""
        mapped = {} if self._mapping is None else {host: pid for pid, host in self._mapping.host.items()}
        return {**mapped, **self.matching.container}

    def process_of(self, pid: int) -> int | None:
        """Return the process of a thread of the recording; None where nothing tells."""
        process = self.events.processes.get(pid)
        if process is None and self._mapping is not None:
            process = self._mapping.processes.get(pid)
        return process

    def _same_process(self, pid: int, other: int) -> bool | None:
        """Return whether two threads of the recording are of one process; None where nothing tells."""
        process, other_process = self.process_of(pid), self.process_of(other)
        if process is not None and other_process is not None:
            return process == other_process
        mine, theirs = self._process_in_trace.get(pid), self._process_in_trace.get(other)
        return None if mine is None or theirs is None else mine == theirs

    @cached_property
    def _process_in_trace(self) -> dict[int, int]:
        """The process of each thread of the recording that the trace has, as the trace has it."""
        found = {self.matching.host[thread.tid]: thread.pid for thread in self.threads}
        return {**{self.matching.host.get(pid, pid): pid for pid in set(found.values())}, **found}


class SchedulerRecording(NamedTuple):
    """The scheduler beside a trace, or why a file found there is of no use."""

    scheduler: Scheduler | None = None
    problem: str = ""  #: a sentence without full stop


#: Returns the events of a file; raises Refusal.
ReadRecording = Callable[[Path, OnProgress], SchedulerEvents]


def scheduler_of(
    trace: Trace,
    source: SchedulerSource,
    on_progress: OnProgress = None,
    read: ReadRecording = read_recording,
) -> Scheduler:
    """Return what a recording tells of a trace. Raises Refusal, one sentence without the name of the file."""
    path = source.path or Path(trace.path)
    events = read(path, on_progress)
    aligned = align(trace, events, path, source.offset_ns)
    return Scheduler(trace, events, aligned, core_nodes(path, Path(trace.path)))


def recording_of(
    trace: Trace,
    source: SchedulerSource | None = None,
    on_progress: OnProgress = None,
    must_be_of_use: bool = True,
    read: ReadRecording = read_recording,
) -> SchedulerRecording:
    """Return the recording that is given, or lies beside the trace where it is plain which.

    Args:
        source: the recording that is given.
        on_progress: called every few MB.
        must_be_of_use: raise Refusal where the one that is given is not; else that is told as of others.
        read: reads the file.
    """
    source = (source or SchedulerSource()).of_rank(Path(trace.path))
    path = source.path or find_recording(Path(trace.path))
    if path is None:
        return SchedulerRecording()
    try:
        found = scheduler_of(trace, SchedulerSource(path, source.offset_ns), on_progress, read)
    except Refusal as refusal:
        if must_be_of_use and source.path is not None:
            raise
        return SchedulerRecording(None, state("{name} {refusal}", name=path.name, refusal=refusal))
    return SchedulerRecording(found)
