"""One axis of time for two runs on which each step of one begins where its counterpart does.

Steps are counterparts by their numbers, those that one run alone has among them; the first of the first where
no number is in both. A step takes as much of the axis as the longer of the two; the time of the shorter one
stands still for the rest. So no time of either run is left out, none is shown twice, and all of it is to one
scale. Where a side has no steps, both begin at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tracetui.arrays import Int64s
from tracetui.comparison.compared_run import Run

#: Start and end of a trace, ns.
Bounds = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Axis:
    """Segments of time, as columns: what is before the first step, then a step and what follows it, in turn.

    The time before the first step ends at once on both sides; all others begin at once.
    """

    at: Int64s  #: int64[segments + 1], ns: where each begins on the axis, the first at 0
    bounds: tuple[Int64s, Int64s]  #: int64[segments + 1] each, ns: where it begins on the clock of each run
    #: int64[steps on the axis] each: which step of each run it is, -1 where it has none; empty where one has
    #: none at all
    steps: tuple[Int64s, Int64s]

    @classmethod
    def of(cls, runs: tuple[Run, Run], traces: tuple[Bounds, Bounds]) -> Axis:
        """Return the axis of two runs that have work of a device, and from when to when their traces last."""
        hosts = [run.walls.host_places for run in runs]
        spans = [(run.walls.start[host], run.walls.end[host]) for run, host in zip(runs, hosts)]
        numbers = [run.walls.number[host] for run, host in zip(runs, hosts)]
        steps = _align(*numbers)
        if not all(len(run.numbers) for run in runs):
            spans = [(starts[:1], np.array([last])) for (starts, _), (_, last) in zip(spans, traces)]
            steps = (np.empty(0, np.int64),) * 2
        places = steps if len(steps[0]) else (np.zeros(1, np.int64),) * 2
        base, other = (_bounds(*span, trace, side) for span, trace, side in zip(spans, traces, places))
        longer = np.maximum(np.diff(base), np.diff(other)).tolist()
        return cls(np.array([0, *accumulate(longer)], np.int64), (base, other), steps)

    @property
    def end(self) -> int:
        """Return how long it is, ns."""
        return int(self.at[-1])

    def moments(self, side: int, times: Int64s) -> Int64s:
        """Return the times on the clock of a run (0: BASE, 1: OTHER) of times on the axis, ns."""
        bounds = self.bounds[side]
        segment = np.clip(np.searchsorted(self.at, times, "right") - 1, 0, len(self.at) - 2)
        length = bounds[segment + 1] - bounds[segment]
        within = times - self.at[segment]
        within = np.where(segment == 0, within - (self.at[1] - length), within)
        moments: Int64s = bounds[segment] + np.clip(within, 0, length)
        return moments

    def moment(self, side: int, time_ns: int) -> int:
        """Return the same of one time."""
        return int(self.moments(side, np.array([time_ns], np.int64))[0])

    def place(self, side: int, moment_ns: int) -> int:
        """Return where a time of a run is on the axis, ns: the only place where the run is busy with it."""
        bounds = self.bounds[side]
        moment = min(max(moment_ns, int(bounds[0])), int(bounds[-1]))
        segment = int(np.searchsorted(bounds, moment, "right")) - 1
        if moment == bounds[-1]:
            segment = max(int(np.searchsorted(bounds, moment, "left")) - 1, 0)
        if segment == 0:
            return int(self.at[1]) - int(bounds[1]) + moment
        return int(self.at[segment]) + moment - int(bounds[segment])

    def step_at(self, time_ns: int) -> int:
        """Return the step, counted from 0, in which or after which a time of the axis is; -1 before all."""
        segment = int(np.searchsorted(self.at, time_ns, "right")) - 1
        return (min(segment, len(self.at) - 2) - 1) // 2

    def step_start(self, step: int) -> int:
        """Return where a step begins on the axis, ns."""
        return int(self.at[1 + 2 * step])

    def step_span(self, side: int, step: int) -> Bounds | None:
        """Return from when to when a step lasts on the clock of a run, ns; None where it has no such step."""
        if not 0 <= step < len(self.steps[side]) or self.steps[side][step] < 0:
            return None
        start, end = self.bounds[side][1 + 2 * step : 3 + 2 * step].tolist()
        return start, end


def _align(base: Int64s, other: Int64s) -> tuple[Int64s, Int64s]:
    """Return which step of each run is beside which, by their numbers; -1 where a run has none."""
    numbers = np.union1d(base, other)
    rise = all((np.diff(side) > 0).all() for side in (base, other))
    if not rise or len(numbers) == len(base) + len(other):
        base, other = np.arange(len(base)), np.arange(len(other))
        numbers = np.union1d(base, other)
    aligned = [np.full(len(numbers), -1, np.int64) for _ in (base, other)]
    for places, side in zip(aligned, (base, other)):
        places[np.searchsorted(numbers, side)] = np.arange(len(side))
    return aligned[0], aligned[1]


def _bounds(starts: Int64s, ends: Int64s, trace: Bounds, places: Int64s) -> Int64s:
    """Return where segments begin: the trace, each step and what follows it; those of no step are empty.

    What follows the last step goes on until the trace ends. `places`: the step of each, -1 for none.
    """
    first, last = trace
    bounds = np.full(2 * len(places) + 2, last, np.int64)
    bounds[0] = first
    bounds[1:-1:2][places >= 0] = starts[places[places >= 0]]
    bounds[2:-1:2][places >= 0] = ends[places[places >= 0]]
    bounds = np.minimum.accumulate(bounds[::-1])[::-1]  # what is missing is where the next step begins
    return np.maximum.accumulate(np.clip(bounds, first, last))
