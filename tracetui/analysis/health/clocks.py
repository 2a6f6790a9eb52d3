"""Findings about clocks: of the device against the host, and of all at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.finding import EVERYTHING, Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.search import among, distinct, rows_of, track_of_rows
from tracetui.arrays import Bools, Int64s
from tracetui.trace.model import Activity, Family, Layer, Track
from tracetui.units import format_count, format_duration

#: ns: a task may begin so long before its launch where clocks are aligned: 79 µs at most on clean traces.
JITTER = 200_000
#: Tasks, and their share, from which on clocks disagree.
LEAST_EARLY, EARLY_SHARE = 3, 0.005
#: ns: slices that end so close to each other end together.
ROUNDED = 1_000
#: ns: a leap of all clocks is at least so long.
LEAST_LEAP = 1_000_000
#: Tracks that go back at once, from which on a clock did; tracks of fewer slices, or that go back more often,
#: tell nothing.
_LEAST_BACK, _LEAST_ORDERED, _MOST_BACK = 3, 50, 3
_LAYERS = (Layer.PYTHON, Layer.RUNTIME, Layer.DEVICE)
_FAMILIES = (Family.FRAMES, Family.OPERATORS, Family.CALLS, Family.TASKS)
#: Crossings within this share of the recording are of one time.
_AT_ONCE = 0.25
#: So many of the longest holes are looked at, without those among the first and last slices.
_MOST_HOLES, _EDGE = 12, 20
#: A hole in which a queue stops is a leap where it is so many times as long as all others.
_ALONE = 3
#: Returns in a hole that show that calls went on in it, and those that do where no call is left open; ns from
#: one to the next.
_LEAST_RETURNS, _LEAST_RETURNS_OF_ALL, _APART = 5, 3, 20_000
#: Two times are alike that differ by this share; so many operators are work.
_ALIKE, _LEAST_AMID = 0.1, 5
#: Slices of a thread that cross others, from which on its times are out of order.
_LEAST_CROSSED = 2


class Jump(NamedTuple):
    """A leap of the clocks of many tracks at one time."""

    at: int  #: ns
    by: int  #: ns; below 0: back
    tracks: tuple[int, ...]


def early_tasks(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding for each device whose tasks begin before their launch by more than jitter."""
    trace, chains = recording.trace, recording.launch_chains
    known = chains.launch_point >= 0
    late = trace.slices.start[chains.tasks] - chains.launch_point
    track = track_of_rows(trace, chains.tasks)
    devices = np.array([_device_number(recording, t) for t in trace.tracks], np.int64)
    for number in range(len(recording.devices)):
        held = known & (devices[track] == number)
        early = held & (late < -JITTER)
        count, total = int(np.count_nonzero(early)), int(np.count_nonzero(held))
        if count < LEAST_EARLY or count < EARLY_SHARE * total:
            continue
        offset = -int(late[early].min())
        starts = trace.slices.start[chains.tasks[early]]
        yield Finding(
            id="clock.host_device",
            severity=Severity.DOUBTFUL,
            affects=("causes",),
            sentence=(
                "{count} of {tasks} tasks begin before their launch, by {time} at most: "
                "the clocks of host and device are apart by that or more"
            ),
            remedy=(
                "Nothing is shifted. Add {time} or more to the times of the device before you compare them "
                "with the host's; what the device did, and for how long, stands."
            ),
            figures={
                "count": format_count(count),
                "tasks": format_count(total),
                "time": format_duration(offset),
            },
            count=count,
            share=count / total,
            steps=recording.steps_within(((int(starts.min()), int(starts.max()) + 1),)),
            windows=((int(starts.min()), int(starts.max()) + 1),),
            tracks=places(np.unique(track[early])),
        )


def find_jumps(recording: HealthEvidence) -> list[Jump]:
    """Return the leaps of all clocks, by time: back where many tracks overlap themselves, or ahead."""
    back = _leap_back(recording)
    return [back] if back is not None else [*_leaps_ahead(recording)]


