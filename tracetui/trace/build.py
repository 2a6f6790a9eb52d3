"""From the reader's event table to the trace: tracks in reading order, lanes, activities, flows, counters.

Knows how the parts fit together; the names are in `dialect`, the geometry in `layout`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int32s, Int64s
from tracetui.reader.events import EventTable
from tracetui.trace.activities import classify
from tracetui.trace.flows import bind_flows
from tracetui.trace.layout import Layout, lay_out
from tracetui.trace.model import Counters, Family, Instants, Layer, Slices, Trace, Track
from tracetui.trace.notes import trace_notes
from tracetui.trace.processes import Processes
from tracetui.trace.tracks import Unplaced, kind_of, place_counters, place_slices


def build_trace(table: EventTable) -> Trace:
    """The trace of a table; also of one read in part. The table is not changed and its strings are shared."""
    processes = Processes.of(table)
    unplaced, track_of_slice = place_slices(table, processes)
    counters_unplaced, track_of_series = place_counters(table, processes)
    activity = classify(table, unplaced, track_of_slice)
    slices = table.slices
    layout = lay_out(track_of_slice, slices.start, slices.dur, slices.python_id)
    order = layout.order
    columns = Slices(
        start=layout.start,
        dur=layout.dur,
        name=slices.name[order],
        category=slices.category[order],
        activity=activity[order],
        event=slices.event[order],
        correlation=slices.correlation[order],
        stack=slices.stack[order],
        task_type=slices.task_type[order],
        direction=slices.direction[order],
        python_id=slices.python_id[order],
    )
    counters, samples = _sort_counters(table, track_of_series)
    tracks = _slice_tracks(unplaced, layout) + _counter_tracks(counters_unplaced, len(unplaced), samples)
    rows = _Rows(columns, layout.lane_rows)
    kind = kind_of(table, processes, tracks)
    start_ns, end_ns = _extent(columns, table)
    return Trace(
        path=table.path,
        kind=kind,
        strings=table.strings,
        threads=table.threads,
        tracks=tracks,
        slices=columns,
        lane_rows=layout.lane_rows,
        lane_track=layout.lane_track,
        flows=bind_flows(table, rows, tracks, processes),
        counters=counters,
        instants=_instants(table, tracks),
        devices=_devices(tracks),
        start_ns=start_ns,
        end_ns=end_ns,
        report=table.report,
        owners=processes.owners,
        notes=trace_notes(table, kind, tracks, columns, processes.inferred),
    )


@dataclass(frozen=True)
class _Rows:
    """The sorted slices before there is a trace around them."""

    slices: Slices
    lane_rows: Int64s


def _slice_tracks(unplaced: list[Unplaced], layout: Layout) -> tuple[Track, ...]:
    lane_bounds = np.searchsorted(layout.lane_track, np.arange(len(unplaced) + 1))
    row_bounds = layout.lane_rows[lane_bounds].tolist()
    lanes = lane_bounds.tolist()
    return tuple(
        track.placed(
            index,
            lanes=range(lanes[index], lanes[index + 1]),
            rows=range(row_bounds[index], row_bounds[index + 1]),
        )
        for index, track in enumerate(unplaced)
    )


def _counter_tracks(unplaced: list[Unplaced], first: int, samples: Int64s) -> tuple[Track, ...]:
    bounds = samples.tolist()
    return tuple(
        track.placed(first + place, samples=range(bounds[place], bounds[place + 1]))
        for place, track in enumerate(unplaced)
    )


def _sort_counters(table: EventTable, track_of_series: Int32s) -> tuple[Counters, Int64s]:
    """The samples of all counter tracks by track and time, and the bounds of each track's."""
    columns = table.counters
    track = track_of_series[columns.series]
    order = np.lexsort((columns.time, track))
    bounds = np.searchsorted(track[order], np.arange(len(track_of_series) + 1)).astype(np.int64)
    return Counters(columns.time[order], columns.value[order]), bounds


def _instants(table: EventTable, tracks: tuple[Track, ...]) -> Instants:
    """Instants by time, each on the first track of its thread, operators before frames."""
    first: dict[tuple[str, str], int] = {}
    for track in sorted(tracks, key=lambda track: track.family == Family.FRAMES):
        if track.layer != Layer.COUNTER:
            first.setdefault((track.pid, track.tid), track.index)
    track_of_thread = np.array([first.get(thread, -1) for thread in table.threads], np.int32)
    instants = table.instants
    order = np.argsort(instants.time, kind="stable")
    return Instants(
        time=instants.time[order],
        track=track_of_thread[instants.thread[order]],
        name=instants.name[order],
        event=instants.event[order],
    )


def _devices(tracks: tuple[Track, ...]) -> tuple[str, ...]:
    device_layers = (Layer.DEVICE, Layer.COMMUNICATION)
    return tuple(dict.fromkeys(t.device for t in tracks if t.layer in device_layers and t.device))


def _extent(slices: Slices, table: EventTable) -> tuple[int, int]:
    """First start and last end of a slice; of anything timed where there is no slice; else (0, 0)."""
    if len(slices):
        return int(slices.start.min()), int(slices.end.max())
    times = [times for times in (table.counters.time, table.instants.time, table.flows.time) if len(times)]
    if not times:
        return 0, 0
    return min(int(t.min()) for t in times), max(int(t.max()) for t in times)
