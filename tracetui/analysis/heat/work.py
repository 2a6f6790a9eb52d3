"""Who works while a device starves: threads of the host, streams and groups over time, beside idle time.

Waiting is no work and has rows of its own: of the host synchronising calls, the data loader and frames that
block; of a stream EVENT_WAIT, NOTIFY_WAIT and the like; of a group the time in its collectives until the late
rank has come, or where their planes do not tell that, the time in which a part of them waits and none moves
data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce

import numpy as np

from tracetui.analysis.activity import TASK_FAMILIES, WORK
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.heat.cells import HeatCells
from tracetui.analysis.idle.calls import cause_of_call, cause_of_frame, cause_of_operator
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.host import HostThread
from tracetui.analysis.idle.pieces import cut_at_edges, edges_of
from tracetui.analysis.intervals import NOTHING, Intervals, time_of, union
from tracetui.analysis.scheduler.states import State
from tracetui.analysis.search import among, matching, name_meanings, of_category, rows_of, track_of_rows
from tracetui.analysis.sums import most_first
from tracetui.analysis.window import rows_in_window
from tracetui.arrays import Bools, Int64s
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Activity, Family, Layer, Trace, Track
from tracetui.trace.nesting import enclosing


class Occupation(Enum):
    """What the time of a row is."""

    IDLE = "idle"  #: a device does nothing
    WAITING = "waiting"  #: a device waits in a collective for a late rank, and does not compute
    MOVING = "moving"  #: a device moves data, and does not compute
    COMMUNICATING = "waiting or moving"  #: a device does one of both, nobody knows which
    PYTHON = "python"  #: Python runs between operators
    OPERATORS = "operators"
    DEQUEUE = "dequeue"
    CALLS = "calls"  #: of the runtime: CANN, CUDA, HIP
    WORKS = "works"  #: a stream or group
    WAITS = "waits"
    READY = "no core"  #: a thread is ready, and another has its core; known of the scheduler


_COMMUNICATION = {
    CommunicationCause.WAIT: Occupation.WAITING,
    CommunicationCause.TRANSFER: Occupation.MOVING,
    CommunicationCause.UNSPLIT: Occupation.COMMUNICATING,
}
LOST = (Occupation.IDLE, *_COMMUNICATION.values())

_BLOCKED = compile_any(KNOWN.frames.blocked)
_RANK_WAIT = compile_any(KNOWN.collectives.rank_waits)
_WAITING = (Cause.SYNC, Cause.DATALOADER)
_CAUSE_OF_NAME = {
    Family.OPERATORS: cause_of_operator,
    Family.CALLS: cause_of_call,
    Family.FRAMES: cause_of_frame,
}
_NO_WORK = (Occupation.WAITS, Occupation.READY)


@dataclass(frozen=True, eq=False)
class WorkRow:
    """One row."""

    doing: Occupation
    times: Intervals
    device: int = -1  #: index of its device; -1 on the host
    tracks: tuple[Track, ...] = ()  #: whose slices it is made of; none of idle time

    @property
    def lost(self) -> bool:
        """Whether it is time of a device that is lost."""
        return self.doing in LOST


@dataclass(frozen=True, eq=False)
class WorkMap:
    """The rows, in the order of the screen: devices, host threads, streams, groups."""

    analysis: Analysis
    things: tuple[WorkRow, ...]

    @classmethod
    def from_analysis(cls, analysis: Analysis) -> WorkMap:
        """Return all that has any time. 2 M slices take 0.3 s."""
        things = [*_devices(analysis), *_host(analysis), *_streams(analysis)]
        return cls(analysis, tuple(thing for thing in things if len(thing.times)))

    def cells(self, edges: Int64s) -> HeatCells:
        """Return the cells of the columns between `edges` (int64[columns + 1], ns); `main` is -1."""
        times = [np.diff(thing.times.before(edges)) for thing in self.things]
        ns = np.array(times, np.int64).reshape(len(self.things), len(edges) - 1)
        capacity = np.broadcast_to(np.diff(edges), ns.shape)
        return HeatCells.of_totals(ns, capacity)

    def while_idle(self, thing: WorkRow) -> tuple[int, int]:
        """Return the ns of a row while its device is idle, and of all that time; the host's: all devices."""
        devices = self.analysis.devices if thing.device < 0 else [self.analysis.devices[thing.device]]
        overlap = sum((thing.times & device.idle).total for device in devices)
        return overlap, sum(device.idle_ns for device in devices)


