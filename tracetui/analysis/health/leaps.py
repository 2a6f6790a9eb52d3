"""Leaps of the clock that all tracks are recorded with, back or ahead.

A leap back shows where tracks go back in the order of the file, or where their slices cross each other: what
was recorded after it has times that what came before it has, too. A leap ahead leaves a hole in which nothing
starts on any track; a hole alone is a pause, and each rule here tells what shows that its time did not pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.finding import EVERYTHING, Finding, Severity
from tracetui.analysis.health.orphans import orphaning
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.health.waits import DeviceWaits, leap_in_wait
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import among, blocks_of_starts, distinct, of_category, rows_of, starts_of
from tracetui.arrays import EMPTY, Bools, Int64s, searchsorted
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Layer, Trace, Track
from tracetui.units import DAY, YEAR, format_duration

#: ns: slices that end so close to each other end together.
ROUNDED = 1_000
#: ns: a leap ahead is at least so long.
LEAST_LEAP = 1_000_000
#: Tracks of these leap with the clock.
_LAYERS = (Layer.PYTHON, Layer.RUNTIME, Layer.DEVICE)
#: A recording of fewer starts tells no holes.
_LEAST_STARTS = 100
#: Holes among so many of the first and last starts tell nothing.
_EDGE = 20
#: Starts are counted in bins of 2**_BIN_SHIFT ns, of which a leap leaves several empty, or in wider ones, so
#: that there are at most 2**_MOST_BINS_SHIFT.
_BIN_SHIFT, _MOST_BINS_SHIFT = 18, 22
#: So many of the longest holes are looked at for calls without their caller;
_MOST_HOLES = 64
#: where there are none, so many of them for a call that lasts through them;
_MOST_QUIET = 12
#: and so many of the rest may be leaps.
_MOST_LEAPS = 3
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


class Leap(NamedTuple):
    """A leap of the clocks of many tracks at one time."""

    at: int  #: ns
    by: int  #: ns; below 0: back
    tracks: tuple[int, ...]


def _moving_tracks(trace: Trace) -> tuple[int, ...]:
    """Return the tracks that leap with the clock of all."""
    return tuple(t.index for t in trace.tracks if len(t.rows) and t.layer in _LAYERS)


def find_leaps(recording: HealthEvidence, waits: DeviceWaits) -> list[Leap]:
    """Return the leaps of all clocks, by time: back where many tracks overlap themselves, or ahead."""
    back = _find_leap_back(recording)
    found = [back] if back is not None else [*_find_leaps_ahead(recording)]
    in_wait = None if found else leap_in_wait(recording, waits, LEAST_LEAP)
    return found if in_wait is None else [Leap(*in_wait, _moving_tracks(recording.trace))]


def leap_findings(recording: HealthEvidence, leaps: list[Leap]) -> Iterator[Finding]:
    """Yield the finding about leaps, where there are any."""
    if not leaps:
        return
    origin = recording.trace.start_ns
    longest = max(leaps, key=lambda leap: abs(leap.by))
    windows = tuple((min(leap.at, leap.at + leap.by), max(leap.at, leap.at + leap.by)) for leap in leaps)
    yield Finding(
        id="clock.jump",
        severity=Severity.DOUBTFUL,
        affects=EVERYTHING,
        sentence=(
            "{tracks} tracks go back by about {time} at once, {at} after the start: a clock was set"
            if longest.by < 0
            else "{tracks} tracks leap by about {time} at once, {at} after the start: a clock was set"
        ),
        remedy="Read the parts before and after on their own; record again while nothing sets the clock.",
        figures={
            "tracks": len(longest.tracks),
            "time": format_duration(abs(longest.by)),
            "at": format_duration(longest.at - origin),
        },
        count=len(leaps),
        share=sum(abs(leap.by) for leap in leaps) / max(recording.trace.end_ns - origin, 1),
        steps=places(
            np.union1d(
                recording.steps_at(np.array([leap.at for leap in leaps], np.int64)),
                np.array(recording.steps_within((leap.at, leap.at + 1) for leap in leaps), np.int64),
            )
        ),
        windows=windows,
        tracks=longest.tracks,
    )


def distant_parts(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where the recording has parts that lie more than a year apart.

    Nobody records for so long: a clock was set, which tracks show that have times in several parts; or there
    are two clocks, such as one of the host and one of the device, and what is counted on either stands.
    """
    trace = recording.trace
    if trace.end_ns - trace.start_ns <= YEAR:
        return
    starts = np.sort(trace.slices.start)
    places_before = np.flatnonzero(np.diff(starts) > YEAR)
    if not len(places_before):
        return
    windows = tuple(zip(starts[places_before].tolist(), starts[places_before + 1].tolist()))
    first = np.array([begin + 1 for begin, _ in windows], np.int64)
    torn = tuple(
        track.index
        for track in trace.tracks
        if len(track.rows)
        and len(distinct(np.searchsorted(first, trace.slices.start[track.rows], "right"))) > 1
    )
    days = round(sum(resume - begin for begin, resume in windows) / DAY)
    yield Finding(
        id="clock.jump" if torn else "clock.host_device",
        severity=Severity.DOUBTFUL,
        affects=EVERYTHING if torn else ("causes",),
        sentence=(
            "{count} parts of the recording lie up to {days} days apart, and some tracks are in several: "
            "a clock was set, or two were mixed"
            if torn
            else "{count} parts of the recording lie up to {days} days apart, each with tracks of its own: "
            "they are timed by different clocks"
        ),
        remedy=(
            "No time passed between the parts: read each on its own; "
            "record again while nothing sets the clock."
            if torn
            else "Nothing is shifted. Compare no time of one part with one of another; "
            "what happened within a part, and for how long, stands."
        ),
        figures={"days": days},
        count=len(windows) + 1,
        steps=recording.steps_within(windows) if torn else (),
        windows=windows,
        tracks=torn,
    )


