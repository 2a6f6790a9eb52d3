"""Calls that a leap of the clock leaves without their caller are found at the edges of what tells them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.analysis import gpu
from tests.analysis.machine import Events
from tests.synthetic import trace_of
from tracetui.analysis.health.orphans import orphaning

MS = 1_000_000
#: The last start before the hole, and the first one after it.
BEGIN, RESUME = 215 * MS, 400 * MS
LENGTH = RESUME - BEGIN
#: When the caller ends that is open at the hole: 45 ms are left of it.
OPEN_END = 260 * MS
STEP_END = 500 * MS


def called(*starts: float, name: str = "aten::b", dur: float = 2, **args: Any) -> Events:
    """Calls that start at some ms."""
    return [gpu.host(int(start * MS), int(dur * MS), name, **args) for start in starts]


def run(inner: Sequence[float] = (10, 20, 30), end: int = OPEN_END, **args: Any) -> Events:
    """A caller and what it calls, and the same caller again, which is open at the hole."""
    outer = [gpu.host(0, 100 * MS, "aten::f", **args), gpu.host(200 * MS, end - 200 * MS, "aten::f", **args)]
    return [*outer, *called(*inner, **args), *called(215, **args)]


def leaves_orphans(events: Events, step_end: int = 0, others: int = 0) -> bool:
    """Return whether the hole leaves calls without their caller; `others`: holes after it that leave none."""
    begins, resumes, ends = (
        np.array([first, *[later] * others], np.int64)
        for first, later in ((BEGIN, 700 * MS), (RESUME, 800 * MS), (step_end, 0))
    )
    found = orphaning(trace_of([*gpu.gpu(), *events]), begins, resumes, ends).tolist()
    assert found[1:] == [False] * others
    return bool(found[0])


def test_three_calls_further_out_than_all_of_their_name_are_orphans() -> None:
    assert leaves_orphans([*run(), *called(401, 410, 430)], others=2)
    assert not leaves_orphans([*run(), *called(401, 430)])
    assert not leaves_orphans([*run(), *called(401, 410), *called(430, name="aten::c")]), "c is never called"
    assert not leaves_orphans([*run(), *called(401, 410, 430), *called(150)]), "b was outermost before"
    deep = [*called(5, name="aten::c", dur=60), *run(), *called(401, 410, 430)]
    assert leaves_orphans([*deep, *called(120, name="aten::c"), *called(121, dur=0.5)])
    assert not leaves_orphans([*run(), *called(380, dur=60, name="aten::g"), *called(401, 410, 430)])
    assert not leaves_orphans([*run(inner=())[:-1], *called(401, 410, 430)]), "b is called nowhere else"


def test_calls_count_with_the_call_after_the_hole_that_makes_them() -> None:
    """Another caller than elsewhere says nothing; one that lacks its own caller does."""
    deep = [*called(5, name="aten::c", dur=60), *run()[:-1]]
    after = [*called(400, name="aten::g", dur=44), *called(401, 410, 430)]
    assert not leaves_orphans([*deep, *after])
    assert leaves_orphans([*deep, *called(70, name="aten::g", dur=5), *called(71), *after])


@pytest.mark.parametrize(("last", "found"), [(420.499, False), (420.5, True), (443, True), (443.001, False)])
def test_orphans_fill_half_of_what_their_caller_had_left_and_end_with_it(last: float, found: bool) -> None:
    """Of 45 ms; the last of them takes 2 ms."""
    assert leaves_orphans([*run(), *called(400, 410, last)]) == found


@pytest.mark.parametrize(
    ("end", "found"),
    [
        (BEGIN + 20_000, False),
        (BEGIN + 20_001, True),
        (RESUME - LENGTH // 20 - 1, True),
        (RESUME - LENGTH // 20, False),
        (RESUME + 60 * MS, False),
    ],
)
def test_a_caller_ends_in_the_hole_clearly(end: int, found: bool) -> None:
    """It leaves a twentieth of it; what it had left, whatever that is, is filled by calls of its length."""
    left = (end - BEGIN) / MS
    after = called(*(400 + share * left for share in (0, 0.3, 0.8)), dur=left / 10)
    short = [gpu.host(215 * MS, 10_000, "aten::b")]
    assert leaves_orphans([*run(end=end)[:-1], *short, *after]) == found


@pytest.mark.parametrize(
    ("end", "found"), [(0, False), (RESUME - 1, False), (RESUME, True), (STEP_END, True)]
)
def test_calls_at_the_end_of_a_step_are_orphans_for_as_long_as_the_leap(end: int, found: bool) -> None:
    start, length = end / MS, LENGTH / MS
    closed = run(end=205 * MS)[:-1]
    assert leaves_orphans([*closed, *called(start + 1, start + 50, start + length - 2)], end) == found
    late = called(start + 1, start + 50, start + length - 1.999)
    assert not leaves_orphans([*closed, *late], end), "the last goes on after it"


@pytest.mark.parametrize(
    ("category", "found"),
    [("cpu_op", True), ("python_function", True), ("cuda_runtime", False), ("gc", False)],
)
def test_operators_and_frames_have_callers(category: str, found: bool) -> None:
    assert leaves_orphans([*run(category=category), *called(401, 410, 430, category=category)]) == found


def test_a_caller_may_be_the_first_call_of_its_thread_or_the_last_before_the_hole() -> None:
    after = called(401, 410, 430)
    callers = [gpu.host(210 * MS, 50 * MS, "aten::f"), gpu.host(600 * MS, 20 * MS, "aten::f")]
    assert leaves_orphans([*callers, *called(215, 605), *after])
    callers = [gpu.host(0, 100 * MS, "aten::f"), gpu.host(BEGIN, 45 * MS, "aten::f")]
    assert leaves_orphans([*callers, *called(10), *after])
    later = [gpu.host(401 * MS, 40 * MS, "aten::f"), gpu.host(600 * MS, 20 * MS, "aten::f")]
    assert not leaves_orphans([*later, *called(605), *after[1:]]), "its thread does nothing before"


def test_without_holes_nothing_is_looked_for() -> None:
    none = np.empty(0, np.int64)
    assert orphaning(trace_of([*gpu.gpu(), *run()]), none, none, none).tolist() == []
