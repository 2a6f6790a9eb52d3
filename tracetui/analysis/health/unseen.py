"""Findings about a device that was busy with work that is not in the recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity, TimeWindows
from tracetui.analysis.health.launches import Launches
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.launch_chains import NEVER, milestones
from tracetui.analysis.search import name_meanings, pick, rows_by_track, rows_of, track_of_rows
from tracetui.arrays import EMPTY, Bools, Int64s
from tracetui.trace.model import Activity, Layer
from tracetui.units import format_duration

#: ns: a device that begins so long after its first task was launched was busy with something else. The first
#: copy of an NPU starts up to 4.6 ms after its launch on clean traces.
LATE_START = 10_000_000
#: ns: a launched task that waits so long on an idle device while the host waits for it is no latency: 5.1 ms
#: at most on clean traces.
LONG_WAIT = 10_000_000
#: A device that is busy for more than this share of the time is not held up by what is not recorded.
_MOST_BUSY = 0.1
#: ns: how closely the host's waiting ends with the task that it waits for.
_CLOSE = 100_000


class Unseen(NamedTuple):
    """A stretch in which a device did something that is not recorded."""

    device: int  #: place in the devices of the analysis
    start: int  #: ns
    end: int  #: ns
    is_first: bool = False  #: the main stream of the device begins where it ends


def unseen_work(
    recording: HealthEvidence, launches: Launches, lost: Sequence[tuple[int, int]]
) -> list[Unseen]:
    """Return the stretches in which a device seems idle and was not, by device, then start.

    Args:
        launches: those that have a task where nothing is lost.
        lost: windows, ns, in which tasks are known to be lost: no stretch overlaps them.
    """
    first = [*_before_first(recording, launches)]
    waited = [u for u in _while_host_waits(recording) if not any(_overlap(u, other) for other in first)]
    kept = (u for u in (*first, *waited) if not any(start < u.end and u.start < end for start, end in lost))
    return sorted(kept)


def _overlap(one: Unseen, other: Unseen) -> bool:
    """Return whether two stretches of one device share any time."""
    return one.device == other.device and one.start < other.end and other.start < one.end


def unseen_findings(recording: HealthEvidence, unseen: Sequence[Unseen]) -> Iterator[Finding]:
    """Yield a finding about the stretches before devices begin, and one about those the host waited for."""
    for is_first in (True, False):
        stretches = [stretch for stretch in unseen if stretch.is_first is is_first]
        if stretches:
            yield _unseen_finding(recording, stretches, is_first)


def _unseen_finding(recording: HealthEvidence, unseen: Sequence[Unseen], is_first: bool) -> Finding:
    windows: TimeWindows = tuple((stretch.start, stretch.end) for stretch in unseen)
    lengths = [end - start for start, end in windows]
    span = max(recording.trace.end_ns - recording.trace.start_ns, 1) * max(len(recording.devices), 1)
    chains = recording.launch_chains
    linked = chains.launch_time >= 0
    lag = int((recording.trace.slices.start[chains.tasks] - chains.launch_time)[linked].min(initial=NEVER))
    return Finding(
        id="device.unseen_work",
        severity=Severity.DOUBTFUL if any(_may_be_idle(recording, u) for u in unseen) else Severity.NOTE,
        affects=("idle",),
        sentence=(
            "the main stream of the device begins {time} after its first task was launched: "
            "it was busy with work from before the recording"
            if is_first and len(unseen) == 1 and lag < LATE_START
            else "the main streams of {count} devices begin up to {time} after their first task was "
            "launched: they were busy with work from before the recording"
            if is_first and lag < LATE_START
            else "all tasks begin {lag} or more after their launch: the device was busy with work from "
            "before the recording, or its clock is late"
            if is_first
            else "for {time} launched tasks did not start on an idle device while the host waited for them: "
            "it was busy with work that is not recorded"
        ),
        remedy=(
            "Read this time as unknown, not as idle. Synchronise the device before the profiler starts, "
            "and record every stream and process that uses it."
        ),
        figures={
            "time": format_duration(max(lengths) if is_first else sum(lengths)),
            "lag": format_duration(lag),
        },
        count=len(windows),
        share=sum(lengths) / span,
        steps=recording.steps_within(windows),
        windows=windows,
    )


def _may_be_idle(recording: HealthEvidence, unseen: Unseen) -> bool:
    """Return whether any of a stretch may count as idle: in the window of its device, or in a step."""
    activity = recording.devices[unseen.device]
    windows = [(activity.start_ns, activity.end_ns)]
    windows += [(step.host_start_ns, step.end_ns) for step in recording.steps]
    return any(start < unseen.end and unseen.start < end for start, end in windows)


def _before_first(recording: HealthEvidence, launches: Launches) -> Iterator[Unseen]:
    """Yield, of each device, the time from a launch to the first task of its main stream where that is long.

    Where that task has no launch and there is one device, from the first kernel launch of all. Devices that
    do anything worth mentioning in that time were not held up, nor were tasks that wait for the host.
    """
    trace, chains = recording.trace, recording.launch_chains
    slices = trace.slices
    for index, activity in enumerate(recording.devices):
        computing = activity.work[slices.activity[activity.work] == Activity.COMPUTE]
        track = track_of_rows(trace, activity.work)
        spent = np.bincount(track_of_rows(trace, computing), weights=slices.dur[computing])
        if not spent.any():
            continue
        first = activity.work[track == int(np.argmax(spent))][:1]
        begin = int(milestones(chains, chains.index(first)).launched[0])
        start = int(slices.start[first[0]])
        if begin < 0 and len(recording.devices) == 1 and len(launches.end):
            begin = int(launches.end[0])
        if begin < 0 or start - begin < LATE_START or _held_by_host(recording, first, np.array([begin]))[0]:
            continue
        if activity.busy.clip(begin, start).total <= _MOST_BUSY * (start - begin):
            yield Unseen(index, begin, start, is_first=True)


def _while_host_waits(recording: HealthEvidence) -> Iterator[Unseen]:
    """Yield the idle intervals whose task was launched before, and which the host waited for until it ran.

    Tasks of graphs are left out: what comes before them in their graph may be no task. So are tasks that
    wait for the host on their stream, by a call that is recorded.
    """
    slices, chains, idle = recording.trace.slices, recording.launch_chains, recording.idle
    if not len(idle):
        return
    at = chains.index(idle.task)
    launched = milestones(chains, at).launched
    begin = np.maximum(idle.start, launched)
    waits_long = (launched >= 0) & (chains.launch[at] >= 0) & (idle.end - begin >= LONG_WAIT)
    candidates = np.flatnonzero(waits_long)
    if not len(candidates):
        return
    of_graph = name_meanings(recording.trace, chains.launch[at[candidates]], calls.launches_graph) == 1
    candidates = candidates[~of_graph]
    candidates = candidates[~_held_by_host(recording, idle.task[candidates], launched[candidates])]
    found: Int64s = EMPTY
    for thread in (recording.host_threads.thread(index) for index in range(len(recording.host_threads))):
        host_waits = thread.spans.get(Cause.SYNC)
        if host_waits is None or not len(candidates):
            continue
        held = host_waits.index_at(begin[candidates] + LONG_WAIT // 2)
        blocked = held >= 0
        until = host_waits.ends[held]
        task = idle.task[candidates]
        blocked &= host_waits.starts[held] <= begin[candidates] + LONG_WAIT // 2
        meets = (np.abs(until - slices.start[task]) <= _CLOSE) | (np.abs(until - slices.end[task]) <= _CLOSE)
        found = np.union1d(found, candidates[blocked & meets])
    for interval in found.tolist():
        yield Unseen(int(idle.device[interval]), int(begin[interval]), int(idle.end[interval]))


def _held_by_host(recording: HealthEvidence, tasks: Int64s, launched: Int64s) -> Bools:
    """Return which tasks wait for the host: a call has held up their stream since the task before them.

    Args:
        tasks: int64[n], rows.
        launched: int64[n], ns, when each was launched.
    """
    trace, chains = recording.trace, recording.launch_chains
    start = trace.slices.start
    rows = rows_of(track for track in trace.tracks if track.layer == Layer.RUNTIME)
    holds = rows[name_meanings(trace, rows, calls.holds_stream) == 1]
    holds = holds[np.argsort(start[holds], kind="stable")]
    before, after = _streams_beside(recording, holds)
    held = np.zeros(len(tasks), np.bool_)
    for track, places in rows_by_track(trace, tasks) if len(holds) else ():
        in_order = track.rows.start + np.argsort(start[track.rows.start : track.rows.stop], kind="stable")
        place = np.searchsorted(start[in_order], start[tasks[places]]) - 1
        since = milestones(chains, chains.index(pick(in_order, place))).launched
        times = start[holds[(before == track.index) | (after == track.index) | (before < 0)]]
        held[places] = np.searchsorted(times, launched[places]) > np.searchsorted(times, since)
    return held


def _streams_beside(recording: HealthEvidence, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return the streams to which its thread launched before and after each call, which does not tell its.

    Tracks; twice the same where there is one launch only, -1 where there is none.
    """
    trace, chains = recording.trace, recording.launch_chains
    start = trace.slices.start
    launched = np.flatnonzero(chains.launch >= 0)
    launched = launched[np.argsort(start[chains.launch[launched]], kind="stable")]
    launch, stream = chains.launch[launched], track_of_rows(trace, chains.tasks[launched])
    thread = track_of_rows(trace, launch)
    before, after = np.full((2, len(rows)), -1, np.int64)
    for track, places in rows_by_track(trace, rows):
        (of_thread,) = np.nonzero(thread == track.index)
        if len(of_thread):
            place = np.searchsorted(start[launch[of_thread]], start[rows[places]])
            before[places] = stream[of_thread[np.maximum(place - 1, 0)]]
            after[places] = stream[of_thread[np.minimum(place, len(of_thread) - 1)]]
    return before, after
