"""Explain idle intervals: cut each at the milestones of the task that ends it, and say why each piece was.

For an interval [t0, t1) and its task: until it was enqueued, the host; from there until it was dequeued, the
task queue; until the end of its launch, the launch; then the device. The host's part follows the thread that
enqueued the task; before the first operator of a burst of the autograd thread, the thread that woke it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.gaps import IdleIntervals
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.host import Hosts
from tracetui.analysis.idle.milestones import Milestones, milestones
from tracetui.analysis.idle.naming import by_name
from tracetui.analysis.idle.pieces import Cuts, cut_by_cover
from tracetui.analysis.idle.streams import Streams
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.iterations import iteration_at, iterations
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import distinct, first_equal, of_category, pick, rows_of, track_of_rows
from tracetui.arrays import Bools, Int8s, Int64s
from tracetui.trace.dialects.known import KNOWN


class _CausePieces(NamedTuple):
    """Pieces of intervals, each with one cause; columns of equal length, slice rows, -1 for none."""

    interval: Int64s  #: place of the idle interval
    start: Int64s  #: ns
    end: Int64s
    cause: Int8s  #: a Cause
    operator: Int64s  #: the operator that is shown
    charged: Int64s  #: the operator to whose stack the piece is charged
    frame: Int64s  #: the frame of Python that the piece is charged to; -1: that of the operator
    wait: Int64s  #: the task that waited for an event on the stream
    track: Int64s  #: of the thread that is answerable, -1: none, or not known


class _Stretches(NamedTuple):
    """Parts of intervals during which one thread had not enqueued the task; columns of equal length."""

    interval: Int64s  #: place of the idle interval
    start: Int64s  #: ns
    end: Int64s
    thread: Int64s  #: index of the thread, -1: none is known
    following: Int64s  #: row of the operator of another thread that this one leads to, -1 for none


def explain(
    idle: IdleIntervals,
    chains: LaunchChains,
    hosts: Hosts,
    by_frame: bool = False,
    unrecorded: Sequence[tuple[int, int, int]] = (),
) -> Causes:
    """Return the causes of idle intervals; for each, pieces that sum to it.

    Args:
        idle: the intervals; they may overlap.
        chains: the chains of the tasks of their trace.
        hosts: its threads.
        by_frame: cut the host's pieces wherever a python_function frame begins or ends too, so that each is
            charged to the frame it is in. Always so where the trace has no `Call stack`.
        unrecorded: device, start and end, ns, of stretches in which a device did what is not recorded.
    """
    return _Explainer(idle, chains, hosts, by_frame, unrecorded).causes()


class _Explainer:
    def __init__(
        self,
        idle: IdleIntervals,
        chains: LaunchChains,
        hosts: Hosts,
        by_frame: bool,
        unrecorded: Sequence[tuple[int, int, int]],
    ) -> None:
        self._unrecorded = unrecorded
        self._trace, self._idle, self._chains, self._hosts = chains.trace, idle, chains, hosts
        self._by_frame = by_frame or not chains.trace.slices.have_stacks
        self._streams = Streams(chains)
        marks = milestones(chains)
        self._longest_latency = self._streams.latency_limit(marks)
        self._task_places = chains.index(idle.task)
        self._operator = pick(chains.operator, self._task_places)
        self._milestones = self._clip(marks)
        self._stretches = self._host_stretches()

    def causes(self) -> Causes:
        """Return the pieces of all intervals, by interval, then start."""
        parts = [
            self._unlinked_pieces(),
            *self._host_pieces(),
            self._queue_pieces(),
            self._launch_pieces(),
            self._device_pieces(),
        ]
        pieces = _CausePieces._make(np.concatenate(columns) for columns in zip(*parts))
        del parts  # as much memory again
        scheduler = self._hosts.scheduler
        if scheduler is not None:
            cuts, cause = scheduler.split(pieces.start, pieces.end, pieces.cause, pieces.track)
            pieces = _CausePieces._make(column[cuts.place] for column in pieces)
            pieces = pieces._replace(start=cuts.start, end=cuts.end, cause=cause)
        pieces = pieces._replace(cause=self._without_unrecorded(pieces))
        pieces = _merge(pieces, by_track=scheduler is not None)
        sites = self._hosts.callers.call_sites(pieces.charged)
        exposing, exposing_frame, exposing_thread = self._find_synchronising()
        exposed = self._hosts.callers.call_sites(exposing)
        return Causes(
            intervals=self._idle,
            interval=pieces.interval,
            start=pieces.start,
            end=pieces.end,
            cause=pieces.cause,
            operator=pieces.operator,
            stack=sites.stack,
            frame=np.where(pieces.frame >= 0, pieces.frame, sites.frame),
            backward=sites.backward,
            wait=pieces.wait,
            track=pieces.track,
            waited_for=self._streams.waited_for(pieces.wait),
            exposing=exposing,
            exposing_stack=exposed.stack,
            exposing_frame=np.where(exposing_frame >= 0, exposing_frame, exposed.frame),
            exposing_thread=exposing_thread,
        )

    def _clip(self, marks: Milestones) -> tuple[Int64s, Int64s, Int64s]:
        """Return enqueue, dequeue and end of the launch of each interval's task, clipped to the interval; ns.

        An unlinked task has all three at the end of its interval, so that the whole of it is the host's; or
        at its start where the task was launched with the iteration of a graph that had begun before.
        """
        start, end, places = self._idle.start, self._idle.end, self._task_places
        enqueued, dequeued, launched = (pick(mark, places) for mark in marks)
        unlinked = np.where(self._within_iteration, start, end)
        enqueue = np.where(enqueued < 0, unlinked, np.clip(enqueued, start, end))
        dequeue = np.where(enqueued < 0, unlinked, np.clip(dequeued, enqueue, end))
        launch = np.where(enqueued < 0, unlinked, np.clip(launched, dequeue, end))
        return enqueue, dequeue, launch

    @cached_property
    def _within_iteration(self) -> Bools:
        """For each interval, whether it begins and ends in one iteration of a graph."""
        inside = np.zeros(len(self._task_places), np.bool_)
        for index, device in enumerate(self._trace.devices):
            device_iterations = iterations(self._trace, device)
            if device_iterations:
                on_device = self._idle.device == index
                place = iteration_at(device_iterations, self._idle.start[on_device])
                inside[on_device] = (place >= 0) & (
                    place == iteration_at(device_iterations, self._idle.end[on_device])
                )
        return inside

    def _without_unrecorded(self, pieces: _CausePieces) -> Int8s:
        """Return the causes of pieces; those without a reason in stretches that lack work are UNSEEN."""
        if not self._unrecorded:
            return pieces.cause
        cause: Int8s = pieces.cause.copy()
        device = self._idle.device[pieces.interval]
        middle = pieces.start + (pieces.end - pieces.start) // 2
        without_reason = np.isin(cause, (Cause.UNKNOWN, Cause.GRAPH))
        for number, start, end in self._unrecorded:
            cause[without_reason & (device == number) & (start <= middle) & (middle < end)] = Cause.UNSEEN
        return cause

    # -- the host -------------------------------------------------------------------------------------

    def _host_stretches(self) -> _Stretches:
        """Return the part of each interval before its enqueue, with the thread that was to enqueue.

        On an autograd thread, what comes before the first operator of a burst belongs to the thread that woke
        it.
        """
        rows = (self._chains.launch, self._chains.operator, self._chains.enqueue)
        thread = self._hosts.of_tasks(*(pick(column, self._task_places) for column in rows))
        start, end = self._idle.start, self._milestones[0]
        interval = np.arange(len(start))
        none = np.full(len(start), -1, np.int64)
        parts = []
        for index in distinct(thread).tolist():
            (members,) = np.nonzero(thread == index)
            burst = self._hosts.burst(index) if index >= 0 else None
            if burst is None:
                parts.append(
                    _Stretches(
                        interval[members], start[members], end[members], thread[members], none[members]
                    )
                )
                continue
            place = np.searchsorted(burst.starts, end[members], "right") - 1
            wake = np.clip(
                np.where(place < 0, start[members], burst.starts[place]), start[members], end[members]
            )
            waker, first = np.full(len(members), burst.waker), pick(burst.operators, place)
            parts.append(_Stretches(interval[members], start[members], wake, waker, first))
            parts.append(_Stretches(interval[members], wake, end[members], thread[members], none[members]))
        empty = _Stretches(*(np.empty(0, np.int64) for _ in _Stretches._fields))
        stretches = _Stretches(*(np.concatenate(columns) for columns in zip(empty, *parts)))
        return _Stretches(*(column[stretches.start < stretches.end] for column in stretches))

    def _unlinked_pieces(self) -> _CausePieces:
        """Return the pieces of the host of which no thread is known."""
        rows = np.flatnonzero(self._stretches.thread < 0)
        none = np.full(len(rows), -1, np.int64)
        interval, start, end = (column[rows] for column in self._stretches[:3])
        return _CausePieces(
            interval, start, end, _repeat_cause(Cause.UNLINKED, rows), none, none, none, none, none
        )

    def _host_pieces(self) -> list[_CausePieces]:
        """Return the pieces of each thread, cut wherever it begins to do something else."""
        parts = []
        for index in distinct(self._stretches.thread[self._stretches.thread >= 0]).tolist():
            stretches = _Stretches(*(column[self._stretches.thread == index] for column in self._stretches))
            thread = self._hosts.thread(index)
            cuts = thread.cut(stretches.start, stretches.end, self._by_frame)
            operator, charged, frame = self._hosts.charged(index, cuts.start, stretches.following[cuts.place])
            cause = thread.causes(cuts.start, operator)
            none = np.full(len(cause), -1, np.int64)
            interval = stretches.interval[cuts.place]
            track = np.full(len(cause), thread.track.index)
            parts.append(
                _CausePieces(interval, cuts.start, cuts.end, cause, operator, charged, frame, none, track)
            )
        return parts

    def _find_synchronising(self) -> tuple[Int64s, Int64s, Int64s]:
        """Return what synchronised when each interval began: operator, frame if none ran, and index of the
        thread.

        Each is int64[intervals], -1 for none.
        """
        exposing, frame, thread = (np.full(len(self._task_places), -1, np.int64) for _ in range(3))
        first = self._stretches.start == self._idle.start[self._stretches.interval]
        for index in distinct(self._stretches.thread[first & (self._stretches.thread >= 0)]).tolist():
            synchronising = self._hosts.thread(index).spans.get(Cause.SYNC)
            if synchronising is None:
                continue
            (members,) = np.nonzero(first & (self._stretches.thread == index))
            place = synchronising.index_at(self._stretches.start[members])
            members = members[(place >= 0) & (synchronising.starts[place] < self._stretches.start[members])]
            interval = self._stretches.interval[members]
            times, following = self._stretches.start[members], self._stretches.following[members]
            _, exposing[interval], frame[interval] = self._hosts.charged(index, times, following)
            thread[interval] = index
        return exposing, frame, thread

    # -- queue, launch, device ------------------------------------------------------------------------

    def _queue_pieces(self) -> _CausePieces:
        """Return the pieces between enqueue and dequeue: covered by Dequeue slices of the thread, or not.

        Where threads hand work on to each other, anything that one of them does with that work covers.
        """
        rows = pick(self._chains.dequeue, self._task_places)
        stages = self._hosts.callers.stages

        def busy(track: int) -> Intervals:
            rows_on_track = rows_of([self._trace.tracks[track]])
            dequeues = rows_on_track[
                of_category(
                    self._trace, self._trace.slices.category[rows_on_track], KNOWN.categories.dequeues
                )
            ]
            return self._union_of_rows(dequeues if len(dequeues) else stages)

        enqueue, dequeue, _ = self._milestones
        tracks = self._tracks_of_rows(rows)
        cuts, inside = cut_by_cover(enqueue, dequeue, tracks, busy)
        return self._pieces_of_tasks(cuts, np.where(inside, Cause.QUEUE_BUSY, Cause.QUEUE_WAKEUP), tracks)

    def _launch_pieces(self) -> _CausePieces:
        """Return the pieces between dequeue and the end of the launch: covered by compiling calls, or not."""
        rows = pick(self._chains.launch, self._task_places)

        def compiling(track: int) -> Intervals:
            rows_on_track = rows_of([self._trace.tracks[track]])
            return self._union_of_rows(
                rows_on_track[by_name(self._trace, rows_on_track, calls.compiles_at_launch) == 1]
            )

        _, dequeue, launch = self._milestones
        tracks = self._tracks_of_rows(rows)
        cuts, inside = cut_by_cover(dequeue, launch, tracks, compiling)
        dequeue_tracks = self._tracks_of_rows(pick(self._chains.dequeue, self._task_places))
        tracks = np.where(tracks >= 0, tracks, dequeue_tracks)
        return self._pieces_of_tasks(
            cuts, np.where(inside, Cause.LAUNCH_COMPILE, Cause.LAUNCH_DISPATCH), tracks
        )

    def _device_pieces(self) -> _CausePieces:
        """Return the pieces after the launch: covered by waits of the stream, inside a graph, as long as
        usual, or unknown.
        """
        streams = self._streams.of_tasks(self._idle.task)
        cuts, inside = cut_by_cover(self._milestones[2], self._idle.end, streams, self._streams.waits)
        usual = np.where(cuts.end - cuts.start <= self._longest_latency, Cause.LATENCY, Cause.UNKNOWN)
        usual = np.where(self._within_graph[cuts.place], Cause.GRAPH, usual)
        nobody = np.full(len(streams), -1, np.int64)
        pieces = self._pieces_of_tasks(cuts, np.where(inside, Cause.STREAM_WAIT, usual), nobody)
        pieces.wait[inside] = self._streams.wait_at(streams[cuts.place[inside]], cuts.start[inside])
        return pieces

    @cached_property
    def _within_graph(self) -> Bools:
        """For each interval, whether its task follows another one of the same launch of a graph.

        Where no launch is recorded, whether it lies in the same iteration as the one before.
        """
        starts = self._trace.slices.start
        graph = self._chains.launch >= 0
        graph[graph] = by_name(self._trace, self._chains.launch[graph], calls.launches_graph) == 1
        launch, tasks = self._chains.launch[graph], self._chains.tasks[graph]
        order = np.argsort(starts[tasks], kind="stable")
        first = pick(tasks[order], first_equal(launch[order], pick(self._chains.launch, self._task_places)))
        follows = first >= 0
        follows[follows] = starts[first[follows]] < self._idle.end[follows]
        return follows | (self._within_iteration & (pick(self._chains.launch_point, self._task_places) < 0))

    def _pieces_of_tasks(self, cuts: Cuts, cause: Int64s, tracks: Int64s) -> _CausePieces:
        """Return pieces charged to the operators of the tasks; `tracks` are answerable, one an interval."""
        operator, none = self._operator[cuts.place], np.full(len(cause), -1, np.int64)
        codes, track = cause.astype(np.int8), tracks[cuts.place]
        return _CausePieces(
            cuts.place, cuts.start, cuts.end, codes, operator, operator, none, none.copy(), track
        )

    def _tracks_of_rows(self, rows: Int64s) -> Int64s:
        return track_of_rows(self._trace, rows).astype(np.int64)

    def _union_of_rows(self, rows: Int64s) -> Intervals:
        return union(self._trace.slices.start[rows], self._trace.slices.end[rows])


def _merge(pieces: _CausePieces, by_track: bool) -> _CausePieces:
    """Return the pieces by interval, then start; neighbours that differ in nothing but their time as one.

    by_track : those of different threads stay apart.
    """
    if not len(pieces.start):
        return pieces
    order = np.lexsort((pieces.start, pieces.interval))
    differs = np.zeros(len(order) - 1, np.bool_)
    columns = pieces.interval, pieces.cause, pieces.operator, pieces.charged, pieces.frame, pieces.wait
    for column in (*columns, pieces.track) if by_track else columns:
        ordered = column[order]
        differs |= ordered[1:] != ordered[:-1]
    opens = order[np.concatenate(([True], differs))]
    closes = order[np.concatenate((differs, [True]))]
    return _CausePieces._make(column[opens] for column in pieces)._replace(end=pieces.end[closes])


def _repeat_cause(cause: Cause, rows: Int64s) -> Int8s:
    return np.full(len(rows), cause, np.int8)
