"""What is known of the parts of a trace that are not read yet: the tracks, and about how busy they are when.

Made from a sample (tracetui.reader.skeleton). Nothing here is exact, nothing can be selected or counted: it
is drawn in its own glyphs, and only where nothing is that was read.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.language import state
from tracetui.reader.events import EventTable, Passages
from tracetui.reader.skeleton import Skeleton
from tracetui.trace.build import build_trace
from tracetui.trace.clean import printable
from tracetui.trace.model import Family, Layer, Trace, Track
from tracetui.trace.order import numbered
from tracetui.ui.drawing.rows import ORDER, idle_key, track_key
from tracetui.ui.state import TrackKey
from tracetui.units import format_time

_LEVELS = (0.15, 0.5)  # how busy a column is that has the second and the third shade
_OF_DEVICES = (Layer.DEVICE, Layer.COMMUNICATION)
_WORTH = 8  # one of so many bytes of the file: the least to be read later for the sake of the devices
_EDGE = 20  # one of so many events of a chunk lies outside of its time at either end: parents of many others


@dataclass(frozen=True)
class Missing:
    """The time in which a process has events that are not read."""

    process: str  #: printable
    start_ns: int
    end_ns: int


class Sketch:
    """The unread part of a trace, as a sample tells it.

    A spot is what a chunk of the sample shows of tracks whose events stand together in the file. It stands
    for the text up to the next chunk, and for the time half way to the spots beside it: what it holds is
    taken as many times as there is text, and spread over that time.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.trace: Trace = build_trace(skeleton.table)  #: of the sample alone: what tracks there are
        self._skeleton = skeleton
        self._unread_chunks = np.ones(len(skeleton.start), np.bool_)
        self._spots = _Spots.of(self.trace)
        self._begin, self._stop = _reaches(self._spots, self.trace.start_ns, self.trace.end_ns)
        self._counters = {track_key(track): track.samples for track in self.tracks if len(track.samples)}
        self._busy = self._busy_by_line()
        self._places = self._places_by_line()
        self._slopes: dict[TrackKey, Slopes] = {}

    @property
    def tracks(self) -> tuple[Track, ...]:
        """The tracks that the sample shows, in reading order."""
        return self.trace.tracks

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of the devices, as far as the sample shows them."""
        return self.trace.devices

    @property
    def first(self) -> int:
        """Where in the text to begin so that the devices are read before anything else; 0: at its start."""
        device_places = [
            self._places.get(track_key(track), _NOWHERE)
            for track in self.tracks
            if track.layer in _OF_DEVICES
        ]
        spots = np.concatenate([_NOWHERE, *device_places])
        chunk = int(self._spots.chunk[spots].min()) if len(spots) else 0
        place = int(self._skeleton.start[chunk - 1] + self._skeleton.length[chunk - 1]) if chunk else 0
        return place if place > self._skeleton.end[-1] // _WORTH else 0

    def beyond(self, read: Passages) -> Sketch | None:
        """Return what is left when these passages of the text are read; None where that is nothing."""
        skeleton = self._skeleton
        unread = np.ones(len(skeleton.start), np.bool_)
        for start, end in read:
            unread &= (skeleton.start < start) | (skeleton.end > end)
        if not unread.any():
            return None
        other = copy(self)
        other._unread_chunks = unread
        other._slopes = {}
        return other

    def read_part(self, table: EventTable) -> Trace:
        """Build the trace of what is read, under the names that the sample has already, as long as the whole.

        So tracks keep their names and their order, and moments their distance from the start, as it grows.
        """
        names = self._skeleton.table.metadata
        trace = build_trace(replace(table, metadata=[*names, *table.metadata]))
        start, end = self.trace.start_ns, self.trace.end_ns
        if len(trace.slices):
            start, end = min(start, trace.start_ns), max(end, trace.end_ns)
        return replace(trace, kind=self.trace.kind, start_ns=start, end_ns=end)

    def nothing(self) -> Trace:
        """Build the trace of which nothing is read yet."""
        return self.read_part(self._skeleton.empty_table)

    def levels(self, key: TrackKey, edges: Int64s) -> Int64s:
        """Return int64[columns] of a line of the timeline: 0 where all is read, else a shade: 1, 2 or 3."""
        levels = np.zeros(len(edges) - 1, np.int64)
        known = key if key in self._places else key[:-1]  # a lane deeper than those of the sample
        where = self._unread(self._places.get(known, _NOWHERE))
        if not len(where):
            return levels
        within = (edges[1:] > self._begin[where].min()) & (edges[:-1] < self._stop[where].max())
        levels[within] = 1 + np.searchsorted(_LEVELS, self.share(key, edges)[within], "right")
        return levels

    def share(self, key: TrackKey, edges: Int64s) -> Floats:
        """Return about how busy a line is with what is not read: float64[columns]."""
        if key not in self._slopes:
            spots, busy = self._busy.get(key, (_NOWHERE, np.empty(0)))
            unread = self._is_unread(spots)
            spots, busy = spots[unread], busy[unread]
            self._slopes[key] = Slopes.of(self._begin[spots], self._stop[spots], busy)
        return self._slopes[key].means(edges)

    def samples(self, key: TrackKey, edges: Int64s) -> Bools:
        """Return in which columns the sample holds samples of a counter."""
        places = self._counters.get(key, range(0))
        time = self.trace.counters.time[places.start : places.stop]
        sampled: Bools = np.diff(np.searchsorted(time, edges, "left")) > 0
        return sampled

    def missing(self) -> list[Missing]:
        """Return what is not read: of each process of the sample but counters, in the order of the screen."""
        times: dict[str, list[Int64s]] = {}
        for track in sorted(self.tracks, key=lambda track: ORDER.index(track.layer)):
            spots = self._unread(self._places.get(track_key(track), _NOWHERE))
            if len(spots):
                times.setdefault(printable(track.process, 40).strip(), []).append(spots)
        found = []
        for process, parts in times.items():
            spots = np.concatenate(parts)
            found.append(Missing(process, int(self._begin[spots].min()), int(self._stop[spots].max())))
        return found

    def _is_unread(self, spots: Int64s) -> Bools:
        unread: Bools = self._unread_chunks[self._spots.chunk[spots]]
        return unread

    def _unread(self, spots: Int64s) -> Int64s:
        """Return those spots some of whose text is not read."""
        return spots[self._is_unread(spots)]

    def _busy_by_line(self) -> dict[TrackKey, tuple[Int64s, Floats]]:
        """Return the spots with slices on each line, by its key, and ns busy that each spot stands for.

        Of a slice only what lies in the time of its spot: an operator or step around many others is there as
        often as they are.
        """
        trace, spots, skeleton = self.trace, self._spots, self._skeleton
        count = len(spots.chunk)
        lane = np.repeat(np.arange(len(trace.lane_track)), np.diff(trace.lane_rows))
        start = np.maximum(trace.slices.start, spots.start[spots.of_slice])
        inside = np.maximum(np.minimum(trace.slices.end, spots.end[spots.of_slice]) - start, 0)
        places, place = numbered(lane * count + spots.of_slice)
        lanes, of = places // max(count, 1), places % max(count, 1)
        times = (skeleton.end - skeleton.start) / np.maximum(skeleton.length, 1)
        busy = np.bincount(place, inside, len(places)) * times[spots.chunk[of]]
        bounds = np.searchsorted(lanes, np.arange(len(trace.lane_track) + 1))
        found: dict[TrackKey, tuple[Int64s, Floats]] = {}
        for track in self.tracks:
            key = track_key(track)
            for depth, number in enumerate(track.lanes):
                of_line = slice(int(bounds[number]), int(bounds[number + 1]))
                line = (*key, str(depth))
                found[line] = of[of_line], busy[of_line]
            if len(track.lanes):
                of_line = slice(int(bounds[track.lanes[0]]), int(bounds[track.lanes[-1] + 1]))
                busiest = np.zeros(count)
                np.maximum.at(busiest, of[of_line], busy[of_line])
                found[key] = np.flatnonzero(busiest), busiest[busiest > 0]
        return found

    def _places_by_line(self) -> dict[TrackKey, Int64s]:
        """Return the spots in which a line might have slices, by its key."""
        spots = self._spots
        places: dict[TrackKey, Int64s] = {}
        for track in self.tracks:
            if len(track.lanes):
                key = track_key(track)
                near = np.flatnonzero(spots.group == spots.group_of_track[track.index])
                for line in (key, *((*key, str(depth)) for depth in range(len(track.lanes)))):
                    places[line] = near
                if track.layer in _OF_DEVICES and track.device:
                    line = idle_key(track.device)
                    places[line] = np.union1d(places.get(line, _NOWHERE), near)
        return places


def missing_words(sketch: Sketch, trace: Trace) -> str:
    """Return what was not read, and when it was recorded: "Python 12.1 s to 166 s" of each process."""
    step = max((trace.end_ns - trace.start_ns) // 1000, 1)
    parts = []
    for missing in sketch.missing():
        moments = (missing.start_ns - trace.start_ns, missing.end_ns - trace.start_ns)
        start, end = (format_time(max(moment, 0), step) for moment in moments)
        parts.append(state("{process} from {start} to {end}", process=missing.process, start=start, end=end))
    share = 100 - 100 * trace.report.text_bytes // max(trace.report.bytes, 1)
    return state(
        "{share} % of the file is not read; only sampled, and in no number: {parts}",
        share=share,
        parts=tuple(parts),
    )


_NOWHERE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Slopes:
    """A sum of intervals over each of which something is spread evenly."""

    time: Int64s  #: ns, ascending
    slope: Floats  #: of the sum, from that time on
    total: Floats  #: of the sum, at that time

    @classmethod
    def of(cls, begin: Int64s, stop: Int64s, amount: Floats) -> Slopes:
        """Spread an amount over each interval [begin, stop), ns."""
        rate = amount / np.maximum(stop - begin, 1)
        time = np.concatenate([begin, np.maximum(stop, begin + 1)])
        order = np.argsort(time, kind="stable")
        time = time[order]
        slope = np.cumsum(np.concatenate([rate, -rate])[order])
        total = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(time))])
        return cls(time, slope, total[: len(time)])

    def means(self, edges: Int64s) -> Floats:
        """Return the mean slope between `edges` (ns, int64[columns + 1]): float64[columns]."""
        if not len(self.time):
            return np.zeros(len(edges) - 1)
        at = np.searchsorted(self.time, edges, "right") - 1
        sums = np.where(at < 0, 0.0, self.total[at] + self.slope[at] * (edges - self.time[at]))
        return np.diff(sums) / np.maximum(np.diff(edges), 1)


@dataclass(frozen=True)
class _Spots:
    """What each chunk shows of each group of tracks; by group, then chunk."""

    chunk: Int64s  #: int64[spots]
    group: Int64s  #: int64[spots]
    start: Int64s  #: int64[spots], ns: from when ...
    end: Int64s  #: int64[spots], ns: ... to when most of its slices are
    of_slice: Int64s  #: int64[slices of the sample]: the spot of each
    group_of_track: Int64s  #: int64[tracks]; -1 of a counter

    @classmethod
    def of(cls, trace: Trace) -> _Spots:
        group_of_track = _groups(trace)
        slices, chunk = trace.slices, trace.slices.event.astype(np.int64)
        chunks = int(chunk.max()) + 1 if len(chunk) else 1
        track = np.repeat(trace.lane_track, np.diff(trace.lane_rows))
        spots, of_slice = numbered(group_of_track[track] * chunks + chunk)
        bounds = np.searchsorted(np.sort(of_slice), np.arange(len(spots) + 1))
        out = np.diff(bounds) // _EDGE
        by_start = np.lexsort((slices.start, of_slice))
        by_end = np.lexsort((slices.end, of_slice))
        start = slices.start[by_start[bounds[:-1] + out]].astype(np.int64)
        end = np.maximum(slices.end[by_end[bounds[1:] - 1 - out]], start)
        return cls(spots % chunks, spots // chunks, start, end, of_slice, group_of_track)


def _groups(trace: Trace) -> Int64s:
    """Return int64[tracks], equal for tracks whose events stand together in the file; -1 of a counter.

    Those of a process do, but for Python frames; and those most of whose chunks are another's as well.
    """
    chunks: dict[tuple[str, bool], set[int]] = {}
    for track in trace.tracks:
        if len(track.rows):
            track_chunks = set(trace.slices.event[track.rows.start : track.rows.stop].tolist())
            chunks.setdefault(_kin(track), set()).update(track_chunks)
    groups: list[set[int]] = []
    group_of: dict[tuple[str, bool], int] = {}
    for kin in sorted(chunks, key=lambda kin: -len(chunks[kin])):
        kin_chunks = chunks[kin]
        same = (place for place, group in enumerate(groups) if 2 * len(kin_chunks & group) >= len(kin_chunks))
        group_of[kin] = next(same, len(groups))
        if group_of[kin] == len(groups):
            groups.append(kin_chunks)
    return np.array([group_of.get(_kin(track), -1) for track in trace.tracks], np.int64)


def _kin(track: Track) -> tuple[str, bool]:
    return track.pid, track.family is Family.FRAMES


def _reaches(spots: _Spots, earliest: int, latest: int) -> tuple[Int64s, Int64s]:
    """Return two int64[spots], ns: from when to when each stands, half way to those beside it of its group.

    That holds where these come before and after it in time as they do in the file. Else other events begin
    there, and the spot reaches as far on that side as on the other, within the trace.
    """
    middle = spots.start + (spots.end - spots.start) // 2
    begin, stop = spots.start.copy(), spots.end.copy()
    between = middle[:-1] + np.diff(middle) // 2
    follows = (np.diff(middle) >= 0) & (np.diff(spots.group) == 0)
    begin[1:][follows] = between[follows]
    stop[:-1][follows] = between[follows]
    first, last = np.append(True, ~follows)[: len(middle)], np.append(~follows, True)[: len(middle)]
    begin[first] = np.minimum(begin, np.maximum(2 * middle - stop, earliest))[first]
    stop[last] = np.maximum(stop, np.minimum(2 * middle - begin, latest))[last]
    return np.minimum(begin, middle), np.maximum(stop, middle)
