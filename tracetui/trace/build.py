"""From the reader's event table to the trace: tracks in reading order, lanes, activities, flows, counters.

Knows how the parts fit together; the names are in `dialects`, the geometry in `layout`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int32s, Int64s, Smalls
from tracetui.background import MOST_BESIDE, Background
from tracetui.reader.events import EventTable, SliceColumns
from tracetui.trace.activities import classify
from tracetui.trace.flows import bind_flows
from tracetui.trace.layout import lay_out
from tracetui.trace.model import Counters, Family, Instants, Layer, Slices, Trace, Track
from tracetui.trace.nesting import LaneSlices, SliceTimes
from tracetui.trace.notes import trace_notes
from tracetui.trace.order import stable_order
from tracetui.trace.processes import Processes
from tracetui.trace.tracks import place_counters, place_slices, trace_kind
from tracetui.trace.unclosed import close_calls

#: The members of a document that hold what Kineto logged, and how much of that is kept.
_LOGGED, _MOST_MESSAGES = ("ERROR", "WARNING"), 1_000
_BLOCK = 1 << 16  # samples that are looked up at a time
_Rooms = dict[np.dtype[Any], NDArray[Any]]


def build_trace(table: EventTable) -> Trace:
    """Return the trace of a table; also of one read in part. The trace shares its strings.

    The table is used up: there is no room for two of all slices, so its columns go one by one.
    """
    strings = table.strings
    processes = Processes.from_table(table)
    unplaced, track_of_slice, surplus_devices = place_slices(table, processes)
    counters_unplaced, track_of_series = place_counters(table, processes)
    is_large = len(track_of_slice) > MOST_BESIDE
    closing = Background(lambda: close_calls(table.slices, track_of_slice), is_large)
    order = stable_order(track_of_slice)
    counters, samples = _counters(table, track_of_series)
    unclosed = closing.result()
    times, lane_rows, lane_track = _lay_out(table.slices, track_of_slice, order)
    slice_tracks = _slice_tracks(unplaced, lane_rows, lane_track)
    tracks = slice_tracks + _counter_tracks(counters_unplaced, len(unplaced), samples)
    arrows = Background(lambda: bind_flows(table, LaneSlices(times, lane_rows), tracks, processes), is_large)
    slices = _sort_slices(table.slices, order, times)
    classify(strings, slices, slice_tracks)
    layers = {track.layer for track in tracks}
    kind = trace_kind(strings, (slices.category, table.flows.category), processes, layers)
    instants = _instants(table, tracks)
    flows, shared_flows = arrows.result()
    start_ns, end_ns = _extent(slices, lane_rows, table)
    trace = Trace(
        path=table.path,
        kind=kind,
        strings=strings,
        threads=table.threads,
        tracks=tracks,
        slices=slices,
        hccl=table.hccl,
        numbered=table.numbered,
        memory=table.memory,
        lane_rows=lane_rows,
        lane_track=lane_track,
        flows=flows,
        counters=counters,
        instants=instants,
        devices=_devices(tracks),
        start_ns=start_ns,
        end_ns=end_ns,
        report=table.report,
        owners=processes.owners,
        base_ns=table.base_ns,
        unclosed=unclosed,
        shared_flows=shared_flows,
        messages=_messages(table),
    )
    return replace(trace, notes=trace_notes(trace, processes.inferred, surplus_devices))


def _lay_out(columns: SliceColumns, track: Int32s, order: Int64s) -> tuple[SliceTimes, Int64s, Int32s]:
    """Return the times of the slices by track, lane and start, the rows and the track of each lane.

    order : int64[n], the places of the slices by track, which are put in the order of the times.
    """
    for name in ("thread", "python_parent"):
        _take(columns, name)
    rooms: _Rooms = {}
    start, dur = (_in_order(columns, name, order, rooms) for name in ("start", "dur"))
    rooms.clear()
    lane_rows, lane_track = lay_out(np.bincount(track), order, start, dur, _take(columns, "python_id"))
    dur += start
    return SliceTimes(start, dur), lane_rows, lane_track


def _sort_slices(columns: SliceColumns, order: Int64s, times: SliceTimes) -> Slices:
    """Return the slices in the order of their times, without their activity."""
    rooms: _Rooms = {}
    names = ("name", "category", "event", "correlation", "stack", "task_type", "direction")
    in_order = {name: _in_order(columns, name, order, rooms) for name in names}
    return Slices(start=times.start, end=times.end, activity=np.empty(len(order), np.int8), **in_order)


def _in_order(columns: SliceColumns, name: str, order: Int64s, rooms: _Rooms) -> NDArray[Any]:
    """Return a column in some order, in the place of one before it if `rooms` has such: new pages take as
    long as the sorting.
    """
    column = _take(columns, name)
    room = rooms.pop(column.dtype, None)
    if column.flags.writeable:
        rooms[column.dtype] = column
    return np.take(column, order, out=room, mode="clip")


def _take(columns: SliceColumns, name: str) -> NDArray[Any]:
    """Return a column that is out of the table from here on."""
    column: NDArray[Any] = getattr(columns, name)
    setattr(columns, name, np.empty(0, column.dtype))
    return column


def _slice_tracks(unplaced: list[Track], lane_rows: Int64s, lane_track: Int32s) -> tuple[Track, ...]:
    lane_bounds = np.searchsorted(lane_track, np.arange(len(unplaced) + 1))
    row_bounds = lane_rows[lane_bounds].tolist()
    lanes = lane_bounds.tolist()
    return tuple(
        replace(
            track,
            index=index,
            lanes=range(lanes[index], lanes[index + 1]),
            rows=range(row_bounds[index], row_bounds[index + 1]),
        )
        for index, track in enumerate(unplaced)
    )


def _counter_tracks(unplaced: list[Track], first: int, samples: Int64s) -> tuple[Track, ...]:
    bounds = samples.tolist()
    return tuple(
        replace(track, index=first + place, samples=range(bounds[place], bounds[place + 1]))
        for place, track in enumerate(unplaced)
    )


def _counters(table: EventTable, track_of_series: Smalls) -> tuple[Counters, Int64s]:
    """Return the samples of all counter tracks, and the bounds of each track's."""
    columns = table.counters
    track = np.empty(len(columns.series), track_of_series.dtype)
    samples = np.zeros(len(track_of_series), np.int64)
    for begin in range(0, len(track), _BLOCK):  # as indices they take 8 bytes each
        block = columns.series[begin : begin + _BLOCK]
        np.take(track_of_series, block, out=track[begin : begin + _BLOCK], mode="clip")
        samples[track_of_series] += np.bincount(block, minlength=len(samples))
    return Counters(track, columns.time, columns.value), np.cumsum(np.append(0, samples))


