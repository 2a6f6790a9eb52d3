"""Two runs one above the other: their lines on one axis of time, and what one step of each is made of.

Knows no screen and no app.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.arrays import Int64s
from tracetui.comparison.axis import Axis
from tracetui.comparison.common_detail import merge_unsplit
from tracetui.comparison.compared_row import ComparedRow, ranked, row
from tracetui.comparison.compared_row import RowScale as RowScale
from tracetui.comparison.compared_run import Run
from tracetui.comparison.counterpart import CounterpartSide, counterpart
from tracetui.comparison.tally import NOTHING, Sum
from tracetui.comparison.waterfall import TERMS
from tracetui.trace.clean import printable
from tracetui.trace.model import TraceKind
from tracetui.ui.comparing.bands import Band, BandKind, bands
from tracetui.ui.drawing.picture import Picture

#: How the two are spoken of.
NAMES = ("BASE", "OTHER")


class Chosen(NamedTuple):
    """What is selected in a run: a slice row, or a gap; -1 for none."""

    row: int = -1
    gap: int = -1

    def __bool__(self) -> bool:
        return max(self) >= 0


class Steps(NamedTuple):
    """The steps of a run as columns, by start; disjoint."""

    number: Int64s  #: of the ProfilerStep
    start: Int64s  #: ns
    end: Int64s  #: ns


@dataclass(frozen=True, eq=False)
class StackedRun:
    """One of the two."""

    name: str  #: of its trace, printable
    analysis: Analysis
    run: Run
    picture: Picture
    devices: tuple[int, ...]  #: that compute or communicate, places among those of the analysis
    bands: tuple[dict[BandKind, Band], ...]  #: of each of them

    @classmethod
    def of(cls, name: str, analysis: Analysis, run: Run) -> StackedRun:
        """Lay out a run with work of a device; takes a second where the trace is large."""
        devices = tuple(place for place, activity in enumerate(analysis.devices) if activity.window_ns > 0)
        found = tuple(bands(analysis, run, device) for device in devices)
        return cls(name, analysis, run, Picture(analysis.trace, analysis), devices, found)

    def device(self, number: int) -> int:
        """Return the place of a device by its number; of its last one where it has fewer."""
        return self.devices[min(number, len(self.devices) - 1)]

    def band(self, number: int, kind: BandKind) -> Band:
        """Return a line of a device, any but that of its idle time."""
        return self.bands[min(number, len(self.devices) - 1)][kind]

    def device_name(self, number: int) -> str:
        """Return the name of a device: "NPU 0"."""
        return printable(self.analysis.devices[self.device(number)].device, 20)

    def start_of(self, chosen: Chosen) -> int:
        """Return when something begins, ns."""
        if chosen.gap >= 0:
            return int(self.analysis.gaps.start[chosen.gap])
        return int(self.analysis.trace.slices.start[chosen.row])

    def end_of(self, chosen: Chosen) -> int:
        """Return when something ends, ns."""
        if chosen.gap >= 0:
            return int(self.analysis.gaps.end[chosen.gap])
        return int(self.analysis.trace.slices.end[chosen.row])


@dataclass(frozen=True, eq=False)
class StackedRuns:
    """Both, with the axis."""

    axis: Axis
    sides: tuple[StackedRun, StackedRun]

    @classmethod
    def of(cls, base: StackedRun, other: StackedRun) -> StackedRuns:
        """Align two runs, with only what both tell apart."""
        base_run, other_run, _ = merge_unsplit(base.run, other.run)
        traces = base.analysis.trace, other.analysis.trace
        first, second = ((trace.start_ns, trace.end_ns) for trace in traces)
        sides = replace(base, run=base_run), replace(other, run=other_run)
        return cls(Axis.of((base_run, other_run), (first, second)), sides)

    @property
    def devices(self) -> int:
        """How many there are to look at, one at a time."""
        return max(len(side.devices) for side in self.sides)

    def kinds(self, number: int) -> list[BandKind]:
        """Return the lines of a device that either run has anything in: both are drawn with them."""
        bands = [side.bands[min(number, len(side.devices) - 1)] for side in self.sides]
        return [kind for kind in BandKind if kind is BandKind.IDLE or any(len(of[kind]) for of in bands)]

    def span(self, side: int, chosen: Chosen) -> tuple[int, int]:
        """Return from when to when something of a run lasts on the axis, ns."""
        lanes, place = self.sides[side], self.axis.place
        start = place(side, lanes.start_of(chosen))
        return start, max(place(side, lanes.end_of(chosen)), start + 1)

    def steps(self, side: int) -> Steps:
        """Return the steps of a run; of one without any none."""
        run = self.sides[side].run
        host = run.walls.host_places if run.numbers else slice(0)
        return Steps(run.walls.number[host], run.walls.start[host], run.walls.end[host])

    def step_number(self, side: int, step: int) -> int | None:
        """Return the number of a ProfilerStep by its place on the axis; None where there is none."""
        if self.axis.step_span(side, step) is None:
            return None
        return int(self.steps(side).number[self.axis.steps[side][step]])

    def step_rows(self, step: int, number: int) -> tuple[ComparedRow, tuple[ComparedRow, ...]] | None:
        """Compare a step of both on a device, and its parts, largest change first; None without one."""
        found = [self._terms(side, step, number) for side in (0, 1)]
        base, other = found
        if base is None or other is None:
            return None
        walls = [int(terms.sum()) for terms in (base, other)]
        on_gpu = any(lanes.run.kind is TraceKind.GPU for lanes in self.sides)
        scale = RowScale(1, 1, Fraction(walls[0]), on_gpu=on_gpu)
        parts = zip(TERMS, base.tolist(), other.tolist())
        rows = (row(name, _sum(ns), _sum(other_ns), scale) for name, ns, other_ns in parts if ns or other_ns)
        return row("step", _sum(walls[0]), _sum(walls[1]), scale), ranked(rows)

    def _terms(self, side: int, step: int, number: int) -> Int64s | None:
        """Return what a step of a device is made of: int64[terms], ns; None where there is no such step."""
        span, lanes = self.axis.step_span(side, step), self.sides[side]
        if span is None:
            return None
        walls = lanes.run.walls
        (found,) = np.nonzero((walls.device == lanes.device(number)) & (walls.start == span[0]))
        if not len(found):
            return None
        terms: Int64s = lanes.run.terms_ns[int(found[0])]
        return terms

    def counterpart(self, side: int, chosen: Chosen) -> Chosen:
        """Return what matches something in the other run; takes up to a second in a large step.

        A gap is matched by the one before the task that matches the task which ends it.
        """
        here, there = (
            CounterpartSide(lanes.analysis, lanes.run) for lanes in (self.sides[side], self.sides[1 - side])
        )
        row = int(here.analysis.gaps.after[chosen.gap]) if chosen.gap >= 0 else chosen.row
        if row < 0:
            return Chosen()
        found = counterpart(here, there, int(here.analysis.trace.slices.start[row]), row)
        if found is None or found.row < 0:
            return Chosen()
        if chosen.gap < 0:
            return Chosen(row=found.row)
        (gaps,) = np.nonzero(there.analysis.gaps.after == found.row)
        return Chosen(gap=int(gaps[0])) if len(gaps) else Chosen()


def _sum(ns: int) -> Sum:
    return Sum(ns, 1, ns, ns) if ns else NOTHING
