"""What would follow if a line of Python took less time: every point of the run again, each as soon as may be.

The work that the threads of the host do for the line is scaled; all else follows from the causes of each
point (see `points`): max-plus, from the first to the last. With a factor of 1 that gives back the measured
times exactly. Assumes that the order in the task queue and on the streams, and how long the device takes for
each task, stay as they are. Of the dependencies depends whether late peers come sooner too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.critical.dependencies import Dependencies
from tracetui.analysis.critical.host_time import HostPieces, HostTime
from tracetui.analysis.critical.points import Edge
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.idle_lines import LineKey, line_keys
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.search import group_by
from tracetui.arrays import Int64s
from tracetui.trace.model import Trace

WaitsOfThread = Callable[[int], Intervals]
#: int64[n], ns: of slice rows, and of stretches of time from `starts` to `ends`, how long of each
WaitsOfLaunch = Callable[[Int64s, Int64s, Int64s], Int64s]


@dataclass(frozen=True, eq=False)
class LineWhatIf:
    """The wall time of a run in which the host took another time for a line."""

    key: LineKey
    factor: float
    before_ns: int  #: from the first step on the host, or from the first work if sooner, until all is done
    after_ns: int
    steps_before: Int64s  #: ns of each step: from when the one before it on its device was done until it is
    steps_after: Int64s

    @property
    def saved_ns(self) -> int:
        """Return how much sooner the run is done."""
        return max(self.before_ns - self.after_ns, 0)


class RunSaving(NamedTuple):
    """How much sooner at most a run is done, ns."""

    alone_ns: int  #: while late peers come when they came
    with_peers_ns: int  #: if they come as much sooner


class WhatIfs:
    """The answers for a trace; what they share is computed at the first question."""

    def __init__(self, trace: Trace, depends: Dependencies, host_time: HostTime, rules: FrameRules) -> None:
        self._trace, self._depends, self._host_time, self._rules = trace, depends, host_time, rules

    def faster(self, key: LineKey, factor: float) -> LineWhatIf:
        """Return what follows if a line takes `factor` of its time on the host: 0 for none, 1 for no change.

        Raises:
            ValueError: the factor is not in 0..1.
        """
        if not 0 <= factor <= 1:
            raise ValueError(f"a factor of 0 to 1, not {factor}")
        return self._answer(key, factor, self._times(self._work_of(key), factor))

    def without(self, waits: WaitsOfThread, launching: WaitsOfLaunch) -> LineWhatIf:
        """Return what follows if the host never waited for what it did: for a core, as a rule.

        Args:
            waits: when a thread, by its index, waited.
            launching: for how long the thread waited that took and launched the task of a slice row.
        """
        points, pieces = self._depends.points, self._pieces
        work = np.zeros(len(points), np.int64)
        thread = points.thread[self._working][pieces.place]
        for index, places in group_by(thread):
            waited = waits(index).covered(pieces.start[places], pieces.end[places])
            np.add.at(work, self._working[pieces.place[places]], waited)
        source = points.cause[Edge.LAUNCH]
        launched = np.flatnonzero((source >= 0) & (points.device >= 0))
        starts = points.time[source[launched]]
        ends = starts + points.lag[Edge.LAUNCH, launched]
        sooner = np.zeros(len(points), np.int64)
        sooner[launched] = launching(points.row[launched], starts, ends)
        return self._answer(NO_LINE, 0, self._times(work, 0, sooner))

    def _answer(self, key: LineKey, factor: float, times: Int64s) -> LineWhatIf:
        ends = self._depends.device_end
        begin = self._depends.begin
        measured = self._depends.points.time
        return LineWhatIf(
            key=key,
            factor=factor,
            before_ns=int(measured[ends].max(initial=begin)) - begin,
            after_ns=int(times[ends].max(initial=begin)) - begin,
            steps_before=self._walls(measured),
            steps_after=self._walls(times),
        )

    def _walls(self, times: Int64s) -> Int64s:
        """Return the wall time of each step; of a device, each begins when the one before it is done."""
        depends = self._depends
        finish = times[depends.step_end]
        begin = depends.step_begin.copy()
        device = depends.points.device[depends.step_end]
        follows = np.flatnonzero(device[1:] == device[:-1]) + 1
        begin[follows] = finish[follows - 1]
        walls: Int64s = finish - begin
        return walls

    def _work_of(self, key: LineKey) -> Int64s:
        """Return how much of the host's work before each point is the line's, ns."""
        points, pieces = self._depends.points, self._pieces
        work = np.zeros(len(points), np.int64)
        keys, key_of_piece = self._keys
        if key in keys:
            (matching,) = np.nonzero(key_of_piece == keys.index(key))
            np.add.at(
                work, self._working[pieces.place[matching]], pieces.end[matching] - pieces.start[matching]
            )
        return work

    def _times(self, work: Int64s, factor: float, sooner: Int64s | None = None) -> Int64s:
        """Return when each point is reached, ns; `sooner`: how much less its launch takes."""
        points = self._depends.points
        saved = work - np.rint(work * factor).astype(np.int64)
        lag = points.lag.copy()
        lag[Edge.BEFORE] -= saved
        if sooner is not None:
            lag[Edge.LAUNCH] -= sooner
        times: list[int] = (points.time - saved).tolist()
        columns = [points.cause[edge].tolist() for edge in Edge] + [lag[edge].tolist() for edge in Edge]
        for point, (previous, launch, wait, turn, latency, wake) in enumerate(zip(*columns)):
            first = _NEVER
            if previous >= 0:
                first = times[previous] + turn
            if launch >= 0 and times[launch] + latency > first:
                first = times[launch] + latency
            if wait >= 0 and times[wait] + wake > first:
                first = times[wait] + wake
            if first != _NEVER:
                times[point] = first
        return np.array(times, np.int64)

    @cached_property
    def _working(self) -> Int64s:
        """The points before which a thread of the host worked."""
        return np.flatnonzero(self._depends.points.works)

    @cached_property
    def _pieces(self) -> HostPieces:
        """That work, charged."""
        points, working = self._depends.points, self._working
        begin = self._depends.begin
        previous = points.cause[Edge.BEFORE, working]
        start = np.where(previous >= 0, points.time[previous], begin)
        return self._host_time.pieces(points.thread[working], np.maximum(start, begin), points.time[working])

    @cached_property
    def _keys(self) -> tuple[list[LineKey], Int64s]:
        pieces = self._pieces
        return line_keys(self._trace, pieces.stack, pieces.frame, pieces.backward, self._rules)


#: The key of what is no line.
NO_LINE: LineKey = (None, 0, "", False)
_NEVER = np.iinfo(np.int64).min
