"""What threads and cores did in sum: of two threads of a trace and another process, planted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.analysis import gpu
from tests.synthetic import piece, trace_of
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.clock import AlignedRecording, SchedulerClock
from tracetui.analysis.scheduler.matching import host_threads, known_numbers
from tracetui.analysis.scheduler.scheduler import Scheduler
from tracetui.analysis.scheduler.states import State
from tracetui.analysis.scheduler.summary import culprits_of, longest_of_culprit, summarise
from tracetui.siblings.scheduler.events import EMPTY, CommNames, EventKind, SchedulerColumns, SchedulerEvents

MS = 1_000_000
OFFSET = 500 * MS  #: what the trace is ahead of the recording
MAIN, LOADER, STRANGER = gpu.HOST, 701, 900
#: When in ms, on which core, who leaves it in which state, who gets it.
SWITCHES = [
    (0, 0, 0, "R", MAIN),
    (0, 1, 0, "R", LOADER),
    (30, 1, LOADER, "S", 0),
    (40, 0, MAIN, "S", LOADER),
    (50, 0, LOADER, "R", STRANGER),
    (60, 0, STRANGER, "S", MAIN),
    (70, 1, 0, "R", LOADER),
    (75, 1, LOADER, "S", 0),
    (100, 0, MAIN, "S", 0),
    (100, 2, STRANGER, "S", 0),
]
#: When in ms, who is woken, for which core.
WAKES = [(35, LOADER, 0), (45, MAIN, 0)]
INTERRUPTS = [(10, 12), (95, 96)]  #: in ms, of core 0


def scheduler(start: int = 0, nodes: dict[int, int] | None = None) -> Scheduler:
    """The scheduler of a trace that begins at some ms and ends after 100 ms."""
    rows = [
        (at * MS, core, EventKind.SWITCH, left, got, ord(state), -1)
        for at, core, left, state, got in SWITCHES
    ]
    rows += [(at * MS, 3, EventKind.WAKING, pid, STRANGER, 0, core) for at, pid, core in WAKES]
    rows += [
        (at * MS, 0, kind, 4, MAIN, 0, -1)
        for span in INTERRUPTS
        for at, kind in zip(span, (EventKind.IRQ_ENTRY, EventKind.IRQ_EXIT))
    ]
    table = np.array(sorted(rows), np.int64).T
    columns = (part.astype(kind) for part, kind in zip(table, (column.dtype for column in EMPTY)))
    names = CommNames(
        {MAIN: [(0, "python")], LOADER: [(0, "load"), (49 * MS, "done")], STRANGER: [(0, "stress")]}
    )
    events = SchedulerEvents(
        "trace.txt", SchedulerColumns(*columns), names, {MAIN: MAIN, LOADER: MAIN, STRANGER: 9}
    )
    begin, dur = OFFSET // 1000 + start * 1000, (100 - start) * 1000
    pieces = [piece(gpu.HOST, tid, "aten::mm", str(begin), str(dur), "cpu_op") for tid in (MAIN, LOADER)]
    trace = trace_of([*gpu.gpu(), *pieces])
    matching = known_numbers(host_threads(trace), events, None)
    aligned = AlignedRecording(SchedulerClock("given", OFFSET), matching, None, None)
    return Scheduler(trace, events, aligned, nodes or {})


def idle(found: Scheduler, *pieces: tuple[float, float, Cause, int]) -> Any:
    """Pieces of idle time: from and to in ms, why, and which thread is to blame."""
    tracks = {thread.tid: thread.tracks[0].index for thread in found.threads} | {0: -1}
    starts, ends, causes, tids = zip(*pieces)
    return SimpleNamespace(
        start=(np.array(starts) * MS).astype(np.int64) + OFFSET,
        end=(np.array(ends) * MS).astype(np.int64) + OFFSET,
        cause=np.array(causes, np.int8),
        track=np.array([tracks[tid] for tid in tids], np.int64),
    )


NO_IDLE = ((0, 0, Cause.UNKNOWN, 0),)


def test_threads_have_their_time_in_each_state_and_the_idle_time_they_answer_for() -> None:
    found = scheduler(nodes={0: 0, 1: 1})
    pieces = (
        (46, 52, Cause.PREEMPTED, MAIN),
        (52, 54, Cause.PREEMPTED, LOADER),
        (10, 11, Cause.INTERRUPTED, MAIN),
        (20, 29, Cause.SYNC, MAIN),
        (30, 39, Cause.PREEMPTED, 0),
    )
    main, loader = summarise(found, idle(found, *pieces)).threads
    assert (main.task.comm, main.task.pid, main.pid, main.idle_ns) == ("python", MAIN, MAIN, 7 * MS)
    assert (loader.task.comm, loader.task.pid, loader.pid, loader.idle_ns) == ("done", LOADER, MAIN, 2 * MS)
    of_main = {State.RUNNING: 77, State.INTERRUPTED: 3, State.READY: 15, State.BLOCKED: 5}
    of_loader = {State.RUNNING: 45, State.READY: 25, State.BLOCKED: 30}
    for thread, ns in ((main, of_main), (loader, of_loader)):
        assert thread.ns == {state: ns.get(state, 0) * MS for state in State}
        assert thread.wall_ns == 100 * MS
    assert (main.migrations, loader.migrations, loader.migrations_per_s) == (0, 2, 20.0)
    assert (main.node_migrations, loader.node_migrations, loader.node_migrations_per_s) == (0, 2, 20.0)
    assert [(c.task.comm, c.idle_ns // MS) for c in main.preemptors] == [
        ("load", 3),
        ("stress", 2),
        ("done", 1),
    ]
    assert [(c.task.comm, c.idle_ns // MS, c.own_process) for c in loader.preemptors] == [
        ("stress", 2, False)
    ]
    spans = {(46, 52): main.longest_idle, (52, 54): loader.longest_idle}
    assert all(found == (start * MS + OFFSET, end * MS + OFFSET) for (start, end), found in spans.items())
    assert summarise(scheduler(), idle(scheduler(), *NO_IDLE)).threads[0].longest_idle is None


def test_a_culprit_has_the_longest_time_on_end_that_it_had_the_core() -> None:
    """Main waits from 45 ms on, for the loader until 50 ms, for a stranger until 60 ms."""
    found = scheduler()
    causes = idle(found, (46, 51, Cause.PREEMPTED, MAIN), (53, 57, Cause.PREEMPTED, MAIN))
    spans = {"load": (46, 50), "done": (46, 50), "stress": (53, 57)}
    culprits = summarise(found, causes).culprits
    assert {culprit.task.comm for culprit in culprits} == {*spans}, "a thread may have two names"
    for culprit in culprits:
        start, end = spans[culprit.task.comm]
        assert longest_of_culprit(found, causes, culprit) == (start * MS + OFFSET, end * MS + OFFSET)


def test_nodes_that_are_not_known_tell_no_moves_between_them() -> None:
    found = scheduler()
    _, loader = summarise(found, idle(found, *NO_IDLE)).threads
    assert loader.node_migrations is None and loader.node_migrations_per_s == 0
    assert [core.node for core in summarise(found, idle(found, *NO_IDLE)).cores] == [None, None, None]


def test_cores_have_the_threads_of_the_trace_that_were_on_them_longest() -> None:
    found = scheduler(nodes={1: 7})
    cores = summarise(found, idle(found, *NO_IDLE)).cores
    told = [
        (
            core.cpu,
            core.busy_ns // MS,
            core.interrupted_ns // MS,
            core.node,
            [task.pid for task in core.threads],
        )
        for core in cores
    ]
    assert told == [(0, 100, 3, None, [MAIN, LOADER]), (1, 35, 0, 7, [LOADER]), (2, 100, 0, None, [])]
    assert {core.wall_ns for core in cores} == {100 * MS}


@pytest.mark.parametrize("start", [0, 48])
def test_culprits_had_the_core_while_a_thread_waited(start: int) -> None:
    """Also where it waits already as the trace begins."""
    found = scheduler(start)
    times = np.array([48 * MS + OFFSET]), np.array([80 * MS + OFFSET])
    by_name = {(c.task.comm, c.own_process): c.idle_ns // MS for c in found.culprits_of_thread(MAIN, *times)}
    assert by_name == {("load", True): 1, ("done", True): 1, ("stress", False): 10}
    by_name = {
        (c.task.comm, c.own_process): c.idle_ns // MS for c in found.culprits_of_thread(LOADER, *times)
    }
    assert by_name == {("python", True): 10, ("stress", False): 10}


def test_culprits_are_those_of_the_pieces_that_are_asked_for() -> None:
    found = scheduler()
    causes = idle(
        found,
        (46, 52, Cause.PREEMPTED, MAIN),
        (52, 70, Cause.PREEMPTED, LOADER),
        (52, 60, Cause.BLOCKED, LOADER),
        (50, 60, Cause.PREEMPTED, 0),
    )
    every = [(c.task.comm, c.idle_ns // MS) for c in culprits_of(found, causes)]
    assert every == [("python", 10), ("stress", 10), ("load", 3), ("done", 1)], "of equal time, by name"
    some = culprits_of(found, causes, np.array([0, 2, 3]))
    assert [(c.task.comm, c.idle_ns // MS) for c in some] == [("load", 3), ("stress", 2), ("done", 1)]


def test_a_thread_is_called_as_it_was_called_then() -> None:
    found = scheduler()
    assert [found.task(LOADER, at * MS + OFFSET).comm for at in (48, 49)] == ["load", "done"]
    assert [found.task(pid, OFFSET)[:2] for pid in (0, -1)] == [("nobody (wake-up)", 0), ("unknown", None)]
