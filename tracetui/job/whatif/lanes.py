"""What ranks do over time in a replay: as it was, and with fixes."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tracetui.analysis.heat.cells import parts_in_columns
from tracetui.arrays import Floats, Int64s
from tracetui.job.digest import TimeClass
from tracetui.job.whatif.order import COMPUTING, COPY, IDLE, Order
from tracetui.operations.graph import Times

_CLASS_OF_PART = {COMPUTING: TimeClass.COMPUTING, IDLE: TimeClass.IDLE, COPY: TimeClass.COPY}


class ReplayedLanes:
    """The lanes of the ranks of a job, as it is replayed once."""

    def __init__(self, order: Order, times: Times, parts: Int64s) -> None:
        """Take the times of a replay, and the parts of work, int64[operations, 3], that it was made with."""
        self.order, self._times, self._parts = order, times, parts
        self._steps: dict[int, StepLanes] = {}

    @cached_property
    def _latest(self) -> Int64s:
        return self.order.graph.latest(self._times.start)

    def step_span(self, step: int) -> tuple[int, int]:
        """Return when a step (its place among the steps) begins and ends, in ns, on all ranks here.

        Where not all clocks are aligned, those with aligned clocks count for which it is longest.
        """
        operations = self.order.longest_of_step(step, self._times.start, self._times.end)
        return int(self._times.start[operations].min()), int(self._times.end[operations].max())

    def of_step(self, step: int) -> StepLanes:
        """Return the lanes of one step (its place among the steps), each time the same object."""
        if step not in self._steps:
            self._steps[step] = StepLanes(self, step)
        return self._steps[step]

    def classes(self, step: int, place: int, edges: Int64s) -> Floats:
        """Return the ns of each class of time of a rank in a step between edges, float64[classes, columns].

        Step and rank are given by their places. Work is spread evenly over its operation; communication
        counts where no work is done. Ranks whose clocks are not aligned with the others begin with them.
        """
        order, times = self.order, self._times
        split = np.zeros((len(TimeClass), len(edges) - 1))
        aligned = order.aligned_in_step(step).get(int(order.job.clocks.family[place]), np.zeros(0, np.int64))
        operations = aligned[order.rank[aligned] == place]
        if not len(operations):
            return split
        edges = edges + int(times.start[aligned].min()) - self.step_span(step)[0]
        work = operations[order.collective[operations] < 0]
        spent = parts_in_columns(times.start[work], times.end[work], edges)
        operation = work[spent.interval]
        whole = np.maximum(self._parts[operation].sum(axis=1), 1)
        for part, time_class in _CLASS_OF_PART.items():
            np.add.at(split[time_class], spent.column, spent.ns * (self._parts[operation, part] / whole))
        room = np.maximum(np.diff(edges) - split.sum(axis=0), 0)
        collective = operations[order.collective[operations] >= 0]
        comes, ends = times.start[collective], times.end[collective]
        moves = np.clip(self._latest[collective], comes, ends)
        for time_class, start, end in (
            (TimeClass.WAIT, comes, moves),
            (TimeClass.TRANSFER, moves, ends),
        ):
            communicates = parts_in_columns(start, end, edges)
            np.add.at(split[time_class], communicates.column, communicates.ns)
        exposed = [TimeClass.WAIT, TimeClass.TRANSFER]
        total = split[exposed].sum(axis=0)
        split[exposed] *= np.minimum(room / np.maximum(total, 1), 1)
        return split


class StepLanes:
    """The lanes of the ranks of a job in one step of a replay."""

    def __init__(self, lanes: ReplayedLanes, step: int) -> None:
        self._lanes, self._step = lanes, step

    def classes(self, place: int, edges: Int64s) -> Floats:
        """Return the ns of each class of time of a rank (its place) between edges, float64[classes, columns].

        Before the step and after it there is none.
        """
        return self._lanes.classes(self._step, place, edges)
