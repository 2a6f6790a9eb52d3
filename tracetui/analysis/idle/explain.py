"""Explain idle intervals: cut each at the milestones of the task that ends it, and give each piece a cause.

Until the task was enqueued, the host is to blame; from there until it was dequeued, the task queue; until its
launch ended, the launch; and then the device. The host's part is blamed on the thread that enqueued the task.
Where that is an autograd thread, the time before the first operator of a burst is blamed on the thread that
woke it.
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
from tracetui.analysis.idle.pieces import Cuts, cut_by_cover
from tracetui.analysis.idle.streams import Streams
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.iterations import iteration_at, iterations
from tracetui.analysis.launch_chains import LaunchChains, Milestones, milestones
from tracetui.analysis.search import by_name, distinct, first_equal, of_category, pick, rows_of, track_of_rows
from tracetui.arrays import Bools, Int8s, Int64s
from tracetui.trace.dialects.known import KNOWN


class _CausePieces(NamedTuple):
    """Pieces of intervals, each with one cause; columns of equal length, rows of slices, -1 for none."""

    interval: Int64s  #: place of the idle interval
    start: Int64s  #: ns
    end: Int64s
    cause: Int8s  #: a Cause
    operator: Int64s  #: row of the operator that is shown
    charged: Int64s  #: row of the operator to whose stack the piece is charged
    frame: Int64s  #: row of the Python frame that is charged; -1: the frame of the charged operator
    wait: Int64s  #: row of the task that waited for an event on the stream
    track: Int64s  #: track of the thread that is to blame; -1: none, or not known


class _HostParts(NamedTuple):
    """Parts of intervals in which one thread had not yet enqueued the task; columns of equal length."""

    interval: Int64s  #: place of the idle interval
    start: Int64s  #: ns
    end: Int64s
    thread: Int64s  #: index of the thread, -1: none is known
    handoff: Int64s  #: row of the operator on another thread that this thread's work leads to, -1 for none


class UnrecordedSpan(NamedTuple):
    """A stretch of time in which work of a device is not recorded."""

    device: int | None  #: index; None: any device may have run tasks that were launched and are lost
    start: int  #: ns
    end: int


def explain(
    idle: IdleIntervals,
    chains: LaunchChains,
    hosts: Hosts,
    by_frame: bool = False,
    unrecorded: Sequence[UnrecordedSpan] = (),
) -> Causes:
    """Return the causes of idle intervals: the pieces of each add up to its length.

    Args:
        idle: the intervals; they may overlap.
        chains: the chains of the tasks of their trace.
        hosts: its threads.
        by_frame: cut the host's pieces wherever a python_function frame begins or ends too, so that each is
            charged to the frame it is in. Traces without `Call stack` are always cut so.
        unrecorded: spans in which work of devices is not recorded; they may overlap.
    """
    return _Explainer(idle, chains, hosts, by_frame, unrecorded).causes()


class _Explainer:
    def __init__(
        self,
        idle: IdleIntervals,
        chains: LaunchChains,
        hosts: Hosts,
        by_frame: bool,
        unrecorded: Sequence[UnrecordedSpan],
    ) -> None:
        self._unrecorded = unrecorded
        self._trace, self._idle, self._chains, self._hosts = chains.trace, idle, chains, hosts
        self._by_frame = by_frame or not chains.trace.slices.have_stacks
        self._streams = Streams(chains)
        marks = milestones(chains)
        self._usual_latency_limit = self._streams.latency_limit(marks)
        self._task_places = chains.index(idle.task)
        self._operator = pick(chains.operator, self._task_places)
        self._milestones = self._clip(marks)
        self._host_parts = self._find_host_parts()

    def causes(self) -> Causes:
        """Return the pieces of all intervals, by interval, then start."""
        parts = [
            self._pieces_without_thread(),
            *self._host_pieces(),
            self._queue_pieces(),
            self._launch_pieces(),
            self._device_pieces(),
        ]
        pieces = _CausePieces._make(np.concatenate(columns) for columns in zip(*parts))
        del parts  # a second copy of all pieces
        scheduler = self._hosts.scheduler
        if scheduler is not None:
            cuts, cause = scheduler.split(pieces.start, pieces.end, pieces.cause, pieces.track)
            pieces = _CausePieces._make(column[cuts.place] for column in pieces)
            pieces = pieces._replace(start=cuts.start, end=cuts.end, cause=cause)
        pieces = pieces._replace(cause=self._mark_unseen(pieces))
        pieces = _merge(pieces, by_track=scheduler is not None)
        charged_sites = self._hosts.callers.call_sites(pieces.charged)
        synchronising, synchronising_frame, synchronising_thread = self._find_synchronising()
        sync_sites = self._hosts.callers.call_sites(synchronising)
        return Causes(
            intervals=self._idle,
            interval=pieces.interval,
            start=pieces.start,
            end=pieces.end,
            cause=pieces.cause,
            operator=pieces.operator,
            stack=charged_sites.stack,
            frame=np.where(pieces.frame >= 0, pieces.frame, charged_sites.frame),
            backward=charged_sites.backward,
            wait=pieces.wait,
            track=pieces.track,
            waited_for=self._streams.waited_for(pieces.wait),
            synchronising=synchronising,
            synchronising_stack=sync_sites.stack,
            synchronising_frame=np.where(synchronising_frame >= 0, synchronising_frame, sync_sites.frame),
            synchronising_thread=synchronising_thread,
        )

    def _clip(self, marks: Milestones) -> Milestones:
        """Return the milestones of each interval's task, clipped to the interval: one row an interval, ns.

        A task without enqueue has all three at the end of its interval: all of it is the host's. Where the
        interval lies inside one iteration of a graph, they are at its start: all of it is the device's.
        """
        start, end, places = self._idle.start, self._idle.end, self._task_places
        enqueued, dequeued, launched = (pick(mark, places) for mark in marks)
        time_if_none = np.where(self._within_iteration, start, end)
        no_enqueue = enqueued < 0
        enqueued = np.where(no_enqueue, time_if_none, np.clip(enqueued, start, end))
        dequeued = np.where(no_enqueue, time_if_none, np.clip(dequeued, enqueued, end))
        launched = np.where(no_enqueue, time_if_none, np.clip(launched, dequeued, end))
        return Milestones(enqueued, dequeued, launched)

    @cached_property
    def _within_iteration(self) -> Bools:
        """Whether each interval begins and ends in one iteration of a graph; bool[intervals]."""
        within = np.zeros(len(self._task_places), np.bool_)
        for index, device in enumerate(self._trace.devices):
            device_iterations = iterations(self._trace, device)
            if device_iterations:
                on_device = self._idle.device == index
                place = iteration_at(device_iterations, self._idle.start[on_device])
                within[on_device] = (place >= 0) & (
                    place == iteration_at(device_iterations, self._idle.end[on_device])
                )
        return within

    def _mark_unseen(self, pieces: _CausePieces) -> Int8s:
        """Return the causes of pieces, int8[pieces]: UNSEEN where the middle is in an unrecorded span.

        A span of one device marks only UNKNOWN and GRAPH pieces; where tasks of any device were lost it marks
        all, since the device may not have waited at all.
        """
        if not self._unrecorded:
            return pieces.cause
        cause: Int8s = pieces.cause.copy()
        device = self._idle.device[pieces.interval]
        middle = pieces.start + (pieces.end - pieces.start) // 2
        without_reason = np.isin(cause, (Cause.UNKNOWN, Cause.GRAPH))
        for span in self._unrecorded:
            is_unseen = (span.start <= middle) & (middle < span.end)
            if span.device is not None:
                is_unseen &= without_reason & (device == span.device)
            cause[is_unseen] = Cause.UNSEEN
        return cause

    # -- the host -------------------------------------------------------------------------------------

    def _find_host_parts(self) -> _HostParts:
        """Return the part of each interval before its enqueue, with the thread that should have enqueued.

        On an autograd thread, what comes before the first operator of a burst belongs to the thread that woke
        it.
        """
        columns = (self._chains.launch, self._chains.operator, self._chains.enqueue)
        thread = self._hosts.of_tasks(*(pick(column, self._task_places) for column in columns))
        start, end = self._idle.start, self._milestones.enqueued
        interval = np.arange(len(start))
        none = np.full(len(start), -1, np.int64)
        parts = []
        for index in distinct(thread).tolist():
            (members,) = np.nonzero(thread == index)
            burst = self._hosts.burst(index) if index >= 0 else None
            if burst is None:
                parts.append(
                    _HostParts(
                        interval[members], start[members], end[members], thread[members], none[members]
                    )
                )
                continue
            place = np.searchsorted(burst.starts, end[members], "right") - 1
            burst_start = np.clip(
                np.where(place < 0, start[members], burst.starts[place]), start[members], end[members]
            )
            waker, first_operator = np.full(len(members), burst.waker), pick(burst.operators, place)
            parts.append(_HostParts(interval[members], start[members], burst_start, waker, first_operator))
            parts.append(
                _HostParts(interval[members], burst_start, end[members], thread[members], none[members])
            )
        empty = _HostParts(*(np.empty(0, np.int64) for _ in _HostParts._fields))
        host_parts = _HostParts(*(np.concatenate(columns) for columns in zip(empty, *parts)))
        return _HostParts(*(column[host_parts.start < host_parts.end] for column in host_parts))

    def _pieces_without_thread(self) -> _CausePieces:
        """Return the host's pieces whose thread is not known, or has no operators."""
        places = np.flatnonzero(self._host_parts.thread < 0)
        none = np.full(len(places), -1, np.int64)
        interval, start, end = (column[places] for column in self._host_parts[:3])
        return _CausePieces(
            interval, start, end, _repeat_cause(Cause.UNLINKED, len(places)), none, none, none, none, none
        )

    def _host_pieces(self) -> list[_CausePieces]:
        """Return the pieces of each thread, cut wherever it begins to do something else."""
        parts = []
        for index in distinct(self._host_parts.thread[self._host_parts.thread >= 0]).tolist():
            host_parts = _HostParts(
                *(column[self._host_parts.thread == index] for column in self._host_parts)
            )
            thread = self._hosts.thread(index)
            cuts = thread.cut(host_parts.start, host_parts.end, self._by_frame)
            operator, charged, frame = self._hosts.charged(index, cuts.start, host_parts.handoff[cuts.place])
            cause = thread.causes(cuts.start, operator)
            none = np.full(len(cause), -1, np.int64)
            interval = host_parts.interval[cuts.place]
            track = np.full(len(cause), thread.track.index)
            parts.append(
                _CausePieces(interval, cuts.start, cuts.end, cause, operator, charged, frame, none, track)
            )
        return parts

    def _find_synchronising(self) -> tuple[Int64s, Int64s, Int64s]:
        """Return what synchronised when each interval began: the operator, else the frame, and the thread.

        Each is int64[intervals], -1 for none.
        """
        synchronising, frame, thread = (np.full(len(self._task_places), -1, np.int64) for _ in range(3))
        at_start = self._host_parts.start == self._idle.start[self._host_parts.interval]
        for index in distinct(self._host_parts.thread[at_start & (self._host_parts.thread >= 0)]).tolist():
            spans = self._hosts.thread(index).spans.get(Cause.SYNC)
            if spans is None:
                continue
            (members,) = np.nonzero(at_start & (self._host_parts.thread == index))
            place = spans.index_at(self._host_parts.start[members])
            members = members[(place >= 0) & (spans.starts[place] < self._host_parts.start[members])]
            interval = self._host_parts.interval[members]
            times, handoff = self._host_parts.start[members], self._host_parts.handoff[members]
            _, synchronising[interval], frame[interval] = self._hosts.charged(index, times, handoff)
            thread[interval] = index
        return synchronising, frame, thread

    # -- queue, launch, device ------------------------------------------------------------------------

    def _queue_pieces(self) -> _CausePieces:
        """Return the pieces between enqueue and dequeue: the queue is busy where the thread dequeues.

        On a track without Dequeue slices it is busy while any thread handles work that another handed to it.
        """
        rows = pick(self._chains.dequeue, self._task_places)
        handed_over = self._hosts.callers.work_takers

        def busy_intervals(track: int) -> Intervals:
            rows_on_track = rows_of([self._trace.tracks[track]])
            dequeues = rows_on_track[
                of_category(
                    self._trace, self._trace.slices.category[rows_on_track], KNOWN.categories.dequeues
                )
            ]
            return self._union_of_rows(dequeues if len(dequeues) else handed_over)

        enqueued, dequeued, _ = self._milestones
        tracks = self._tracks_of_rows(rows)
        cuts, covered = cut_by_cover(enqueued, dequeued, tracks, busy_intervals)
        return self._pieces_of_tasks(cuts, np.where(covered, Cause.QUEUE_BUSY, Cause.QUEUE_WAKEUP), tracks)

    def _launch_pieces(self) -> _CausePieces:
        """Return the pieces between dequeue and the end of the launch, those inside compiling calls apart."""
        rows = pick(self._chains.launch, self._task_places)

        def compiling_intervals(track: int) -> Intervals:
            rows_on_track = rows_of([self._trace.tracks[track]])
            return self._union_of_rows(
                rows_on_track[by_name(self._trace, rows_on_track, calls.compiles_at_launch) == 1]
            )

        _, dequeued, launched = self._milestones
        tracks = self._tracks_of_rows(rows)
        cuts, covered = cut_by_cover(dequeued, launched, tracks, compiling_intervals)
        dequeue_tracks = self._tracks_of_rows(pick(self._chains.dequeue, self._task_places))
        tracks = np.where(tracks >= 0, tracks, dequeue_tracks)
        return self._pieces_of_tasks(
            cuts, np.where(covered, Cause.LAUNCH_COMPILE, Cause.LAUNCH_DISPATCH), tracks
        )

    def _device_pieces(self) -> _CausePieces:
        """Return the pieces after the launch: a wait of the stream, a graph, a usual latency, or unknown."""
        streams = self._streams.of_tasks(self._idle.task)
        cuts, covered = cut_by_cover(self._milestones.launched, self._idle.end, streams, self._streams.waits)
        otherwise = np.where(cuts.end - cuts.start <= self._usual_latency_limit, Cause.LATENCY, Cause.UNKNOWN)
        otherwise = np.where(self._follows_in_graph[cuts.place], Cause.GRAPH, otherwise)
        no_track = np.full(len(streams), -1, np.int64)
        pieces = self._pieces_of_tasks(cuts, np.where(covered, Cause.STREAM_WAIT, otherwise), no_track)
        pieces.wait[covered] = self._streams.wait_at(streams[cuts.place[covered]], cuts.start[covered])
        return pieces

    @cached_property
    def _follows_in_graph(self) -> Bools:
        """Whether an earlier task of the same graph launch had started by its end; bool[intervals].

        Where no launch is recorded: whether the interval begins and ends in one iteration of a graph.
        """
        starts = self._trace.slices.start
        graph = self._chains.launch >= 0
        graph[graph] = by_name(self._trace, self._chains.launch[graph], calls.launches_graph) == 1
        launch, tasks = self._chains.launch[graph], self._chains.tasks[graph]
        order = np.argsort(starts[tasks], kind="stable")
        first_task = pick(
            tasks[order], first_equal(launch[order], pick(self._chains.launch, self._task_places))
        )
        follows = first_task >= 0
        follows[follows] = starts[first_task[follows]] < self._idle.end[follows]
        return follows | (self._within_iteration & (pick(self._chains.launch_time, self._task_places) < 0))

    def _pieces_of_tasks(self, cuts: Cuts, cause: Int64s, tracks: Int64s) -> _CausePieces:
        """Return pieces charged to the operators of the tasks; `tracks` are those to blame, by interval."""
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
    """Return the pieces by interval, then start; neighbours that are equal but for their time become one.

    `by_track`: pieces of different threads stay apart; else the track of the first one is kept.
    """
    if not len(pieces.start):
        return pieces
    order = np.lexsort((pieces.start, pieces.interval))
    differs = np.zeros(len(order) - 1, np.bool_)
    columns = pieces.interval, pieces.cause, pieces.operator, pieces.charged, pieces.frame, pieces.wait
    for column in (*columns, pieces.track) if by_track else columns:
        ordered = column[order]
        differs |= ordered[1:] != ordered[:-1]
    firsts = order[np.concatenate(([True], differs))]
    lasts = order[np.concatenate((differs, [True]))]
    return _CausePieces._make(column[firsts] for column in pieces)._replace(end=pieces.end[lasts])


def _repeat_cause(cause: Cause, count: int) -> Int8s:
    return np.full(count, cause, np.int8)
