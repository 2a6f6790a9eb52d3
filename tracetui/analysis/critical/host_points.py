"""The points of the host's threads: where they enqueue, synchronise, wake the autograd thread or wait for it.

Knows when a synchronisation begins and ends, not yet what it waits for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.critical.host_time import autograd_bursts
from tracetui.analysis.critical.points import Edge, Point, Points, points
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.intervals import NOTHING, Intervals, time_of, union
from tracetui.analysis.search import distinct, name_meanings, rows_of
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s, searchsorted
from tracetui.trace.model import Family, Trace


class _Part(NamedTuple):
    """Points of one kind; columns of equal length."""

    point: Point
    time: Int64s
    thread: Int64s
    row: Int64s
    waits_for: Int64s  #: place in all parts of the point that it waits for, -1 where none


def host_points(
    trace: Trace,
    host_threads: HostThreads,
    steps: Sequence[Step],
    enqueue: Int64s,
    time: Int64s,
    thread: Int64s,
    blocking: Int64s,
) -> tuple[Points, Int64s]:
    """Return the points of all threads, and of each SYNC_END the place of its SYNC, -1 of all others.

    Args:
        host_threads: its threads.
        steps: the steps, whose ends on the host are points.
        enqueue: slice rows of what enqueues (or launches), the first of the points; -1 where not known.
        time: ns of each.
        thread: its thread.
        blocking: rows of operators that wait for the device as a whole, where no calls are recorded.
    """
    parts = [_Part(Point.ENQUEUE, time, thread, enqueue, np.full(len(time), -1, np.int64))]
    count = len(time)
    for index, bursts in autograd_bursts(trace, host_threads):
        parts += _burst_points(host_threads, trace, index, bursts.waker, bursts.starts, count)
        count += sum(len(part.time) for part in parts[-4:])
    rows = np.array([step.row for step in steps], np.int64)
    ends = np.array([step.host_end_ns for step in steps], np.int64)
    threads_of_steps = host_threads.of_rows(rows)
    none = np.full(len(rows), -1, np.int64)
    on_thread = threads_of_steps >= 0
    parts.append(
        _Part(Point.STEP_END, ends[on_thread], threads_of_steps[on_thread], rows[on_thread], none[on_thread])
    )
    used = distinct(np.concatenate([part.thread for part in parts]))
    first = sum(len(part.time) for part in parts)
    begins = []
    for index, spans in _synchronisations(trace, host_threads, used, blocking):
        thread_of, none = np.full(len(spans), index), np.full(len(spans), -1, np.int64)
        parts.append(_Part(Point.SYNC, spans.starts, thread_of, none, none))
        parts.append(_Part(Point.SYNC_END, spans.ends, thread_of, none, none))
        begins.append(np.concatenate((none, first + np.arange(len(spans)))))
        first += 2 * len(spans)
    chained = points(
        np.concatenate([np.full(len(part.time), part.point, np.int8) for part in parts]),
        np.concatenate([part.time for part in parts]),
        row=np.concatenate([part.row for part in parts]),
        thread=np.concatenate([part.thread for part in parts]),
    )
    sync = np.full(len(chained), -1, np.int64)
    if begins:
        sync[-sum(map(len, begins)) :] = np.concatenate(begins)
    waits = np.concatenate([part.waits_for for part in parts])
    chained.cause[Edge.WAIT] = waits
    chained.binding[:] = np.where(waits >= 0, Edge.WAIT, Edge.BEFORE)
    _chain_points(chained)
    return chained, sync


def _chain_points(host: Points) -> None:
    """Let each point follow the one before it on its thread."""
    order = np.lexsort((np.arange(len(host)), host.point, host.time, host.thread))
    same_thread = host.thread[order[1:]] == host.thread[order[:-1]]
    host.cause[Edge.BEFORE, order[1:][same_thread]] = order[:-1][same_thread]


def _burst_points(
    host_threads: HostThreads, trace: Trace, index: int, waker: int, starts: Int64s, first: int
) -> list[_Part]:
    """Return where a thread wakes the autograd thread, this begins and ends, and the waker goes on.

    The waker waits for the end if it begins no operator before.
    """
    thread, count = host_threads.thread(index), len(starts)
    burst_of_operator = searchsorted(starts, thread.starts, "right") - 1
    ends = starts.copy()
    np.maximum.at(
        ends,
        burst_of_operator[burst_of_operator >= 0],
        trace.slices.end[thread.operators[burst_of_operator >= 0]],
    )
    ends[:-1] = np.minimum(ends[:-1], starts[1:])
    waker_starts = host_threads.thread(waker).starts
    joins = searchsorted(waker_starts, starts) == searchsorted(waker_starts, ends)
    none, numbers = np.full(count, -1, np.int64), np.arange(count)
    autograd, wakers = np.full(count, index), np.full(count, waker)
    return [
        _Part(Point.WAKER, starts, wakers, none, none),
        _Part(Point.BURST, starts, autograd, none, first + numbers),
        _Part(Point.BURST_END, ends, autograd, none, none),
        _Part(Point.JOINED, ends[joins], wakers[joins], none[joins], (first + 2 * count + numbers)[joins]),
    ]


def _synchronisations(
    trace: Trace, host_threads: HostThreads, threads: Int64s, blocking: Int64s
) -> list[tuple[int, Intervals]]:
    """Return when threads synchronise: in the runtime's calls; without any in the trace, the operators."""
    rows = rows_of(track for track in trace.tracks if track.family == Family.CALLS)
    if len(rows):
        blocking = blocking[:0]
    rows = rows[name_meanings(trace, rows, calls.cause_of_call) == Cause.SYNC]
    threads_of_rows = host_threads.of_rows(rows)
    spans = []
    for index in threads.tolist():
        on_thread = rows[threads_of_rows == index]
        operators = time_of(trace.slices, on_thread)
        named = host_threads.thread(index).spans.get(Cause.SYNC, NOTHING)
        on_thread = blocking[host_threads.of_rows(blocking) == index]
        starts = np.concatenate((named.starts, trace.slices.start[on_thread]))
        named = union(starts, np.concatenate((named.ends, trace.slices.end[on_thread])))
        covered = distinct(named.index_at(operators.starts))
        unnamed = np.setdiff1d(np.arange(len(named)), covered)
        both_sets = union(
            np.concatenate((operators.starts, named.starts[unnamed])),
            np.concatenate((operators.ends, named.ends[unnamed])),
        )
        if len(both_sets):
            spans.append((index, both_sets))
    return spans
