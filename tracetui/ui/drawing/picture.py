"""The trace as lines of columns: what every line of the timeline holds between given edges of time.

Knows the trace, the analysis once it is ready, and rasters; not the widget and not the terminal. Rasters of
whole tracks are made at first use and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tracetui.analysis.counter_tracks import CounterTrack, of_counter
from tracetui.analysis.gaps import Measure
from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.raster import Raster, RasterColumns
from tracetui.arrays import Int64s
from tracetui.trace.model import Family, Layer, Trace, Track
from tracetui.ui.drawing.curve_rows import Extras, extra_key
from tracetui.ui.drawing.row import track_key
from tracetui.ui.drawing.sketch import Sketch
from tracetui.ui.state import TrackKey

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.idle.cause import Cause

#: families whose outermost lane covers all others
_NESTED = (Family.FRAMES, Family.OPERATORS, Family.CALLS, Family.ANNOTATIONS)
#: samples from which on bringing them in order takes longer than a frame
MANY_SAMPLES = 100_000


class Picture:
    """One trace, ready to be drawn at any zoom."""

    def __init__(
        self,
        trace: Trace,
        analysis: Analysis | None = None,
        sketch: Sketch | None = None,
        ranked_by: Measure = Measure.LOST,
    ) -> None:
        self.trace = trace
        self.analysis = analysis
        self.sketch = sketch  #: of what is not read of the trace
        self.ranked_by = ranked_by  #: what the worst gaps have most of
        self._lanes = Raster.of(trace)
        self._unions: dict[int, tuple[Raster, range]] = {}
        self._main_causes: dict[tuple[int, int], Cause] = {}
        self._counters: dict[TrackKey, CounterTrack] | None = None
        self.take_extras(Extras())
        self._ranks: dict[int, int] | None = None

    def analysed(self, analysis: Analysis, ranked_by: Measure = Measure.LOST) -> Picture:
        """Return the same picture with the idle time of the devices, and with its gaps ranked."""
        other = Picture(self.trace, analysis, self.sketch, ranked_by)
        other._lanes, other._unions, other._counters = self._lanes, self._unions, self._counters
        other.take_extras(self.extras)
        return other

    def warm(self) -> Picture:
        """Make the tables that the first lines need: 0.13 s of 10 M slices, not for the screen's thread."""
        edges = np.array([self.trace.start_ns, self.trace.start_ns + 1], np.int64)
        if len(self.trace.slices):
            self.lane(0, edges)
        for track in self.trace.tracks:
            if len(track.lanes) > 1 and track.family not in _NESTED:
                self._union_busy(track, edges)
        return self

    def lane(self, lane: int, edges: Int64s) -> RasterColumns:
        """Return the columns of one lane."""
        return self._lanes.columns(self._rows(lane), edges)

    def folded(self, track: Track, edges: Int64s) -> RasterColumns:
        """Return the columns of all lanes of a track: busy where any is, named by the innermost slice."""
        return self.lines([(track, -1)], edges).lane(0)

    def lines(self, lines: Sequence[tuple[Track, int]], edges: Int64s) -> RasterColumns:
        """Return the columns of several lines, each a lane of a track; lane -1: the whole track, folded."""
        lanes = [track.lanes[0] if lane < 0 else lane for track, lane in lines]
        columns = self._lanes.lanes([self._rows(lane) for lane in lanes], edges)
        for place, (track, lane) in enumerate(lines):
            if lane < 0 and len(track.lanes) > 1:
                self._fold(track, columns.lane(place))
        return columns

    def _rows(self, lane: int) -> range:
        return range(int(self.trace.lane_rows[lane]), int(self.trace.lane_rows[lane + 1]))

    def _fold(self, track: Track, columns: RasterColumns) -> None:
        """Replace each column of the outermost lane by the innermost slice that covers all of it."""
        edges, (starts, ends) = columns.edges, (self.trace.slices.start, self.trace.slices.end)
        if track.family not in _NESTED:
            columns.busy[:] = self._union_busy(track, edges)
        inner = [self._rows(lane) for lane in track.lanes[1:]]
        found = [np.searchsorted(starts[rows.start : rows.stop], edges[:-1], "right") for rows in inner]
        begin = np.array([[rows.start] for rows in inner])
        at = begin + np.array(found) - 1
        covers = (at >= begin) & (ends[at] >= edges[1:])
        row = np.where(covers, at, -1).max(axis=0)  # the rows of inner lanes are behind those of outer ones
        covered = row >= 0
        columns.row[covered] = row[covered]
        columns.longest[covered] = np.diff(edges)[covered]

    @property
    def is_of_host(self) -> bool:
        """Whether there is no device: `load` is that of the host."""
        expected = self.sketch.tracks if self.sketch is not None else ()
        return all(track.layer is not Layer.DEVICE for track in (*self.trace.tracks, *expected))

    def load(self, edges: Int64s) -> tuple[Int64s, Int64s]:
        """Return ns busy of the busiest track in each column, and the level of what is not read there.

        Both are int64[columns]; the level is as in `Sketch.levels`.
        """
        layers = (Layer.PYTHON, Layer.OTHER) if self.is_of_host else (Layer.DEVICE,)
        busy = level = np.zeros(len(edges) - 1, np.int64)
        for track in self.trace.tracks:
            if track.layer in layers and len(track.lanes):
                busy = np.maximum(busy, self.folded(track, edges).busy)
        if self.sketch is not None:
            for track in self.sketch.tracks:
                if track.layer in layers:
                    level = np.maximum(level, self.sketch.levels(track_key(track), edges))
        return busy, level

    def idle(self, device: int, edges: Int64s) -> RasterColumns | None:
        """Return a device's idle time: `row` is an index into its idle intervals. None: not known yet."""
        if self.analysis is None:
            return None
        raster = self.analysis.idle_rasters[device]
        return raster.columns(range(len(raster)), edges)

    def causes(self, device: int, edges: Int64s) -> Int64s:
        """Return ns of each cause of a device's idle time, which is analysed: int64[causes, columns]."""
        assert self.analysis is not None
        return self.analysis.cause_rasters[device].ns(edges)

    def exposed(self, device: int, edges: Int64s) -> Int64s:
        """Return ns of each cause of a device's exposed communication: int64[causes, columns]."""
        assert self.analysis is not None
        exposed = [np.diff(times.before(edges)) for times in self.analysis.communication.exposed_sets[device]]
        return np.array(exposed, np.int64)

    def main_cause(self, device: int, interval: int) -> Cause:
        """Return the cause with the most time in an idle interval of a device, the lower of equals."""
        assert self.analysis is not None
        key = (device, interval)
        if key not in self._main_causes:
            causes = self.analysis.causes
            first = int(np.searchsorted(causes.intervals.device, np.int32(device)))
            self._main_causes[key] = causes.main(causes.of_interval(first + interval))
        return self._main_causes[key]

    def gap_cause(self, gap: int) -> Cause:
        """Return the cause with the most time in a gap that is idle."""
        assert self.analysis is not None
        causes = self.analysis.causes
        return causes.main(causes.of_gap(gap))

    def curve(self, key: TrackKey) -> CounterTrack | None:
        """Return the curve of a key; None where there is none, or it is not ready yet."""
        if self._counters is None:
            self._counters = {
                track_key(track): of_counter(self.trace, track)
                for track in self.trace.tracks
                if len(track.samples)
            }
        return self._extra.get(key) or (self._counters.get(key) if self.has_counters else None)

    @property
    def has_counters(self) -> bool:
        """Whether the counters of the trace can be drawn: many are brought in order in a thread first."""
        counters = self.trace.counters
        return len(counters) < MANY_SAMPLES or counters.is_sorted

    def take_extras(self, extras: Extras) -> None:
        """Show other curves than the counters of the trace."""
        self.extras = extras
        self._extra = {extra_key(track): track for track in extras.tracks}

    @property
    def ranks(self) -> dict[int, int]:
        """The rank, from 1, of the nine gaps with the most of what ranks them, by gap index."""
        if self.analysis is None:
            return {}
        if self._ranks is None:
            gaps = self.analysis.gaps
            ns, worst = gaps.measured(self.ranked_by), gaps.ranked(self.ranked_by)[:9].tolist()
            self._ranks = {gap: rank for rank, gap in enumerate(worst, 1) if ns[gap] > 0}
        return self._ranks

    def gap_at(self, device: int, time_ns: int) -> int:
        """Return the gap of a device that holds a time, or -1."""
        if self.analysis is None:
            return -1
        gaps = self.analysis.gaps
        of_device = slice(*np.searchsorted(gaps.device, np.array([device, device + 1], np.int32)).tolist())
        at = of_device.start + int(np.searchsorted(gaps.start[of_device], time_ns, "right")) - 1
        return at if at >= of_device.start and time_ns < int(gaps.end[at]) else -1

    def slice_at(self, lane: int, time_ns: int) -> int:
        """Return the slice of a lane that holds a time, or -1."""
        rows = self.trace.lane_slice_rows(lane)
        at = int(np.searchsorted(self.trace.slices.start[rows], time_ns, "right")) - 1
        row = int(rows.start) + at
        if at < 0 or (
            time_ns >= int(self.trace.slices.end[row]) and time_ns > int(self.trace.slices.start[row])
        ):
            return -1
        return row

    def _union_busy(self, track: Track, edges: Int64s) -> Int64s:
        if track.index not in self._unions:
            rows = slice(track.rows.start, track.rows.stop)
            busy = union(self.trace.slices.start[rows], self.trace.slices.end[rows])
            self._unions[track.index] = _raster(busy)
        raster, intervals = self._unions[track.index]
        return raster.columns(intervals, edges).busy


def _raster(intervals: Intervals) -> tuple[Raster, range]:
    return Raster(intervals.starts, intervals.ends), range(len(intervals))
