"""Match the threads of a trace and of a recording: in a container their numbers differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tracetui.analysis.intervals import Intervals
from tracetui.analysis.scheduler.fitting import ThreadActivity, agreement
from tracetui.analysis.scheduler.states import State, thread_states
from tracetui.analysis.search import distinct, rows_of
from tracetui.arrays import Int64s
from tracetui.siblings.scheduler.events import MOST_PIDS, EventKind, SchedulerColumns, SchedulerEvents
from tracetui.siblings.scheduler.files import PidMapping
from tracetui.trace.model import Family, Layer, Trace, Track

#: The families of slices whose beginnings and ends are calls that the thread itself makes.
_CALLING = (Family.OPERATORS, Family.CALLS, Family.FRAMES)
_LEAST_AGREEING = 0.9
_AHEAD = 0.1  # no other thread may come as close
_MOST_LOOKED_AT = 400  # threads that are compared with one of the trace
_COMPARED_TIMES = 3_000  # times of a thread that are compared
_LOOKED_AT = 5_000_000_000  # ns of the beginning of the trace, in which that is
_LEAD = 100_000_000  # ns before it, which tell what threads are about


@dataclass(frozen=True, eq=False)
class TraceThread:
    """A thread of the trace."""

    pid: int  #: its process, as the trace has it
    tid: int  #: as the trace has it
    tracks: tuple[Track, ...]
    name: str  #: as written: never print it unescaped

    def times(self, trace: Trace) -> Int64s:
        """Return when it began or ended a call, ns, sorted: it has a core then."""
        rows = rows_of([track for track in self.tracks if track.family in _CALLING])
        starts, ends = trace.slices.start[rows], trace.slices.end[rows]
        times = distinct(np.concatenate((starts, ends)))
        return times[(times > trace.start_ns) & (times < trace.end_ns)]


@dataclass(frozen=True, eq=False)
class Matching:
    """The threads of a trace and their numbers in the recording."""

    threads: tuple[TraceThread, ...]
    host: Mapping[int, int] = field(default_factory=dict)  #: number in the recording, by that in the trace
    inferred: bool = False  #: by what they do, not by their numbers

    @property
    def container(self) -> dict[int, int]:
        """The number in the trace, by that in the recording."""
        return {host: tid for tid, host in self.host.items()}


def host_threads(trace: Trace) -> tuple[TraceThread, ...]:
    """Return the threads of the host that have a number, in the order of the trace."""
    found: dict[int, list[Track]] = {}
    for track in trace.tracks:
        if track.layer not in (Layer.PYTHON, Layer.RUNTIME) or not len(track.rows):
            continue
        tid = _number(track.tid)
        if tid is not None and track.family != Family.COLLECTOR:
            found.setdefault(tid, []).append(track)
    processes = {tid: _process(tracks) for tid, tracks in found.items()}
    known = {pid for pid in processes.values() if pid is not None}
    only = next(iter(known)) if len(known) == 1 else None  # what the runtime numbers otherwise is of it too
    return tuple(
        TraceThread(processes[tid] or only or tid, tid, tuple(tracks), tracks[0].name)
        for tid, tracks in found.items()
    )


def _process(tracks: Sequence[Track]) -> int | None:
    """Return the process of a thread; None where the framework's own layer does not tell it."""
    pids = [_number(track.pid) for track in tracks if track.layer == Layer.PYTHON]
    return next((pid for pid in pids if pid is not None and pid < MOST_PIDS), None)


def known_numbers(
    threads: Sequence[TraceThread], events: SchedulerEvents, mapping: PidMapping | None
) -> Matching:
    """Return the threads whose numbers are in the recording, by the mapping of their container.

    A recording may have the container's own numbers all the same, as Insight's converter maps them: they
    count where they tell of more of the mapped threads. A thread that the mapping lacks is left out, as
    another may have its number on the host.
    """
    seen = _seen(events)
    of_host = {} if mapping is None else mapping.host
    host = {thread.tid: of_host[thread.tid] for thread in threads if thread.tid in of_host}
    if not host or len(seen.intersection(host)) > len(seen.intersection(host.values())):
        host = {thread.tid: thread.tid for thread in threads}
    return Matching(tuple(threads), {tid: pid for tid, pid in host.items() if pid in seen})


