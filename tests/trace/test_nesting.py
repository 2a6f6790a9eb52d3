"""Searches for enclosing slices against a look at every slice."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.synthetic import piece, process, trace_of
from tracetui.trace.model import Trace
from tracetui.trace.nesting import enclosing, parents, starting

Interval = tuple[int, int]

intervals = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 9)), min_size=1, max_size=25)
moments = st.lists(st.integers(-2, 40), min_size=1, max_size=12)


def nested(slices: list[Interval]) -> list[Interval]:
    """Those that nest, dropping every slice that crosses one kept before it or repeats it."""
    kept: list[Interval] = []
    for start, dur in sorted(set(slices), key=lambda interval: (interval[0], -interval[1])):
        if all(other + length <= start or other + length >= start + dur for other, length in kept):
            kept.append((start, dur))
    return kept


def one_thread(slices: list[Interval]) -> Trace:
    """Times are whole ns, three decimals of a us."""
    events: list[dict[str, Any]] = process(1, "Python")
    for start, dur in slices:
        events.append(piece(1, 1, f"{start}+{dur}", f"0.{start:03}", f"0.{dur:03}", "cpu_op"))
    return trace_of(events)


def contains(start: int, dur: int, time: int, closed_end: bool) -> bool:
    return time == start or start <= time < start + dur or (closed_end and time == start + dur)


@given(intervals, moments, st.booleans(), st.booleans())
def test_the_innermost_slice_that_encloses_a_time(
    slices: list[Interval], times: list[int], closed_end: bool, only_even: bool
) -> None:
    trace = one_thread(nested(slices))
    accepted = (trace.slices.start % 2 == 0) if only_even else np.ones(len(trace.slices), np.bool_)
    found = enclosing(
        trace, trace.tracks[0].lanes, np.array(times), accepted if only_even else None, closed_end=closed_end
    )
    rows = range(len(trace.slices))
    span = [(int(trace.slices.start[row]), int(trace.slices.dur[row])) for row in rows]
    for time, row in zip(times, found.tolist()):
        around = [other for other in rows if accepted[other] and contains(*span[other], time, closed_end)]
        deepest = max((trace.lane_of(other) for other in around), default=-1)
        assert row in [other for other in around if trace.lane_of(other) == deepest] or (
            row == -1 and not around
        )


@given(intervals, moments)
def test_the_slice_that_starts_at_a_time(slices: list[Interval], times: list[int]) -> None:
    trace = one_thread(slices)
    lanes = trace.tracks[0].lanes
    found = starting(trace, lanes, np.array(times))
    for time, row in zip(times, found.tolist()):
        at = np.flatnonzero(trace.slices.start == time).tolist()
        if at:
            assert trace.slices.start[row] == time
            assert trace.lane_of(row) == max(trace.lane_of(other) for other in at)
        else:
            assert row == -1


@given(intervals)
def test_a_parent_encloses_its_whole_child(slices: list[Interval]) -> None:
    trace = one_thread(slices)
    start, end = trace.slices.start, trace.slices.end
    for row, parent in enumerate(parents(trace, trace.tracks[0]).tolist()):
        enclosing_rows = [
            other
            for other in range(len(start))
            if trace.lane_of(other) < trace.lane_of(row)
            and start[other] <= start[row] < max(end[other], start[other] + 1)
            and end[row] <= end[other]
        ]
        depths = [trace.lane_of(other) for other in enclosing_rows]
        if enclosing_rows:
            assert parent in enclosing_rows and trace.lane_of(parent) == max(depths)
        else:
            assert parent == -1


def test_no_more_than_512_lanes_are_looked_at() -> None:
    """A thread with more slices open at once is not a stack of calls, and must not take for ever."""
    deep = one_thread([(start, 900 - start) for start in range(400)] + [(400, 500 - n) for n in range(114)])
    lanes, time = deep.tracks[0].lanes, np.array([400])
    assert len(lanes) == 514
    assert [
        deep.lane_of(int(row)) for row in (*enclosing(deep, lanes, time), *starting(deep, lanes, time))
    ] == [511] * 2
