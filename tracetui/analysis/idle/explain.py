"""Explain idle intervals: cut each at the milestones of the task that ends it, and give each piece a cause.

Until the enqueue of the task began, the host is to blame; from there until its dequeue began, the task queue;
until its launch ended, the launch; and then the device. `Milestones` tells what stands for one not recorded.
An interval that ends with a copy of which no launch is recorded is explained by the task after the copy
(`_find_task_places`). The host's part is blamed on the thread of the enqueue, or else of the task's operator
or launch. Where no chain leads to the task, the whole interval is unlinked; inside one iteration of a graph
it is the device's. An autograd thread runs a burst of operators each time that another thread wakes it: what
comes before the first of them is blamed on that other thread.

Two things override that. Where the scheduler was recorded, time in which the thread to blame had no core,
slept in no known wait, or waited for a disk is the host's, also in the queue or the launch. Where work of a
device is not recorded, pieces of it whose middle lies there are unseen if they are unknown or of a graph;
where work of any device may be lost, all pieces are, also those before the launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.analysis.activity import WORK
from tracetui.analysis.gaps import IdleIntervals
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.host import HostThreads
from tracetui.analysis.idle.pieces import Cuts, cut_by_cover
from tracetui.analysis.intervals import Intervals, time_of
from tracetui.analysis.iterations import iteration_at, iterations
from tracetui.analysis.launch_chains import LaunchChains, Milestones, milestones
from tracetui.analysis.search import (
    among,
    device_of_tracks,
    distinct,
    name_meanings,
    of_category,
    pick,
    rows_by_track,
    rows_of,
    track_of_rows,
)
from tracetui.arrays import EMPTY, Bools, Int8s, Int64s, Wholes, first_equal
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Activity


class _CausePieces(NamedTuple):
    """Pieces of intervals, each with one cause; columns of equal length, -1 for none."""

    interval: Int64s  #: place of the interval
    start: Int64s  #: ns
    end: Int64s
    cause: Int8s  #: a Cause
    operator: Wholes  #: row of the operator that ran on the host; after the enqueue, of the task's operator
    charged_slice: Wholes  #: row of the slice whose stack is charged (`HostThreads.charge_times`)
    frame: Wholes  #: row of the Python frame that is charged; -1: the frame of `charged_slice`
    stream_wait: Wholes  #: row of the task that waited for an event on the stream
    track: Wholes  #: track of the thread that is to blame; -1: none, or not known


#: The columns of rows and tracks, which take 32 bits each once they are joined.
_INT32_COLUMNS = ("operator", "charged_slice", "frame", "stream_wait", "track")


class _HostParts(NamedTuple):
    """Parts of intervals in which one thread had not yet enqueued the task; columns of equal length."""

    interval: Int64s  #: place of the interval
    start: Int64s  #: ns
    end: Int64s
    thread: Int64s  #: index of the thread, -1: none is known
    woken_operator: Int64s  #: row of the first operator of a burst for which the thread wakes another; -1


class UnseenSpan(NamedTuple):
    """A span of time in which work of a device is not recorded."""

    device: int | None  #: index; None: of any device, as tasks that were launched are lost
    start: int  #: ns
    end: int


def explain(
    intervals: IdleIntervals,
    chains: LaunchChains,
    host_threads: HostThreads,
    by_frame: bool = False,
    unseen: Sequence[UnseenSpan] = (),
) -> Causes:
    """Return the causes of intervals: the pieces of each add up to its length.

    Args:
        intervals: each with the task that ended it, or that was to be enqueued or to start then;
            they may overlap, need not lie in gaps, and the device need not be idle.
        by_frame: cut the host's pieces wherever a python_function frame begins or ends too, so that each is
            charged to the frame it is in. Traces without `Call stack` are always cut so.
        unseen: spans in which work of devices is not recorded, which is the cause UNSEEN; they may overlap.
    """
    return _Explainer(intervals, chains, host_threads, by_frame, unseen).causes()


class _Explainer:
    def __init__(
        self,
        intervals: IdleIntervals,
        chains: LaunchChains,
        host_threads: HostThreads,
        by_frame: bool,
        unseen: Sequence[UnseenSpan],
    ) -> None:
        self._unseen = unseen
        self._trace, self._chains, self._threads = chains.trace, chains, host_threads
        self._intervals = intervals
        self._by_frame = by_frame or not chains.trace.slices.have_stacks
        self._streams = host_threads.streams
        self._task_places = self._find_task_places()  # by interval, in the columns of `chains`
        self._operator = pick(chains.operator, self._task_places)
        task_milestones = milestones(chains, self._task_places)
        self._is_linked = task_milestones.enqueued >= 0  # bool[intervals]
        self._milestones = self._clip_milestones(task_milestones)
        self._host_parts = self._find_host_parts()

    def causes(self) -> Causes:
        """Return the pieces of all intervals, by interval, then start."""
        piece_lists = [
            self._pieces_without_thread(),
            *self._host_pieces(),
            self._queue_pieces(),
            self._launch_pieces(),
            self._device_pieces(),
        ]
        columns = [[*parts] for parts in zip(*piece_lists)]
        del piece_lists  # the parts of a column go when it is joined: there is no room for all pieces twice
        pieces = _CausePieces._make(
            np.concatenate(columns.pop(0), dtype=np.int32 if name in _INT32_COLUMNS else None)
            for name in _CausePieces._fields
        )
        scheduler = self._threads.scheduler
        if scheduler is not None:
            cuts, cause = scheduler.split(pieces.start, pieces.end, pieces.cause, pieces.track)
            pieces = _CausePieces._make(column[cuts.place] for column in pieces)
            pieces = pieces._replace(start=cuts.start, end=cuts.end, cause=cause)
        pieces = pieces._replace(cause=self._causes_with_unseen(pieces))
        firsts, lasts = _find_runs(pieces, by_track=scheduler is not None)
        for name in _CausePieces._fields:  # a shorter column replaces each at once
            places = lasts if name == "end" else firsts
            pieces = pieces._replace(**{name: getattr(pieces, name)[places]})
        charged_sites = self._threads.callers.call_sites(pieces.charged_slice)
        sync_operator, sync_charged_slice, sync_frame, sync_thread = self._find_synchronisations()
        sync_sites = self._threads.callers.call_sites(sync_charged_slice)
        return Causes(
            intervals=self._intervals,
            interval=pieces.interval,
            start=pieces.start,
            end=pieces.end,
            cause=pieces.cause,
            operator=pieces.operator,
            stack=charged_sites.stack,
            frame=np.where(pieces.frame >= 0, pieces.frame, charged_sites.frame).astype(np.int32),
            backward=charged_sites.backward,
            stream_wait=pieces.stream_wait,
            track=pieces.track,
            waited_for=self._streams.waited_for(pieces.stream_wait).astype(np.int32),
            sync_operator=sync_operator,
            sync_stack=sync_sites.stack,
            sync_frame=np.where(sync_frame >= 0, sync_frame, sync_sites.frame),
            sync_thread=sync_thread,
        )

    def _find_task_places(self) -> Int64s:
        """Return the place of the task that each interval waits for, in the columns of the chains.

        A copy of which no launch is recorded is taken to feed the device's next work that is no such copy.
        That stands for the copy if it was enqueued after the interval began, in an outermost call that had
        begun on its thread when the copy starts, or is the next to begin.
        """
        intervals, slices, tasks = self._intervals, self._trace.slices, self._chains.tasks
        places = self._chains.index(intervals.task)
        activity = slices.activity[tasks]
        is_unlaunched_copy = pick(activity, places) == Activity.COPY
        is_unlaunched_copy[is_unlaunched_copy] = (
            milestones(self._chains, places[is_unlaunched_copy]).enqueued < 0
        )
        if not is_unlaunched_copy.any():
            return places
        enqueued = milestones(self._chains).enqueued
        work = np.flatnonzero(among(activity, WORK) & ((activity != Activity.COPY) | (enqueued >= 0)))
        work = work[np.argsort(slices.start[tasks[work]], kind="stable")]
        device_of_work = device_of_tracks(self._trace)[track_of_rows(self._trace, tasks[work])]
        for index in range(len(self._trace.devices)):
            candidates = work[device_of_work == index]
            interval_places = np.flatnonzero((intervals.device == index) & is_unlaunched_copy)
            next_place = np.searchsorted(slices.start[tasks[candidates]], intervals.end[interval_places])
            has_next = next_place < len(candidates)
            interval_places, fed_places = interval_places[has_next], candidates[next_place[has_next]]
            is_fed = intervals.start[interval_places] < enqueued[fed_places]
            is_fed &= self._have_begun_or_are_next(fed_places, intervals.end[interval_places])
            places[interval_places[is_fed]] = fed_places[is_fed]
        return places

    def _have_begun_or_are_next(self, places: Int64s, times: Int64s) -> Bools:
        """Return whether the outermost call of each task had begun at a time, or is the next of its thread.

        Args:
            places: int64[n], in the columns of the chains.
            times: int64[n], ns.
        """
        starts, chains = self._trace.slices.start, self._chains
        rows = np.where(chains.operator[places] >= 0, chains.operator[places], chains.launch[places])
        have_begun = np.zeros(len(places), np.bool_)
        for track, group in rows_by_track(self._trace, rows):
            begins = starts[self._trace.lane_slice_rows(track.lanes.start)]
            passed = np.searchsorted(begins, starts[rows[group]], "right")
            have_begun[group] = passed <= np.searchsorted(begins, times[group], "right") + 1
        return have_begun

    def _clip_milestones(self, task_milestones: Milestones) -> Milestones:
        """Return the milestones of each interval's task, clipped to the interval, ns.

        Where nothing is known of the task's chain, all three are at the interval's end, so that none of it is
        the queue's, the launch's or the device's; inside one iteration of a graph they are at its start, so
        that all of it is the device's.
        """
        start, end = self._intervals.start, self._intervals.end
        enqueued, dequeued, launched = task_milestones
        time_if_none = np.where(self._in_iteration, start, end)
        is_unknown = enqueued < 0
        enqueued = np.where(is_unknown, time_if_none, np.clip(enqueued, start, end))
        dequeued = np.where(is_unknown, time_if_none, np.clip(dequeued, enqueued, end))
        launched = np.where(is_unknown, time_if_none, np.clip(launched, dequeued, end))
        return Milestones(enqueued, dequeued, launched)

    @cached_property
    def _in_iteration(self) -> Bools:
        """Whether each interval is inside one iteration of a graph, which has no host; bool[intervals]."""
        is_inside = np.zeros(len(self._task_places), np.bool_)
        for index, device in enumerate(self._trace.devices):
            device_iterations = iterations(self._trace, device)
            if device_iterations:
                on_device = self._intervals.device == index
                place = iteration_at(device_iterations, self._intervals.start[on_device])
                is_inside[on_device] = (place >= 0) & (
                    place == iteration_at(device_iterations, self._intervals.end[on_device])
                )
        return is_inside

    def _causes_with_unseen(self, pieces: _CausePieces) -> Int8s:
        """Return the causes of pieces, int8[pieces]: UNSEEN where a piece's middle is in an unseen span.

        Pieces are marked as a whole, not cut at the edges of spans. A span of one device marks those of its
        pieces that nothing recorded explains: UNKNOWN and GRAPH. A span of any device marks all pieces of all
        devices, each of which may have been at work then.
        """
        if not self._unseen:
            return pieces.cause
        cause: Int8s = pieces.cause.copy()
        device = self._intervals.device[pieces.interval]
        middle = pieces.start + (pieces.end - pieces.start) // 2
        is_unexplained = np.isin(cause, (Cause.UNKNOWN, Cause.GRAPH))
        for span in self._unseen:
            is_unseen = (span.start <= middle) & (middle < span.end)
            if span.device is not None:
                is_unseen &= is_unexplained & (device == span.device)
            cause[is_unseen] = Cause.UNSEEN
        return cause

    # -- the host -------------------------------------------------------------------------------------

    def _find_host_parts(self) -> _HostParts:
        """Return the part of each interval before its enqueue, with the thread that should have enqueued.

        What comes before the first operator of a burst on an autograd thread belongs to the thread that woke
        that one.
        """
        columns = (self._chains.launch, self._chains.operator, self._chains.enqueue)
        thread = self._threads.of_tasks(*(pick(column, self._task_places) for column in columns))
        parts = [_HostParts(*(EMPTY for _ in _HostParts._fields))]
        for index in distinct(thread).tolist():
            (interval,) = np.nonzero(thread == index)
            start, end = self._intervals.start[interval], self._milestones.enqueued[interval]
            bursts = self._threads.bursts(index) if index >= 0 else None
            if bursts is not None:
                burst_index = np.searchsorted(bursts.starts, end, "right") - 1
                burst_start = np.where(burst_index < 0, start, bursts.starts[burst_index])
                burst_start = np.clip(burst_start, start, end)
                waker, first_operator = np.full(len(end), bursts.waker), pick(bursts.operators, burst_index)
                parts.append(_HostParts(interval, start, burst_start, waker, first_operator))
                start = burst_start
            no_row = np.full(len(end), -1, np.int64)
            parts.append(_HostParts(interval, start, end, thread[interval], no_row))
        host_parts = _HostParts(*(np.concatenate(columns) for columns in zip(*parts)))
        return _HostParts(*(column[host_parts.start < host_parts.end] for column in host_parts))

    def _pieces_without_thread(self) -> _CausePieces:
        """Return the host's pieces with no thread to blame: unlinked where the task has no chain at all."""
        places = np.flatnonzero(self._host_parts.thread < 0)
        no_row = np.full(len(places), -1, np.int64)
        interval, start, end = (column[places] for column in self._host_parts[:3])
        cause = np.where(self._is_linked[interval], Cause.UNRECORDED, Cause.UNLINKED).astype(np.int8)
        return _CausePieces(interval, start, end, cause, *[no_row] * 5)

    def _host_pieces(self) -> list[_CausePieces]:
        """Return the pieces of each thread, cut wherever it begins to do something else."""
        parts = []
        for index in distinct(self._host_parts.thread[self._host_parts.thread >= 0]).tolist():
            host_parts = _HostParts(
                *(column[self._host_parts.thread == index] for column in self._host_parts)
            )
            thread = self._threads.thread(index)
            cuts = thread.cut(host_parts.start, host_parts.end, self._by_frame)
            operator, charged_slice, frame = self._threads.charge_times(
                index, cuts.start, host_parts.woken_operator[cuts.place]
            )
            cause = thread.causes(cuts.start, operator)
            no_row = np.full(len(cause), -1, np.int64)
            interval = host_parts.interval[cuts.place]
            track = np.full(len(cause), thread.track.index)
            parts.append(
                _CausePieces(
                    interval, cuts.start, cuts.end, cause, operator, charged_slice, frame, no_row, track
                )
            )
        return parts

    def _find_synchronisations(self) -> tuple[Int64s, Int64s, Int64s, Int64s]:
        """Return what synchronised when each interval began: operator, slice to charge, frame and thread.

        Each is int64[intervals]; -1 where the thread to blame for the beginning of the interval had not begun
        to synchronise before. Where no operator ran, the slice to charge is the next one to start: its line
        is right, its name is not that of the call.
        """
        operator, charged_slice, frame, thread = np.full((4, len(self._task_places)), -1, np.int64)
        is_at_start = self._host_parts.start == self._intervals.start[self._host_parts.interval]
        for index in distinct(self._host_parts.thread[is_at_start & (self._host_parts.thread >= 0)]).tolist():
            spans = self._threads.thread(index).spans.get(Cause.SYNC)
            if spans is None:
                continue
            (places,) = np.nonzero(is_at_start & (self._host_parts.thread == index))
            span = spans.index_at(self._host_parts.start[places])
            places = places[(span >= 0) & (spans.starts[span] < self._host_parts.start[places])]
            interval = self._host_parts.interval[places]
            operator[interval], charged_slice[interval], frame[interval] = self._threads.charge_times(
                index, self._host_parts.start[places], self._host_parts.woken_operator[places]
            )
            thread[interval] = index
        return operator, charged_slice, frame, thread

    # -- queue, launch, device ------------------------------------------------------------------------

    def _queue_pieces(self) -> _CausePieces:
        """Return the pieces between enqueue and dequeue: the queue is busy where the thread dequeues.

        Where that thread has no Dequeue slices, work goes through a pipeline of threads (MindSpore): the
        queue is busy while any slice runs that takes work from another thread.
        """
        rows = pick(self._chains.dequeue, self._task_places)
        work_takers = self._threads.callers.work_takers

        def busy_intervals(track: int) -> Intervals:
            rows_on_track = rows_of([self._trace.tracks[track]])
            dequeues = rows_on_track[
                of_category(
                    self._trace, self._trace.slices.category[rows_on_track], KNOWN.categories.dequeues
                )
            ]
            return time_of(self._trace.slices, dequeues if len(dequeues) else work_takers)

        enqueued, dequeued, _ = self._milestones
        tracks = self._tracks_of_rows(rows)
        cuts, is_covered = cut_by_cover(enqueued, dequeued, tracks, busy_intervals)
        return self._pieces_of_tasks(cuts, np.where(is_covered, Cause.QUEUE_BUSY, Cause.QUEUE_WAKEUP), tracks)

    def _launch_pieces(self) -> _CausePieces:
        """Return the pieces between dequeue and the end of the launch, those inside compiling calls apart."""
        rows = pick(self._chains.launch, self._task_places)

        def compiling_intervals(track: int) -> Intervals:
            rows = self._trace.tracks[track].rows
            names = self._trace.slices.name[rows.start : rows.stop]
            compiles = meanings(self._trace.strings, names, calls.compiles_at_launch) == 1
            return time_of(self._trace.slices, rows.start + np.flatnonzero(compiles))

        _, dequeued, launched = self._milestones
        tracks = self._tracks_of_rows(rows)
        cuts, is_covered = cut_by_cover(dequeued, launched, tracks, compiling_intervals)
        dequeue_tracks = self._tracks_of_rows(pick(self._chains.dequeue, self._task_places))
        tracks = np.where(tracks >= 0, tracks, dequeue_tracks)
        return self._pieces_of_tasks(
            cuts, np.where(is_covered, Cause.LAUNCH_COMPILE, Cause.LAUNCH_DISPATCH), tracks
        )

    def _device_pieces(self) -> _CausePieces:
        """Return the pieces after the launch: a wait of the stream, a graph, a usual latency, or unknown."""
        streams = self._streams.of_tasks(self._intervals.task)
        cuts, is_covered = cut_by_cover(
            self._milestones.launched, self._intervals.end, streams, self._streams.waits
        )
        is_usual_latency = cuts.end - cuts.start <= self._streams.usual_latency_limit
        cause = np.where(is_usual_latency, Cause.LATENCY, Cause.UNKNOWN)
        cause = np.where(self._follows_in_graph[cuts.place], Cause.GRAPH, cause)
        cause = np.where(is_covered, Cause.STREAM_WAIT, cause)
        no_track = np.full(len(streams), -1, np.int64)
        stream_wait = np.full(len(cause), -1, np.int64)
        stream_wait[is_covered] = self._streams.wait_at(
            streams[cuts.place[is_covered]], cuts.start[is_covered]
        )
        return self._pieces_of_tasks(cuts, cause, no_track)._replace(stream_wait=stream_wait)

    @cached_property
    def _follows_in_graph(self) -> Bools:
        """Whether the task that ends an interval is not the first of its graph launch; bool[intervals].

        Where no time of its launch is known: whether the interval is inside one iteration of a graph.
        """
        starts = self._trace.slices.start
        is_of_graph = self._chains.launch >= 0
        is_of_graph[is_of_graph] = (
            name_meanings(self._trace, self._chains.launch[is_of_graph], calls.launches_graph) == 1
        )
        launch, tasks = self._chains.launch[is_of_graph], self._chains.tasks[is_of_graph]
        order = np.argsort(starts[tasks], kind="stable")
        first_task = pick(
            tasks[order], first_equal(launch[order], pick(self._chains.launch, self._task_places))
        )
        is_later = first_task >= 0
        is_later[is_later] = starts[first_task[is_later]] < self._intervals.end[is_later]
        return is_later | (self._in_iteration & (pick(self._chains.launch_time, self._task_places) < 0))

    def _pieces_of_tasks(self, cuts: Cuts, cause: Int64s, tracks: Int64s) -> _CausePieces:
        """Return pieces charged to the operators of the tasks; `tracks` are those to blame, by interval."""
        operator, no_row = self._operator[cuts.place], np.full(len(cause), -1, np.int64)
        codes, track = cause.astype(np.int8), tracks[cuts.place]
        return _CausePieces(
            cuts.place, cuts.start, cuts.end, codes, operator, operator, no_row, no_row, track
        )

    def _tracks_of_rows(self, rows: Int64s) -> Int64s:
        return track_of_rows(self._trace, rows).astype(np.int64)


def _find_runs(pieces: _CausePieces, by_track: bool) -> tuple[Int64s, Int64s]:
    """Return the first and the last place of each run of pieces, by interval, then start; int64[runs].

    The pieces of a run are equal but for their time. `by_track`: pieces of different threads stay apart; else
    the track of a run is that of its first.
    """
    order = np.lexsort((pieces.start, pieces.interval))
    differs = np.zeros(max(len(order) - 1, 0), np.bool_)
    ignored = ("start", "end") if by_track else ("start", "end", "track")
    for name in _CausePieces._fields:
        if name not in ignored:
            ordered = getattr(pieces, name)[order]
            differs |= ordered[1:] != ordered[:-1]
    edge = np.ones(min(len(order), 1), np.bool_)  # the first piece begins a run, the last one ends it
    return order[np.concatenate((edge, differs))], order[np.concatenate((differs, edge))]
