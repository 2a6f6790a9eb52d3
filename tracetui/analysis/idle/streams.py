"""The streams that device tasks run on: what holds a launched task up, and how long a launch usually takes.

Knows tasks, waits and events of the device; nothing of idle intervals.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tracetui.analysis.activity import WORK
from tracetui.analysis.idle import calls
from tracetui.analysis.intervals import Intervals, time_of
from tracetui.analysis.launch_chains import LaunchChains, milestones
from tracetui.analysis.search import (
    among,
    connection_numbers,
    group_by,
    name_meanings,
    pick,
    rows_by_track,
    rows_of,
    track_of_rows,
    tracks_by_device,
)
from tracetui.arrays import EMPTY, Int64s, first_equal
from tracetui.trace.model import Activity, Family, Track
from tracetui.trace.nesting import enclosing

#: ns: no launch takes longer than this to reach the device without a reason.
LONGEST_LATENCY = 30_000
#: ns: a launch that reaches the device as soon as this needs no other reason, whatever the median is.
SHORTEST_LATENCY = 5_000
#: times the median: a launch that takes no longer is a usual one.
USUAL = 3
#: ns: a wait ends no later than this after the event that it waits for.
WAKE = 5_000


class Streams:
    """The hardware streams of all devices of a trace; each is named by the index of its track."""

    def __init__(self, chains: LaunchChains) -> None:
        self._chains = chains
        self._trace = chains.trace
        self._activity = chains.trace.slices.activity

    def of_tasks(self, tasks: Int64s) -> Int64s:
        """Return the stream of each task, int64[tasks], -1 for none. `tasks` are rows.

        An operation of a group runs on the stream of its first hardware task.
        """
        track = track_of_rows(self._trace, tasks).astype(np.int64)
        is_group = np.zeros(len(self._trace.tracks) + 1, np.bool_)  # the last is that of no track
        is_group[[group.index for device in self._streams for group in self._groups.get(device, ())]] = True
        (places,) = np.nonzero(is_group[track])
        if len(places):
            ids = connection_numbers(self._trace, np.concatenate((self._parts, tasks[places])))
            parts, task_ids = np.split(ids, [len(self._parts)])
            track[places] = track_of_rows(self._trace, pick(self._parts, first_equal(parts, task_ids)))
        return track

    def waits(self, stream: int) -> Intervals:
        """Return when a stream waits for an event."""
        return time_of(self._trace.slices, self._waits_of(stream))

    def wait_at(self, streams: Int64s, times: Int64s) -> Int64s:
        """Return the wait under way on `streams[i]` at `times[i]`; rows, int64[times], -1 for none."""
        waits = np.full(len(times), -1, np.int64)
        accept = np.zeros(len(self._trace.slices), np.bool_)
        for stream, places in group_by(streams):
            if stream >= 0:
                accept[self._waits_of(stream)] = True
                lanes = self._trace.tracks[stream].lanes
                waits[places] = enclosing(self._trace, lanes, times[places], accept)
        return waits

    def waited_for(self, waits: Int64s) -> Int64s:
        """Return the last work before the event that ended each wait; rows, -1 where it is not known.

        The event is the last that any other stream of the device recorded while the wait lasted, if the wait
        ended right after it.
        """
        work = np.full(len(waits), -1, np.int64)
        for stream, places in rows_by_track(self._trace, waits):
            candidates = [
                candidate
                for candidate in self._streams.get(stream.device or "", ())
                if candidate is not stream
            ]
            work[places] = self._work_before_event(candidates, waits[places])
        return work

    @cached_property
    def usual_latency_limit(self) -> int:
        """The longest that a launched task may take to run without another reason, ns.

        It is three times the median, over the work that found its stream empty, of the time from the end of
        its launch to its start; never more than 30 µs, nor less than 5 µs even where clocks disagree.
        """
        slices, parts = self._trace.slices, []
        for track in (track for streams in self._streams.values() for track in streams):
            rows = rows_of([track])
            rows = rows[np.argsort(slices.start[rows], kind="stable")]
            previous_end = np.concatenate(([-1], np.maximum.accumulate(slices.end[rows])[:-1]))[: len(rows)]
            launched = milestones(self._chains, self._chains.index(rows)).launched
            is_prompt = among(self._activity[rows], WORK) & (launched >= 0) & (previous_end <= launched)
            parts.append(slices.start[rows[is_prompt]] - launched[is_prompt])
        latencies = np.concatenate(parts) if parts else EMPTY
        if not len(latencies):
            return LONGEST_LATENCY
        return min(LONGEST_LATENCY, max(SHORTEST_LATENCY, int(USUAL * np.median(latencies))))

    @cached_property
    def _streams(self) -> dict[str, list[Track]]:
        """The streams of each device, those that hold anything."""
        return tracks_by_device(t for t in self._trace.tracks if t.family == Family.TASKS and len(t.rows))

    @cached_property
    def _groups(self) -> dict[str, list[Track]]:
        return tracks_by_device(t for t in self._trace.tracks if t.family == Family.GROUP)

    @cached_property
    def _parts(self) -> Int64s:
        """The hardware tasks of groups' operations on all streams, by start."""
        tracks = [track for streams in self._streams.values() for track in streams]
        parts = self._rows(tracks, (Activity.COMMUNICATION_TASK,))
        parts = parts[self._trace.slices.correlation[parts] >= 0]
        return parts[np.argsort(self._trace.slices.start[parts], kind="stable")]

    def _rows(self, tracks: list[Track], activities: tuple[Activity, ...]) -> Int64s:
        rows = rows_of(tracks)
        return rows[among(self._activity[rows], activities)]

    def _waits_of(self, stream: int) -> Int64s:
        rows = self._rows([self._trace.tracks[stream]], (Activity.WAIT,))
        matching: Int64s = rows[name_meanings(self._trace, rows, calls.stream_waits) == 1]
        return matching

    def _work_before_event(self, tracks: list[Track], waits: Int64s) -> Int64s:
        """Return the last work before the event, on one of `tracks`, that ended each wait; rows, -1."""
        start, end = self._trace.slices.start, self._trace.slices.end
        events = self._rows(tracks, (Activity.EVENT,))
        events = events[np.argsort(end[events], kind="stable")]
        place = np.searchsorted(end[events], end[waits], "right") - 1
        event = pick(events, place)
        is_recent = event >= 0
        is_recent[is_recent] = end[event[is_recent]] >= np.maximum(
            start[waits[is_recent]], end[waits[is_recent]] - WAKE
        )
        event[~is_recent] = -1
        work = np.full(len(waits), -1, np.int64)
        track_of_event = track_of_rows(self._trace, event)
        for track in tracks:
            (places,) = np.nonzero(track_of_event == track.index)
            if len(places):
                work[places] = self._last_work(track, start[event[places]])
        return work

    def _last_work(self, stream: Track, times: Int64s) -> Int64s:
        """Return the last work of a stream to end before each time; rows, -1 for none.

        Where that is a part of a collective, return the collective.
        """
        slices = self._trace.slices
        rows = self._rows([stream], (*WORK, Activity.COMMUNICATION_TASK))
        rows = rows[np.argsort(slices.end[rows], kind="stable")]
        last = pick(rows, np.searchsorted(slices.end[rows], times, "right") - 1)
        is_part = last >= 0
        is_part[is_part] = self._activity[last[is_part]] == Activity.COMMUNICATION_TASK
        operations = self._rows(self._groups.get(stream.device or "", []), (Activity.COMMUNICATION,))
        ids = slices.correlation
        whole = pick(operations, first_equal(ids[operations], ids[last[is_part]]))
        last[is_part] = np.where(whole >= 0, whole, last[is_part])
        return last