def jump_findings(recording: HealthEvidence, jumps: list[Jump]) -> Iterator[Finding]:
    """Yield the finding about leaps, where there are any."""
    if not jumps:
        return
    origin = recording.trace.start_ns
    longest = max(jumps, key=lambda jump: abs(jump.by))
    windows = tuple((min(jump.at, jump.at + jump.by), max(jump.at, jump.at + jump.by)) for jump in jumps)
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
            "tracks": format_count(len(longest.tracks)),
            "time": format_duration(abs(longest.by)),
            "at": format_duration(longest.at - origin),
        },
        count=len(jumps),
        share=sum(abs(jump.by) for jump in jumps) / max(recording.trace.end_ns - origin, 1),
        steps=places(
            np.union1d(
                recording.steps_at(np.array([jump.at for jump in jumps], np.int64)),
                np.array(recording.steps_within((jump.at, jump.at + 1) for jump in jumps), np.int64),
            )
        ),
        windows=windows,
        tracks=longest.tracks,
    )


def _device_number(recording: HealthEvidence, track: Track) -> int:
    return next((i for i, activity in enumerate(recording.devices) if activity.device == track.device), -1)


def _leap_back(recording: HealthEvidence) -> Jump | None:
    """Return the leap back of several tracks, of the host too, by the order of the file or by crossings."""
    tracks = [
        track
        for track in recording.trace.tracks
        if len(track.rows) > 1 and track.layer in _LAYERS and track.family in _FAMILIES
    ]
    return _by_order(recording, tracks) or _by_crossing(recording, tracks)


