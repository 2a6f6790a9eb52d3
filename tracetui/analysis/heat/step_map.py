"""When in a step its device is idle, with the steps side by side: what all share is a stripe.

The steps are laid upon each other at their first work (the start of their first compute or communication on
the device). Idle time just before it, in which nothing but copies ran since the work before, is drawn before
it: the gap between two iterations. So an idle interval is in one column at most, and all cells add up to the
idle time of all devices but what is before the first step or after the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cells import HeatCells, parts_in_columns
from tracetui.analysis.raster import even_edges
from tracetui.analysis.search import slice_of
from tracetui.arrays import EMPTY, Int64s


@dataclass(frozen=True, eq=False)
class StepMap:
    """Steps by device, then in order of their first work. Arrays are of steps, in that order; ns."""

    analysis: Analysis
    step: Int64s  #: index into the steps of the analysis
    base: Int64s  #: the first work: 0 of the axis down
    start: Int64s  #: the column holds the idle time that starts in [start, end)
    end: Int64s
    column: Int64s  #: int64[intervals]: of each interval of `analysis.idle` the place of its step, or -1

    @classmethod
    def from_analysis(cls, analysis: Analysis) -> StepMap:
        """Return the steps of all devices that have any."""
        parts, offset = [(EMPTY, EMPTY, EMPTY, EMPTY)], 0
        column = np.full(len(analysis.idle), -1, np.int64)
        for index, activity in enumerate(analysis.devices):
            step_indices = np.array(analysis.steps_by_device.get(activity.device, ()), np.int64)
            if not len(step_indices):
                continue
            base = np.array([_first_work(analysis, step) for step in step_indices.tolist()], np.int64)
            order = np.argsort(base, kind="stable")
            step_indices, base = step_indices[order], base[order]
            start = _gap_before(activity.free.starts, activity.free.ends, base)
            idle = slice_of(analysis.idle.device, index)
            end = np.append(start[1:], max(analysis.steps[int(step_indices[-1])].end_ns, int(base[-1])))
            begins = analysis.idle.start[idle]
            place = np.searchsorted(start, begins, "right") - 1
            column[idle] = np.where((place >= 0) & (begins < end[-1]), offset + place, -1)
            parts.append((step_indices, base, start, end))
            offset += len(step_indices)
        step, first_work, starts, ends = (np.concatenate(column_parts) for column_parts in zip(*parts))
        return cls(analysis, step, first_work, starts, ends, column)

    def __len__(self) -> int:
        return len(self.step)

    @property
    def beyond_ns(self) -> int:
        """Idle time before the first step of a device, after its last one, or of a device without steps."""
        idle, outside = self.analysis.idle, self.column < 0
        return int((idle.end[outside] - idle.start[outside]).sum())

    @property
    def between_ns(self) -> int:
        """Idle time beside the idle time of a step that belongs to none: between the windows of steps."""
        idle, between = self.analysis.idle, (self.column >= 0) & (self.analysis.idle.step < 0)
        return int((idle.end[between] - idle.start[between]).sum())

    @property
    def low_ns(self) -> int:
        """The earliest that is drawn of any step, from its first work."""
        return int((self.start - self.base).min(initial=0))

    @property
    def high_ns(self) -> int:
        """The latest that is drawn of any step."""
        in_step = self.column >= 0
        ends = self.analysis.idle.end[in_step] - self.base[self.column[in_step]]
        return max(int((self.end - self.base).max(initial=1)), int(ends.max(initial=1)))

    def edges(self, rows: int) -> Int64s:
        """Return the edges of rows of equal length, ns from the first work; int64[rows + 1] or fewer."""
        return even_edges(self.low_ns, self.high_ns, rows)

    def cells(self, edges: Int64s) -> HeatCells:
        """Return the cells of the rows between `edges` (ns from first work); `main`: place in `idle`.

        The capacity of a cell is the part of its row that lies in the time of the step.
        """
        idle = self.analysis.idle
        (in_step,) = np.nonzero(self.column >= 0)
        column = self.column[in_step]
        base = self.base[column]
        parts = parts_in_columns(idle.start[in_step] - base, idle.end[in_step] - base, edges)
        first, last = self.start - self.base, self.end - self.base
        np.maximum.at(last, column, idle.end[in_step] - base)  # the last one may go on after its step
        capacity = np.minimum(edges[1:, None], last) - np.maximum(edges[:-1, None], first)
        return HeatCells.of_parts(
            parts.column, column[parts.interval], parts.ns, in_step[parts.interval], np.maximum(capacity, 0)
        )

    def whole_steps(self) -> HeatCells:
        """Return two rows: the idle time and the preparing time of each step, as the table of steps has them.

        That is without what lies between steps, which the rows within a step hold.
        Both are shares of the step's time on the device, though preparing may begin before that; `main` is
        -1.
        """
        steps = [self.analysis.steps[index] for index in self.step.tolist()]
        ns = np.array([[step.idle_ns for step in steps], [step.preparing_ns for step in steps]], np.int64)
        length = np.array([max(step.end_ns - step.start_ns, 1) for step in steps], np.int64)
        capacity = np.broadcast_to(length, ns.shape)
        return HeatCells.of_totals(ns, capacity)


def _first_work(analysis: Analysis, index: int) -> int:
    step = analysis.steps[index]
    return step.prepared_ns if step.preparing_ns > 0 else step.start_ns


def _gap_before(free_starts: Int64s, free_ends: Int64s, base: Int64s) -> Int64s:
    """Return when the device last worked before each time, or that time if it works; times in order."""
    place = np.searchsorted(free_ends, base)
    ends_there = place < len(free_ends)
    ends_there[ends_there] = free_ends[place[ends_there]] == base[ends_there]
    start = base.copy()
    start[ends_there] = free_starts[place[ends_there]]
    return np.maximum.accumulate(start)