def _devices(analysis: Analysis) -> Iterator[WorkRow]:
    for index, device in enumerate(analysis.devices):
        yield WorkRow(Occupation.IDLE, device.idle, index)
        exposed = analysis.communication.exposed
        pieces = exposed.at(exposed.of_device(index))
        tracks = tuple(_communicating(analysis.trace, device.device))
        for cause, doing in _COMMUNICATION.items():
            matching = pieces.cause == cause
            if matching.any():
                yield WorkRow(doing, union(pieces.start[matching], pieces.end[matching]), index, tracks)


def _communicating(trace: Trace, device: str) -> Iterator[Track]:
    """Yield the tracks that hold a device's collectives."""
    for track in trace.tracks:
        if track.device == device and track.family in TASK_FAMILIES:
            rows = slice(track.rows.start, track.rows.stop)
            if (trace.slices.activity[rows] == Activity.COMMUNICATION).any():
                yield track


def _host(analysis: Analysis) -> Iterator[WorkRow]:
    """Yield the threads, those first that work most while a device is idle."""
    host_threads = analysis.host_threads
    idle = reduce(Intervals.__or__, (device.idle for device in analysis.devices), NOTHING)
    threads = [
        [
            *_thread(analysis.trace, host_threads.thread(index)),
            *_scheduled(analysis, host_threads.thread(index)),
        ]
        for index in range(len(host_threads))
    ]
    assigned = {track.index for rows in threads for thing in rows for track in thing.tracks}
    threads += [list(_other_rows(analysis.trace, track)) for track in _other_tracks(analysis.trace, assigned)]

    def works_while_idle(rows: list[WorkRow]) -> int:
        working = (thing.times for thing in rows if thing.doing not in _NO_WORK)
        return (reduce(Intervals.__or__, working, NOTHING) & idle).total

    for rows in sorted(threads, key=works_while_idle, reverse=True):
        yield from rows


def _thread(trace: Trace, thread: HostThread) -> Iterator[WorkRow]:
    """Yield what one thread with operators does; its calls may run inside its operators."""
    track, frames = thread.track, thread.frames
    calls = tuple(_calls_of(trace, track))
    rows = rows_of([track])
    is_dequeue = of_category(trace, trace.slices.category[rows], KNOWN.categories.dequeues)
    dequeues = time_of(trace.slices, rows[is_dequeue])
    waits = reduce(Intervals.__or__, (thread.spans.get(cause, NOTHING) for cause in _WAITING), NOTHING)
    waits = waits | _blocked(trace, frames)
    operators = time_of(trace.slices, thread.operators) - waits
    if frames:
        yield WorkRow(Occupation.PYTHON, thread.python_recorded - operators - dequeues - waits, tracks=frames)
    yield WorkRow(Occupation.OPERATORS, operators, tracks=(track,))
    yield WorkRow(Occupation.DEQUEUE, dequeues - waits, tracks=(track,))
    yield WorkRow(Occupation.CALLS, time_of(trace.slices, rows_of(calls)) - waits, tracks=calls)
    yield WorkRow(Occupation.WAITS, waits, tracks=(*calls, track, *frames))


def _scheduled(analysis: Analysis, thread: HostThread) -> Iterator[WorkRow]:
    """Yield when a thread was ready and had no core, where the scheduler is recorded."""
    scheduler = analysis.scheduler
    pid = -1 if scheduler is None else int(scheduler.pid_of_track[thread.track.index])
    if scheduler is not None and pid >= 0:
        yield WorkRow(Occupation.READY, scheduler.states_of(pid).of(State.READY), tracks=(thread.track,))