def _find_leaps_ahead(recording: HealthEvidence) -> Iterator[Leap]:
    """Yield the leaps ahead: nothing starts on any track, although a queue or open calls say it should.

    One of these shows it:

    - calls go on after it whose callers, open before it, have ended in it (`orphaning`),
    - calls that were never closed end as long before the last time as the leap is, so that what they called
      outlasts them (`_outlasted`),
    - the device stops and resumes with the host, although tasks were waiting for it (`_queue_stops`),
    - calls that were open end one after the other, with nothing called in between, at times that tell that
      they went on (`_calls_end_alone`),
    - a step ends as long after the leap began as the next one starts after its end (`_steps_shift`).
    """
    trace = recording.trace
    starts = [*blocks_of_starts(trace, (track for track in trace.tracks if track.layer in _LAYERS))]
    if sum(map(len, starts)) < _LEAST_STARTS:
        return
    begins, resumes = quiet_stretches(starts)
    longest = np.argsort(begins - resumes, kind="stable")[:_MOST_HOLES]
    begins, resumes = begins[longest], resumes[longest]
    holes: list[tuple[int, int]] = []
    moved = _moving_tracks(trace)
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


def quiet_stretches(starts: Sequence[Int64s]) -> tuple[Int64s, Int64s]:
    """Return the last start before and the first after each stretch in which nothing starts, ns, by time.

    Those among the first and last starts are left out. Starts are counted by short times and not sorted: a
    stretch as long as a leap leaves some of these empty. They are given in blocks, each not empty: what is
    worked out of one is as large.
    """
    origin, last = min(int(block.min()) for block in starts), max(int(block.max()) for block in starts)
    shift = max(_BIN_SHIFT, (last - origin).bit_length() - _MOST_BINS_SHIFT)
    counts = np.zeros(((last - origin) >> shift) + 1, np.int64)
    for block in starts:
        counts += np.bincount((block - origin) >> shift, minlength=len(counts))
    held = np.flatnonzero(counts)
    apart = np.flatnonzero(np.diff(held) > 1)
    is_edge = np.zeros(len(counts), np.bool_)
    is_edge[held[apart]] = is_edge[held[apart + 1]] = True
    near = np.sort(np.concatenate([block[is_edge[(block - origin) >> shift]] for block in starts]))
    until = np.cumsum(counts)
    places = np.flatnonzero(np.diff(near) >= LEAST_LEAP)
    before, after = (near[places] - origin) >> shift, (near[places + 1] - origin) >> shift
    passed = until[before]
    is_quiet = (after > before) & (until[after - 1] == passed)
    is_quiet &= (passed > _EDGE) & (passed <= until[-1] - _EDGE)
    return near[places[is_quiet]], near[places[is_quiet] + 1]


