"""The critical chain of a device: walked back from its end, all of the wall time is of one family.

From the end of the last work, or of the last step on the host, the walk goes from each point to its binding
cause. While a task runs, and while its stream has it wait for another task, the device is critical; from the
dequeue of a task that found its stream empty to its start, the launch, and while the dequeue thread is busy
with a task before it, the launch of that; from its enqueue to its dequeue, the queue. Without a queue the
launch begins where the call that launches ends, unless its task starts before. All other time is that of a
thread of the host, back to a synchronisation: there the walk goes on with the task that it waited for.

Making anything faster that is not on the chain saves nothing. Making something on it faster saves at most
what it takes of the chain: another chain may take over.

The ends of steps need not be on the chain of the device. From each of them the walk goes back to where the
way to the end of a step before it is met.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tracetui.analysis.critical.dependencies import Dependencies
from tracetui.analysis.critical.host_time import HostPieces, HostTime
from tracetui.analysis.critical.points import Edge, Point, Points
from tracetui.arrays import Bools, Int8s, Int32s, Int64s, Wholes


class CriticalKind(IntEnum):
    """What a stretch of wall time hangs on."""

    HOST = 0
    QUEUE = 1
    LAUNCH = 2
    DEVICE = 3

    @property
    def label(self) -> str:
        """The name in lower case: "host", "queue", "launch" or "device"."""
        return self.name.lower()


class HostWays(NamedTuple):
    """The time of the host on the ways to the ends of a device and its steps; columns of equal length."""

    step: Int64s  #: index of the first step whose end waits for it, -1 where only that of the device does
    on_chain: Bools  #: it is on the critical chain
    pieces: HostPieces


@dataclass(frozen=True, eq=False)
class CriticalChain:
    """The wall time of a device in pieces; columns of equal length, in time order, without gap or overlap.

    Times are on the clock of the host: those of a device are `Dependencies.clock_lag` later than its slices.

    It begins where the first step begins on the host, or with the first work of any device where that is
    sooner, and ends with the device's last work or last step.
    """

    device: int  #: index
    begin_ns: int
    end_ns: int
    start: Int64s  #: ns
    end: Int64s  #: ns
    kind: Int8s  #: CriticalKind
    row: Int64s  #: slice of the task, dequeue or enqueue; the innermost operator of the host; -1 where none
    stack: Int32s  #: of the host: string of the `Call stack` it is charged to, -1 where none
    frame: Int64s  #: of the host: row of the innermost python_function slice it is charged to, -1 where none
    backward: Bools  #: of the host: charged to an operator of the backward pass
    host_ways: HostWays

    def __len__(self) -> int:
        return len(self.start)

    @property
    def wall_ns(self) -> int:
        """The sum of the pieces."""
        return self.end_ns - self.begin_ns

    def by_kind(self, start_ns: int | None = None, end_ns: int | None = None) -> dict[CriticalKind, int]:
        """Sum the time in `[start_ns, end_ns)` by each of the four kinds, ns: they add up to its length."""
        begin = self.begin_ns if start_ns is None else start_ns
        end = self.end_ns if end_ns is None else max(begin, end_ns)
        inside = slice(*np.searchsorted(self.end, [begin], "right"), *np.searchsorted(self.start, [end]))
        ns = np.minimum(self.end[inside], end) - np.maximum(self.start[inside], begin)
        return {kind: int(ns[self.kind[inside] == kind].sum()) for kind in CriticalKind}


class _ChainStretches(NamedTuple):
    """Stretches of chains; columns of equal length."""

    point: Int64s  #: that the stretch leads to: it ends there, or where the task or dequeue before it ends
    start: Int64s
    end: Int64s
    kind: Int64s
    row: Int64s
    thread: Wholes  #: of the host, -1 else


def critical_chains(depends: Dependencies, host_time: HostTime) -> tuple[CriticalChain, ...]:
    """Return the critical chain of each device."""
    points, cause = depends.points, depends.points.bound_by
    causes = cause.data  # quick to index, as a list is, which takes five times the room
    step_device = points.device[depends.step_end]
    chains = []
    for device, last in enumerate(depends.device_end.tolist()):
        step_of_point = np.full(len(points), _ON_NO_WAY, np.int64)
        steps = np.flatnonzero(step_device == device)
        first_step = step_of_point.data  # a view: what is written to it, the array has
        for step, point in [*zip(steps.tolist(), depends.step_end[steps].tolist()), (-1, last)]:
            while point >= 0 and first_step[point] == _ON_NO_WAY:
                first_step[point] = step
                point = causes[point]
        on_chain, point = np.zeros(len(points), np.bool_), last
        while point >= 0:
            on_chain[point] = True
            point = causes[point]
        ends = np.flatnonzero(step_of_point != _ON_NO_WAY)
        stretches = _stretches(points, cause, ends, depends.begin)
        chains.append(_chain(device, depends, stretches, on_chain, step_of_point, host_time))
    return tuple(chains)


_ON_NO_WAY = -2


def _stretches(points: Points, cause: Int64s, ends: Int64s, begin: int) -> _ChainStretches:
    """Return the stretches that lead to points, `ends`: from their binding causes; without one, from `begin`.

    As long as a cause lasts, the stretch is the cause's own; then it is that of the point.
    """
    origins = cause[ends]
    unbound, ends, origins = ends[origins < 0], ends[origins >= 0], origins[origins >= 0]
    kind, origin_kind = (
        np.full(len(ends), CriticalKind.DEVICE, np.int64),
        np.full(len(ends), CriticalKind.DEVICE, np.int64),
    )
    point = points.point[ends]
    thread = points.thread[ends]
    kind[thread >= 0] = CriticalKind.HOST
    kind[point == Point.DEQUEUE] = CriticalKind.QUEUE
    kind[(point == Point.TASK) & (points.binding[ends] == Edge.LAUNCH)] = CriticalKind.LAUNCH
    origin_kind[points.point[origins] == Point.DEQUEUE] = CriticalKind.LAUNCH
    start, end = points.time[origins], points.time[ends]
    origin_end = np.minimum(start + points.lasts[origins], end)
    none = np.full(len(ends), -1, np.int64)
    unbound_kind = np.full(len(unbound), CriticalKind.DEVICE, np.int64)
    unbound_kind[points.thread[unbound] >= 0] = CriticalKind.HOST
    unbound_kind[points.point[unbound] == Point.DEQUEUE] = CriticalKind.QUEUE
    parts = (
        _ChainStretches(ends, origin_end, end, kind, points.row[ends], thread),
        _ChainStretches(ends, start, origin_end, origin_kind, points.row[origins], none),
        _ChainStretches(
            unbound,
            np.full(len(unbound), begin),
            points.time[unbound],
            unbound_kind,
            points.row[unbound],
            points.thread[unbound],
        ),
    )
    stretches = _ChainStretches(*(np.concatenate(columns) for columns in zip(*parts)))
    stretches = stretches._replace(start=np.maximum(stretches.start, begin))
    return _ChainStretches(*(column[stretches.start < stretches.end] for column in stretches))


def _chain(
    device: int,
    depends: Dependencies,
    stretches: _ChainStretches,
    on_chain: Bools,
    step: Int64s,
    host_time: HostTime,
) -> CriticalChain:
    """Return the chain of a device. `on_chain`, bool[points]; `step`, int64[points]: as of `HostWays`."""
    on_host = stretches.thread >= 0
    host = _ChainStretches(*(column[on_host] for column in stretches))
    device_side = _ChainStretches(*(column[~on_host & on_chain[stretches.point]] for column in stretches))
    pieces = host_time.pieces(host.thread, host.start, host.end)
    point = host.point[pieces.place]
    ways = HostWays(step[point], on_chain[point], pieces)
    pieces = HostPieces._make(column[ways.on_chain] for column in pieces)
    none, count = np.full(len(device_side.start), -1, np.int64), len(pieces.place)
    start = np.concatenate((device_side.start, pieces.start))
    order = np.argsort(start, kind="stable")
    return CriticalChain(
        device=device,
        begin_ns=depends.begin,
        end_ns=int(depends.points.time[depends.device_end[device]]),
        start=start[order],
        end=np.concatenate((device_side.end, pieces.end))[order],
        kind=np.concatenate((device_side.kind, np.full(count, CriticalKind.HOST))).astype(np.int8)[order],
        row=np.concatenate((device_side.row, pieces.operator))[order],
        stack=np.concatenate((none.astype(np.int32), pieces.stack))[order],
        frame=np.concatenate((none, pieces.frame))[order],
        backward=np.concatenate((none > 0, pieces.backward))[order],
        host_ways=ways,
    )
