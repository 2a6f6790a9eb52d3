"""The state of each thread at every moment: it ran, was interrupted, was ready without a core, or slept.

An exact partition of time, from events of the scheduler. A thread becomes ready when it is being woken, or
when it loses its core in state R; the core that it waits for then is its last, or that which it is moved to.
What lost events leave open is unknown, and so is the time before the first event of a thread that does not
tell it: one that leaves its core ran, one that is woken slept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, unique
from typing import NamedTuple, cast

import numpy as np

from tracetui.analysis.idle.pieces import cut_by_cover
from tracetui.analysis.intervals import NOTHING, Intervals, time_in_spans, union
from tracetui.analysis.search import group_by, slice_of
from tracetui.arrays import Bools, Int8s, Int32s, Int64s, Wholes
from tracetui.siblings.scheduler.events import (
    MOST_CORES,
    MOST_PIDS,
    NO_PID,
    EventKind,
    LostStretch,
    SchedulerColumns,
    SchedulerEvents,
)


@unique
class State(IntEnum):
    """What a thread does."""

    RUNNING = 0
    INTERRUPTED = 1  #: it has a core, which serves an interrupt
    READY = 2  #: it could run, and has no core
    BLOCKED = 3  #: it sleeps
    DISK = 4  #: it sleeps and cannot be woken by signals: a disk, a page
    UNKNOWN = 5


class CoreMoves(NamedTuple):
    """The moves of a thread to another core; columns of equal length."""

    left: Int64s  #: the core it was on, or waited for; -1: not known
    reached: Int64s

    def across(self, nodes: Mapping[int, int]) -> int:
        """Return how many of the moves are known to lead to another NUMA node; `nodes`: of each core."""
        node_of = np.full(MOST_CORES + 1, -1, np.int64)
        node_of[[*nodes]] = [*nodes.values()]
        left, reached = node_of[self.left], node_of[self.reached]
        return int(((left >= 0) & (reached >= 0) & (left != reached)).sum())


@dataclass(frozen=True, eq=False)
class ThreadStates:
    """The time of one thread in pieces, by start, without holes; columns of equal length."""

    pid: int
    start: Int64s  #: ns
    end: Int64s
    state: Int8s  #: State
    cpu: Int64s  #: the core it is on, or waits for; where it sleeps its last; -1: not known
    waker: Int64s  #: of sleep the thread that ended it, -1: not known
    moves: CoreMoves

    def piece_at(self, times: Int64s) -> Int64s:
        """Return the place of the piece that holds each time, -1 outside of all."""
        place = np.searchsorted(self.start, times, "right") - 1
        inside = (
            (place >= 0) & (times < self.end[place]) if len(self.start) else np.zeros(len(times), np.bool_)
        )
        return np.where(inside, place, -1)

    def of(self, *states: State) -> Intervals:
        """Return when the thread was in one of some states."""
        wanted = np.isin(self.state, states)
        return union(self.start[wanted], self.end[wanted])

    def sums(self) -> dict[State, int]:
        """Sum the time in each state, ns."""
        total = np.zeros(len(State), np.int64)
        np.add.at(total, self.state, self.end - self.start)
        return dict(zip(State, total.tolist()))

    def without_sleep(self) -> ThreadStates:
        """Return the same states with sleep unknown: of a recording that does not tell when it ends."""
        sleeps = (self.state == State.BLOCKED) | (self.state == State.DISK)
        return replace(self, state=np.where(sleeps, State.UNKNOWN, self.state).astype(np.int8))

    def shifted(self, offset_ns: int) -> ThreadStates:
        """Return the same states on a clock that is `offset_ns` ahead."""
        moved = self.start + offset_ns, self.end + offset_ns
        return ThreadStates(self.pid, *moved, self.state, self.cpu, self.waker, self.moves)


_FOREVER = 1 << 62  # ns: a loss of which no end is known


class _Change(IntEnum):
    """What an event does to the state of a thread."""

    IN = 0
    OUT = 1
    WAKING = 2
    WAKEUP = 3
    WAKEUP_NEW = 4  #: from a wake-up on it is ready; before this one there is no thread
    MOVE = 5
    BORN = 6


_WAKES = (_Change.WAKING, _Change.WAKEUP, _Change.WAKEUP_NEW)


class _Changes(NamedTuple):
    """Events of threads by thread, then time; columns of equal length."""

    pid: Int32s
    time: Int64s
    change: Int8s
    cpu: Int64s  #: where it happens, or is moved to; -1: not told
    detail: Int64s  #: of OUT the letter of its state, of a wake-up who wakes it


class _Pieces(NamedTuple):
    start: Int64s
    end: Int64s
    state: Int8s
    cpu: Int64s
    waker: Int64s


def thread_states(
    events: SchedulerEvents, pids: Iterable[int], window: tuple[int, int]
) -> dict[int, ThreadStates]:
    """Return what threads did in [start, end) of the recording's clock; unknown where never seen."""
    wanted = np.zeros(MOST_PIDS, np.bool_)
    chosen = sorted({pid for pid in pids if 0 < pid < MOST_PIDS})
    wanted[chosen] = True
    losses = losses_by_cpu(events.losses)
    interrupts = Interrupts(events.columns, losses)
    changes = _changes(events.columns, wanted, interrupts)
    first = np.searchsorted(changes.pid, np.array([*chosen, MOST_PIDS]))
    found = {}
    for place, pid in enumerate(chosen):
        rows = slice(int(first[place]), int(np.searchsorted(changes.pid, pid, "right")))
        found[pid] = _of_thread(pid, _Changes._make(c[rows] for c in changes), interrupts, losses, window)
    return found


