"""What a thread did: held against a definition that looks at one nanosecond at a time."""

import random
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tracetui.analysis.scheduler.states import (
    CoreMoves,
    State,
    ThreadStates,
    losses_by_cpu,
    thread_states,
)
from tracetui.siblings.scheduler.events import (
    EMPTY,
    MOST_CORES,
    MOST_PIDS,
    EventKind,
    LostStretch,
    SchedulerColumns,
)

THREAD, END, CORES = 7, 60, 3
WAKING_CORE = 1  #: where whoever wakes the thread runs
WAKES = {"waking": EventKind.WAKING, "wakeup": EventKind.WAKEUP, "wakeup_new": EventKind.WAKEUP_NEW}
SLEEPS = {"S": State.BLOCKED, "D": State.DISK, "X": State.UNKNOWN, "Z": State.UNKNOWN, "?": State.UNKNOWN}


class Change(NamedTuple):
    """An event of the thread."""

    time: int
    what: str  #: "in", "out", "move", "born", or one of `WAKES`
    core: int = -1  #: where it gets or leaves a core, was last, is woken for or moved to
    state: str = ""  #: in which it leaves a core
    waker: int = -1

    def row(self) -> tuple[int, ...]:
        """As the columns of a recording have it."""
        if self.what == "in":
            return self.time, self.core, EventKind.SWITCH, 9, THREAD, ord("S"), -1
        if self.what == "out":
            return self.time, self.core, EventKind.SWITCH, THREAD, 9, ord(self.state), -1
        if self.what == "move":
            return self.time, 0, EventKind.MIGRATE, THREAD, 9, 0, self.core
        if self.what == "born":
            return self.time, 0, EventKind.FORK, THREAD, 9, 0, -1
        return self.time, WAKING_CORE, WAKES[self.what], THREAD, self.waker, 0, self.core


