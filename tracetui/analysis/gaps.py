"""AICore gaps: when no AI core of a device runs, what runs instead, and the idle intervals in them.

A gap is a maximal interval inside the device's window W without an AICore task on any stream. Each of its
nanoseconds is, by priority, AI CPU and the like, communication, copy, or idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.search import pick, ranges, slice_of
from tracetui.arrays import EMPTY, Columns, Int32s, Int64s, first_equal
from tracetui.trace.model import Activity, Trace

if TYPE_CHECKING:
    from tracetui.analysis.activity import DeviceActivity
    from tracetui.analysis.launch_chains import LaunchChains
    from tracetui.analysis.steps import StepWindows


class Measure(Enum):
    """What gaps are ranked by, a column of theirs: by what is lost, if nothing else is asked for."""

    LOST = "lost"
    IDLE = "idle"
    COMMUNICATION = "communication"


@dataclass(frozen=True, eq=False)
class Gaps(Columns):
    """The AICore gaps of all devices as columns of equal length, by device, then start."""

    device: Int32s  #: index into the devices of the analysis
    start: Int64s  #: ns
    end: Int64s  #: ns
    idle: Int64s  #: ns; idle + beside_cores + communication + copy == end - start
    beside_cores: Int64s  #: ns of C \\ A: AI CPU, DSA and whatever else computes beside the AI cores
    communication: Int64s  #: ns of M \\ C
    copy: Int64s  #: ns of X \\ (C ∪ M)
    step: Int32s  #: index into the steps of the analysis, -1 outside of all
    #: slice row of the AICore task that ends where the gap starts; at the start of W, of the task that starts
    #: there; -1 where none does
    before: Int64s
    #: slice row of the AICore task that starts where the gap ends; at the end of W, of one that ends there
    after: Int64s

    @cached_property
    def lost(self) -> Int64s:
        """The time of each gap in which nothing is computed, ns: idle, communication and copies."""
        return self.idle + self.communication + self.copy

    def ranked(self, measure: Measure = Measure.LOST) -> Int64s:
        """Return the gap indices, those with most of a measure first; equal ones earliest first."""
        if measure not in self._rankings:
            self._rankings[measure] = np.lexsort((self.start, -self.measured(measure))).astype(np.int64)
        return self._rankings[measure]

    def measured(self, measure: Measure) -> Int64s:
        """Return the ns of a measure in each gap."""
        ns: Int64s = getattr(self, measure.value)
        return ns

    @cached_property
    def _rankings(self) -> dict[Measure, Int64s]:
        return {}


@dataclass(frozen=True, eq=False)
class IdleIntervals(Columns):
    """The maximal intervals in which a device does nothing at all, as columns, by device, then start."""

    device: Int32s  #: index into the devices of the analysis
    start: Int64s  #: ns
    end: Int64s  #: ns
    gap: Int64s  #: index of the AICore gap that holds it
    step: Int32s  #: index into the steps of the analysis, -1 outside of all
    task: Int64s  #: slice row of the task that ends it; of several in the same ns the one enqueued first


def find_gaps(trace: Trace, activities: Sequence[DeviceActivity], windows: StepWindows) -> Gaps:
    """Return the AICore gaps of all devices, with what runs in them. |W| == |A| + a device's gaps."""
    parts = [_device_gaps(trace, index, activity, windows) for index, activity in enumerate(activities)]
    no_index = np.empty(0, np.int32)
    none = (no_index, *[EMPTY] * 6, no_index, EMPTY, EMPTY)
    return Gaps(*(np.concatenate(columns) for columns in zip(none, *parts)))


def find_idle(
    trace: Trace, activities: Sequence[DeviceActivity], gaps: Gaps, windows: StepWindows, chains: LaunchChains
) -> IdleIntervals:
    """Return the idle intervals of all devices, each in one of `gaps`; they add up to the idle time."""
    parts = [_device_idle(trace, i, activity, gaps, windows, chains) for i, activity in enumerate(activities)]
    no_index = np.empty(0, np.int32)
    none = (no_index, EMPTY, EMPTY, EMPTY, no_index, EMPTY)
    return IdleIntervals(*(np.concatenate(columns) for columns in zip(none, *parts)))


def ending_tasks(trace: Trace, activity: DeviceActivity, chains: LaunchChains, ends: Int64s) -> Int64s:
    """Return the work that starts as each idle interval ends, of several the first enqueued; rows, or -1."""
    starts = trace.slices.start[activity.work]
    first, stop = np.searchsorted(starts, ends), np.searchsorted(starts, ends, "right")
    places = ranges(first, stop)
    row, interval = activity.work[places], np.repeat(np.arange(len(ends)), stop - first)
    order = np.lexsort((row, chains.enqueued(row), interval))
    task = np.full(len(ends), -1, np.int64)
    task[interval[order[::-1]]] = row[order[::-1]]
    return task


def _device_gaps(
    trace: Trace, index: int, activity: DeviceActivity, windows: StepWindows
) -> tuple[Int32s, Int64s, Int64s, Int64s, Int64s, Int64s, Int64s, Int32s, Int64s, Int64s]:
    gaps = activity.aicore.complement(activity.start_ns, activity.end_ns)
    start, end = gaps.starts, gaps.ends
    beside_cores = (activity.compute - activity.aicore).covered(start, end)
    communication = activity.communication_not_overlapped.covered(start, end)
    idle = activity.idle.covered(start, end)
    copy = end - start - beside_cores - communication - idle
    task_before, task_after = _bounds(trace, activity, start, end)
    device = np.full(len(gaps), index, np.int32)
    step = windows.step_of(activity.device, start)
    return device, start, end, idle, beside_cores, communication, copy, step, task_before, task_after


def _bounds(trace: Trace, activity: DeviceActivity, start: Int64s, end: Int64s) -> tuple[Int64s, Int64s]:
    slices = trace.slices
    work = activity.work
    aicore = work[slices.activity[work] == Activity.COMPUTE]
    task_before = pick(aicore, first_equal(slices.end[aicore], start))
    task_after = pick(aicore, first_equal(slices.start[aicore], end))
    at_first, at_last = start == activity.start_ns, end == activity.end_ns
    task_before[at_first] = pick(work, first_equal(slices.start[work], start[at_first]))
    task_after[at_last] = pick(work, first_equal(slices.end[work], end[at_last]))
    return task_before, task_after


def _device_idle(
    trace: Trace, index: int, activity: DeviceActivity, gaps: Gaps, windows: StepWindows, chains: LaunchChains
) -> tuple[Int32s, Int64s, Int64s, Int64s, Int32s, Int64s]:
    start, end = activity.idle.starts, activity.idle.ends
    gaps_of_device = slice_of(gaps.device, index)
    gap = gaps_of_device.start + np.searchsorted(gaps.start[gaps_of_device], start, "right") - 1
    task = ending_tasks(trace, activity, chains, end)
    from tracetui.analysis.steps import free_starts  # only here, as the first picture knows measures of gaps

    step = windows.step_of(activity.device, free_starts(activity, start))
    return np.full(len(start), index, np.int32), start, end, gap.astype(np.int64), step, task