def losses_by_cpu(losses: Iterable[LostStretch]) -> dict[int, Intervals]:
    """Return, of each core that lost events, when that was."""
    found: dict[int, list[tuple[int, int]]] = {}
    for loss in losses:
        before = loss.before_ns if loss.before_ns >= 0 else _FOREVER
        found.setdefault(loss.cpu, []).append((loss.after_ns if loss.after_ns >= 0 else -1, before))
    lost = {cpu: time_in_spans(times) for cpu, times in found.items()}
    return {cpu: times for cpu, times in lost.items() if len(times)}


class Interrupts:
    """When each core served interrupts: from an entry to the exit that is the next of its kind.

    Where the core lost events that is not known.
    """

    def __init__(self, columns: SchedulerColumns, losses: Mapping[int, Intervals]) -> None:
        self._columns, self._losses = columns, losses
        rows = np.flatnonzero(
            (columns.kind >= EventKind.IRQ_ENTRY) & (columns.kind <= EventKind.SOFTIRQ_EXIT)
        )
        order = np.argsort(columns.cpu[rows], kind="stable")
        self._rows = rows[order]
        self._cpu = columns.cpu[self._rows]
        self._found: dict[int, Intervals] = {}

    def of_cpu(self, cpu: int) -> Intervals:
        """Return when a core served interrupts."""
        if cpu not in self._found:
            rows = self._rows[slice_of(self._cpu, cpu)]
            starts, ends = [], []
            for entry, leave in (
                (EventKind.IRQ_ENTRY, EventKind.IRQ_EXIT),
                (EventKind.SOFTIRQ_ENTRY, EventKind.SOFTIRQ_EXIT),
            ):
                kind = self._columns.kind[rows]
                served = rows[(kind == entry) | (kind == leave)]
                kind = self._columns.kind[served]
                pairs = np.flatnonzero((kind[:-1] == entry) & (kind[1:] == leave))
                starts.append(self._columns.time[served[pairs]])
                ends.append(self._columns.time[served[pairs + 1]])
            lost = self._losses.get(cpu, NOTHING)
            self._found[cpu] = union(np.concatenate(starts), np.concatenate(ends)) - lost
        return self._found[cpu]


