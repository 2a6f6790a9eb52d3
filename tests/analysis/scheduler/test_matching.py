"""Which thread of a recording is which of a trace: held to the edges of what makes that sure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.analysis import gpu, machine
from tests.synthetic import piece, trace_of
from tracetui.analysis.scheduler.matching import Matching, host_threads, infer_numbers, known_numbers
from tracetui.siblings.scheduler.events import (
    EMPTY,
    MOST_PIDS,
    CommNames,
    EventKind,
    SchedulerColumns,
    SchedulerEvents,
)
from tracetui.siblings.scheduler.files import PidMapping
from tracetui.trace.model import Trace

MS = 1_000_000
OFFSET = 7_000_000 * MS  #: what the trace is ahead of the recording
CALLS = 20  #: each begins 10 ms after the one before, and takes 1 ms
Row = tuple[int, int, int, int, int, int, int]  # as in SchedulerColumns


def trace(tids: Sequence[object] = (gpu.HOST,), calls: int = CALLS) -> Trace:
    """A trace of 300 ms with threads that make calls at the same times, and one without a number."""
    frame = piece(gpu.HOST, "main", "train", "0", "300000", "cpu_op")
    called = [
        piece(gpu.HOST, tid, "aten::mm", f"{10_000 * number}", "1000", "cpu_op")
        for tid in tids
        for number in range(1, calls + 1)
    ]
    return trace_of([*gpu.gpu(), frame, *called])


def events(*rows: Row) -> SchedulerEvents:
    table = np.array(sorted(rows), np.int64).reshape(-1, len(EMPTY)).T
    types = [column.dtype for column in EMPTY]
    columns = SchedulerColumns(*(part.astype(kind) for part, kind in zip(table, types)))
    return SchedulerEvents("trace.txt", columns, CommNames(), {})


def has_core(pid: int, spans: Sequence[tuple[float, float]], core: int) -> list[Row]:
    """A thread that has a core from and to some ms."""
    return [
        row
        for start, end in spans
        for row in (
            (int(start * MS) - OFFSET, core, EventKind.SWITCH, 0, pid, ord("R"), -1),
            (int(end * MS) - OFFSET, core, EventKind.SWITCH, pid, 0, ord("S"), -1),
        )
    ]


def during(numbers: Sequence[int], before: float = 0.5, after: float = 0.5) -> list[tuple[float, float]]:
    """The time of some calls, and so many ms before and after them."""
    return [(10 * number - before, 10 * number + 1 + after) for number in numbers]


def inferred(traced: Trace, *rows: Row) -> dict[int, int]:
    matching = infer_numbers(traced, host_threads(traced), events(*rows), OFFSET)
    assert matching.inferred
    return dict(matching.host)


@pytest.mark.parametrize(("without", "is_sure"), [(0, True), (4, True), (5, False)])
def test_a_thread_has_a_core_at_nine_of_ten_times(without: int, is_sure: bool) -> None:
    """It has one when a call begins, and where it has none at the end, that is one of 40 times."""
    spans = [*during(range(1, without + 1), after=-0.5), *during(range(without + 1, CALLS + 1))]
    assert inferred(trace(), *has_core(70, spans, 0)) == ({gpu.HOST: 70} if is_sure else {})


@pytest.mark.parametrize(("calls", "is_sure"), [(4, False), (5, True)])
def test_a_thread_is_known_by_ten_times(calls: int, is_sure: bool) -> None:
    rows = has_core(70, during(range(1, CALLS + 1)), 0)
    assert inferred(trace(calls=calls), *rows) == ({gpu.HOST: 70} if is_sure else {})


@pytest.mark.parametrize(("idle", "is_sure"), [(0, False), (15, False), (17, True)])
def test_a_thread_that_has_a_core_most_of_the_time_agrees_by_chance(idle: float, is_sure: bool) -> None:
    """It agrees at 37 of 40 times, 92.5 %: as far above what chance gives as a tenth of the rest.

    It has no core at three ends of calls, for 0.1 ms each, and for so many ms between calls, of 191 ms.
    """
    left = [(10 * number + 0.95, 10 * number + 1.05) for number in (12, 13, 14)]
    left += [(10 * number + 1.5, 10 * number + 1.5 + idle / 10) for number in range(1, 11) if idle]
    starts, ends = [9.0, *(end for _, end in sorted(left))], [*(start for start, _ in sorted(left)), 202.0]
    assert inferred(trace(), *has_core(70, [*zip(starts, ends)], 0)) == ({gpu.HOST: 70} if is_sure else {})
    assert inferred(trace(), *has_core(70, [(9.0, 202.0)], 0)) == {}, "it says nothing"


def test_of_two_threads_the_better_is_taken_if_it_is_clearly_better() -> None:
    """A fifth of the time both have a core: who lacks it at 2 of 40 times is worse by 6 %, at 4 by 12 %."""
    best = has_core(70, during(range(1, CALLS + 1)), 0)
    for without, found in ((0, {}), (2, {}), (4, {gpu.HOST: 70})):
        spans = [*during(range(1, without + 1), after=-0.5), *during(range(without + 1, CALLS + 1))]
        assert inferred(trace(), *best, *has_core(71, spans, 1)) == found
        assert inferred(trace(), *has_core(71, spans, 1)) == {gpu.HOST: 71}


@pytest.mark.parametrize("first", [False, True])
def test_chance_counts_from_the_first_call_to_the_last(first: bool) -> None:
    """One call is long, and its thread sleeps in it; at the end of three others it has no core."""
    calls = [(2 * number, 2 * number + 1) for number in range(20)]
    held = [(-0.5, 2.95), (3.05, 4.95), (5.05, 6.95), (7.05, 40.0)]
    if first:
        calls = [(0, 140), *((start + 141, end + 141) for start, end in calls)]
        held = [(-0.5, 0.5), *((start + 141, end + 141) for start, end in [(-1.5, held[0][1]), *held[1:]])]
    else:
        calls, held = [*calls, (40, 180)], [*held[:-1], (held[-1][0], 40.5), (179.5, 180.5)]
    pieces = [
        piece(gpu.HOST, gpu.HOST, "aten::mm", f"{start + 10}000", f"{end - start}000", "cpu_op")
        for start, end in calls
    ]
    frame = piece(gpu.HOST, "main", "train", "0", "300000", "cpu_op")
    spans = [(start + 10, end + 10) for start, end in held]
    assert inferred(trace_of([*gpu.gpu(), frame, *pieces]), *has_core(70, spans, 0)) == {gpu.HOST: 70}


def test_a_thread_is_taken_once_and_by_the_one_that_calls_most() -> None:
    pieces = [
        piece(gpu.HOST, tid, "aten::mm", f"{10_000 * number}", "1000", "cpu_op")
        for tid, calls in ((701, 10), (gpu.HOST, CALLS), (702, 12))
        for number in range(1, calls + 1)
    ]
    frame = piece(gpu.HOST, "main", "train", "0", "300000", "cpu_op")
    spans = during(range(1, CALLS + 1))
    assert inferred(trace_of([*gpu.gpu(), *pieces, frame]), *has_core(70, spans, 0)) == {gpu.HOST: 70}


def test_threads_that_get_a_core_most_often_are_compared() -> None:
    others = [row for pid in range(100, 510) for row in has_core(pid, [(pid / 10, pid / 10 + 0.01)], pid)]
    assert inferred(trace(), *others, *has_core(70, during(range(1, CALLS + 1)), 0)) == {gpu.HOST: 70}


def test_the_first_five_seconds_tell_which_thread_is_which() -> None:
    """What the thread and others do afterwards is not looked at."""
    long = trace_of(
        [*gpu.gpu(), *(piece(gpu.HOST, gpu.HOST, "aten::mm", 10_000 * n, 1000, "cpu_op") for n in range(700))]
    )
    spans = during(range(700))
    early = has_core(70, spans[:500], 0)
    assert inferred(long, *early, *has_core(71, spans[500:], 1)) == {gpu.HOST: 70}


def test_threads_that_are_seen_in_any_event_of_tasks_are_known_by_their_numbers() -> None:
    """The number of an interrupt is that of no thread."""
    traced = trace(tids=(41, 42, 43, 44, 45))
    seen = events(
        (1, 0, EventKind.SWITCH, 41, 42, ord("S"), -1),
        (2, 0, EventKind.WAKING, 43, 9, 0, 1),
        (3, 0, EventKind.IRQ_ENTRY, 44, 9, 0, -1),
    )
    threads = host_threads(traced)
    known = known_numbers(threads, seen, None)
    assert dict(known.host) == {41: 41, 42: 42, 43: 43} and not known.inferred
    # A number that no thread of the container has on the host may be another thread's there.
    mapped = known_numbers(threads, seen, PidMapping({44: 41, 45: 42, 43: 43}, {}))
    assert dict(mapped.host) == {44: 41, 45: 42, 43: 43}
    # Where the recording has the numbers of the container already, they count.
    assert known_numbers(threads, seen, PidMapping({41: 99}, {})).host[41] == 41
    # Where it has those of the host, a number that another thread has there is not the container's.
    assert 41 not in known_numbers(threads, seen, PidMapping({41: 99, 45: 43}, {})).host


@pytest.mark.parametrize(
    ("tid", "number"),
    [
        ("42", 42),
        (" 42 ", 42),
        ("0", None),
        ("-3", None),
        ("x", None),
        ("٣", None),
        ("9" * 18, 999_999_999_999_999_999),
        ("1" * 19, None),
    ],
)
def test_numbers_of_threads(tid: str, number: int | None) -> None:
    found = [thread.tid for thread in host_threads(trace(tids=(tid,)))]
    assert found == ([] if number is None else [number])


def test_a_thread_has_a_core_when_calls_begin_and_end_but_at_the_bounds_of_the_trace() -> None:
    """There the profiler may have cut them."""
    calls = [(0, 5), (10, 20), (20, 30), (40, 60)]
    collected = piece(gpu.HOST, gpu.HOST, "gc", "33", "2", "gc")
    pieces = [piece(gpu.HOST, gpu.HOST, "aten::mm", str(at), str(end - at), "cpu_op") for at, end in calls]
    kernel = gpu.kernel(10 * 1000, 5_000, 1, stream=7)
    traced = trace_of([*gpu.gpu(), *pieces, collected, kernel])
    (thread,) = host_threads(traced)
    assert (thread.times(traced) // 1000).tolist() == [5, 10, 20, 30, 40]


@pytest.mark.parametrize(
    ("others", "process"),
    [((), 100), ((900,), 100), ((MOST_PIDS,), 100), ((MOST_PIDS - 1,), 100)],
)
def test_a_thread_of_the_framework_is_of_the_process_it_is_recorded_in(
    others: Sequence[int], process: int
) -> None:
    pieces = [piece(pid, pid + 1, "aten::mm", "10", "5", "cpu_op") for pid in (machine.PYTHON, *others)]
    found = {thread.tid: thread.pid for thread in host_threads(trace_of([*machine.npu(), *pieces]))}
    assert found[machine.PYTHON + 1] == process


@pytest.mark.parametrize(
    ("pids", "process"), [((100,), 100), ((100, 900), 102), ((100, MOST_PIDS), 100), ((MOST_PIDS,), 102)]
)
def test_a_thread_of_the_runtime_is_of_the_only_process_of_the_framework(
    pids: Sequence[int], process: int
) -> None:
    """Where there are several it is on its own, and what no process can be called is none."""
    pieces = [piece(pid, pid + 1, "aten::mm", "10", "5", "cpu_op") for pid in pids]
    traced = trace_of([*machine.npu(), *pieces, machine.call(12_000, 1_000, 7, tid=102)])
    assert {thread.tid: thread.pid for thread in host_threads(traced)}[102] == process


def test_the_number_in_the_trace_is_found_by_that_in_the_recording() -> None:
    assert Matching((), {7: 70, 8: 80}).container == {70: 7, 80: 8}
