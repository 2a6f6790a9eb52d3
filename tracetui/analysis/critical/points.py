"""The points of a run at which something began or ended, and what each waited for. Knows no trace.

The cause of a point that came last is binding: its lag is the measured distance to the point. The lag of any
other cause is the time that is usual for its kind. So the longest path over all causes gives back every
measured time exactly, and predicts the times when some lags change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.analysis.search import group_by
from tracetui.arrays import Bools, Int8s, Int32s, Int64s


class Point(IntEnum):
    """What begins, or ends, at a point; of several at one time the lower comes first."""

    WAKER = 0  #: a thread leaves the work to the autograd thread
    BURST = 1  #: the autograd thread begins
    BURST_END = 2
    JOINED = 3  #: the waker goes on
    STEP_END = 4  #: of the host
    ENQUEUE = 5  #: a thread enqueues a task; without a queue, has launched it, or it starts
    SYNC = 6  #: a thread begins to synchronise
    SYNC_END = 7
    DEQUEUE = 8
    PEER = 9  #: the last peer comes to a collective that waited for it
    #: work of the device begins; of a wait of a stream, its end; of a collective that waited for a peer, the
    #: end of that: from there on data moves
    TASK = 10
    DONE = 11  #: the last work of a stream before the end of a step
    END = 12  #: of a step on a device, or of the whole window


class Edge(IntEnum):
    """The kinds of causes of a point."""

    BEFORE = 0  #: the point before on the same thread or stream; of an END, the end of the step on the host
    LAUNCH = 1  #: the enqueue of a dequeue; the dequeue, or launch, of a task
    WAIT = 2  #: what else it waited for


@dataclass(frozen=True, eq=False)
class Points:
    """Points and their causes; columns of equal length, causes and lags in a row for each of `Edge`.

    `finish_points` puts them in causal order: then times are sorted, and each cause comes before its point.
    """

    point: Int8s  #: Point
    time: Int64s  #: ns
    lasts: Int64s  #: ns that the task or dequeue that begins there lasts; 0 for all others
    row: Int64s  #: slice row of the task, dequeue or enqueue, -1 where none
    thread: Int32s  #: index of the host thread, -1 off the host
    device: Int32s  #: index of the device, -1 off the devices
    cause: Int32s  #: int32[3, n]: place of the cause, -1 where none
    lag: Int64s  #: int64[3, n]: ns after the cause at which it allows the point
    binding: Int8s  #: Edge of the cause that came last, -1 where there is none

    def __len__(self) -> int:
        return len(self.time)

    @property
    def bound_by(self) -> Int64s:
        """The place of the binding cause of each point, -1 where there is none."""
        (places,) = np.nonzero(self.binding >= 0)
        bounding = np.full(len(self), -1, np.int64)
        bounding[places] = self.cause[self.binding[places], places]
        return bounding

    @property
    def works(self) -> Bools:
        """Whether the host worked since the point before on the thread, or the beginning; bool[points]."""
        return (self.thread >= 0) & (self.binding <= Edge.BEFORE)


def points(
    point: Point | Int8s,
    time: Int64s,
    lasts: Int64s | None = None,
    row: Int64s | None = None,
    thread: Int64s | None = None,
    device: Int64s | None = None,
) -> Points:
    """Return points without causes, to be filled in."""
    count = len(time)
    none = np.full(count, -1, np.int32)
    return Points(
        point=np.full(count, point, np.int8) if isinstance(point, Point) else point,
        time=time,
        lasts=np.zeros(count, np.int64) if lasts is None else lasts,
        row=none.astype(np.int64) if row is None else row,
        thread=none if thread is None else thread.astype(np.int32),
        device=none if device is None else device.astype(np.int32),
        cause=np.full((len(Edge), count), -1, np.int32),
        lag=np.zeros((len(Edge), count), np.int64),
        binding=np.full(count, -1, np.int8),
    )


def finish_points(parts: Sequence[Points]) -> tuple[Points, Int64s]:
    """Return all points in causal order, and the new place of each point of the parts, int64[points].

    Causes that do not come before their point are left out; the lag of the binding one becomes its distance,
    that of any other at most its own. Work of a device without a cause follows the work before it there.

    The parts are used up: there is no room for two of all points, so their columns go one by one.
    """

    def joined(name: str) -> NDArray[Any]:
        """Return a column of all parts, which have it no more."""
        return np.concatenate([vars(part).pop(name) for part in parts], axis=-1)

    time, point = joined("time"), joined("point")
    order = np.lexsort((point, time))
    place = np.empty(len(time), np.int64)
    place[order] = numbers = np.arange(len(time))
    time, point = time[order], point[order]
    lasts, row, thread, device, binding = (
        joined(name)[order] for name in ("lasts", "row", "thread", "device", "binding")
    )
    lag = joined("lag")[:, order]
    cause = np.append(place, -1).astype(np.int32)[joined("cause")[:, order]]
    cause[cause >= numbers] = -1
    without_cause = (cause < 0).all(axis=0) & (device >= 0)
    cause[Edge.BEFORE, without_cause] = _previous_points(device, without_cause)
    distance = np.empty(cause.shape, np.int64)
    for edge in Edge:
        np.subtract(time, time[cause[edge]], out=distance[edge])
    distance[cause < 0] = np.iinfo(np.int64).max
    is_bound = binding >= 0
    is_bound[is_bound] = cause[binding[is_bound], numbers[is_bound]] >= 0
    nearest = distance.argmin(axis=0).astype(np.int8)
    binding = np.where(is_bound, binding, np.where((cause >= 0).any(axis=0), nearest, -1))
    np.minimum(lag, distance, out=lag)
    lag[cause < 0] = 0
    (bound,) = np.nonzero(binding >= 0)
    lag[binding[bound], bound] = distance[binding[bound], bound]
    return Points(point, time, lasts, row, thread, device, cause, lag, binding), place


def _previous_points(device: Int32s, selected: Bools) -> Int64s:
    """Return the point before each selected one on its device, int64[selected], -1 for none."""
    previous = np.full(len(device), -1, np.int64)
    for index, on_device in group_by(device) if selected.any() else ():
        if index >= 0:
            previous[on_device[1:]] = on_device[:-1]
    return previous[selected]