def _changes(columns: SchedulerColumns, wanted: Bools, interrupts: Interrupts) -> _Changes:
    """Return all events of the threads wanted."""
    kind = columns.kind
    parts = []
    for change, mask, who in (
        (_Change.OUT, kind == EventKind.SWITCH, columns.pid),
        (_Change.IN, kind == EventKind.SWITCH, columns.other),
        (_Change.WAKING, kind == EventKind.WAKING, columns.pid),
        (_Change.WAKEUP, kind == EventKind.WAKEUP, columns.pid),
        (_Change.WAKEUP_NEW, kind == EventKind.WAKEUP_NEW, columns.pid),
        (_Change.MOVE, kind == EventKind.MIGRATE, columns.pid),
        (_Change.BORN, kind == EventKind.FORK, columns.pid),
    ):
        rows = np.flatnonzero(mask)
        pid = who[rows]
        of_threads = rows[wanted[np.maximum(pid, 0)]]
        cpu = columns.cpu[of_threads].astype(np.int64)
        detail = np.full(len(of_threads), NO_PID, np.int64)
        if change is _Change.OUT:
            detail = columns.state[of_threads].astype(np.int64)
        elif change in _WAKES:
            detail = columns.other[of_threads].astype(np.int64)
            for core, places in group_by(cpu):  # an interrupt wakes it, not the thread that is interrupted
                served = interrupts.of_cpu(core).index_at(columns.time[of_threads[places]]) >= 0
                detail[places[served]] = NO_PID
            cpu = columns.target[of_threads].astype(np.int64)  # of WAKING where it was last
        elif change is _Change.MOVE:
            cpu = columns.target[of_threads].astype(np.int64)
        elif change is _Change.BORN:
            cpu = np.full(len(of_threads), -1, np.int64)
        # In the order of the events; of one switch, who leaves the core before who gets it.
        parts.append((of_threads * 2 + (change is _Change.IN), who[of_threads], change, cpu, detail))
    place = np.concatenate([part[0] for part in parts])
    pid = np.concatenate([part[1] for part in parts])
    order = np.lexsort((place, pid))
    changes = np.concatenate([np.full(len(part[0]), part[2], np.int8) for part in parts])
    cpu, detail = (np.concatenate([part[n] for part in parts]) for n in (3, 4))
    time = columns.time[place[order] // 2]
    return _Changes(pid[order], time, changes[order], cpu[order], detail[order])


def _of_thread(
    pid: int,
    changes: _Changes,
    interrupts: Interrupts,
    losses: dict[int, Intervals],
    window: tuple[int, int],
) -> ThreadStates:
    pieces = _pieces(changes, losses, window)
    pieces = _split_by_interrupts(_mark_lost(pieces, losses), interrupts)
    return ThreadStates(pid, *_clipped(pieces, window), _moves(changes, window))


def _moves(changes: _Changes, window: tuple[int, int]) -> CoreMoves:
    """Return the moves of a thread to other cores in a window.

    Where none is recorded, they are seen by the cores that the thread runs on.
    """
    moved = np.flatnonzero(changes.change == _Change.MOVE)
    if len(moved):
        left = np.append(-1, _last_cores(changes))[moved]
    else:
        ran = np.flatnonzero(changes.change == _Change.IN)
        cores = changes.cpu[ran]
        places = np.flatnonzero(cores[1:] != cores[:-1])
        moved, left = ran[places + 1], cores[places]
    times = changes.time[moved]
    inside = (times >= window[0]) & (times < window[1])
    return CoreMoves(left[inside], changes.cpu[moved[inside]])


def _last_cores(changes: _Changes) -> Int64s:
    """Return the core that a thread is on, or waits for, from each of its events on; -1: not told."""
    known = np.maximum.accumulate(np.where(changes.cpu >= 0, np.arange(len(changes.cpu)), -1))
    return np.where(known >= 0, changes.cpu[known], -1)


def _pieces(changes: _Changes, losses: dict[int, Intervals], window: tuple[int, int]) -> _Pieces:
    """Return the pieces of time between the events of a thread, with its state in each."""
    count = len(changes.time)
    if not count:
        one = np.array([State.UNKNOWN], np.int8), np.array([-1]), np.array([-1])
        return _Pieces(np.array([window[0]]), np.array([window[1]]), *one)
    places = np.arange(count)
    change = changes.change
    switch = (change == _Change.IN) | (change == _Change.OUT)
    last = np.maximum.accumulate(np.where(switch, places, -1))  # the last switch up to each event
    wakes = np.cumsum(np.isin(change, _WAKES))
    woken = wakes - np.where(last >= 0, wakes[last], 0) > 0
    asleep = np.full(count, State.BLOCKED, np.int8)
    letter = np.where(last >= 0, changes.detail[last], 0)
    asleep[letter == ord("D")] = State.DISK
    asleep[np.isin(letter, (ord("X"), ord("Z"), ord("x"), ord("?")))] = State.UNKNOWN
    state = np.where(woken | (letter == ord("R")), State.READY, asleep)
    is_in = (last >= 0) & (change[last] == _Change.IN)
    state = np.where(is_in, State.RUNNING, state)
    state[(last < 0) & (change == _Change.MOVE) & ~woken] = State.UNKNOWN
    cpu = _last_cores(changes)
    following = np.append(changes.time[1:], max(window[1], int(changes.time[-1])))
    after = np.append(change[1:], np.int8(-1))
    waker = np.where(np.isin(after, _WAKES), np.append(changes.detail[1:], -1), -1)
    waker[(state != State.BLOCKED) & (state != State.DISK)] = -1
    known_pieces = _Pieces(changes.time, following, state, cpu, waker)
    state[woken & (state == State.READY) & (after == _Change.WAKING)] = State.UNKNOWN  # it ran and slept
    known_pieces = _mark_impossible(known_pieces, changes, after, losses)
    first = _before_first(changes, losses, window)
    return _joined(first, known_pieces)


def _mark_impossible(
    pieces: _Pieces, changes: _Changes, after: Int8s, losses: dict[int, Intervals]
) -> _Pieces:
    """Mark as unknown what cannot have been: a thread leaves a core that it never got, or gets one twice.

    Events are lost there: what was before the loss stays, and a thread that leaves a core had it since then.
    In between the state is unknown.
    """
    sleeps = (pieces.state == State.BLOCKED) | (pieces.state == State.DISK)
    runs = pieces.state == State.RUNNING
    next_cpu = np.append(changes.cpu[1:], -1)
    leaves_unheld = (after == _Change.OUT) & ~(runs & (pieces.cpu == next_cpu))
    enters_twice = (after == _Change.IN) & runs
    enters_unwoken = (after == _Change.IN) & sleeps  # what woke it is not recorded, or lost
    if not losses:
        pieces.state[leaves_unheld | enters_twice] = State.UNKNOWN
        return pieces
    every = union(
        *(np.concatenate([getattr(lost, n) for lost in losses.values()]) for n in ("starts", "ends"))
    )
    added: list[tuple[int, int, int, int, int]] = []
    end = pieces.end.copy()
    for place in np.flatnonzero(leaves_unheld | enters_twice | enters_unwoken).tolist():
        begin, stop, cpu = int(pieces.start[place]), int(pieces.end[place]), int(pieces.cpu[place])
        core = int(next_cpu[place]) if leaves_unheld[place] else cpu
        lost = (every if enters_unwoken[place] else losses.get(core, NOTHING)).clip(begin, stop)
        if not len(lost):
            if not enters_unwoken[place]:
                pieces.state[place] = State.UNKNOWN
            continue
        first, last = int(lost.starts[0]), int(lost.ends[-1]) if leaves_unheld[place] else stop
        end[place] = first
        added.append((first, last, State.UNKNOWN, core, -1))
        if last < stop:
            added.append((last, stop, State.RUNNING, core, -1))
    pieces = pieces._replace(end=end)
    if added:
        more = np.array(added, np.int64).T
        joined = _joined(pieces, _Pieces(more[0], more[1], more[2].astype(np.int8), more[3], more[4]))
        order = np.argsort(joined.start, kind="stable")
        pieces = _Pieces._make(column[order] for column in joined)
    kept = pieces.start < pieces.end
    return _Pieces._make(column[kept] for column in pieces)


def _before_first(changes: _Changes, losses: dict[int, Intervals], window: tuple[int, int]) -> _Pieces:
    """Return the state of a thread before its first event, as far as that event tells it."""
    change, cpu = int(changes.change[0]), int(changes.cpu[0])
    state, waker = State.UNKNOWN, -1
    if change == _Change.OUT:
        state = State.RUNNING
    elif change in (_Change.WAKING, _Change.WAKEUP):
        state, waker = State.BLOCKED, int(changes.detail[0])
    start, end = min(window[0], int(changes.time[0])), int(changes.time[0])
    if state is State.RUNNING:
        lost = losses.get(cpu, NOTHING)
        ended = lost.ends[lost.ends <= end]
        if len(ended):  # it runs since then at least
            at = int(ended[-1])
            columns = ([start, at], [at, end], [State.UNKNOWN, State.RUNNING], [cpu, cpu], [-1, -1])
            return _Pieces(*(np.array(column) for column in columns))
    columns = ([start], [end], [state], [cpu], [waker])
    return _Pieces(*(np.array(column) for column in columns))


def _mark_lost(pieces: _Pieces, losses: dict[int, Intervals]) -> _Pieces:
    """Mark as unknown the pieces in which the core of a thread lost events."""
    if not losses:
        return pieces
    cuts, lost = cut_by_cover(pieces.start, pieces.end, pieces.cpu, lambda cpu: losses.get(cpu, NOTHING))
    order = np.argsort(cuts.start, kind="stable")
    place = cuts.place[order]
    state = pieces.state[place].copy()
    state[lost[order]] = State.UNKNOWN
    columns = pieces.cpu[place], np.where(state == State.UNKNOWN, -1, pieces.waker[place])
    return _Pieces(cuts.start[order], cuts.end[order], state, *columns)


def _split_by_interrupts(pieces: _Pieces, interrupts: Interrupts) -> _Pieces:
    """Split the time on a core by whether the core served an interrupt."""
    runs = np.where(pieces.state == State.RUNNING, pieces.cpu, -1)
    cuts, inside = cut_by_cover(pieces.start, pieces.end, runs, interrupts.of_cpu)
    order = np.argsort(cuts.start, kind="stable")
    place = cuts.place[order]
    state = pieces.state[place].copy()
    state[inside[order]] = State.INTERRUPTED
    return _Pieces(cuts.start[order], cuts.end[order], state, pieces.cpu[place], pieces.waker[place])


def _clipped(pieces: _Pieces, window: tuple[int, int]) -> _Pieces:
    start, end = np.maximum(pieces.start, window[0]), np.minimum(pieces.end, window[1])
    kept = start < end
    return _Pieces(start[kept], end[kept], pieces.state[kept], pieces.cpu[kept], pieces.waker[kept])


def _joined(first: _Pieces, second: _Pieces) -> _Pieces:
    pairs = zip(cast("tuple[Wholes, ...]", first), cast("tuple[Wholes, ...]", second))
    return _Pieces._make(np.concatenate(pair) for pair in pairs)
