"""What each device did: its tasks as sets of time, and the four numbers of the producer's Overlap Analysis.

Knows tasks and their activities; nothing of the host, of steps or of gaps.

A (AICore), C (compute: A with AI CPU and the like), M (communication: operations of groups, never the parts
that repeat them) and X (copies) are unions over all streams of the device. The window W goes from the first
start to the last end of C and M.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.search import rows_of
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family, Trace

OVERLAP_ROWS = {
    "Computing": "computing_ns",
    "Communication": "communication_ns",
    "Communication(Not Overlapped)": "communication_not_overlapped_ns",
    "Free": "free_ns",
}
WORK = (Activity.AICORE, Activity.AICPU, Activity.COMMUNICATION, Activity.COPY)


@dataclass(frozen=True, eq=False)
class DeviceActivity:
    """The activity of one device. All sums are exact."""

    device: str
    start_ns: int  #: of W; W is empty (start_ns == end_ns) where the device neither computes nor communicates
    end_ns: int
    tasks: Int64s  #: slice rows of all tasks of streams and groups, by start; waits and events included
    aicore: Intervals  #: A
    compute: Intervals  #: C
    communication: Intervals  #: M
    copies: Intervals  #: X; may reach out of W
    producer: (
        dict[str, int] | None
    )  #: ns of the trace's own Overlap Analysis rows by the names below; None without
    differs: bool  #: a producer's sum is further from ours than rounding (1 ns per interval) explains

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


def device_activity(trace: Trace, device: str) -> DeviceActivity:
    """The activity of the device with that label; empty sets where it has no such task."""
    tasks = device_tasks(trace, device)
    compute = _time_of(trace, tasks, Activity.AICORE, Activity.AICPU)
    communication = _time_of(trace, tasks, Activity.COMMUNICATION)
    working = compute | communication
    ours = DeviceActivity(
        device=device,
        start_ns=int(working.starts[0]) if len(working) else trace.start_ns,
        end_ns=int(working.ends[-1]) if len(working) else trace.start_ns,
        tasks=tasks,
        aicore=_time_of(trace, tasks, Activity.AICORE),
        compute=compute,
        communication=communication,
        copies=_time_of(trace, tasks, Activity.COPY),
        producer=None,
        differs=False,
    )
    rows = overlap_rows(trace, device)
    if not any(len(found) for found in rows.values()):
        return ours
    producer = {name: int(trace.slices.dur[found].sum()) for name, found in rows.items()}
    differs = any(abs(total - getattr(ours, name)) > 1 + len(rows[name]) for name, total in producer.items())
    return replace(ours, producer=producer, differs=differs)


def device_tasks(trace: Trace, device: str) -> Int64s:
    """Slice rows of all tasks of the streams and groups of a device, by start."""
    rows = _rows(trace, device, Family.TASKS, Family.GROUP)
    return rows[np.argsort(trace.slices.start[rows], kind="stable")]


def work_tasks(trace: Trace, tasks: Int64s) -> Int64s:
    """Those of the rows that are work and take time: compute, communication and copies."""
    activity = trace.slices.activity[tasks]
    return tasks[np.isin(activity, WORK) & (trace.slices.dur[tasks] > 0)]


def overlap_rows(trace: Trace, device: str) -> dict[str, Int64s]:
    """Slice rows of the producer's Overlap Analysis, by the names of `DeviceActivity.producer`."""
    rows = _rows(trace, device, Family.OVERLAP)
    names = trace.slices.name[rows]
    known = {OVERLAP_ROWS.get(trace.strings[name], ""): name for name in np.unique(names).tolist()}
    return {key: rows[names == known[key]] if key in known else rows[:0] for key in OVERLAP_ROWS.values()}


def _rows(trace: Trace, device: str, *families: Family) -> Int64s:
    return rows_of(t for t in trace.tracks if t.device == device and t.family in families)


def _time_of(trace: Trace, tasks: Int64s, *activities: Activity) -> Intervals:
    rows = tasks[np.isin(trace.slices.activity[tasks], activities)]
    return union(trace.slices.start[rows], trace.slices.end[rows])
