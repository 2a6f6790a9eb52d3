"""What is said of the scheduler, by definition: tables, notes and sentences of sums planted by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.scheduler.clock import SchedulerClock
from tracetui.analysis.scheduler.scheduler import NOBODY, UNKNOWN_TASK, Culprit, RecordedThread
from tracetui.analysis.scheduler.states import State
from tracetui.analysis.scheduler.summary import CoreTime, SchedulerSummary, ThreadTime
from tracetui.export.sentences.scheduler import clock_words, scheduler_notes, thread_name
from tracetui.export.tables.column import Form, records
from tracetui.export.tables.scheduler import CORES, CULPRITS, THREADS, CoreRows, CulpritRows, ThreadTimeRows
from tracetui.export.trace.scheduler import explained_sentence, scheduler_text

MS = 1_000_000
MAIN, LOADER = RecordedThread("python", 700, None), RecordedThread("load", 701, 90_701)
STRESS = RecordedThread("stress", 900, None)


def thread(task: RecordedThread, idle_ns: int, *preemptors: Culprit, **facts: Any) -> ThreadTime:
    known = {"migrations": 0, "node_migrations": None, **facts}
    ns = {state: (state + 1) * MS for state in State}
    return ThreadTime(task=task, pid=7, ns=ns, idle_ns=idle_ns, preemptors=preemptors, **known)


CULPRIT_ROWS = (
    Culprit(STRESS, False, 3 * MS),
    Culprit(LOADER, True, MS),
    Culprit(RecordedThread(NOBODY, 0, None), False, 0),
)
CORE_ROWS = (
    CoreTime(3, None, 5 * MS, MS, 10 * MS, (MAIN, LOADER, STRESS, MAIN)),
    CoreTime(4, None, 0, 0, 10 * MS, ()),
)
SUMMARY = SchedulerSummary(
    (thread(MAIN, 4 * MS, *CULPRIT_ROWS[:2], migrations=3), thread(LOADER, 0)), CULPRIT_ROWS, CORE_ROWS
)


def shown(table: Any, rows: Any, form: Form = Form.MARKDOWN) -> dict[str, list[str]]:
    """The cells of each column that people see, by its key."""
    return {column.key: list(column.cells(rows, str).texts) for column in table.shown(form, rows)}


def test_threads_have_a_column_for_each_state_and_who_had_their_core() -> None:
    cells = shown(THREADS, ThreadTimeRows(SUMMARY))
    assert cells["thread"] == ["python (700)", "load (701 [90701])"]
    assert cells["preemptors"] == ["stress (900), load (701 [90701])", ""]
    assert [
        cells[key][0] for key in ("running_ns", "interrupted_ns", "ready_ns", "blocked_ns", "disk_ns")
    ] == [f"{number}.00 ms" for number in (1, 2, 3, 4, 5)]
    assert cells["unknown_ns"] == ["6.00 ms"] * 2, "where any is"
    assert cells["migrations_per_s"] == [str(round(3 / 0.021)), "0"]
    assert "node_migrations" not in cells
    first, _ = records(THREADS, ThreadTimeRows(SUMMARY))
    assert (first["pid"], first["tid"], first["name"], first["idle_ns"]) == (7, 700, "python", 4 * MS)


def test_columns_of_what_is_not_known_are_left_out() -> None:
    known = thread(MAIN, 0, node_migrations=0)
    whole = ThreadTime(**{**vars(known), "ns": {**known.ns, State.UNKNOWN: 0}})
    cells = shown(THREADS, ThreadTimeRows(SchedulerSummary((whole,), (), ())))
    assert "unknown_ns" not in cells and cells["node_migrations"] == ["0"]
    cells = shown(CORES, CoreRows(SchedulerSummary((), (), (CORE_ROWS[0], CoreTime(5, 1, 0, 0, 1, ())))))
    assert cells["node"][1] == "1"
    assert "node" not in shown(CORES, CoreRows(SUMMARY))


def test_culprits_have_their_share_and_whose_process_they_are_of() -> None:
    cells = shown(CULPRITS, CulpritRows(SUMMARY))
    assert cells["task"] == ["stress (900)", "load (701 [90701])", "nobody (wake-up)"]
    assert cells["share"] == ["75.0 %", "25.0 %", "0.0 %"]
    assert cells["whose"] == ["another process", "this process", ""]


def test_cores_have_their_share_and_three_threads() -> None:
    cells = shown(CORES, CoreRows(SUMMARY))
    assert cells["threads"] == ["python (700), load (701 [90701]), stress (900)", ""]
    assert cells["busy_share"] == ["50.0 %", "0.0 %"]
    assert cells["cpu"] == ["3", "4"]


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (RecordedThread("a\x1b", 1, None), "a␛ (1)"),
        (RecordedThread("", 1, None), "? (1)"),
        (RecordedThread("n" * 33, 1, 2), f"{'n' * 31}… (1 [2])"),
        (RecordedThread("a", None, None), "unknown"),
        (RecordedThread(UNKNOWN_TASK, 1, None), "unknown"),
        (RecordedThread(NOBODY, 0, None), "nobody (wake-up)"),
    ],
)
def test_a_task_is_called_by_its_name_and_its_numbers(task: RecordedThread, name: str) -> None:
    assert thread_name(task) == name


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (SchedulerClock("given", 5), "Clock: --sched-offset."),
        (SchedulerClock("converted", 0), "Clock: as the converter of the recording has set it."),
        (
            SchedulerClock("fitted", 5, None, 2_000),
            "Clock: fitted to what the threads do, to within 2.00 µs.",
        ),
        (
            SchedulerClock("start_info", 5, -0.125, 0),
            "Clock: start_info of the profiler, to within 0 ns. Drift: -0.12 ppm.",
        ),
    ],
)
def test_a_clock_says_where_it_comes_from(clock: SchedulerClock, words: str) -> None:
    assert clock_words(clock) == words


def analysis_with(problem: str = "", **facts: Any) -> Any:
    known = {"skipped": 0, "reordered": 0, "lost": 0, "losses": (), "problems": (), "inferred": False}
    known["has_wakes"] = True
    known.update({"agreeing": None, "window": (0, 100 * MS), **facts})
    scheduler = SimpleNamespace(
        events=SimpleNamespace(**known),
        matching=SimpleNamespace(inferred=known["inferred"]),
        agreeing=known["agreeing"],
        window=known["window"],
    )
    trace = SimpleNamespace(start_ns=0, end_ns=100 * MS)
    return SimpleNamespace(scheduler=None if problem else scheduler, scheduler_problem=problem, trace=trace)


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        ({}, None),
        ({"agreeing": 0.9}, None),
        ({"agreeing": 0.899}, "at only 89.9 % of their calls"),
        ({"skipped": 1}, "cannot be read, and are skipped: 1."),
        ({"reordered": 1}, "stood after later ones, and are sorted: 1."),
        ({"lost": 2}, "the kernel lost: 2."),
        ({"losses": (1,)}, "The kernel lost events. Threads"),
        ({"inferred": True}, "matched by what they do"),
        ({"window": (0, 90 * MS)}, None),
        ({"window": (11 * MS, 100 * MS)}, "is recorded for 89.0 ms of 100 ms of the trace"),
        ({"has_wakes": False}, "Wake-ups are not recorded"),
        ({"problems": ("It is cut",)}, "It is cut."),
        ({"problem": "it is no text"}, "is not used: it is no text."),
    ],
)
def test_what_is_odd_about_a_recording_is_noted(facts: dict[str, Any], note: str | None) -> None:
    notes = scheduler_notes(analysis_with(**facts))
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]


def test_the_scheduler_explains_its_causes_most_time_first() -> None:
    by_cause = {Cause.PREEMPTED: MS, Cause.DISK: 2 * MS, Cause.LATENCY: 7 * MS, Cause.BLOCKED: 0}
    analysis: Any = SimpleNamespace(causes=SimpleNamespace(by_cause=lambda: by_cause), idle_ns=10 * MS)
    words = explained_sentence(analysis)
    assert words.startswith("The scheduler explains 3.00 ms of idle time (30.0 %): ")
    disk, preempted = words.partition(": ")[2].rstrip(".").split(", ")
    assert disk.endswith(" 2.00 ms") and preempted.endswith(" 1.00 ms")
    del by_cause[Cause.PREEMPTED], by_cause[Cause.DISK]
    assert explained_sentence(analysis).startswith("The scheduler explains none of the idle time")


def test_a_text_has_ten_culprits_and_sixteen_cores() -> None:
    culprits = tuple(Culprit(RecordedThread(f"c{n}", n + 1, None), False, MS) for n in range(11))
    cores = tuple(CoreTime(100 + n, None, 0, 0, MS, ()) for n in range(17))
    moved = thread(MAIN, 4 * MS, CULPRIT_ROWS[0], node_migrations=5)
    causes = SimpleNamespace(by_cause=lambda: {Cause.PREEMPTED: MS})
    analysis: Any = SimpleNamespace(causes=causes, idle_ns=10 * MS)
    scheduler: Any = SimpleNamespace(clock=SchedulerClock("given", 5))
    text = scheduler_text(analysis, scheduler, SchedulerSummary((moved,), culprits, cores), 100)
    assert "c9 (10)" in text and "c10 (11)" not in text
    assert " 115 " in text and " 116 " not in text
    assert "came to another NUMA node: 5" in text and "had its core: stress (900) 3.00 ms" in text
    text = scheduler_text(analysis, scheduler, SchedulerSummary((thread(MAIN, 0),), (), cores), 100)
    assert "Who had the core" not in text and "NUMA" not in text and "had its core" not in text
