"""Calls that go on after a hole without the caller that calls of their name have elsewhere.

Where a clock leaps ahead in the middle of a call, that ends in the hole, as long as it lasted, and what it
still calls comes after it. Those calls then lie further out on their thread than all others of their name. So
do those that come at the end of a step that is longer than the leap.
"""

from __future__ import annotations

import numpy as np

from tracetui.analysis.search import pick
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Family, Layer, Trace, Track

#: Calls without their caller, from which on a clock leapt.
LEAST_ORPHANS = 3
#: They take this share of the time that their callers had left.
_FILLED = 0.5
#: ns: a call ends in a hole where it goes on in it for so long, and share of the hole that it leaves then.
_CLEARLY, _LEFT = 20_000, 0.05
_FAMILIES = (Family.FRAMES, Family.OPERATORS)


def orphaning(trace: Trace, begins: Int64s, resumes: Int64s, step_ends: Int64s) -> Bools:
    """Return which holes leave calls without their caller; bool[holes].

    Args:
        begins: int64[holes], ns: the last start before each hole.
        resumes: int64[holes], ns: the first start after it.
        step_ends: int64[holes], ns: where the step of a hole ends, if calls may be left over there; or 0.
    """
    found = np.zeros(len(begins), np.bool_)
    if not len(begins):
        return found
    lengths = resumes - begins
    for track in trace.tracks:
        if track.layer != Layer.PYTHON or track.family not in _FAMILIES or not len(track.rows):
            continue
        ends = _last_ends(trace, track, begins)
        closed = np.where(ends < resumes - _LEFT * lengths, ends, 0).max(axis=0)
        names: _Names | None = None
        for hole in np.flatnonzero(~found).tolist():
            begin, resume, length = int(begins[hole]), int(resumes[hole]), int(lengths[hole])
            stretches = []
            if closed[hole] > begin + _CLEARLY:
                stretches.append((resume, int(closed[hole]) + length))
            if step_ends[hole] >= resume:
                stretches.append((int(step_ends[hole]), int(step_ends[hole]) + length))
            for start, end in stretches:
                rows, depth = _within(trace, track, start, end)
                if len(rows) < LEAST_ORPHANS or trace.slices.end[rows].max() - start < _FILLED * (
                    end - start
                ):
                    continue
                names = names or _Names(trace, track)
                found[hole] |= names.count_orphans(rows, depth, start) >= LEAST_ORPHANS
    return found


def _last_ends(trace: Trace, track: Track, times: Int64s) -> Int64s:
    """Return when the last call that each lane of a track began up to some times ends, ns; -1 without one."""
    slices = trace.slices
    ends = np.zeros((len(track.lanes), len(times)), np.int64)
    for depth, lane in enumerate(track.lanes):
        rows = trace.lane_slice_rows(lane)
        place = np.searchsorted(slices.start[rows], times, "right") - 1
        ends[depth] = pick(slices.end[rows], place)
    return ends


def _within(trace: Trace, track: Track, start: int, end: int) -> tuple[Int64s, Int64s]:
    """Return the rows of a track that start and end in a stretch of time, ns, and the depth of each."""
    rows, depths = [], []
    for depth, lane in enumerate(track.lanes):
        span = trace.lane_slice_rows(lane)
        first, last = span.start + np.searchsorted(trace.slices.start[span], (start, end))
        held = np.arange(first, last)
        rows.append(held[trace.slices.end[held] <= end])
        depths.append(np.full(len(rows[-1]), depth))
    return np.concatenate(rows), np.concatenate(depths)


class _Names:
    """How often each name is in each lane of a track."""

    def __init__(self, trace: Trace, track: Track) -> None:
        self._trace, self._track = trace, track
        self._names = trace.slices.name
        self._counts = [
            np.bincount(self._names[trace.lane_slice_rows(lane)], minlength=len(trace.strings))
            for lane in track.lanes
        ]

    def count_orphans(self, rows: Int64s, depth: Int64s, start: int) -> int:
        """Return how many of some rows lie further out than all others of their name, if there are any.

        Those that a call made which began after the hole count where that call does: it may be another one
        than makes them elsewhere.

        Args:
            depth: int64[rows], the lane of each in its track, 0 for the outermost.
            start: ns, when the first of them may begin.
        """
        names = self._names[rows]
        kinds, kind = np.unique(names, return_inverse=True)
        table = np.stack([counts[kinds] for counts in self._counts])  # [lanes, kinds]
        np.subtract.at(table, (depth, kind), 1)
        outermost = np.argmax(table > 0, axis=0)  # 0 where there are no others: nothing lies further out
        orphans = depth < outermost[kind]
        of_orphans = np.isin(self._outermost(rows, depth, start), rows[orphans])
        return int(np.count_nonzero(orphans & of_orphans))

    def _outermost(self, rows: Int64s, depth: Int64s, start: int) -> Int64s:
        """Return the outermost call around each row that began at `start` or later; int64[rows]."""
        slices = self._trace.slices
        found: Int64s = rows.copy()
        for level in range(int(depth.max(initial=0)) - 1, -1, -1):
            lane = self._trace.lane_slice_rows(self._track.lanes[level])
            deeper = np.flatnonzero(depth > level)
            place = np.searchsorted(slices.start[lane], slices.start[rows[deeper]], "right") - 1
            around = lane.start + place
            holds = (place >= 0) & (slices.start[around] >= start)
            holds &= slices.end[around] >= slices.end[rows[deeper]]
            found[deeper[holds]] = around[holds]
        return found
