"""What each device did: its tasks as sets of time, and the four numbers of the producer's Overlap Analysis.

Knows tasks and their activities; nothing of the host, of steps or of gaps.

A (AICore), C (compute: A with AI CPU and the like), M (communication: operations of groups, never the parts
that repeat them) and X (copies) are unions over all streams of the device. The window W goes from the first
start to the last end of C and M.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.intervals import Intervals, time_of
from tracetui.analysis.iterations import work_of_iterations
from tracetui.analysis.search import among, distinct, rows_of
from tracetui.arrays import Int8s, Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Trace, Track

#: Tracks of tasks: streams, and groups with their operations.
TASK_FAMILIES = (Family.TASKS, Family.GROUP)
WORK = (Activity.COMPUTE, Activity.AICPU, Activity.COMMUNICATION, Activity.COPY)


@dataclass(frozen=True, eq=False)
class DeviceActivity:
    """The activity of one device. All sums are exact."""

    device: str
    start_ns: int  #: of W; W is empty (start_ns == end_ns) where the device neither computes nor communicates
    end_ns: int
    tasks: Int64s  #: slice rows of all tasks of streams and groups, by start; waits and events included
    work: Int64s  #: those that are work: compute, communication and copies
    aicore: Intervals  #: A
    compute: Intervals  #: C
    communication: Intervals  #: M
    copies: Intervals  #: X; may reach out of W
    #: ns of the trace's own Overlap Analysis rows by the names below; None without
    producer: dict[str, int] | None
    differs: bool  #: a producer's sum is further from ours than rounding (1 ns per interval) explains
    #: ns of free time between iterations, where that is what the producer's rows leave out
    left_out_ns: int = 0

    @property
    def window_ns(self) -> int:
        """|W|"""
        return self.end_ns - self.start_ns

    @property
    def computing_ns(self) -> int:
        """|C|"""
        return self.compute.total

    @property
    def communication_ns(self) -> int:
        """|M|"""
        return self.communication.total

    @cached_property
    def communication_not_overlapped(self) -> Intervals:
        """M \\ C"""
        return self.communication - self.compute

    @property
    def communication_not_overlapped_ns(self) -> int:
        """|M \\ C|"""
        return self.communication_not_overlapped.total

    @property
    def overlapped_ns(self) -> int:
        """|M ∩ C|"""
        return self.communication_ns - self.communication_not_overlapped_ns

    @cached_property
    def busy(self) -> Intervals:
        """C ∪ M ∪ X"""
        return self.compute | self.communication | self.copies

    @cached_property
    def free(self) -> Intervals:
        """W \\ (C ∪ M)"""
        return (self.compute | self.communication).complement(self.start_ns, self.end_ns)

    @property
    def free_ns(self) -> int:
        """|W \\ (C ∪ M)|"""
        return self.free.total

    @property
    def aicore_ns(self) -> int:
        """|A|"""
        return self.aicore.total

    @cached_property
    def idle(self) -> Intervals:
        """W \\ (C ∪ M ∪ X): the device does nothing at all"""
        return self.free - self.copies

    @property
    def idle_ns(self) -> int:
        """|W \\ (C ∪ M ∪ X)|"""
        return self.idle.total


def device_activities(trace: Trace) -> tuple[DeviceActivity, ...]:
    """Return the activity of every device, in the order of the trace's."""
    return tuple(
        device_activity(trace, device, trace.device_tracks.get(device, ())) for device in trace.devices
    )


def device_activity(trace: Trace, device: str, tracks: Iterable[Track]) -> DeviceActivity:
    """Return the activity of the device with that label and tracks; empty sets where none is a task."""
    tasks = _by_start(trace, rows_of(track for track in tracks if track.family in TASK_FAMILIES))
    activity = trace.slices.activity[tasks]

    def spent_on(*activities: Activity) -> Intervals:
        return time_of(trace.slices, tasks[among(activity, activities)])

    compute, communication = spent_on(Activity.COMPUTE, Activity.AICPU), spent_on(Activity.COMMUNICATION)
    aicpu = among(activity, (Activity.AICPU,)).any()
    working = compute | communication
    computed = DeviceActivity(
        device=device,
        start_ns=int(working.starts[0]) if len(working) else trace.start_ns,
        end_ns=int(working.ends[-1]) if len(working) else trace.start_ns,
        tasks=tasks,
        work=tasks[among(activity, WORK)],
        aicore=spent_on(Activity.COMPUTE) if aicpu else compute,
        compute=compute,
        communication=communication,
        copies=spent_on(Activity.COPY),
        producer=None,
        differs=False,
    )
    rows = overlap_rows(trace, tracks)
    if not any(len(overlap) for overlap in rows.values()):
        return computed
    producer = {name: int(trace.slices.dur[overlap].sum()) for name, overlap in rows.items()}
    differs = any(
        abs(total - getattr(computed, name)) > 1 + len(rows[name]) for name, total in producer.items()
    )
    exported = work_of_iterations(trace, device, working)
    left_out = 0
    if differs and exported is not None:  # of files of one iteration each, the time between two is in none
        inside = (computed.free & exported).total
        if abs(producer["free_ns"] - inside) <= 1 + len(rows["free_ns"]):
            left_out = computed.free_ns - inside
    return replace(computed, producer=producer, differs=differs, left_out_ns=left_out)


def overlap_rows(trace: Trace, tracks: Iterable[Track]) -> dict[str, Int64s]:
    """Slice rows of the producer's Overlap Analysis on a device's tracks, by names as `producer` has them."""
    rows = rows_of(track for track in tracks if track.family == Family.OVERLAP)
    names = trace.slices.name[rows]
    name_of_key = {
        KNOWN.tasks.overlap_rows.get(trace.strings[name], ""): name for name in distinct(names).tolist()
    }
    sums = KNOWN.tasks.overlap_rows.values()
    return {key: rows[names == name_of_key[key]] if key in name_of_key else rows[:0] for key in sums}


def _by_start(trace: Trace, rows: Int64s) -> Int64s:
    return rows[np.argsort(trace.slices.start[rows], kind="stable")]


class TaskCounts(NamedTuple):
    """All tasks of streams and groups. The first three are work."""

    compute: int
    communication: int  #: operations of groups
    copies: int
    other: int  #: waits, events, parts of operations of groups

    @property
    def work(self) -> int:
        """Those that the tables of operators sum up."""
        return self.compute + self.communication + self.copies

    @property
    def total(self) -> int:
        """All of them."""
        return self.work + self.other


def task_counts(trace: Trace, device: DeviceActivity) -> TaskCounts:
    """Return the tasks of a device by what they are."""
    work = counts_of(trace.slices.activity[device.work])
    return work._replace(other=len(device.tasks) - len(device.work))


def counts_of(activities: Int8s) -> TaskCounts:
    """Count working tasks by kind, given the activity of each."""
    compute = int(np.count_nonzero(among(activities, (Activity.COMPUTE, Activity.AICPU))))
    copies = int(np.count_nonzero(activities == Activity.COPY))
    return TaskCounts(compute, len(activities) - compute - copies, copies, 0)
