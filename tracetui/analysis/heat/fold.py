"""One step as a page of text: time goes from left to right, then down, and each phase begins a line.

For a trace with one step, or none, where there is nothing to compare: so many cells that single gaps show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cells import HeatCells, parts_in_columns
from tracetui.analysis.raster import even_edges
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity


class FoldPhase(NamedTuple):
    """A stretch of the time of the devices."""

    name: str  #: "" where the trace has no steps, or several
    start_ns: int
    end_ns: int
    preparing: bool = False  #: before the device's window: it is not idle time


@dataclass(frozen=True, eq=False)
class FoldMap:
    """The phases of one step, or of a trace without steps, one after the other."""

    analysis: Analysis
    phases: tuple[FoldPhase, ...]

    @classmethod
    def from_analysis(cls, analysis: Analysis) -> FoldMap:
        """Fold the time from the step's preparing, or the start of the work, to the end of the work."""
        start = min((device.start_ns for device in analysis.devices), default=0)
        end = max((device.end_ns for device in analysis.devices), default=0)
        if len(analysis.steps) != 1:
            return cls(analysis, (FoldPhase("", start, end),) if end > start else ())
        return cls(analysis, tuple(_phases(analysis, analysis.steps[0], start, end)))

    def lines(self, lines: int) -> tuple[Int64s, Int64s]:
        """Return the phase and the first ns of each line: at most so many lines, one a phase at least.

        All lines are as long, but the last of each phase, which ends with it: see `line_ns`.
        """
        length = self.line_ns(lines)
        phase: list[int] = []
        start: list[int] = []
        for place, span in enumerate(self.phases):
            begins = range(span.start_ns, span.end_ns, length)
            phase += [place] * len(begins)
            start += begins
        return np.array(phase, np.int64), np.array(start, np.int64)

    def line_ns(self, lines: int) -> int:
        """Return the shortest time of a line with which there are at most so many."""
        lengths = [phase.end_ns - phase.start_ns for phase in self.phases]
        low, high = 0, max(lengths, default=1)  # of `low` there are too many
        while high - low > 1:
            middle = (low + high) // 2
            needed = sum(-(-length // middle) for length in lengths)
            low, high = (low, middle) if needed <= lines else (middle, high)
        return high

    def cells(self, lines: int, columns: int) -> HeatCells:
        """Return so many cells for each line, fewer of very short ones.

        `main` is the interval of `analysis.idle`, -1 also while preparing.

        Preparing lines hold the time in which the device does nothing before its window, which is not idle
        time; all others add up to the idle time of all devices.
        """
        phase, _ = self.lines(lines)
        edges = self.edges(lines, columns)
        flat = edges[:, :-1].ravel()
        flat = np.append(flat, edges[-1, -1]) if len(flat) else np.zeros(1, np.int64)
        idle, preparing = self.analysis.idle, self.analysis.preparing.causes.intervals
        capacity = np.diff(edges, axis=1) * len(self.analysis.devices)
        early = np.array([self.phases[index].preparing for index in phase.tolist()], np.bool_)
        while_idle = parts_in_columns(idle.start, idle.end, flat)
        waiting = parts_in_columns(preparing.start, preparing.end, flat)
        waiting = waiting._replace(interval=np.full(len(waiting.ns), -1))
        columns = edges.shape[1] - 1
        kept = np.concatenate((~early[while_idle.column // columns], early[waiting.column // columns]))
        interval, cell, ns = (np.concatenate(column)[kept] for column in zip(while_idle, waiting))
        return HeatCells.of_parts(cell // columns, cell % columns, ns, interval, capacity)

    def edges(self, lines: int, columns: int) -> Int64s:
        """Return the edges of each line's cells, empty after its phase; int64[lines, columns + 1], ns."""
        phase, start = self.lines(lines)
        offsets = even_edges(0, self.line_ns(lines), columns)
        end = np.array([span.end_ns for span in self.phases], np.int64)
        edges: Int64s = np.minimum(start[:, None] + offsets, end[phase][:, None])
        return edges


def _phases(analysis: Analysis, step: Step, start: int, end: int) -> list[FoldPhase]:
    """Return what the trace knows of the step, from preparing to tail, and what is before and after."""
    marks: list[tuple[int, str]] = [(start, "before the step")]
    if step.iteration_gap is not None:
        marks.append((step.iteration_gap[0], "iteration gap"))
        marks.append((step.iteration_gap[1], "step"))
    else:
        marks.append((step.start_ns, "step"))
    if step.forward_backward is not None and step.tail is not None:
        first, turn = step.forward_backward
        backward = _first_backward(analysis, step)
        if backward is not None and first < backward < turn:
            marks += [(first, "forward"), (backward, "backward")]
        else:
            marks.append((first, "forward + backward"))
        marks.append((step.tail[0], "tail"))
    marks.append((max(step.end_ns, marks[-1][0]), "after the step"))
    phases = []
    ready = min(step.prepared_ns, start)
    if step.host_start_ns < ready:
        phases.append(FoldPhase("preparing", step.host_start_ns, ready, preparing=True))
    for (begin, name), (stop, _) in zip(marks, [*marks[1:], (end, "")]):
        begin, stop = max(begin, start), min(stop, end)
        if stop > begin:
            phases.append(FoldPhase(name, begin, stop))
    return phases


def _first_backward(analysis: Analysis, step: Step) -> int | None:
    """Return when the first computing task of the backward pass starts in a step; None without one."""
    device = next(activity for activity in analysis.devices if activity.device == step.device)
    slices, chains = analysis.trace.slices, analysis.launch_chains
    rows = device.work
    starts = slices.start[rows]
    rows = rows[(starts >= step.start_ns) & (starts < step.end_ns)]
    computes = np.isin(slices.activity[rows], (Activity.COMPUTE, Activity.AICPU))
    rows = rows[computes & chains.backward[chains.index(rows)]] if len(chains.tasks) else rows[:0]
    return int(slices.start[rows].min()) if len(rows) else None
