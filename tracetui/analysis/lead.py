"""How far the host runs ahead of a device, and where it lost its lead before the device starved.

The lead at a time is the work that the host has enqueued by then and that has not started: how many tasks
(compute, communication and copies), and how long they take together. A task that starts before the host
enqueued it, as clocks have it, is never in it; nor is one whose enqueue is not known. Where the lead is
nothing, the device starves as soon as it is done with what it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.gaps import IdleIntervals
from tracetui.analysis.idle.cause import of_families
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.explain import explain
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.idle.idle_lines import lines_of
from tracetui.analysis.launch_chains import LaunchChains, milestones
from tracetui.analysis.search import each_once, pick, ranges
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Bools, Floats, Int64s
from tracetui.trace.model import Trace
from tracetui.trace.stack import Frame


@dataclass(frozen=True, eq=False)
class HostLead:
    """The lead of the host on one device over time: what it is from each `time` to the next."""

    device: str
    time: Int64s  #: ns, sorted and distinct
    count: Int64s  #: tasks
    work: Int64s  #: ns that they take together
    unknown: int  #: tasks that nothing tells the enqueue of

    def at(self, times: Int64s) -> tuple[Int64s, Int64s]:
        """Return count and work at times, ns in any order; 0 before the first enqueue."""
        place = np.searchsorted(self.time, times, "right")
        padded = (np.concatenate(([0], column)) for column in (self.count, self.work))
        count, work = (column[place] for column in padded)
        return count, work

    def mean_of(self, starts: Int64s, ends: Int64s) -> tuple[Floats, Floats]:
        """Return the mean count and work of stretches of time, in the shape of these; of no time 0."""
        lengths = np.maximum(ends - starts, 1)
        sums = (
            (self._until(column, ends) - self._until(column, starts)) for column in (self.count, self.work)
        )
        count, work = (total / lengths for total in sums)
        return count, work

    def empty_before(self, times: Int64s) -> Int64s:
        """Return for how many ns before each time there was no lead, from any moment on that is the same for
        all: what lies between two times is the difference, exactly.
        """
        if not len(self.time):
            return times
        empty = self.count == 0
        empty_ns = np.cumsum(np.concatenate(([0], np.where(empty[:-1], np.diff(self.time), 0))))
        place = np.maximum(np.searchsorted(self.time, times, "right") - 1, 0)
        since = times - self.time[place]
        return empty_ns[place] + np.where(empty[place] | (since < 0), since, 0)

    def _until(self, column: Int64s, times: Int64s) -> Floats:
        """Integrate a column from the first time on; as float, as ns of work times ns fit no int64."""
        if not len(self.time):
            return np.zeros(times.shape)
        sums = np.concatenate(([0.0], np.cumsum(column[:-1] * np.diff(self.time).astype(np.float64))))
        place = np.searchsorted(self.time, times, "right") - 1
        inside: Floats = sums[place] + column[place] * (times - self.time[place]).astype(np.float64)
        return np.where(place >= 0, inside, 0.0)


@dataclass(frozen=True, eq=False)
class LeadLosses:
    """Where the host lost its lead, of each idle interval that is mostly its own; columns of equal length.

    Since the device last starved so, the lead was at its most at `lost_at`. In all the time from there to the
    enqueue of the task that ended the interval, nothing was enqueued for the longest from `pause_start` to
    `pause_end`: there the lead was lost. `lost_at` and all that follows are -1 where there was no lead to
    lose, or where there still is one when the interval begins.
    """

    gap: Int64s  #: index of the AICore gap
    idle: Int64s  #: ns of the interval
    lost_at: Int64s  #: ns
    count: Int64s  #: of the lead then
    work: Int64s
    pause_start: Int64s  #: ns
    pause_end: Int64s
    cause: Int64s  #: Cause of most of the pause
    line: Int64s  #: place in `lines` of most of that time, -1 without a stack
    lines: list[Frame]

    def of_gap(self, gap: int) -> int:
        """Return the place of the longest interval of a gap that had a lead to lose, -1 where none had."""
        return self._longest.get(gap, -1)

    @cached_property
    def _longest(self) -> dict[int, int]:
        """The place of that interval of each gap, of several the first."""
        (places,) = np.nonzero(self.lost_at >= 0)
        order = places[np.lexsort((-places, self.idle[places]))]
        return dict(zip(self.gap[order].tolist(), order.tolist()))


def host_leads(devices: Sequence[DeviceActivity], chains: LaunchChains) -> tuple[HostLead, ...]:
    """Return the lead of the host on each device."""
    enqueued = milestones(chains).enqueued
    return tuple(_host_lead(device, chains, enqueued) for device in devices)


def lead_losses(
    leads: Sequence[HostLead],
    devices: Sequence[DeviceActivity],
    causes: Causes,
    host_threads: HostThreads,
    chains: LaunchChains,
    rules: FrameRules,
) -> LeadLosses:
    """Return where the host lost its lead before the intervals that are mostly its own, by gap."""
    mostly_host = _mostly_host(causes)
    enqueued = milestones(chains).enqueued
    parts = [
        _device_losses(lead, device, causes.intervals, mostly_host, index, chains, enqueued)
        for index, (lead, device) in enumerate(zip(leads, devices))
    ]
    empty = np.empty((7, 0), np.int64)
    interval, lost_at, count, work, start, end, task = np.concatenate([empty, *parts], axis=1)
    found_places = np.flatnonzero(lost_at >= 0)
    cause, line = (np.full(len(lost_at), -1, np.int64) for _ in range(2))
    intervals = causes.intervals
    pauses = replace(
        intervals.at(interval[found_places]),
        start=start[found_places],
        end=end[found_places],
        task=task[found_places],
    )
    cause[found_places], line[found_places], lines = _main_causes(
        chains.trace, explain(pauses, chains, host_threads), rules
    )
    return LeadLosses(
        gap=intervals.gap[interval],
        idle=(intervals.end - intervals.start)[interval],
        lost_at=lost_at,
        count=count,
        work=work,
        pause_start=start,
        pause_end=end,
        cause=cause,
        line=line,
        lines=lines,
    )


def _host_lead(device: DeviceActivity, chains: LaunchChains, enqueued: Int64s) -> HostLead:
    slices, rows = chains.trace.slices, device.work
    issued = enqueued[chains.index(rows)]
    is_known = issued >= 0
    issued, start, dur = issued[is_known], slices.start[rows][is_known], slices.dur[rows][is_known]
    time = np.concatenate((issued, np.maximum(start, issued)))
    order = np.argsort(time, kind="stable")
    last = np.ones(len(order), np.bool_)
    last[:-1] = time[order][1:] != time[order][:-1]
    ones = np.ones(len(issued), np.int64)
    count, work = (np.cumsum(np.concatenate((change, -change))[order])[last] for change in (ones, dur))
    return HostLead(device.device, time[order][last], count, work, int(np.count_nonzero(~is_known)))


def _mostly_host(causes: Causes) -> Bools:
    """Return whether causes of the host are the larger part of each idle interval."""
    host = np.isin(causes.cause, list(of_families("host")))
    lengths = causes.intervals.end - causes.intervals.start
    total = np.zeros(len(lengths), np.int64)
    np.add.at(total, causes.interval[host], causes.ns[host])
    return 2 * total > lengths


def _device_losses(
    lead: HostLead,
    device: DeviceActivity,
    intervals: IdleIntervals,
    mostly_host: Bools,
    index: int,
    chains: LaunchChains,
    enqueued: Int64s,
) -> Int64s:
    """Return, of intervals caused by the host: interval, at, count, work, the pause's start, end, task."""
    (places,) = np.nonzero(mostly_host & (intervals.device == index))
    issued = enqueued[chains.index(device.work)]
    order = np.argsort(issued, kind="stable")
    order = order[issued[order] >= 0]
    times, tasks = issued[order], device.work[order]
    since = np.concatenate(([np.iinfo(np.int64).min], intervals.end[places][:-1])) if len(places) else places
    begin, due = intervals.start[places], enqueued[chains.index(intervals.task[places])]
    highest = _highest_places(
        lead.work, np.searchsorted(lead.time, since), np.searchsorted(lead.time, begin), last=True
    )
    had_lead = (highest >= 0) & (due > begin)
    had_lead[had_lead] = lead.count[highest[had_lead]] > 0
    had_lead &= (
        lead.at(begin)[0] == 0
    )  # else it is not lost: what is enqueued waits for something on the device
    lost_at = pick(lead.time, highest)
    moments = each_once(times)
    pauses = np.diff(moments)
    first = np.maximum(np.searchsorted(moments, lost_at, "right") - 1, 0)
    stop = np.where(had_lead, np.searchsorted(moments, due), first)
    pause = _highest_places(pauses, first, stop)
    had_lead &= pause >= 0
    pause = np.where(had_lead, pause, -1)
    ending = pick(moments, np.where(had_lead, pause + 1, -1))
    columns = (
        places,
        np.where(had_lead, lost_at, -1),
        np.where(had_lead, pick(lead.count, highest), -1),
        np.where(had_lead, pick(lead.work, highest), -1),
        pick(moments, pause),
        ending,
        pick(tasks, np.where(had_lead, np.searchsorted(times, ending), -1)),
    )
    return np.array(columns, np.int64).reshape(7, -1)


def _highest_places(values: Int64s, first: Int64s, stop: Int64s, last: bool = False) -> Int64s:
    """Return the first (or last) place with the highest value in each range; -1 for an empty one."""
    stop = np.maximum(stop, first)
    places = ranges(first, stop)
    owner = np.repeat(np.arange(len(first)), stop - first)
    order = np.lexsort((-places if last else places, -values[places], owner))
    highest = np.full(len(first), -1, np.int64)
    highest[owner[order][::-1]] = places[order][::-1]  # of each owner the best is written last
    return highest


def _main_causes(trace: Trace, pieces: Causes, rules: FrameRules) -> tuple[Int64s, Int64s, list[Frame]]:
    """Return the cause with the most time in each pause, the line with the most of that, and the lines."""
    count = len(pieces.intervals)
    cause = most_of_each(pieces.interval, pieces.cause.astype(np.int64), pieces.ns, count)
    lines, place = lines_of(trace, pieces.stack, pieces.frame, rules)
    main = pieces.cause == cause[pieces.interval]
    return cause, most_of_each(pieces.interval[main], place[main], pieces.ns[main], count), lines