def _other_rows(trace: Trace, track: Track) -> Iterator[WorkRow]:
    """Yield a thread of the runtime alone, or of Python without any operator."""
    rows = rows_of([track])
    if track.family is Family.CALLS:
        waits = time_of(trace.slices, rows[name_meanings(trace, rows, cause_of_call) == Cause.SYNC])
        yield WorkRow(Occupation.CALLS, time_of(trace.slices, rows) - waits, tracks=(track,))
    else:
        waits = _blocked(trace, (track,))
        yield WorkRow(Occupation.PYTHON, time_of(trace.slices, rows) - waits, tracks=(track,))
    yield WorkRow(Occupation.WAITS, waits, tracks=(track,))


def _other_tracks(trace: Trace, assigned: set[int]) -> Iterator[Track]:
    families = (Family.CALLS, Family.FRAMES)
    for track in trace.tracks:
        is_candidate = track.layer in (Layer.PYTHON, Layer.RUNTIME) and track.family in families
        if is_candidate and len(track.rows) and track.index not in assigned:
            yield track


def _calls_of(trace: Trace, operators: Track) -> Iterator[Track]:
    """Yield the tracks of the runtime's calls on the thread of some operators.

    Of several processes with such a thread, those of the same process, where any is of it.
    """
    on_thread = [
        track
        for track in trace.tracks
        if track.family is Family.CALLS
        and track.layer is Layer.RUNTIME
        and len(track.rows)
        and track.tid == operators.tid
    ]
    yield from [track for track in on_thread if trace.same_process(track.pid, operators.pid)] or on_thread


def _streams(analysis: Analysis) -> Iterator[WorkRow]:
    trace = analysis.trace
    for index, device in enumerate(trace.devices):
        on_device = [track for track in trace.tracks if track.device == device and len(track.rows)]
        for track in on_device:
            if track.family is Family.TASKS:
                working, waiting = _stream_times(trace, track)
                yield WorkRow(Occupation.WORKS, working, index, (track,))
                yield WorkRow(Occupation.WAITS, waiting - working, index, (track,))
        for track in on_device:
            if track.family is Family.GROUP:
                operations = time_of(trace.slices, rows_of([track]))
                waiting = operations & _waits_of_group(analysis, track, on_device)
                yield WorkRow(Occupation.WORKS, operations - waiting, index, (track,))
                yield WorkRow(Occupation.WAITS, waiting, index, (track,))


def _stream_times(trace: Trace, track: Track) -> tuple[Intervals, Intervals]:
    """Return when a stream works, and when one of its tasks waits."""
    rows = rows_of([track])
    activity = trace.slices.activity[rows]
    parts = among(activity, (Activity.COMMUNICATION_TASK,))
    waits = among(activity, (Activity.WAIT,)) | (parts & _notify_waits(trace, rows))
    works = (among(activity, WORK) | parts) & ~waits
    return time_of(trace.slices, rows[works]), time_of(trace.slices, rows[waits])


def _waits_of_group(analysis: Analysis, group: Track, tracks: Sequence[Track]) -> Intervals:
    """Return when a group's collectives wait for a late rank; else when a part waits and none moves."""
    operations, waits = analysis.communication.operations, analysis.communication.waits
    (members,) = np.nonzero(operations.group == group.index)
    is_split = waits.has_handshake[members]
    split, unsplit = members[is_split], members[~is_split]
    late = union(operations.start[split], operations.start[split] + waits.wait_ns[split])
    whole = union(operations.start[unsplit], operations.end[unsplit])
    return late | (whole & _only_waits(analysis.trace, group, tracks))