def _by_order(recording: HealthEvidence, tracks: Sequence[Track]) -> Jump | None:
    """Return the leap back that most tracks show in the order of the file, by about the same time.

    A file may hold a later part before an earlier one: times go back then, and never pass where they were.
    """
    slices = recording.trace.slices
    steps: list[tuple[Track, int, int]] = []
    for track in tracks:
        rows = slice(track.rows.start, track.rows.stop)
        starts = slices.start[rows][np.argsort(slices.event[rows], kind="stable")]
        change = np.diff(starts)
        back = np.flatnonzero(change < -LEAST_LEAP // 10)
        if len(starts) >= _LEAST_ORDERED and np.count_nonzero(change < 0) <= _MOST_BACK:
            later = np.maximum.accumulate(starts[::-1])[::-1]
            steps += [
                (track, int(starts[place]), int(change[place]))
                for place in back.tolist()
                if later[place + 1] > starts[place]
            ]
    if len(steps) < _LEAST_BACK:
        return None
    by = int(np.median([change for *_, change in steps]))
    alike = [step for step in steps if abs(step[2] - by) <= abs(by) // 4]
    at = int(np.median([time for _, time, _ in alike])) if alike else 0
    alike = [step for step in alike if abs(step[1] - at) <= abs(by)]
    families = {track.family == Family.TASKS for track, *_ in alike}
    if len({track.index for track, *_ in alike}) < _LEAST_BACK or False not in families:
        return None
    if not any(_meets_itself(recording, track, at + by, at) for track in tracks):
        return None
    return Jump(at, by, tuple(sorted({track.index for track, *_ in alike})))


def _meets_itself(recording: HealthEvidence, track: Track, begin: int, end: int) -> bool:
    """Return whether slices of a thread, or tasks of a stream, cross each other in a stretch of time, ns."""
    slices = recording.trace.slices
    rows = np.arange(track.rows.start, track.rows.stop)
    rows = rows[(slices.start[rows] >= begin) & (slices.start[rows] <= end)]
    return bool(crossing(slices.start[rows], slices.end[rows]).any())


def _by_crossing(recording: HealthEvidence, tracks: Sequence[Track]) -> Jump | None:
    """Return the leap back that shows in slices of several tracks that cross each other."""
    slices = recording.trace.slices
    spans = []
    for track in tracks:
        rows = slice(track.rows.start, track.rows.stop)
        start, end = slices.start[rows], slices.end[rows]
        if track.family == Family.TASKS:
            works = among(slices.activity[rows], (Activity.COMPUTE, Activity.COPY))
            start, end = start[works], end[works]
        crossed = crossing(start, end)
        if np.count_nonzero(crossed) >= _LEAST_CROSSED:
            times = start[crossed]
            spans.append((track, int(times.min()), int(times.max())))
    hosts = [span for span in spans if span[0].family != Family.TASKS]
    # Producers let a few ranges of a thread cross each other in any step: a leap shows on a device, on other
    # threads, or at one time alone.
    threads = {(track.pid, track.tid) for track, _, _ in hosts}
    length = max((end for _, _, end in spans), default=0) - min((start for _, start, _ in spans), default=0)
    at_once = len(hosts) > 1 and length <= _AT_ONCE * (recording.trace.end_ns - recording.trace.start_ns)
    if not hosts or (len(threads) < 2 and len(spans) == len(hosts) and not at_once):
        return None
    first = int(np.median([start for _, start, _ in spans]))
    last = max(end for _, _, end in spans)
    if last - first < LEAST_LEAP // 10:
        return None
    return Jump(last, first - last, tuple(track.index for track, _, _ in spans))


def crossing(start: Int64s, end: Int64s) -> Bools:
    """Return which slices start inside the one that starts before them and end after it.

    Those that end with the last of all are left out: their end was not recorded.
    """
    crossed = np.zeros(len(start), np.bool_)
    if len(start) < 2:
        return crossed
    order = np.argsort(start, kind="stable")
    starts, ends = start[order], end[order]
    inside = (starts[1:] > starts[:-1] + ROUNDED) & (starts[1:] < ends[:-1] - ROUNDED)
    after = (ends[1:] > ends[:-1] + ROUNDED) & (ends[1:] < end.max() - ROUNDED)
    crossed[order[1:]] = inside & after
    return crossed


def _leaps_ahead(recording: HealthEvidence) -> Iterator[Jump]:
    """Yield the leaps ahead: nothing starts on any track, although a queue or open calls say it should.

    The device stops and resumes with the host, at the same time, although tasks were waiting for it; or calls
    that were open end one after the other, with nothing called in between, at times that tell that they went
    on; or a step ends as long after the leap began as the next one starts after its end.
    """
    trace = recording.trace
    slices = trace.slices
    timed = rows_of(t for t in trace.tracks if t.layer in _LAYERS)
    if len(timed) < 100:
        return
    starts = np.sort(slices.start[timed], kind="stable")  # lanes are in order: merged, not sorted
    gaps = np.diff(starts)
    holes = []
    calls = rows_of(t for t in trace.tracks if t.family == Family.CALLS)
    called, returned = slices.start[calls], slices.end[calls]
    wide = np.flatnonzero(gaps >= LEAST_LEAP)
    for place in wide[np.argsort(-gaps[wide], kind="stable")[:_MOST_HOLES]].tolist():
        begin, resume = int(starts[place]), int(starts[place + 1])
        inside = _EDGE <= place < len(starts) - _EDGE
        lasts = ((called <= begin + ROUNDED) & (returned >= resume - ROUNDED)).any()
        if inside and not (lasts or _host_waits(recording, begin, resume)):
            holes.append((begin, resume))
    for number, (begin, resume) in enumerate(holes[:3]):
        following = max((end - start for start, end in holes[number + 1 :]), default=0)
        alone = number == 0 and resume - begin >= _ALONE * following
        if (
            (alone and _queue_stops(recording, begin, resume))
            or _calls_end_alone(recording, begin, resume)
            or _steps_shift(recording, begin, resume)
        ):
            moved = [t.index for t in trace.tracks if len(t.rows) and t.layer in _LAYERS]
            yield Jump(begin, resume - begin, tuple(moved))


def _queue_stops(recording: HealthEvidence, begin: int, resume: int) -> bool:
    """Return whether a device stops with the host and resumes with it, although tasks were waiting."""
    slices, chains = recording.trace.slices, recording.launch_chains
    hole = resume - begin
    for activity in recording.devices:
        work = activity.work
        after = work[slices.start[work] >= resume][:5]
        before = work[slices.start[work] <= begin]
        if len(after) < 5 or not len(before):
            continue
        launched = chains.launch_point[chains.index(after)]
        queued = bool(((launched >= 0) & (launched < begin)).all())
        done, starts = int(slices.end[before].max()), int(slices.start[after[0]])
        if queued and done - begin < hole // 4 and starts - resume < hole // 20:
            return True
    return False


def _host_waits(recording: HealthEvidence, begin: int, resume: int) -> bool:
    """Return whether a thread waits for the device through a hole."""
    middle = np.array([begin + (resume - begin) // 2], np.int64)
    for index in range(len(recording.hosts)):
        waits = recording.hosts.thread(index).spans.get(Cause.SYNC)
        held = -1 if waits is None else int(waits.index_at(middle)[0])
        if waits is None or held < 0:
            continue
        if waits.starts[held] <= begin + ROUNDED and waits.ends[held] >= resume - ROUNDED:
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
