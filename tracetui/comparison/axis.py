"""One axis of time for two runs on which each step of one begins where its counterpart does.

Steps are counterparts as everywhere here: the first of the first. A step takes as much of the axis as the
longer of the two; the time of the shorter one stands still for the rest. So no time of either run is left
out, none is shown twice, and all of it is to one scale. Where a side has no steps, both begin at once.
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
    steps: tuple[int, int]  #: of each run; 0 of both where one has none

    @classmethod
    def of(cls, runs: tuple[Run, Run], traces: tuple[Bounds, Bounds]) -> Axis:
        """Return the axis of two runs that have work of a device, and from when to when their traces last."""
        hosts = [run.walls.host_places for run in runs]
        spans = [(run.walls.start[host], run.walls.end[host]) for run, host in zip(runs, hosts)]
        numbered = all(len(run.numbers) for run in runs)
        if not numbered:
            spans = [(starts[:1], np.array([last])) for (starts, _), (_, last) in zip(spans, traces)]
        count = max(len(starts) for starts, _ in spans)
        base, other = (_bounds(*span, trace, count) for span, trace in zip(spans, traces))
        longer = np.maximum(np.diff(base), np.diff(other)).tolist()
        first, second = (len(starts) if numbered else 0 for starts, _ in spans)
        return cls(np.array([0, *accumulate(longer)], np.int64), (base, other), (first, second))

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
        if step < 0 or step >= self.steps[side]:
            return None
        start, end = self.bounds[side][1 + 2 * step : 3 + 2 * step].tolist()
        return start, end


def _bounds(starts: Int64s, ends: Int64s, trace: Bounds, count: int) -> Int64s:
    """Return where segments begin: the trace, each step and what follows it; the last of `count` are empty.

    What follows the last step goes on until the trace ends.
    """
    first, last = trace
    bounds = np.full(2 * count + 2, last, np.int64)
    bounds[0] = first
    bounds[1 : 2 * len(starts) + 1 : 2] = starts
    bounds[2 : 2 * len(starts) + 1 : 2] = ends
    increasing: Int64s = np.maximum.accumulate(np.clip(bounds, first, last))
    return increasing