def _only_waits(trace: Trace, group: Track, tracks: Sequence[Track]) -> Intervals:
    """Return when a part of any collective of a group waits while none moves data."""
    planes = [track for track in tracks if track.family is Family.PLANE and track.pid == group.pid]
    groups = [track.index for track in tracks if track.family is Family.GROUP and track.pid == group.pid]
    if len(groups) > 1:  # the planes of a group come after it
        last = min((index for index in groups if index > group.index), default=len(trace.tracks))
        planes = [track for track in planes if group.index < track.index < last]
    rows = rows_of(planes or [track for track in tracks if track.family is Family.TASKS])
    rows = rows[trace.slices.activity[rows] == Activity.COMMUNICATION_TASK]
    waits = _notify_waits(trace, rows)
    return time_of(trace.slices, rows[waits]) - time_of(trace.slices, rows[~waits])


def _notify_waits(trace: Trace, rows: Int64s) -> Bools:
    waits: Bools = name_meanings(trace, rows, matching(_RANK_WAIT)) == 1
    return waits


def _blocked(trace: Trace, frames: Sequence[Track]) -> Intervals:
    rows = rows_of(frames)
    return time_of(trace.slices, rows[name_meanings(trace, rows, matching(_BLOCKED)) == 1])


def main_slice(analysis: Analysis, thing: WorkRow, start_ns: int, end_ns: int) -> int:
    """Return a slice of the name with most of a row's time in [start_ns, end_ns); -1 where it has none.

    Of those of that name the one with most of it. Of Python the innermost frame counts, of operators the
    outermost one, of waits of the host the outermost that is a wait itself.
    """
    trace = analysis.trace
    if thing.doing is Occupation.PYTHON:
        rows, ns = _innermost(trace, thing, start_ns, end_ns)
    else:
        rows = rows_in_window(trace, thing.tracks, start_ns, end_ns)
        if thing.doing is Occupation.OPERATORS:
            rows = rows[analysis.host_threads.is_real_operator[rows]]
        elif thing.doing is Occupation.WAITS and thing.device < 0:
            rows = rows[_host_waits(analysis, rows)]
        first, last = (
            np.maximum(trace.slices.start[rows], start_ns),
            np.minimum(trace.slices.end[rows], end_ns),
        )
        ns = thing.times.covered(first, last)
        rows, ns = rows[ns > 0], ns[ns > 0]
    if not len(rows):
        return -1
    names, _ = most_first(trace.slices.name[rows].astype(np.int64), ns)
    named = np.flatnonzero(trace.slices.name[rows] == names[0])
    return int(rows[named[ns[named].argmax()]])


def _host_waits(analysis: Analysis, rows: Int64s) -> Bools:
    """Return which slices of the host are waits, and not just around one."""
    trace = analysis.trace
    family = np.array([track.family for track in trace.tracks])[track_of_rows(trace, rows)]
    is_wait = np.isin(rows, analysis.host_threads.copying.blocked)
    for named, cause_of in _CAUSE_OF_NAME.items():
        places = np.flatnonzero(family == named)
        is_wait[places] |= np.isin(name_meanings(trace, rows[places], cause_of), _WAITING)
    frames = np.flatnonzero(family == Family.FRAMES)
    is_wait[frames] |= name_meanings(trace, rows[frames], matching(_BLOCKED)) == 1
    return is_wait


def _innermost(trace: Trace, thing: WorkRow, start_ns: int, end_ns: int) -> tuple[Int64s, Int64s]:
    """Return the innermost frames of a row's time, and the ns of each stretch."""
    frames = rows_in_window(trace, thing.tracks, start_ns, end_ns)
    edges = edges_of(trace.slices.start[frames], trace.slices.end[frames])
    clipped = thing.times.clip(start_ns, end_ns)
    pieces = cut_at_edges(clipped.starts, clipped.ends, edges)
    row = np.full(len(pieces.start), -1, np.int64)
    for track in thing.tracks:
        row = np.maximum(row, enclosing(trace, track.lanes, pieces.start))
    is_slice = row >= 0
    return row[is_slice], (pieces.end - pieces.start)[is_slice]
