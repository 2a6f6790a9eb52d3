"""The thread that had each core at every moment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.idle.pieces import cut_at_edges
from tracetui.analysis.scheduler.states import losses_by_cpu
from tracetui.analysis.search import each_once, group_by, slice_of
from tracetui.arrays import EMPTY, Int64s
from tracetui.siblings.scheduler.events import NO_PID, EventKind, SchedulerEvents

IDLE = 0  #: the thread that a core has when it has nothing to do


class CoreRuns(NamedTuple):
    """The thread that had a core from each time on; columns of equal length."""

    time: Int64s  #: ns, sorted
    pid: Int64s  #: IDLE for nobody, NO_PID where not known


class Occupancy(NamedTuple):
    """Stretches of time cut wherever another thread gets the core; columns of equal length."""

    place: Int64s  #: the stretch each is of
    start: Int64s
    end: Int64s
    pid: Int64s


class Cores:
    """The cores of a recording; times are of a clock that is `offset_ns` ahead of the recording's."""

    def __init__(self, events: SchedulerEvents, offset_ns: int) -> None:
        columns = events.columns
        rows = np.flatnonzero(columns.kind == EventKind.SWITCH)
        order = rows[np.argsort(columns.cpu[rows], kind="stable")]
        self._time = columns.time[order] + offset_ns
        self._left, self._got = columns.pid[order], columns.other[order]
        self._cpu = columns.cpu[order]
        self._losses = losses_by_cpu(events.losses)
        self._offset_ns = offset_ns
        self._found: dict[int, CoreRuns] = {}
        self.numbers: tuple[int, ...] = tuple(each_once(self._cpu).tolist())

    def runs(self, cpu: int) -> CoreRuns:
        """Return the threads that had a core; before its first switch, the one that leaves it there."""
        if cpu not in self._found:
            on_core = slice_of(self._cpu, cpu)
            time = np.append(np.int64(-(1 << 62)), self._time[on_core])
            left, got = self._left[on_core], self._got[on_core].astype(np.int64)
            known = CoreRuns(time, np.append(left[:1] if len(left) else NO_PID, got))
            self._found[cpu] = self._without_lost(cpu, known, on_core)
        return self._found[cpu]

    def _without_lost(self, cpu: int, known: CoreRuns, on_core: slice) -> CoreRuns:
        """Return the threads that had a core: unknown in a lost stretch, then the thread that leaves next."""
        lost = self._losses.get(cpu)
        if lost is None:
            return known
        starts, ends = lost.starts + self._offset_ns, lost.ends + self._offset_ns
        following = np.searchsorted(self._time[on_core], ends)
        next_left = np.append(self._left[on_core], NO_PID)[following]
        inside = np.searchsorted(starts, known.time, "right") - 1
        dropped = (inside >= 0) & (known.time < ends[np.maximum(inside, 0)])
        time = np.concatenate((starts, ends, known.time[~dropped]))
        pid = np.concatenate((np.full(len(starts), NO_PID), next_left, known.pid[~dropped]))
        order = np.argsort(time, kind="stable")
        return CoreRuns(time[order], pid[order].astype(np.int64))

    def occupants(self, cpus: Int64s, starts: Int64s, ends: Int64s) -> Occupancy:
        """Cut stretches [start, end) by the thread that had their core; that of core -1 is not known."""
        parts = [Occupancy(*(EMPTY for _ in Occupancy._fields))]
        for cpu, places in group_by(cpus):
            known = self.runs(cpu) if cpu >= 0 else CoreRuns(np.array([-(1 << 62)]), np.array([NO_PID]))
            cuts = cut_at_edges(starts[places], ends[places], each_once(known.time))
            pid = known.pid[np.searchsorted(known.time, cuts.start, "right") - 1]
            parts.append(Occupancy(places[cuts.place], cuts.start, cuts.end, pid))
        joined = Occupancy._make(np.concatenate(columns) for columns in zip(*parts))
        order = np.lexsort((joined.start, joined.place))
        return Occupancy._make(column[order] for column in joined)

    def busy_ns(self, cpu: int, window: tuple[int, int]) -> int:
        """Return how long a core had a thread in a window [start, end)."""
        known = self.runs(cpu)
        ends = np.append(known.time[1:], max(window[1], int(known.time[-1])))
        length = np.minimum(ends, window[1]) - np.maximum(known.time, window[0])
        return int(length[(known.pid > 0) & (length > 0)].sum())
