"""A leap of the clock back: tracks go back in the order of the file, or their slices cross each other.

Both show the same: what was recorded after the leap has times that what came before it has, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracetui.analysis.health.leap import LAYERS, LEAST_LEAP, ROUNDED, Leap
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.search import among, distinct, of_category
from tracetui.arrays import Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Track

_FAMILIES = (Family.FRAMES, Family.OPERATORS, Family.CALLS, Family.TASKS)
#: A leap back may be so many times shorter than one ahead: slices that cross prove it.
_FINER = 10
#: A clock went back where so many tracks do at once.
_LEAST_BACK = 2
#: A track of fewer slices tells no order, nor does one that goes back more often.
_LEAST_ORDERED, _MOST_BACK = 20, 3
#: The times before and after a leap take turns at least so often; those of parts of a file do not.
_LEAST_MIXED = 3
#: Crossings within this share of the recording are of one time.
_AT_ONCE = 0.5
#: ns: slices cross that do so by more than this; files that round to 1 µs let neighbours cross by less.
UNEVEN = 2_000
#: Calls of the host that cross others, from which on times are out of order: of several tracks, of one alone.
_LEAST_CROSSED, _LEAST_CROSSED_ALONE = 3, 5
#: The names that they have: calls of one name may be such that a producer lets cross.
_LEAST_NAMES = 3


def find_leap_back(recording: HealthEvidence) -> Leap | None:
    """Return the leap back of several tracks, of the host too, by the order of the file or by crossings."""
    tracks = [
        track
        for track in recording.trace.tracks
        if len(track.rows) > 1 and track.layer in LAYERS and track.family in _FAMILIES
    ]
    return _by_crossing(recording, tracks) or _by_order(recording, tracks)


def _by_order(recording: HealthEvidence, tracks: Sequence[Track]) -> Leap | None:
    """Return the leap back that tracks show in the order of the file: each goes back once, at one time.

    A file may hold a later part before an earlier one: the times of its parts do not mix. Those before and
    after a leap do.
    """
    slices = recording.trace.slices
    steps: list[tuple[Track, int, int]] = []
    mixed = False
    for track in tracks:
        rows = slice(track.rows.start, track.rows.stop)
        starts = slices.start[rows][np.argsort(slices.event[rows], kind="stable")]
        change = np.diff(starts)
        if len(starts) < _LEAST_ORDERED or np.count_nonzero(change < 0) > _MOST_BACK:
            continue
        for place in np.flatnonzero(change < -LEAST_LEAP // _FINER).tolist():
            end, begin = int(starts[place]), int(starts[place + 1])
            if starts[place + 1 :].max() > end:
                steps.append((track, begin, end))
                times = _alternations(starts[: place + 1], starts[place + 1 :], begin, end)
                mixed |= times >= _LEAST_MIXED
    alike = _overlapping_most(steps)
    families = {track.family == Family.TASKS for track, _, _ in alike}
    several = len({track.index for track, _, _ in alike}) >= _LEAST_BACK and False in families
    if not mixed or not (several or any(_overlaps_itself(recording, *step) for step in alike)):
        return None
    by = min(begin - end for _, begin, end in alike)
    return Leap(max(end for *_, end in alike), by, tuple(sorted({track.index for track, *_ in alike})))


def _overlaps_itself(recording: HealthEvidence, track: Track, begin: int, end: int) -> bool:
    """Return whether a track goes back for less than half of the recording, and its slices cross there.

    That a device does so is enough: the host may be waiting for it, and says nothing then.
    """
    trace = recording.trace
    if end - begin > _AT_ONCE * (trace.end_ns - trace.start_ns):
        return False
    starts = trace.slices.start[_crossing(recording, track)]
    return int(np.count_nonzero((starts >= begin) & (starts <= end))) >= _LEAST_CROSSED


def _alternations(before: Int64s, after: Int64s, begin: int, end: int) -> int:
    """Return how often times of one part of a file follow those of another, in a stretch of time, ns."""
    first = before[(before >= begin) & (before <= end)]
    second = after[(after >= begin) & (after <= end)]
    is_second = np.concatenate((np.zeros(len(first), np.bool_), np.ones(len(second), np.bool_)))
    mixed = is_second[np.argsort(np.concatenate((first, second)), kind="stable")]
    return int(np.count_nonzero(mixed[1:] != mixed[:-1]))


def _overlapping_most(steps: Sequence[tuple[Track, int, int]]) -> list[tuple[Track, int, int]]:
    """Return the steps back whose stretches share the time that most of them share."""
    shared = [[step for step in steps if step[1] <= begin < step[2]] for _, begin, _ in steps]
    return max(shared, key=len, default=[])


def _by_crossing(recording: HealthEvidence, tracks: Sequence[Track]) -> Leap | None:
    """Return the leap back that shows in slices that cross each other at one time, on the host too."""
    slices = recording.trace.slices
    crossed = [(track, found) for track in tracks if len(found := _crossing(recording, track))]
    hosts = [(track, found) for track, found in crossed if track.family != Family.TASKS]
    count = sum(len(found) for _, found in hosts)
    if not hosts or count < (_LEAST_CROSSED if len(crossed) > 1 else _LEAST_CROSSED_ALONE):
        return None
    rows = np.concatenate([found for _, found in crossed])
    if len(distinct(slices.name[rows])) < _LEAST_NAMES:
        return None
    first, last = int(slices.start[rows].min()), int(slices.start[rows].max())
    # Calls that a producer lets cross do so in any step; a leap shows at one time alone, or on other threads.
    threads = {(track.pid, track.tid) for track, _ in crossed}
    if len(threads) < 2 and last - first > _AT_ONCE * (recording.trace.end_ns - recording.trace.start_ns):
        return None
    if last - first < LEAST_LEAP // _FINER:
        return None
    return Leap(last, first - last, tuple(track.index for track, _ in crossed))


def _crossing(recording: HealthEvidence, track: Track) -> Int64s:
    """Return the rows of a track that start inside of a slice and end after it.

    Those that end with the last of the track are left out, their end was not recorded; so are ranges of the
    user and, of a device, all but kernels and copies, which may cross.
    """
    trace, slices = recording.trace, recording.trace.slices
    found = [np.empty(0, np.int64)]
    for lane in track.lanes[1:]:
        outer, inner = trace.lane_slice_rows(lane - 1), trace.lane_slice_rows(lane)
        # Slices of a lane do not overlap: only the last one that starts in a slice can end after it.
        # The fewer of both are looked up in the others.
        if outer.stop - outer.start < inner.stop - inner.start:
            around = np.arange(outer.start, outer.stop)
            last = inner.start + np.searchsorted(slices.start[inner], slices.end[outer]) - 1
        else:
            last = np.arange(inner.start, inner.stop)
            around = outer.start + np.searchsorted(slices.start[outer], slices.start[inner], "right") - 1
        start, end, ends = slices.start[last], slices.end[last], slices.end[around]
        inside = (last >= inner.start) & (around >= outer.start)
        inside &= (slices.start[around] < start - UNEVEN) & (start < ends - UNEVEN)
        found.append(last[inside & (ends < end - UNEVEN)])
    rows = np.concatenate(found)
    if not len(rows):
        return rows
    if track.family == Family.TASKS:
        return rows[among(slices.activity[rows], (Activity.COMPUTE, Activity.COPY))]
    rows = rows[~of_category(trace, slices.category[rows], KNOWN.categories.annotations)]
    closed: Int64s = rows[slices.end[rows] < slices.end[track.rows.start : track.rows.stop].max() - ROUNDED]
    return closed
