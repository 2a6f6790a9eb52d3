"""Why devices were idle: every idle interval in pieces, each with a cause and the stack it is charged to.

The milestones of the task that ends an interval cut it into what the host, the task queue, the launch and the
device took; the host's part is cut wherever the thread that enqueued the task does something else. The pieces
of an interval sum to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.gaps import IdleIntervals
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.idle_lines import Charges
from tracetui.analysis.idle.pieces import rank_causes, sum_by_step
from tracetui.analysis.search import slice_of
from tracetui.arrays import Bools, Int8s, Int32s, Int64s, Wholes

_CAUSES = tuple(Cause)


@dataclass(frozen=True, eq=False)
class Causes:
    """Pieces of idle intervals as columns of equal length, by interval, then start; rows of -1: none."""

    intervals: IdleIntervals
    interval: Int64s  #: place in `intervals`
    start: Int64s  #: ns
    end: Int64s  #: ns
    cause: Int8s  #: Cause
    #: row of the innermost operator that ran (host), of the one that enqueued the task (all others)
    operator: Wholes
    stack: Int32s  #: string of the `Call stack` it is charged to, -1 where none
    frame: Wholes  #: row of the innermost python_function slice it is charged to
    backward: Bools  #: charged to an operator of the backward pass, with the stack of its forward operator
    track: Wholes  #: track of the thread that is to blame; -1: none, or not known
    stream_wait: Wholes  #: row of the wait on the task's stream, of a device.stream_wait
    waited_for: Wholes  #: row of what that wait is for, where the trace tells
    #: of each interval: row of the operator that was synchronising when it began; -1: none, or outside of one
    sync_operator: Int64s
    sync_stack: Int32s  #: string of the `Call stack` of the line that synchronised, -1 where none
    sync_frame: Int64s  #: row of the frame of that line
    sync_thread: Int64s  #: index of the thread that was synchronising when it began, or -1

    def __len__(self) -> int:
        return len(self.start)

    @property
    def ns(self) -> Int64s:
        """The length of each piece."""
        return self.end - self.start

    def of_interval(self, index: int) -> slice:
        """Return the places of the pieces of an interval."""
        return slice_of(self.interval, index)

    def of_gap(self, gap: int) -> slice:
        """Return the places of the pieces in an AICore gap, by time; intervals are those of `find_idle`."""
        return self._of_intervals(slice_of(self.intervals.gap, gap))

    def of_device(self, device: int) -> slice:
        """Return the places of the pieces of a device, by its index."""
        return self._of_intervals(slice_of(self.intervals.device, device))

    def _of_intervals(self, intervals: slice) -> slice:
        return slice(*np.searchsorted(self.interval, [intervals.start, intervals.stop]).tolist())

    def by_cause(self, device: int | None = None) -> dict[Cause, int]:
        """Sum the idle time of one device (its index), or of all, by cause, ns; most first."""
        if device is None:
            return dict(self._shares)
        pieces = self.of_device(device)
        return rank_causes(_CAUSES, _totals(self.cause[pieces], self.end[pieces] - self.start[pieces]))

    @cached_property
    def _shares(self) -> dict[Cause, int]:
        return rank_causes(_CAUSES, _totals(self.cause, self.ns))

    def main(self, places: slice) -> Cause:
        """Return the cause with the most time in some pieces, the lower of equals; there is one at least."""
        return Cause(int(_totals(self.cause[places], self.end[places] - self.start[places]).argmax()))

    def by_step(self, step: int) -> dict[Cause, int]:
        """Sum the intervals of a step (its index; -1: of none) by cause, ns; most first."""
        return rank_causes(_CAUSES, self._of_steps[step]) if step < len(self._of_steps) - 1 else {}

    @cached_property
    def _of_steps(self) -> Int64s:
        """int64[steps + 1, causes]: ns of each cause in each step, last in none. One pass for all steps."""
        return sum_by_step(self.intervals.step[self.interval], self.cause, self.ns, len(Cause))

    def of_gaps(self, count: int) -> Int8s:
        """Return the cause with the most time in each gap, the lower of equals; -1 where never idle."""
        table = np.zeros((count, len(Cause)), np.int64)
        np.add.at(table, (self.intervals.gap[self.interval], self.cause), self.ns)
        return np.where(table.any(axis=1), table.argmax(axis=1), -1).astype(np.int8)

    @cached_property
    def charges(self) -> Charges:
        """The pieces, to be summed by line or by stack."""
        intervals, interval = self.intervals, self.interval
        return Charges(
            ns=self.ns,
            gap=intervals.gap[interval],
            stack=self.stack,
            frame=self.frame,
            operator=self.operator,
            backward=self.backward,
            cause=self.cause,
            step=intervals.step[interval],
            device=intervals.device[interval],
        )


def _totals(cause: Int8s, ns: Int64s) -> Int64s:
    """Sum the pieces by cause, ns; int64[causes]."""
    total = np.zeros(len(Cause), np.int64)
    np.add.at(total, cause, ns)
    return total
