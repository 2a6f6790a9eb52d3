"""Idle time by cause and step, or by cause and time. All cells add up to the idle time of all devices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.analyse import Analysis
from tracetui.analysis.heat.cells import HeatCells, parts_in_columns
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import time_in_spans
from tracetui.arrays import Int64s


@dataclass(frozen=True, eq=False)
class CauseMap:
    """The causes are in order of their time, most first."""

    analysis: Analysis

    @cached_property
    def causes(self) -> dict[Cause, int]:
        """The rows: ns of each cause that there is."""
        return self.analysis.causes.by_cause()

    @cached_property
    def stepless_ns(self) -> int:
        """Idle time in no step: the last column of `by_step`, which is there if this is not 0."""
        causes = self.analysis.causes
        return int(causes.ns[causes.intervals.step[causes.interval] < 0].sum())

    def by_step(self) -> HeatCells:
        """Return a column for each step, and one for what is outside of all; `main` is a gap.

        A cell could be the length of its step, or of the windows of devices outside of their steps; the
        idle time there where that is longer.
        """
        analysis, causes = self.analysis, self.analysis.causes
        steps = len(analysis.steps)
        step_of_interval = causes.intervals.step[causes.interval].astype(np.int64)
        column = np.where(step_of_interval < 0, steps, step_of_interval)
        lengths = [step.end_ns - step.start_ns for step in analysis.steps]
        outside = max(sum(map(self._beside_steps, analysis.devices)), self.stepless_ns)
        capacity = np.array([*lengths, *([outside] if self.stepless_ns else [])], np.int64)
        whole = np.broadcast_to(capacity, (len(self.causes), len(capacity)))
        gap = causes.intervals.gap[causes.interval]
        return HeatCells.of_parts(self._row[causes.cause], column, causes.ns, gap, whole)

    def by_time(self, edges: Int64s) -> HeatCells:
        """Return the cells of the columns between `edges` (int64[columns + 1], ns); `main` is a gap.

        The capacity of a cell is the length of its column, times the number of devices.
        """
        causes = self.analysis.causes
        parts = parts_in_columns(causes.start, causes.end, edges)
        gap = causes.intervals.gap[causes.interval[parts.interval]]
        capacity = np.diff(edges) * len(self.analysis.devices)
        whole = np.broadcast_to(capacity, (len(self.causes), len(capacity)))
        row = self._row[causes.cause[parts.interval]]
        return HeatCells.of_parts(row, parts.column, parts.ns, gap, whole)

    def _beside_steps(self, activity: DeviceActivity) -> int:
        """Return the ns of a device's window that are in none of its steps, which may overlap."""
        places = self.analysis.steps_by_device.get(activity.device, ())
        steps = [self.analysis.steps[place] for place in places]
        inside = time_in_spans([(step.start_ns, step.end_ns) for step in steps])
        return activity.window_ns - inside.clip(activity.start_ns, activity.end_ns).total

    @cached_property
    def _row(self) -> Int64s:
        row = np.zeros(len(Cause), np.int64)
        row[list(self.causes)] = np.arange(len(self.causes))
        return row
