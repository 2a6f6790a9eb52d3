"""AICore gaps: when no AI core of a device runs, what runs instead, and the idle intervals in them.

A gap is a maximal interval inside the device's window W without an AICore task on any stream. Each of its
nanoseconds is, by priority, AI CPU and the like, communication, copy, or idle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int32s, Int64s


@dataclass(frozen=True, eq=False)
class Gaps:
    """The AICore gaps of all devices as columns of equal length, by device, then start."""

    device: Int32s  #: index into the devices of the analysis
    start: Int64s  #: ns
    end: Int64s  #: ns
    idle: Int64s  #: ns; idle + aicpu + communication + copy == end - start
    aicpu: Int64s  #: ns of C \\ A
    communication: Int64s  #: ns of M \\ C
    copy: Int64s  #: ns of X \\ (C ∪ M)
    step: Int32s  #: index into the steps of the analysis, -1 outside of all
    before: Int64s  #: slice row of the AICore task that ends where the gap starts; see `find_gaps` for the edges of W
    after: Int64s  #: slice row of the AICore task that starts where the gap ends

    def __len__(self) -> int:
        return len(self.start)

    def ranked(self) -> Int64s:
        """Gap indices, most idle first; equal ones earliest first."""
        return np.lexsort((self.start, -self.idle)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class IdleIntervals:
    """The maximal intervals in which a device does nothing at all, as columns, by device, then start."""

    device: Int32s  #: index into the devices of the analysis
    start: Int64s  #: ns
    end: Int64s  #: ns
    gap: Int64s  #: index of the AICore gap that holds it
    step: Int32s  #: index into the steps of the analysis, -1 outside of all
    task: Int64s  #: slice row of the task that ends it; of several in the same ns the one enqueued first

    def __len__(self) -> int:
        return len(self.start)
