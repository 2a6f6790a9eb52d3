"""Which slice encloses a time, and which slice another: searches on the sorted lanes of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Union

import numpy as np

from tracetui.arrays import Bools, Int64s, searchsorted
from tracetui.trace.model import Trace, Track

#: Lanes looked at, outermost first: a thread with more slices open at once is not a stack of calls.
DEEPEST_LANE = 512


class SliceTimes(NamedTuple):
    """When the slices of a trace start and end, as its columns have it."""

    start: Int64s  #: ns
    end: Int64s  #: ns


@dataclass(frozen=True)
class LaneSlices:
    """The sorted slices of a trace that is being built."""

    slices: SliceTimes
    lane_rows: Int64s  #: int64[lanes + 1]: lane l holds rows lane_rows[l]:lane_rows[l + 1]


AnySlices = Union[Trace, LaneSlices]


def enclosing(
    trace: AnySlices, lanes: range, times: Int64s, accept: Bools | None = None, closed_end: bool = False
) -> Int64s:
    """Return the innermost slice that encloses each time, -1 where none does.

    A slice encloses the times of [start, end); one of length zero encloses its start.

    Args:
        trace: the sorted slices.
        lanes: where to look, outermost lane first: the lanes of one track.
        times: int64[m], ns, in any order.
        accept: bool[rows of the trace], the slices that count; None for all.
        closed_end: the end of a slice belongs to it too.

    Returns:
        int64[m], rows of the trace.
    """
    slices = np.full(len(times), -1, np.int64)
    open_times = np.arange(len(times))
    for lane in reversed(lanes[:DEEPEST_LANE]):
        if not len(open_times):
            break
        candidates = _last_started(trace, lane, times[open_times], accept)
        hit = _contains(trace, candidates, times[open_times], closed_end)
        slices[open_times[hit]] = candidates[hit]
        open_times = open_times[~hit]
    return slices


def starting(trace: AnySlices, lanes: range, times: Int64s) -> Int64s:
    """Return the innermost slice to start exactly at each time, -1 where none does; int64[m], rows."""
    slices = np.full(len(times), -1, np.int64)
    open_times = np.arange(len(times))
    for lane in reversed(lanes[:DEEPEST_LANE]):
        if not len(open_times):
            break
        candidates = _last_started(trace, lane, times[open_times])
        hit = candidates >= 0
        hit[hit] = trace.slices.start[candidates[hit]] == times[open_times[hit]]
        slices[open_times[hit]] = candidates[hit]
        open_times = open_times[~hit]
    return slices


def parents(trace: AnySlices, track: Track) -> Int64s:
    """Return the innermost slice of a shallower lane that encloses each whole slice of a
    track, -1 where none does.

    Returns:
        int64[len(track.rows)], rows of the trace.
    """
    first = track.rows.start
    parent_rows = np.full(len(track.rows), -1, np.int64)
    start, end = trace.slices.start, trace.slices.end
    for depth, lane in enumerate(track.lanes[:DEEPEST_LANE]):
        rows = np.arange(trace.lane_rows[lane], trace.lane_rows[lane + 1])
        for outer in reversed(track.lanes[:depth]):
            if not len(rows):
                break
            candidates = _last_started(trace, outer, start[rows])
            hit = _contains(trace, candidates, start[rows], closed_end=False)
            hit[hit] = end[candidates[hit]] >= end[rows[hit]]
            parent_rows[rows[hit] - first] = candidates[hit]
            rows = rows[~hit]
    return parent_rows


def _last_started(trace: AnySlices, lane: int, times: Int64s, accept: Bools | None = None) -> Int64s:
    """Return the last accepted slice of a lane to start at or before each time, -1 where none does; rows."""
    first, last = int(trace.lane_rows[lane]), int(trace.lane_rows[lane + 1])
    starts = trace.slices.start[first:last]
    if accept is None:
        place = searchsorted(starts, times, "right")
        place += first - 1
        place[place < first] = -1
        return place
    rows = np.flatnonzero(accept[first:last])
    place = searchsorted(starts[rows], times, "right")
    return np.append(rows + first, -1)[place - 1]


def _contains(trace: AnySlices, rows: Int64s, times: Int64s, closed_end: bool) -> Bools:
    """Return whether each row (-1: no) contains its time."""
    hit: Bools = rows >= 0
    held, time = rows[hit], times[hit]
    start, end = trace.slices.start.take(held), trace.slices.end.take(held)
    hit[hit] = (time <= end) if closed_end else (time < end) | (time == start)
    return hit
