"""Leaps of the clock ahead: holes in which nothing starts on any track, although something says it should.

A hole alone is a pause. Each rule here tells what shows that the time in it did not pass.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.leap import LAYERS, LEAST_LEAP, ROUNDED, Leap, tracks_that_leap
from tracetui.analysis.health.orphans import orphaning
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import distinct, rows_of, starts_of
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Family, Layer, Trace

#: A recording of fewer starts tells no holes.
_LEAST_STARTS = 100
#: Holes among so many of the first and last starts tell nothing.
_EDGE = 20
#: Starts are counted by short times, of which a leap leaves several empty: their ns, and how many there are
#: at most, as powers of two.
_SHORT, _MOST_SHORT = 18, 22
#: So many of the longest holes are looked at for calls without their caller; where there are none, so many
#: for a call that lasts through them, and of the rest so many may be leaps.
_MOST_HOLES, _MOST_QUIET, _MOST_LEAPS = 64, 12, 3
#: A hole in which a queue stops is a leap where it is so many times as long as all others.
_ALONE = 3
#: Tasks that were waiting where a queue stops.
_LEAST_QUEUED = 5
#: The device stops within the first share of the hole, and resumes within the second share after it.
_STOPS, _RESUMES = 0.25, 0.05
#: Returns in a hole that show that calls went on in it; fewer do where no call is left open.
_LEAST_RETURNS, _LEAST_RETURNS_OF_ALL = 5, 3
#: ns from one return to the next.
_APART = 20_000
#: Two times are alike that differ by at most this share.
_ALIKE = 0.1
#: Operators between two steps, from which on there is work.
_LEAST_AMID = 5


def find_leaps_ahead(recording: HealthEvidence) -> Iterator[Leap]:
    """Yield the leaps ahead: nothing starts on any track, although a queue or open calls say it should.

    Calls go on after it that are made by others elsewhere, of which those that were open have ended in it; or
    the device stops and resumes with the host, at the same time, although tasks were waiting for it; or calls
    that were open end one after the other, with nothing called in between, at times that tell that they went
    on; or those that were open to the last end as long before it as the leap is, so that what they called
    outlasts them; or a step ends as long after the leap began as the next one starts after its end.
    """
    trace = recording.trace
    starts = starts_of(trace, (track for track in trace.tracks if track.layer in LAYERS))
    if len(starts) < _LEAST_STARTS:
        return
    begins, resumes = quiet_stretches(starts)
    longest = np.argsort(begins - resumes, kind="stable")[:_MOST_HOLES]
    begins, resumes = begins[longest], resumes[longest]
    holes: list[tuple[int, int]] = []
    moved = tracks_that_leap(trace)
    orphaned = orphaning(trace, begins, resumes, _late_ends(recording, begins, resumes))
    if trace.unclosed:
        orphaned |= _outlasted(trace, begins, resumes)
    if orphaned.any():
        for begin, resume in zip(begins[orphaned].tolist(), resumes[orphaned].tolist()):
            yield Leap(begin, resume - begin, moved)
        return
    begins, resumes = begins[:_MOST_QUIET], resumes[:_MOST_QUIET]
    lasts = _calls_last(trace, begins, resumes)
    for begin, resume in zip(begins[~lasts].tolist(), resumes[~lasts].tolist()):
        if not _host_waits(recording, begin, resume):
            holes.append((begin, resume))
    for number, (begin, resume) in enumerate(holes[:_MOST_LEAPS]):
        following = max((end - start for start, end in holes[number + 1 :]), default=0)
        alone = number == 0 and resume - begin >= _ALONE * following
        if (
            (alone and _queue_stops(recording, begin, resume))
            or _calls_end_alone(recording, begin, resume)
            or _steps_shift(recording, begin, resume)
        ):
            yield Leap(begin, resume - begin, moved)


def _calls_last(trace: Trace, begins: Int64s, resumes: Int64s) -> Bools:
    """Return through which holes a call of the runtime lasts; bool[holes]."""
    lasts = np.zeros(len(begins), np.bool_)
    for track in trace.tracks:
        for lane in track.lanes if track.family == Family.CALLS else ():
            rows = trace.lane_slice_rows(lane)
            place = np.searchsorted(trace.slices.start[rows], begins + ROUNDED, "right") - 1
            lasts |= (place >= 0) & (trace.slices.end[rows][place] >= resumes - ROUNDED)
    return lasts


def quiet_stretches(starts: Int64s) -> tuple[Int64s, Int64s]:
    """Return the last start before and the first after each stretch in which nothing starts, ns, by time.

    Those among the first and last starts are left out. Starts are counted by short times and not sorted: a
    stretch as long as a leap leaves some of these empty.
    """
    origin = int(starts.min())
    span = int(starts.max()) - origin
    shift = max(_SHORT, span.bit_length() - _MOST_SHORT)
    place = (starts - origin) >> shift
    counts = np.bincount(place)
    held = np.flatnonzero(counts)
    apart = np.flatnonzero(np.diff(held) > 1)
    is_edge = np.zeros(len(counts), np.bool_)
    is_edge[held[apart]] = is_edge[held[apart + 1]] = True
    near = np.sort(starts[is_edge[place]])
    until = np.cumsum(counts)
    places = np.flatnonzero(np.diff(near) >= LEAST_LEAP)
    before, after = (near[places] - origin) >> shift, (near[places + 1] - origin) >> shift
    passed = until[before]
    is_quiet = (after > before) & (until[after - 1] == passed)
    is_quiet &= (passed > _EDGE) & (passed <= len(starts) - _EDGE)
    return near[places[is_quiet]], near[places[is_quiet] + 1]


def _late_ends(recording: HealthEvidence, begins: Int64s, resumes: Int64s) -> Int64s:
    """Return where the step of each hole ends if the next one starts as long after that as the hole lasts.

    ns; 0 where the next one does not, or there is none.
    """
    starts, lengths = distinct(recording.host_starts), resumes - begins
    late = np.zeros(len(begins), np.int64)
    if len(starts) < 2:
        return late
    ends = np.full(len(starts), np.iinfo(np.int64).max)
    np.minimum.at(ends, np.searchsorted(starts, recording.host_starts), recording.host_ends)
    place = np.searchsorted(starts, begins, "right") - 1
    known = np.flatnonzero((place >= 0) & (place < len(starts) - 1))
    end, after = ends[place[known]], starts[place[known] + 1]
    alike = np.abs(after - end - lengths[known]) <= _ALIKE * lengths[known]
    late[known[alike]] = end[alike]
    return late


def _outlasted(trace: Trace, begins: Int64s, resumes: Int64s) -> Bools:
    """Return in which holes calls of Python are open that end as long before their thread as a hole lasts.

    bool[holes]. Only of use where calls outlast their caller: otherwise that is an accident.
    """
    lengths = resumes - begins
    found = np.zeros(len(begins), np.bool_)
    for track in trace.tracks:
        if track.family != Family.FRAMES or not len(track.rows):
            continue
        rows = trace.lane_slice_rows(track.lanes[0])
        start, end = trace.slices.start[rows], trace.slices.end[rows]
        place = np.searchsorted(start, begins, "right") - 1
        early = trace.slices.end[track.rows.start : track.rows.stop].max() - end[place]
        is_open = (place >= 0) & (end[place] > resumes)
        found |= is_open & (np.abs(early - lengths) <= _ALIKE * lengths)
    return found


def _queue_stops(recording: HealthEvidence, begin: int, resume: int) -> bool:
    """Return whether a device stops with the host and resumes with it, although tasks were waiting."""
    slices, chains = recording.trace.slices, recording.launch_chains
    hole = resume - begin
    for activity in recording.devices:
        work = activity.work
        after = work[slices.start[work] >= resume][:_LEAST_QUEUED]
        before = work[slices.start[work] <= begin]
        if len(after) < _LEAST_QUEUED or not len(before):
            continue
        launched = chains.launch_time[chains.index(after)]
        queued = bool(((launched >= 0) & (launched < begin)).all())
        done, starts = int(slices.end[before].max()), int(slices.start[after[0]])
        if queued and done - begin < _STOPS * hole and starts - resume < _RESUMES * hole:
            return _host_resumes(recording.trace, resume, hole)
    return False


def _host_resumes(trace: Trace, resume: int, hole: int) -> bool:
    """Return whether the host calls anything right after a hole, of so many ns; one that is done does not."""
    starts = starts_of(trace, (t for t in trace.tracks if t.layer in (Layer.PYTHON, Layer.RUNTIME)))
    return bool(np.any((starts >= resume) & (starts - resume < _RESUMES * hole)))


def _host_waits(recording: HealthEvidence, begin: int, resume: int) -> bool:
    """Return whether a thread waits for the device through a hole."""
    middle = np.array([begin + (resume - begin) // 2], np.int64)
    for index in range(len(recording.hosts)):
        waits = recording.hosts.thread(index).spans.get(Cause.SYNC)
        if waits is None:
            continue
        held = int(waits.index_at(middle)[0])
        if held >= 0 and waits.starts[held] <= begin + ROUNDED and waits.ends[held] >= resume - ROUNDED:
            return True
    return False


def _calls_end_alone(recording: HealthEvidence, begin: int, resume: int) -> bool:
    """Return whether many open calls of Python end at different times in a hole, and nothing is called.

    Fewer do where all that are open end in it, and calls go on after it without what called them.
    """
    slices = recording.trace.slices
    for track in recording.trace.tracks:
        if track.family != Family.FRAMES:
            continue
        rows = slice(track.rows.start, track.rows.stop)
        start, end = slices.start[rows], slices.end[rows]
        opened = end[(start <= begin) & (end > begin + ROUNDED)]
        inside = np.sort(opened[opened < resume - ROUNDED])
        apart = np.count_nonzero(np.diff(inside) > _APART) + 1 if len(inside) else 0
        orphans = len(inside) == len(opened) and np.count_nonzero(start >= resume) >= _EDGE
        if apart >= (_LEAST_RETURNS_OF_ALL if orphans else _LEAST_RETURNS):
            return True
    return False


def _steps_shift(recording: HealthEvidence, begin: int, resume: int) -> bool:
    """Return whether the step of a hole ends so long before the next one as the hole lasts, amid its work.

    Steps follow each other, so what is between them then is the rest of the step, late by the hole. In a
    pause between steps nothing is.
    """
    starts = distinct(recording.host_starts)
    if len(starts) < 2:
        return False
    hole = resume - begin
    held = np.flatnonzero((recording.host_starts <= begin) & (recording.host_ends > begin))
    following = starts[starts >= resume]
    if not len(held) or not len(following):
        return False
    trace = recording.trace
    end, after = int(recording.host_ends[held].min()), int(following[0])
    rows = rows_of(t for t in trace.tracks if t.layer == Layer.PYTHON and t.family == Family.OPERATORS)
    times = trace.slices.start[rows]
    amid = np.count_nonzero((times > max(end, resume)) & (times < after))
    return abs(after - end - hole) <= _ALIKE * hole and bool(amid >= _LEAST_AMID)