def activities(
    trace: Trace, matching: Matching, events: SchedulerEvents, window: tuple[int, int]
) -> dict[int, ThreadActivity]:
    """Return the activity of the threads in both trace and recording, by their number in the trace."""
    states = thread_states(events, matching.host.values(), window)
    found = {}
    for thread in matching.threads:
        if thread.tid in matching.host:
            known = states[matching.host[thread.tid]]
            found[thread.tid] = ThreadActivity(
                thread.times(trace), known.of(State.RUNNING, State.INTERRUPTED), known.of(State.UNKNOWN)
            )
    return found


def infer_numbers(
    trace: Trace, threads: Sequence[TraceThread], events: SchedulerEvents, offset_ns: int
) -> Matching:
    """Return the threads of the recording that have a core whenever a thread of the trace calls something.

    A thread is left out where two are as good, or none is good. One that always has a core says nothing: the
    kernel may lose how it left it.
    """
    first = trace.start_ns - offset_ns
    window = first - _LEAD, min(trace.end_ns - offset_ns, first + _LOOKED_AT)
    begin, stop = np.searchsorted(events.columns.time, np.array(window)).tolist()
    columns = SchedulerColumns._make(column[begin:stop] for column in events.columns)
    events = replace(events, columns=columns)
    got = columns.other[columns.kind == EventKind.SWITCH]
    counts = np.bincount(got[got > 0])
    busiest = np.argsort(-counts, kind="stable")[:_MOST_LOOKED_AT]
    states = thread_states(events, busiest[counts[busiest] > 0].tolist(), window)
    running = {pid: known.of(State.RUNNING, State.INTERRUPTED) for pid, known in states.items()}
    host: dict[int, int] = {}
    longest = sorted(threads, key=lambda thread: -sum(len(track.rows) for track in thread.tracks))
    for thread in longest:
        times = thread.times(trace)
        times = times[:: len(times) // _COMPARED_TIMES + 1]
        best = _best(times, running, offset_ns, window)
        if best is not None:
            host[thread.tid] = best
            del running[best]
    return Matching(tuple(threads), host, inferred=True)


def _best(
    times: Int64s, running: Mapping[int, Intervals], offset_ns: int, window: tuple[int, int]
) -> int | None:
    """Return the thread that has a core at these times more often than by chance; None where two do."""
    scores = []
    for pid, spans in running.items():
        agreeing, total = agreement([ThreadActivity(times, spans)], offset_ns, window)
        if total >= 10:
            first, last = (np.clip(times[[0, -1]] - offset_ns, *window)).tolist()
            by_chance = spans.clip(first, last).total / max(last - first, 1)
            share = agreeing / total
            scores.append(((share - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0, share, pid))
    scores.sort(reverse=True)
    if not scores or scores[0][1] < _LEAST_AGREEING or scores[0][0] < _AHEAD:
        return None
    if len(scores) > 1 and scores[0][0] - scores[1][0] < _AHEAD:
        return None
    return scores[0][2]


def _seen(events: SchedulerEvents) -> set[int]:
    columns = events.columns
    kind = columns.kind
    tasks = columns.pid[kind < EventKind.IRQ_ENTRY]
    found = set(distinct(tasks).tolist()) | set(distinct(columns.other[kind == EventKind.SWITCH]).tolist())
    return found - {0, -1}


def _number(text: str) -> int | None:
    plain = text.strip()
    if plain.isascii() and plain.isdecimal() and len(plain) < 19:
        return int(plain) or None
    return None
