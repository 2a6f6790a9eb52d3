"""What has to hold of a trace so that nothing that draws or analyses it can fail. Vectorised; no files.

The sums of a file tell that it is what was written; this tells that what was written is a trace.
"""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from tracetui.arrays import Int64s
from tracetui.cache.columns import TABLES, TraceTable
from tracetui.reader.events import BlockColumns
from tracetui.trace.model import Activity, Layer, Trace


def check(trace: Trace, blocks: BlockColumns) -> None:
    """Raise ValueError where an index points nowhere, or an order that is relied upon doesn't hold."""
    events = _check_blocks(blocks)
    for name in TABLES:
        _same_length(getattr(trace, name))
    _check_lanes(trace)
    _check_slices(trace, events)
    slices, strings, flows, instants = len(trace.slices), len(trace.strings), trace.flows, trace.instants
    for name in ("transport", "link", "dtype", "algorithm", "collective", "process_group", "group_ranks"):
        require_within(getattr(trace.hccl, name), -1, strings)
    require_within(flows.category, -1, strings)
    require_within(flows.source, -1, slices)
    require_within(flows.target, -1, slices)
    require_within(flows.source_thread, -1, len(trace.threads))
    require_within(instants.track, -1, len(trace.tracks))
    require_within(instants.name, 0, strings)
    require_within(instants.event, 0, events)
    require(bool((instants.time[1:] >= instants.time[:-1]).all()))
    require(trace.start_ns <= trace.end_ns)


def _check_slices(trace: Trace, events: int) -> None:
    slices, strings = trace.slices, len(trace.strings)
    require_within(slices.name, 0, strings)
    for column in (slices.category, slices.stack, slices.task_type, slices.direction):
        require_within(column, -1, strings)
    require_within(slices.activity, min(Activity), max(Activity) + 1)
    require_within(slices.event, 0, events)
    if not len(slices):
        return
    require(bool((slices.end >= slices.start).all()))
    require(int(slices.start.min()) == trace.start_ns and int(slices.end.max()) == trace.end_ns)
    early = np.flatnonzero(slices.start[1:] < slices.end[:-1]) + 1
    require(bool(np.isin(early, trace.lane_rows).all()))


def _check_lanes(trace: Trace) -> None:
    rows, track = trace.lane_rows, trace.lane_track
    _require_bounds(rows, len(trace.slices))
    require(len(rows) == len(track) + 1 and bool((track[1:] >= track[:-1]).all()))
    require_within(track, 0, len(trace.tracks))
    samples = lanes_held = 0
    for member in trace.tracks:
        lanes = member.lanes
        lanes_held += len(lanes)
        if lanes:
            require(0 <= lanes.start <= lanes.stop <= len(track))
            require(bool((track[lanes.start : lanes.stop] == member.index).all()))
            require(member.rows == range(int(rows[lanes.start]), int(rows[lanes.stop])))
        else:
            require(not member.rows)
        require(0 <= member.samples.start <= member.samples.stop <= len(trace.counters))
        samples += len(member.samples)
    require(lanes_held == len(track) and samples == len(trace.counters))
    require_within(trace.counters.track, 0, sum(member.layer == Layer.COUNTER for member in trace.tracks))


def _check_blocks(blocks: BlockColumns) -> int:
    """Return the number of events in the blocks."""
    count = len(blocks.offset)
    require(len(blocks.first) == count + 1 and len(blocks.length) == len(blocks.spans) == count)
    events = int(blocks.first[-1])
    _require_bounds(blocks.first, events)
    for column in (blocks.offset, blocks.length, blocks.spans, blocks.span_start):
        require(not len(column) or int(column.min()) >= 0)
    require(bool((blocks.offset[1:] >= (blocks.offset + blocks.length)[:-1]).all()))
    require(len(blocks.span_start) == len(blocks.span_end) == int(blocks.spans.sum()))
    require(bool((blocks.span_end >= blocks.span_start).all()))
    return events


def _same_length(table: TraceTable) -> None:
    require(len({len(getattr(table, field.name)) for field in fields(table)}) == 1)


def _require_bounds(bounds: Int64s, end: int) -> None:
    """Require bounds that begin at 0, end at `end` and never go back."""
    require(len(bounds) > 0 and int(bounds[0]) == 0 and int(bounds[-1]) == end)
    require(bool((bounds[1:] >= bounds[:-1]).all()))


def require_within(column: np.typing.NDArray[np.signedinteger], low: int, high: int) -> None:
    """Require all values from `low` to below `high`."""
    require(not len(column) or (int(column.min()) >= low and int(column.max()) < high))


def require(holds: bool) -> None:
    if not holds:
        raise ValueError("the columns do not fit together")