def _instants(table: EventTable, tracks: tuple[Track, ...]) -> Instants:
    """Return the instants by time, each on the first track of its thread, operators before frames."""
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


def _messages(table: EventTable) -> tuple[str, ...]:
    """Return what Kineto logged while it recorded, which it writes beside the events."""
    logged = [table.document.get(level) for level in _LOGGED]
    messages = [text for texts in logged if isinstance(texts, list) for text in texts]
    return tuple(text for text in messages if isinstance(text, str))[:_MOST_MESSAGES]


def _devices(tracks: tuple[Track, ...]) -> tuple[str, ...]:
    device_layers = (Layer.DEVICE, Layer.COMMUNICATION)
    return tuple(dict.fromkeys(t.device for t in tracks if t.layer in device_layers and t.device))


def _extent(slices: Slices, lane_rows: Int64s, table: EventTable) -> tuple[int, int]:
    """Return first start and last end of the slices; where there are none, of anything timed, else (0, 0)."""
    if len(slices):
        first, last = lane_rows[:-1], lane_rows[1:] - 1
        return int(slices.start[first].min()), int(slices.end[last].max())
    times = [times for times in (table.counters.time, table.instants.time, table.flows.time) if len(times)]
    if not times:
        return 0, 0
    return min(int(t.min()) for t in times), max(int(t.max()) for t in times)
