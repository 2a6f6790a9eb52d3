"""How many tasks a device ran, by what they are: the one count behind all that says "tasks"."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.search import among
from tracetui.arrays import Int8s
from tracetui.trace.model import Activity, Trace


class TaskCounts(NamedTuple):
    """All tasks of streams and groups. The first three are work and take time."""

    compute: int
    communication: int  #: operations of groups
    copies: int
    other: int  #: waits, events, parts of operations of groups, and what takes no time

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
