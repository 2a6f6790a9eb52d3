"""Sets of time against sets of nanoseconds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.intervals import Intervals, union

END = 40
pairs = st.lists(st.tuples(st.integers(0, END), st.integers(-2, 8)), max_size=12)


def of(spans: list[tuple[int, int]]) -> Intervals:
    starts = np.array([start for start, _ in spans], np.int64)
    return union(starts, starts + np.array([dur for _, dur in spans], np.int64))


def points(intervals: Intervals) -> set[int]:
    return {
        t for start, end in zip(intervals.starts.tolist(), intervals.ends.tolist()) for t in range(start, end)
    }


def is_canonical(intervals: Intervals) -> bool:
    bounds = np.stack((intervals.starts, intervals.ends), axis=1).reshape(-1)
    return bool((np.diff(bounds) > 0).all())


@given(pairs)
def test_union_holds_exactly_the_time_of_its_spans(spans: list[tuple[int, int]]) -> None:
    intervals = of(spans)
    expected = {t for start, dur in spans for t in range(start, start + dur)}
    assert points(intervals) == expected
    assert is_canonical(intervals)
    assert intervals.total == len(expected)


@given(pairs, pairs)
def test_the_algebra_is_that_of_sets(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    a, b = of(left), of(right)
    for result, expected in (
        (a | b, points(a) | points(b)),
        (a & b, points(a) & points(b)),
        (a - b, points(a) - points(b)),
    ):
        assert points(result) == expected
        assert is_canonical(result)


@given(pairs, st.integers(-5, END + 10), st.integers(-5, END + 10))
def test_parts_of_a_window(spans: list[tuple[int, int]], start: int, end: int) -> None:
    intervals, window = of(spans), set(range(start, end))
    assert points(intervals.clip(start, end)) == points(intervals) & window
    assert start >= end or is_canonical(intervals.clip(start, end)), "what only touches it is left out"
    assert points(intervals.complement(start, end)) == window - points(intervals)


@given(pairs, st.lists(st.tuples(st.integers(-5, END + 10), st.integers(0, 20)), max_size=8))
def test_covered_time_and_holding_interval(
    spans: list[tuple[int, int]], asked: list[tuple[int, int]]
) -> None:
    intervals, held = of(spans), points(of(spans))
    starts = np.array([start for start, _ in asked], np.int64)
    ends = starts + np.array([dur for _, dur in asked], np.int64)
    expected = [len(held & set(range(start, end))) for start, end in zip(starts.tolist(), ends.tolist())]
    assert intervals.covered(starts, ends).tolist() == expected
    index = intervals.index_at(starts)
    assert ((index >= 0) == np.array([t in held for t in starts.tolist()], np.bool_)).all()
    for time, at in zip(starts.tolist(), index.tolist()):
        assert at < 0 or intervals.starts[at] <= time < intervals.ends[at]


def test_times_of_epochs_lose_nothing() -> None:
    start = 1_736_412_474_714_258_991
    intervals = union(np.array([start, start + 1]), np.array([start + 2, start + 3]))
    assert (intervals.starts.tolist(), intervals.ends.tolist()) == ([start], [start + 3])