class Run:
    """Events of a thread at random times, of which some are missing, interrupts, and events lost."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        times = sorted(source.sample(range(3, END - 3), source.randrange(1, 14)))
        self.changes: list[Change] = []
        does, core = source.choice(["runs", "sleeps", "waits", "new"]), source.randrange(CORES)
        for time in times:
            if does == "runs":
                state = source.choice("SSRRDXZ?")
                change, does = Change(time, "out", core, state), "waits" if state == "R" else "sleeps"
            elif does == "new":
                change, does = Change(time, "born"), "sleeps"
            elif does == "sleeps":
                core = source.randrange(CORES)
                waker = source.randrange(20, 30)
                change, does = Change(time, source.choice([*WAKES]), core, "", waker), "waits"
            elif source.random() < 0.3:
                core = source.randrange(CORES)
                change = Change(time, "move", core)
            else:
                change, does = Change(time, "in", core), "runs"
            if source.random() < 0.85:
                self.changes.append(change)
        self.interrupts = []  #: core, from, to
        for number in range(source.randrange(4)):
            begin, end = sorted(source.sample(range(number * 15, number * 15 + 15), 2))
            self.interrupts.append((source.randrange(CORES), begin, end))
        self.losses = []  #: core, from, to
        for number in range(source.choice([0, 0, 1, 2])):
            begin, end = sorted(source.sample(range(number * 30, number * 30 + 30), 2))
            begin, end = source.choice([(begin, end), (begin, end), (-1, end), (begin, -1)])
            self.losses.append((source.randrange(CORES), begin, end))
        #: Switches of other threads, and interrupts of which an end was not recorded.
        self.others = [
            (time, 0, EventKind.SWITCH, *source.choice([(0, 9), (9, 8), (-1, 0)]), 0, -1) for time in (5, 35)
        ]
        self.others += [
            (time, 1, kind, 4, 9, 0, -1)
            for time, kind in ((0, EventKind.IRQ_EXIT), (END - 1, EventKind.IRQ_ENTRY))
        ]
        self.window = source.choice([(0, END), (10, 40)])

    def events(self) -> Any:
        rows = [change.row() for change in self.changes]
        rows += [
            row
            for number, (core, begin, end) in enumerate(self.interrupts)
            for row in (
                (begin, core, (EventKind.IRQ_ENTRY, EventKind.SOFTIRQ_ENTRY)[number % 2], 4, 9, 0, -1),
                (end, core, (EventKind.IRQ_EXIT, EventKind.SOFTIRQ_EXIT)[number % 2], 4, 9, 0, -1),
            )
        ]
        rows += self.others
        table = np.array(sorted(rows), np.int64).reshape(-1, 7).T
        columns = (part.astype(kind) for part, kind in zip(table, (column.dtype for column in EMPTY)))
        losses = tuple(LostStretch(*loss, 1) for loss in self.losses)
        return SimpleNamespace(columns=SchedulerColumns(*columns), losses=losses)

    @property
    def lost(self) -> list[tuple[int, int, int]]:
        """Which core lost events from when to when."""
        return [(core, begin, END if end < 0 else end) for core, begin, end in self.losses]

    def at(self, time: int) -> tuple[State, int, int]:
        """What the thread does at a time, on which core, and who wakes it."""
        before = [change for change in self.changes if change.time <= time]
        after = [change for change in self.changes if change.time > time]
        following = after[0] if after else None
        cores = [change.core for change in before if change.core >= 0]
        if before:
            state, core = self._since(before), cores[-1] if cores else -1
        else:
            what = following.what if following else ""
            ends = {"out": State.RUNNING, "wakeup": State.BLOCKED, "waking": State.BLOCKED}
            state = ends.get(what, State.UNKNOWN)
            core = following.core if following else -1
        wakes = following is not None and following.what in WAKES
        waker = following.waker if following and wakes and state in (State.BLOCKED, State.DISK) else -1
        if following and self._interrupted(WAKING_CORE, following.time):
            waker = -1
        state, core = self._possible(time, state, core, before, following)
        if self._lost(core, time):
            return State.UNKNOWN, core, -1
        if state is State.RUNNING and self._interrupted(core, time):
            state = State.INTERRUPTED
        return state, core, waker

    def _interrupted(self, core: int, time: int) -> bool:
        serves = any(of == core and begin <= time < end for of, begin, end in self.interrupts)
        return serves and not self._lost(core, time)

    @staticmethod
    def _since(before: list[Change]) -> State:
        """What the events up to a time say alone."""
        switches = [change for change in before if change.what in ("in", "out")]
        last = switches[-1] if switches else None
        if last is not None and last.what == "in":
            return State.RUNNING
        since = before if last is None else before[before.index(last) :]
        if any(change.what in WAKES for change in since):
            return State.READY
        if last is None:
            return State.UNKNOWN if before[-1].what == "move" else State.BLOCKED
        return State.READY if last.state == "R" else SLEEPS[last.state]

    def _possible(
        self, time: int, state: State, core: int, before: list[Change], following: "Change | None"
    ) -> tuple[State, int]:
        """The same where what comes next can come then; else events are missing."""
        if following is None:
            return state, core
        begin, end = before[-1].time if before else min(self.window[0], following.time), following.time
        runs, sleeps = state is State.RUNNING, state in (State.BLOCKED, State.DISK)
        leaves = following.what == "out" and not (runs and core == following.core)
        if not before:
            ended = [last for of, _, last in self.lost if of == core and last <= end]
            return (State.UNKNOWN if runs and ended and time < max(ended) else state), core
        if following.what == "waking" and state is State.READY and self._woken(before):
            return State.UNKNOWN, core  # nobody wakes what is awake: it ran and slept
        if leaves or (following.what == "in" and runs):
            of_core = following.core if leaves else core
            lost = self._lost_in(begin, end, of_core)
            if not lost:
                return State.UNKNOWN, core
            if time < lost[0][0]:
                return state, core
            return (State.RUNNING if leaves and time >= lost[-1][1] else State.UNKNOWN), of_core
        if following.what == "in" and sleeps:
            lost = self._lost_in(begin, end)
            return (State.UNKNOWN if lost and time >= lost[0][0] else state), core
        return state, core

    @staticmethod
    def _woken(before: list[Change]) -> bool:
        """Whether it was woken after it was last seen to get or leave a core."""
        whats = [change.what for change in before]
        last = max((place for place, what in enumerate(whats) if what in ("in", "out")), default=-1)
        return any(what in WAKES for what in whats[last + 1 :])

    def _lost(self, core: int, time: int) -> bool:
        return any(of == core and first <= time < last for of, first, last in self.lost)

    def _lost_in(self, begin: int, end: int, core: int = -1) -> list[tuple[int, int]]:
        """When a core, or any, lost events in a stretch of time."""
        of_core = [(max(f, begin), min(t, end)) for of, f, t in self.lost if core in (-1, of)]
        return sorted((first, last) for first, last in of_core if first < last)

    def moves(self) -> list[tuple[int, int]]:
        """From where it came to which other core, in the window."""
        moves = []
        told = any(change.what == "move" for change in self.changes)
        core = ran = -1
        for change in self.changes:
            inside = self.window[0] <= change.time < self.window[1]
            if inside and change.what == "move":
                moves.append((core, change.core))
            if change.what == "in":
                if inside and not told and ran not in (-1, change.core):
                    moves.append((ran, change.core))
                ran = change.core
            core = change.core if change.core >= 0 else core
        return moves


def each_ns(states: ThreadStates) -> list[tuple[State, int, int]]:
    """State, core and waker of each nanosecond."""
    columns = (states.start, states.end, states.state, states.cpu, states.waker)
    pieces = zip(*(column.tolist() for column in columns))
    return [
        (State(state), core, waker) for start, end, state, core, waker in pieces for _ in range(end - start)
    ]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_what_a_thread_did_at_every_moment(first: int) -> None:
    for seed in range(first, first + 50):
        run = Run(seed)
        states = thread_states(run.events(), [THREAD], run.window)[THREAD]
        assert (states.start[0], states.end[-1]) == run.window, seed
        assert (states.start[1:] == states.end[:-1]).all(), seed
        assert each_ns(states) == [run.at(time) for time in range(*run.window)], seed
        assert [*zip(states.moves.left.tolist(), states.moves.reached.tolist())] == run.moves(), seed


def test_numbers_of_a_thread_are_those_of_its_pieces() -> None:
    for seed in range(20):
        run = Run(seed)
        states = thread_states(run.events(), [THREAD], run.window)[THREAD]
        every = [state for state, _, _ in each_ns(states)]
        assert states.sums() == {state: every.count(state) for state in State}
        begin, end = run.window
        pieces = states.piece_at(np.arange(begin - 1, end + 1)).tolist()
        assert pieces[0] == pieces[-1] == -1
        assert [State(states.state[piece]) for piece in pieces[1:-1]] == every
        later = states.shifted(1_000)
        assert each_ns(later) == each_ns(states) and later.start[0] == begin + 1_000


def test_events_of_nobody_known_are_of_no_thread() -> None:
    """Nor of the first, which is the one next to nobody."""
    run = Run(1)
    for thread in (1, MOST_PIDS - 1):
        states = thread_states(run.events(), [thread], run.window)[thread]
        assert states.sums()[State.UNKNOWN] == run.window[1] - run.window[0]


def test_the_last_core_that_there_is_has_a_node() -> None:
    moves = CoreMoves(np.array([-1, MOST_CORES - 1, 0]), np.array([MOST_CORES - 1, 0, MOST_CORES - 1]))
    assert moves.across({MOST_CORES - 1: 0, 0: 1}) == 2
    assert moves.across({MOST_CORES - 1: 0, 0: 0}) == 0
    assert moves.across({0: 1}) == 0


def test_what_a_core_lost_lasts_from_the_event_before_to_the_one_after() -> None:
    """An event at 0 ns of the recording's clock is one; -1 says that there is none."""
    times = [(-1, 0), (0, 5), (10, 20), (30, -1)]
    lost = losses_by_cpu(LostStretch(cpu, *span, 1) for cpu, span in enumerate(times))
    assert [of.starts.tolist() for of in lost.values()] == [[-1], [0], [10], [30]]
    (zero,), (five,), (twenty,), (never,) = (of.ends.tolist() for of in lost.values())
    assert (zero, five, twenty) == (0, 5, 20) and never > 1 << 61
