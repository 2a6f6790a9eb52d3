"""Two runs one above the other: their lines on one axis of time, and what one step of each is made of.

A run has a line for each kind of work, whatever the streams and threads, so that those of two are the same,
also of two makes of devices.

Knows no screen and no app.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.intervals import union
from tracetui.analysis.raster import Raster, RasterColumns
from tracetui.analysis.search import among
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
from tracetui.trace.model import Activity, Trace, TraceKind
from tracetui.ui.drawing.picture import Picture


class BandKind(Enum):
    """What a line is of, in the order of the screen."""

    IDLE = "idle"
    COMPUTING = "computing"
    COMMUNICATION = "communication"
    COPIES = "copies"
    OPERATORS = "operators"  #: of level 1, on all threads of the host


#: The work that a line is of.
_WORK = {
    BandKind.COMPUTING: (Activity.COMPUTE, Activity.AICPU),
    BandKind.COMMUNICATION: (Activity.COMMUNICATION,),
    BandKind.COPIES: (Activity.COPY,),
}


class Band:
    """Some slices of a trace as one line: busy where any of them is."""

    def __init__(self, trace: Trace, rows: Int64s) -> None:
        """Join slice rows, in any order; those of one lane do not overlap."""
        self.rows = np.sort(rows)  #: by lane, then start
        self._starts, self._ends = trace.slices.start[self.rows], trace.slices.end[self.rows]
        self._order = np.argsort(self._starts, kind="stable")  # places in `rows`, by start
        self._by_start = self._starts[self._order]
        self._rank = np.empty_like(self._order)
        self._rank[self._order] = np.arange(len(self.rows))
        self._raster = Raster(self._starts, self._ends)
        edges = np.searchsorted(self.rows, trace.lane_rows).tolist()
        self._lanes = [range(first, stop) for first, stop in zip(edges, edges[1:]) if first < stop]
        self._busy = union(self._starts, self._ends)

    def __len__(self) -> int:
        return len(self.rows)

    def __contains__(self, row: int) -> bool:
        """Return whether a slice row is one of them."""
        place = int(np.searchsorted(self.rows, row))
        return place < len(self.rows) and int(self.rows[place]) == row

    def columns(self, edges: Int64s) -> RasterColumns:
        """Return its columns between `edges` (ns, never decreasing); `row`: the slice that covers most."""
        if not self._lanes:
            return self._raster.columns(range(0), edges)
        lanes = self._raster.lanes(self._lanes, edges)
        longest = lanes.longest.argmax(axis=0)[None]
        place, covered = (np.take_along_axis(of, longest, axis=0)[0] for of in (lanes.row, lanes.longest))
        touched = lanes.row.max(axis=0)  # one without a length covers nothing, and is there all the same
        place = np.where(place < 0, touched, place)
        row = np.where(place < 0, -1, self.rows[place])
        return RasterColumns(edges, np.diff(self._busy.before(edges)), row, covered)

    def busy_ns(self, start_ns: int, end_ns: int) -> int:
        """Return for how much of a time any of its slices lasts, ns."""
        before, until = self._busy.before(np.array([start_ns, end_ns], np.int64)).tolist()
        return int(until - before)

    def at(self, start_ns: int, end_ns: int) -> int:
        """Return the slice row with most of a stretch of time, -1 where there is none."""
        return int(self.columns(np.array([start_ns, max(end_ns, start_ns + 1)], np.int64)).row[0])

    def beside(self, row: int, time_ns: int, by: int) -> int:
        """Return the next slice (1) or the one before (-1) by start: of one of them, else of a time.

        -1 where there is none.
        """
        if row in self:
            at = int(self._rank[np.searchsorted(self.rows, row)]) + by
        elif by > 0:
            at = int(np.searchsorted(self._by_start, time_ns, "right"))
        else:
            at = int(np.searchsorted(self._by_start, time_ns, "left")) - 1
        return int(self.rows[self._order[at]]) if 0 <= at < len(self) else -1


def bands(analysis: Analysis, run: Run, device: int) -> dict[BandKind, Band]:
    """Return the lines of a device without its idle time; `device` is its index in the analysis."""
    trace, work = analysis.trace, analysis.devices[device].work
    activity = trace.slices.activity[work]
    found = {kind: Band(trace, work[among(activity, of)]) for kind, of in _WORK.items()}
    found[BandKind.OPERATORS] = Band(trace, run.operators.row)
    return found


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

    def span_of(self, chosen: Chosen) -> tuple[int, int]:
        """Return when something begins and ends, ns."""
        gaps, slices = self.analysis.gaps, self.analysis.trace.slices
        if chosen.gap >= 0:
            return int(gaps.start[chosen.gap]), int(gaps.end[chosen.gap])
        return int(slices.start[chosen.row]), int(slices.end[chosen.row])


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
        start, end = (place(side, moment) for moment in lanes.span_of(chosen))
        return start, max(end, start + 1)

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
