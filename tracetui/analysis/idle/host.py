"""What the threads of the host were doing at any time: the operator that ran, the next one, and why.

A thread is an OS thread of the framework's process with operators of its own; the runtime's calls and the
frames of Python on the same OS thread belong to it, and the garbage collections of its process. Knows nothing
of idle intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause, of_families
from tracetui.analysis.idle.copies import copying_operators
from tracetui.analysis.idle.pieces import Cuts, cut_at_edges, edges_of
from tracetui.analysis.idle.streams import Streams
from tracetui.analysis.intervals import NOTHING, Intervals, time_of, union
from tracetui.analysis.launch_chains import NOT_OPERATORS, LaunchChains, host_tracks, tracks_of_thread
from tracetui.analysis.scheduler.scheduler import Scheduler
from tracetui.analysis.search import (
    blocks_of_starts,
    distinct,
    name_meanings,
    of_category,
    pick,
    rows_of,
    track_of_rows,
)
from tracetui.arrays import Bools, Int8s, Int64s, Wholes, searchsorted
from tracetui.trace.model import Family, Layer, Trace, Track
from tracetui.trace.nesting import enclosing

_HOST = of_families("host")


@dataclass(frozen=True, eq=False)
class HostThread:
    """One OS thread of the host. Times asked for are int64 arrays of ns, in any order."""

    trace: Trace
    track: Track  #: its operators
    frames: tuple[Track, ...]
    is_real_operator: Bools  #: of all slices of the trace: whether it is one that does not just wrap Python
    spans: dict[Cause, Intervals]  #: the time that its slices say is for a cause
    waits: Int64s  #: rows of the slices in which it waits for a device, by start, outer ones first

    @cached_property
    def operators(self) -> Wholes:
        """Rows of its operators by start, outer ones first."""
        rows = self.track.rows.start + np.flatnonzero(
            self.is_real_operator[self.track.rows.start : self.track.rows.stop]
        )
        return rows[np.argsort(self.trace.slices.start[rows], kind="stable")].astype(np.int32)

    @property
    def starts(self) -> Int64s:
        """ns: the starts of `operators`, sorted."""
        return self.trace.slices.start[self.operators]

    @cached_property
    def line_slices(self) -> Wholes:
        """Rows of its slices that have a line, by start: operators, and what has a call stack of its own.

        The stack of a slice that only wraps Python still shows where Python was when it began: that of
        `ProfilerStep#51`, in `prof.step()`.
        """
        span = slice(self.track.rows.start, self.track.rows.stop)
        rows = span.start + np.flatnonzero(self.is_real_operator[span] | (self.trace.slices.stack[span] >= 0))
        return rows[np.argsort(self.trace.slices.start[rows], kind="stable")].astype(np.int32)

    @cached_property
    def python_recorded(self) -> Intervals:
        """When Python is known to run: its frames; without any, from its first operator to its last."""
        slices, parts = self.trace.slices, []
        for first, *lanes in (track.lanes for track in self.frames):
            parts.append(self._outside(NOTHING, first))
            outermost = union(*parts[-1])
            parts += [self._outside(outermost, lane) for lane in lanes]  # hardly any: frames nest
        if parts:
            return union(*(np.concatenate(columns) for columns in zip(*parts)))
        span = slice(self.track.rows.start, self.track.rows.stop)
        return union(slices.start[span].min(keepdims=True), slices.end[span].max(keepdims=True))

    def _outside(self, intervals: Intervals, lane: int) -> tuple[Int64s, Int64s]:
        """Return the starts and the ends of the slices of a lane that do not lie in intervals wholly, ns."""
        rows = self.trace.lane_slice_rows(lane)
        starts, ends = self.trace.slices.start[rows], self.trace.slices.end[rows]
        outside = intervals.covered(starts, ends) < ends - starts
        return starts[outside], ends[outside]

    @property
    def edges(self) -> Int64s:
        """ns: the times at which what the thread does may change, sorted and distinct."""
        sets = [self.python_recorded, *self.spans.values()]
        spans = [part for intervals in sets for part in (intervals.starts, intervals.ends)]
        slices = self.trace.slices
        return edges_of(slices.start[self.line_slices], slices.end[self.operators], *spans)

    @cached_property
    def frame_edges(self) -> Int64s:
        """ns: the times at which a frame of Python begins or ends, sorted and distinct."""
        slices, ranges_of_tracks = self.trace.slices, [slice(t.rows.start, t.rows.stop) for t in self.frames]
        return edges_of(*(column[rows] for rows in ranges_of_tracks for column in (slices.start, slices.end)))

    def running(self, times: Int64s) -> Int64s:
        """Return the innermost operator that runs at each time, -1 where none does; rows."""
        return enclosing(self.trace, self.track.lanes, times, self.is_real_operator)

    def next_line_slice(self, times: Int64s) -> Int64s:
        """Return the first of `line_slices` to start after each time, -1 where none does; rows."""
        place = searchsorted(self.trace.slices.start[self.line_slices], times, "right")
        return pick(self.line_slices, np.where(place < len(self.line_slices), place, -1))

    def frame(self, times: Int64s) -> Int64s:
        """Return the innermost frame of Python at each time, -1 where none is; rows."""
        frames = np.full(len(times), -1, np.int64)
        for track in self.frames:
            frames = np.maximum(frames, enclosing(self.trace, track.lanes, times))
        return frames

    def cut(self, starts: Int64s, ends: Int64s, by_frame: bool) -> Cuts:
        """Cut stretches wherever the thread does something else; with `by_frame`, at other frames too."""
        edges = edges_of(self.edges, self.frame_edges) if by_frame else self.edges
        return cut_at_edges(starts, ends, edges)

    def causes(self, times: Int64s, running: Int64s) -> Int8s:
        """Return why the thread had not enqueued more at each time, by what ran then; int8, a Cause each."""
        cause = np.where(self.python_recorded.index_at(times) >= 0, Cause.PYTHON, Cause.UNRECORDED)
        for candidate in reversed(_HOST):
            if candidate is Cause.OPERATOR:
                cause[running >= 0] = candidate
            elif candidate in self.spans:
                cause[self.spans[candidate].index_at(times) >= 0] = candidate
        return cause.astype(np.int8)


@dataclass(frozen=True, eq=False)
class AutogradBursts:
    """The bursts of work of an autograd thread and the thread that wakes it for each."""

    waker: int  #: index of the thread
    starts: Int64s  #: ns: when the first operator of each burst starts, sorted
    operators: Int64s  #: rows of those operators


class HostThreads:
    """The threads of a trace, for all that asks what they did: each is put together once."""

    def __init__(self, chains: LaunchChains, scheduler: Scheduler | None = None) -> None:
        self._trace = trace = chains.trace
        self.scheduler = scheduler  #: what the operating system did with them, where that was recorded
        self.callers = chains.callers
        self.streams = Streams(chains)  #: what the threads launch to
        self.copying = copying_operators(chains, self.callers.ancestors)
        self._tracks = [
            track
            for track in trace.tracks
            if track.layer == Layer.PYTHON and track.family == Family.OPERATORS and len(track.rows)
        ]
        self._threads: dict[int, HostThread] = {}
        self._of_track = self._threads_of_tracks()
        self._tracks_of_thread: list[list[Track]] = [[] for _ in self._tracks]  # the tracks of each thread
        for track, index in zip(trace.tracks, self._of_track.tolist()):
            if index >= 0:
                self._tracks_of_thread[index].append(track)
        self._collector_tracks = [t for t in trace.tracks if t.family == Family.COLLECTOR and len(t.rows)]
        self._of_one_process = len({track.pid for track in self._tracks}) == 1

    def __len__(self) -> int:
        return len(self._tracks)

    def of_rows(self, rows: Int64s) -> Int64s:
        """Return the index of the thread of each slice, -1 for none; int64."""
        return pick(self._of_track, track_of_rows(self._trace, rows))

    def thread(self, index: int) -> HostThread:
        """Return the thread of an index."""
        if index not in self._threads:
            self._threads[index] = self._thread(index)
        return self._threads[index]

    def of_tasks(self, launch: Int64s, operator: Int64s, enqueue: Int64s) -> Int64s:
        """Return the thread of each task: of its enqueue, else operator, else launch (rows); -1: none."""
        thread = np.full(len(launch), -1, np.int64)
        for rows in (launch, operator, enqueue):
            thread_of_rows = self.of_rows(rows)
            thread = np.where(thread_of_rows >= 0, thread_of_rows, thread)
        for index in distinct(thread[thread >= 0]).tolist():
            if not len(self.thread(index).operators):
                thread[thread == index] = -1
        return thread

    def collections(self, index: int) -> Int64s:
        """Return the garbage collections of the process of a thread; rows."""
        pid = self._tracks[index].pid
        near = [track for track in self._collector_tracks if self._trace.same_process(track.pid, pid)]
        return rows_of(self._collector_tracks if not near and self._of_one_process else near)

    def charge_times(
        self, index: int, times: Int64s, woken_operator: Int64s
    ) -> tuple[Int64s, Int64s, Int64s]:
        """Return rows for each time on a thread: the operator that runs, the slice to charge, the frame.

        The slice to charge is that operator. Where none runs, it is the next of the thread's `line_slices` to
        start, or the operator for which it wakes another thread (-1: none), whichever starts first. Where one
        runs, the frame is -1.
        """
        thread = self.thread(index)
        running = thread.running(times)
        not_running = np.flatnonzero(running < 0)
        charged_slice, frame = running.copy(), np.full(len(times), -1, np.int64)
        charged_slice[not_running] = self.earlier_of(
            thread.next_line_slice(times[not_running]), woken_operator[not_running]
        )
        frame[not_running] = thread.frame(times[not_running])
        return running, charged_slice, frame

    def earlier_of(self, rows: Int64s, alternatives: Int64s) -> Int64s:
        """Return which of two slices starts first, the alternative where both do; rows, -1 is none."""
        start = self._trace.slices.start
        return np.where(
            (alternatives >= 0) & ((rows < 0) | (start[rows] >= start[alternatives])), alternatives, rows
        )

    @cached_property
    def is_real_operator(self) -> Bools:
        """bool[slices]: whether each is an operator that takes time and does not just wrap Python."""
        trace = self._trace
        is_real = np.zeros(len(trace.slices), np.bool_)
        rows = rows_of(self._tracks)
        wraps = name_meanings(trace, rows, calls.is_wrapper) == 1
        is_real[rows] = ~wraps & ~of_category(trace, trace.slices.category[rows], NOT_OPERATORS)
        is_real &= trace.slices.end > trace.slices.start
        is_real[self._wrapping(is_real)] = False
        return is_real

    def bursts(self, index: int) -> AutogradBursts | None:
        """Return the bursts of an autograd thread; None of any other, and where nothing tells what wakes it.

        A thread on which the autograd engine evaluates functions is woken by the thread of their forward
        operators, each time after that thread has begun another operator.
        """
        thread = self.thread(index)
        waker = self._wakers.get(index, -1)
        if waker < 0 or not len(thread.operators):
            return None
        ends = np.maximum.accumulate(self._trace.slices.end[thread.operators])
        starts = thread.starts
        waker_count = searchsorted(self.thread(waker).starts, starts)
        first = np.ones(len(waker_count), np.bool_)
        first[1:] = (waker_count[1:] != waker_count[:-1]) & (starts[1:] >= ends[:-1])
        return AutogradBursts(waker, starts[first], thread.operators[first])

    @cached_property
    def _wakers(self) -> dict[int, int]:
        """The thread that wakes each autograd thread: that of its forward operators.

        Where no arrows tell, as in traces of 2021, it is the one thread of the process that holds the steps.
        """
        source, target = self.callers.forward_arrows
        autograd, waker = self.of_rows(target), self.of_rows(source)
        is_pair = (autograd >= 0) & (waker >= 0) & (autograd != waker)
        pairs, counts = np.unique(autograd[is_pair] * len(self) + waker[is_pair], return_counts=True)
        wakers = {
            pair // len(self): pair % len(self)
            for pair in pairs[np.argsort(counts, kind="stable")].tolist()
            if self.callers.evaluates(self.thread(pair // len(self)).operators).any()
        }
        holding = [i for i, track in enumerate(self._tracks) if self.callers.holds_steps(rows_of([track]))]
        for index, track in enumerate(self._tracks):
            if index in wakers or index in holding:
                continue
            if self.callers.is_of_engine(self.thread(index).operators):
                near = [i for i in holding if self._trace.same_process(self._tracks[i].pid, track.pid)]
                if len(near) == 1:
                    wakers[index] = near[0]
        return wakers

    def _threads_of_tracks(self) -> Int64s:
        """Return the index of the thread of each track's slices, -1 for none."""
        thread_of_track = np.full(len(self._trace.tracks), -1, np.int64)
        hosts, threads = host_tracks(self._trace), {t.index: thread for thread, t in enumerate(self._tracks)}
        for track in self._trace.tracks:
            if track.layer in (Layer.PYTHON, Layer.RUNTIME) and track.family != Family.COLLECTOR:
                near = tracks_of_thread(self._trace, hosts, (track.pid, track.tid))
                thread_of_track[track.index] = threads[near[0].index] if near else -1
        return thread_of_track

    def _thread(self, index: int) -> HostThread:
        trace, track = self._trace, self._tracks[index]
        tracks_of_thread, frames = self._tracks_of_thread[index], self._frames_of(index)
        rows_by_cause: dict[Cause, list[Int64s]] = {Cause.GC: [self.collections(index)]}
        tables = (
            ([track], calls.cause_of_operator),
            ([t for t in tracks_of_thread if t.family == Family.CALLS], calls.cause_of_call),
            (frames, calls.cause_of_frame),
        )
        for tracks, cause_of in tables:
            for member in tracks:
                rows = rows_of([member])
                codes = name_meanings(trace, rows, cause_of)
                if member is track:
                    codes[(codes == Cause.SYNC) & ~self._calls_something(tracks_of_thread, rows)] = -1
                for code in distinct(codes[codes >= 0]).tolist():
                    rows_by_cause.setdefault(Cause(code), []).append(rows[codes == code])
        rows_by_cause.setdefault(Cause.COPY, []).append(_inside(self.copying.to_device, track))
        rows_by_cause.setdefault(Cause.SYNC, []).append(_inside(self.copying.blocked, track))
        joined = {cause: np.concatenate(parts) for cause, parts in rows_by_cause.items()}
        spans = {cause: time_of(trace.slices, rows) for cause, rows in joined.items()}
        waits = joined[Cause.SYNC]
        return HostThread(
            trace,
            track,
            frames,
            self.is_real_operator,
            {c: s for c, s in spans.items() if len(s)},
            waits[np.lexsort((-trace.slices.end[waits], trace.slices.start[waits]))],
        )

    def _calls_something(self, tracks: list[Track], rows: Int64s) -> Bools:
        """Return whether a call of the runtime begins in each operator of a thread, true where none is known.

        What calls nothing, such as `aten::item` of a tensor of the host, does not wait for a device.
        """
        begins = edges_of(*blocks_of_starts(self._trace, [t for t in tracks if t.family == Family.CALLS]))
        starts, ends = self._trace.slices.start[rows], self._trace.slices.end[rows]
        return (searchsorted(begins, ends) > searchsorted(begins, starts)) | (not len(begins))

    def _wrapping(self, is_operator: Bools) -> Int64s:
        """Return the operators in which Python went on: another call stack or a frame begins inside.

        Those whose name stands for a cause are left out.
        """
        stack = self._trace.slices.stack
        inner = np.flatnonzero(is_operator & (stack >= 0))
        outer = self.callers.ancestors.parents_of(inner)
        is_nested = outer >= 0
        is_nested[is_nested] = (stack[outer[is_nested]] >= 0) & (
            stack[outer[is_nested]] != stack[inner[is_nested]]
        )
        rows = distinct(np.concatenate([outer[is_nested], *self._with_frames_inside(is_operator)]))
        return rows[name_meanings(self._trace, rows, calls.cause_of_operator) < 0]

    def _with_frames_inside(self, is_operator: Bools) -> Iterator[Int64s]:
        slices = self._trace.slices
        for index, track in enumerate(self._tracks):
            begins = edges_of(*blocks_of_starts(self._trace, self._frames_of(index)))
            operators = rows_of([track])[is_operator[track.rows.start : track.rows.stop]]
            first = searchsorted(begins, slices.start[operators], "right")
            yield operators[searchsorted(begins, slices.end[operators], "left") > first]

    def _frames_of(self, index: int) -> tuple[Track, ...]:
        return tuple(t for t in self._tracks_of_thread[index] if t.family == Family.FRAMES and len(t.rows))


def _inside(rows: Int64s, track: Track) -> Int64s:
    """Return the rows that lie in a track; `rows` are sorted."""
    return rows[slice(*np.searchsorted(rows, [track.rows.start, track.rows.stop]).tolist())]
