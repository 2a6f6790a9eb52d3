"""Ids of rows: what names a row of a table, or a slice, wherever the same trace is opened.

An id is made of what a row is about, never of its place in a table; times count from the start of the trace.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.arrays import Int64s
from tracetui.export.tables.column import Form, Table
from tracetui.places import NotAPlace, format_seconds, parse_seconds, quote, row_id
from tracetui.trace.model import Trace, Track
from tracetui.trace.order import numbered

GAP, SLICE = "gap", "slice"
Rows = TypeVar("Rows")


def gap_ids(analysis: Analysis, gaps: Int64s) -> list[str]:
    """Return the id of each gap: its device, and when it starts."""
    beginnings = [f"{GAP}={quote(activity.device)}:" for activity in analysis.devices]
    starts = (analysis.gaps.start[gaps] - analysis.trace.start_ns).tolist()
    devices = analysis.gaps.device[gaps].tolist()
    return [beginnings[device] + format_seconds(start) for device, start in zip(devices, starts)]


def find_gap(analysis: Analysis, identity: str) -> int:
    """Return the index of the gap that has an id; -1 where there is none."""
    start = _start_ns(analysis.trace, identity)
    if start is None or not identity.startswith(f"{GAP}="):
        return -1
    found = np.flatnonzero(analysis.gaps.start == start)
    return next((gap for gap in found.tolist() if gap_ids(analysis, np.array([gap])) == [identity]), -1)


def slice_id(trace: Trace, row: int) -> str:
    """Return the id of a slice: its thread or stream, its lane there, and when it starts."""
    return slice_ids(trace, np.array([row]))[0]


def slice_ids(trace: Trace, rows: Int64s) -> list[str]:
    """Return the id of each slice; what those of a lane share is made once."""
    lanes, places = numbered(np.searchsorted(trace.lane_rows, rows, "right") - 1)
    tracks = [trace.tracks[track] for track in trace.lane_track[lanes].tolist()]
    beginnings = [_of_lane(track, lane - track.lanes.start) for track, lane in zip(tracks, lanes.tolist())]
    starts = (trace.slices.start[rows] - trace.start_ns).tolist()
    return [f"{beginnings[place]}:{format_seconds(start)}" for place, start in zip(places.tolist(), starts)]


def find_slice(trace: Trace, identity: str) -> int:
    """Return the row of the slice that has an id; -1 where there is none."""
    start, lane = _start_ns(trace, identity), identity.rpartition(":")[0]
    if start is None:
        return -1
    for track in trace.tracks:
        for depth, number in enumerate(track.lanes):
            if _of_lane(track, depth) == lane:
                rows = trace.lane_slice_rows(number)
                row = rows.start + int(np.searchsorted(trace.slices.start[rows], start))
                return row if row < rows.stop and trace.slices.start[row] == start else -1
    return -1


def _of_lane(track: Track, depth: int) -> str:
    return row_id(SLICE, track.pid, track.tid, track.family.name.lower(), str(depth))


def _start_ns(trace: Trace, identity: str) -> int | None:
    """Return the time, ns on the clock of the trace, that an id ends with; None without one."""
    try:
        return trace.start_ns + parse_seconds(identity.rpartition(":")[2])
    except NotAPlace:
        return None


def ids_of(table: Table[Rows], rows: Rows) -> list[str]:
    """Return the id of each row of a table; nothing where its rows have none."""
    return next((column.exact(rows) for column in table.of(Form.JSON) if column.key == "id"), [])
