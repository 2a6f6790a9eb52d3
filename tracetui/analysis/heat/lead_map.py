"""How far the host runs ahead of the devices: the steps side by side, or one of them line by line.

The time of a cell is that of its step and row, as in the maps of idle time. Its ns are those in which the
host had no lead: they add up to all such time within the steps, or within the windows of the devices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cells import HeatCells
from tracetui.analysis.heat.fold import FoldMap
from tracetui.analysis.heat.step_map import StepMap
from tracetui.arrays import Floats, Int64s


@dataclass(frozen=True, eq=False)
class LeadCells:
    """The lead in the cells of a grid; arrays have the shape (rows, columns)."""

    cells: HeatCells  #: ns without a lead; `main` is -1
    count: Floats  #: the mean lead in tasks; NaN where there is no cell
    work: Floats  #: the same in ns of work
    start: Int64s  #: ns: the time of a cell, on the clock of the trace
    end: Int64s


def lead_of_steps(steps: StepMap, rows: Int64s) -> LeadCells:
    """Return the lead in each step, between `rows` (ns from its first work) the rows."""
    label = {device.device: index for index, device in enumerate(steps.analysis.devices)}
    device = [label[steps.analysis.steps[step].device] for step in steps.step.tolist()]
    start = np.maximum(steps.base + rows[:-1, None], steps.start)
    end = np.maximum(np.minimum(steps.base + rows[1:, None], steps.end), start)
    sums = np.empty((3, *start.shape))
    for index in set(device):
        on_device = np.array([number == index for number in device], np.bool_)
        sums[:, :, on_device] = _between(steps.analysis, index, start[:, on_device], end[:, on_device])
    return _cells(sums, start, end, 1)


def lead_of_lines(fold: FoldMap, lines: int, columns: int) -> LeadCells:
    """Return the lead in so many cells of each line of a page; of several devices the mean."""
    edges = fold.edges(lines, columns)
    start, end = edges[:, :-1], edges[:, 1:]
    devices = len(fold.analysis.devices)
    sums = sum((_between(fold.analysis, index, start, end) for index in range(devices)), np.zeros(1))
    sums[1:] /= max(devices, 1)
    return _cells(sums, start, end, devices)


def _between(analysis: Analysis, device: int, start: Int64s, end: Int64s) -> Floats:
    """Return the ns without a lead, and the mean count and work, of each stretch of time; float64[3, ...]."""
    lead = analysis.leads[device]
    empty = lead.empty_before(end) - lead.empty_before(start)
    count, work = lead.mean_of(start, end)
    return np.stack((empty.astype(np.float64), count, work))


def _cells(sums: Floats, start: Int64s, end: Int64s, devices: int) -> LeadCells:
    empty, count, work = sums
    ns, capacity = np.rint(empty).astype(np.int64), (end - start) * devices
    is_cell = capacity > 0
    cells = HeatCells.of_totals(ns, capacity)
    return LeadCells(cells, np.where(is_cell, count, np.nan), np.where(is_cell, work, np.nan), start, end)