def _late_ends(recording: HealthEvidence, begins: Int64s, resumes: Int64s) -> Int64s:
    """Return where the step of each hole ends if the next one starts as long after that as the hole lasts.

    ns; 0 where the next one does not, or there is none.
    """
    starts, lengths = distinct(recording.host_starts), resumes - begins
    late = np.zeros(len(begins), np.int64)
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
    for index in range(len(recording.host_threads)):
        waits = recording.host_threads.thread(index).spans.get(Cause.SYNC)
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
    (end,) = _late_ends(recording, np.array([begin]), np.array([resume])).tolist()
    if end <= begin:
        return False
    starts = distinct(recording.host_starts)
    after = starts[np.searchsorted(starts, end)]
    rows = rows_of(track for track in recording.trace.tracks if track.family == Family.OPERATORS)
    times = recording.trace.slices.start[rows]
    return bool(np.count_nonzero((times > max(end, resume)) & (times < after)) >= _LEAST_AMID)


def _find_leap_back(recording: HealthEvidence) -> Leap | None:
    """Return the leap back of several tracks, of the host too, by the order of the file or by crossings."""
    tracks = [
        track
        for track in recording.trace.tracks
        if len(track.rows) > 1 and track.layer in _LAYERS and track.family in _FAMILIES
    ]
    return _by_crossing(recording, tracks) or _by_order(recording, tracks)


def _by_order(recording: HealthEvidence, tracks: Sequence[Track]) -> Leap | None:
    """Return the leap back that tracks show in the order of the file: each goes back once, at one time.

    A file may hold a later part before an earlier one: the times of its parts do not mix. Or it holds what is
    inside of calls after them all: slices do not cross. Those before and after a leap do both.
    """
    slices = recording.trace.slices
    backsteps: list[tuple[Track, int, int]] = []
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
                backsteps.append((track, begin, end))
                times = _alternations(starts[: place + 1], starts[place + 1 :], begin, end)
                mixed |= times >= _LEAST_MIXED
    alike = _overlapping_most(backsteps)
    families = {track.family == Family.TASKS for track, _, _ in alike}
    several = len({track.index for track, _, _ in alike}) >= _LEAST_BACK and False in families
    several = several and any(len(crossing_slices(recording, track)) for track, _, _ in alike)
    if not mixed or not (several or any(_overlaps_itself(recording, *backstep) for backstep in alike)):
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
    starts = trace.slices.start[crossing_slices(recording, track)]
    return int(np.count_nonzero((starts >= begin) & (starts <= end))) >= _LEAST_CROSSED


def _alternations(before: Int64s, after: Int64s, begin: int, end: int) -> int:
    """Return how often times of one part of a file follow those of another, in a stretch of time, ns."""
    first = before[(before >= begin) & (before <= end)]
    second = after[(after >= begin) & (after <= end)]
    is_second = np.concatenate((np.zeros(len(first), np.bool_), np.ones(len(second), np.bool_)))
    mixed = is_second[np.argsort(np.concatenate((first, second)), kind="stable")]
    return int(np.count_nonzero(mixed[1:] != mixed[:-1]))


def _overlapping_most(backsteps: Sequence[tuple[Track, int, int]]) -> list[tuple[Track, int, int]]:
    """Return the steps back whose stretches share the time that most of them share."""
    shared = [[step for step in backsteps if step[1] <= begin < step[2]] for _, begin, _ in backsteps]
    return max(shared, key=len, default=[])


def _by_crossing(recording: HealthEvidence, tracks: Sequence[Track]) -> Leap | None:
    """Return the leap back that shows in slices that cross each other at one time, on the host too."""
    slices = recording.trace.slices
    crossed = [(track, found) for track in tracks if len(found := crossing_slices(recording, track))]
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


def crossing_slices(recording: HealthEvidence, track: Track) -> Int64s:
    """Return the rows of a track that start inside of a slice and end after it.

    Those that end with the last of the track are left out, their end was not recorded; so are ranges of the
    user and, of a device, all but kernels and copies, which may cross.
    """
    trace, slices = recording.trace, recording.trace.slices
    found = [EMPTY]
    for lane in track.lanes[1:]:
        outer, inner = trace.lane_slice_rows(lane - 1), trace.lane_slice_rows(lane)
        # Slices of a lane do not overlap: only the last one that starts in a slice can end after it.
        # The fewer of both are looked up in the others.
        if outer.stop - outer.start < inner.stop - inner.start:
            around = np.arange(outer.start, outer.stop)
            last = inner.start + searchsorted(slices.start[inner], slices.end[outer]) - 1
        else:
            last = np.arange(inner.start, inner.stop)
            around = outer.start + searchsorted(slices.start[outer], slices.start[inner], "right") - 1
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
