"""Collectives, and the tasks of their planes: the slices joined to what HCCL's args say of them.

A group's operations run on planes: notifications to and from peers, and what moves bytes. Traces of level 0
and of GPUs have operations without planes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.idle.pieces import last_begun
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import group_by, pick, rows_of, track_of_rows
from tracetui.arrays import EMPTY, Bools, Columns, Int32s, Int64s, first_equal
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Activity, Family, Layer, Trace, Track

_ARG_TYPES = compile_any(KNOWN.collectives.arg_types)
LARGEST = 1 << 60  #: bytes: what is said to be larger is none


@dataclass(frozen=True, eq=False)
class PlaneOperations(Columns):
    """The communication operations of all devices as columns of equal length, by device, then start."""

    row: Int64s  #: slice row
    device: Int32s  #: index into the devices of the analysis
    group: Int32s  #: index of the track of its group; -1: it runs on a stream (GPU)
    start: Int64s  #: ns
    end: Int64s  #: ns
    count: Int64s  #: elements of `dtype`, -1 where not told
    dtype: Int32s  #: string, -1 where not told
    algorithm: Int32s  #: string of `alg_type`, -1 where not told
    size: Int64s  #: bytes of the message: `count` elements of `dtype`; -1 where not told
    args: Int64s  #: row of the trace's `hccl` with its own args, or those of the operator (GPU); -1 none


@dataclass(frozen=True, eq=False)
class PlaneTasks(Columns):
    """The tasks of all planes as columns of equal length, by group, then plane, then start."""

    row: Int64s  #: slice row
    operation: Int64s  #: index into the operations: of its group the last begun at its start; -1 none
    group: Int32s  #: index of the track of its group, -1 where not known
    plane: Int32s  #: index of the track of its plane
    start: Int64s  #: ns
    end: Int64s  #: ns
    src: Int32s  #: rank in the group, -1 where not told
    dst: Int32s  #: rank in the group, -1 where not told, or where there is no peer
    size: Int64s  #: bytes, -1 where not told
    transport: Int32s  #: string: LOCAL, SDMA, RDMA; -1 where not told
    link: Int32s  #: string: HCCS, PCIE, ROCE, ON_CHIP; -1 where not told

    def named(self, trace: Trace, names: Collection[str]) -> Bools:
        """Return which of them are tasks of one of these names."""
        matches: Bools = meanings(trace.strings, trace.slices.name[self.row], lambda name: name in names) == 1
        return matches


def operations(
    trace: Trace, activities: tuple[DeviceActivity, ...], launch_chains: LaunchChains
) -> PlaneOperations:
    """Return all communication operations, what M is the union of."""
    parts = [
        activity.tasks[trace.slices.activity[activity.tasks] == Activity.COMMUNICATION]
        for activity in activities
    ]
    row = np.concatenate([EMPTY, *parts])
    track = track_of_rows(trace, row)
    is_group = np.array([track.family == Family.GROUP for track in trace.tracks], np.bool_)
    hccl, places = trace.hccl, first_equal(trace.hccl.event, trace.slices.event[row])
    operator = launch_chains.operator[launch_chains.index(row)]
    of_operator = first_equal(hccl.event, pick(trace.slices.event, operator))
    is_told = (places < 0) & (operator >= 0) & (pick(hccl.collective, of_operator) >= 0)
    places = np.where(is_told, of_operator, places)
    count, dtype = pick(hccl.count, places), pick(hccl.dtype, places).astype(np.int32)
    widths = meanings(trace.strings, dtype, lambda text: KNOWN.collectives.element_bytes.get(text.upper()))
    width = widths.astype(np.int64)
    has_size = (width > 0) & (count >= 0) & (count <= LARGEST // np.maximum(width, 1))
    return PlaneOperations(
        row=row,
        device=np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part in parts]),
        group=np.where(is_group[track], track, np.int32(-1)) if len(row) else track,
        start=trace.slices.start[row],
        end=trace.slices.end[row],
        count=count,
        dtype=dtype,
        algorithm=pick(hccl.algorithm, places).astype(np.int32),
        size=np.where(has_size, count * width, -1),
        args=places,
    )


def collective_kinds(trace: Trace, args: Int64s) -> list[str]:
    """Return what operations do by the `Collective name` of their args: "allgather"; "" without one."""
    names = pick(trace.hccl.collective, args).tolist()
    matches = {name: _ARG_TYPES.match(trace.string(name) or "") for name in set(names)}
    kinds = {name: match[1].replace("_", "") if match else "" for name, match in matches.items()}
    return [kinds[name] for name in names]


def plane_tasks(trace: Trace, collectives: PlaneOperations) -> PlaneTasks:
    """Return the tasks of all planes of the trace; empty at level 0 and on GPUs."""
    planes = [track for track in trace.tracks if track.family == Family.PLANE]
    group_of = np.empty(len(trace.tracks), np.int32)
    group_of[[plane.index for plane in planes]] = _group_tracks(trace, planes)
    row = rows_of(planes)
    plane, start = track_of_rows(trace, row), trace.slices.start[row]
    order = np.lexsort((start, plane, group_of[plane]))
    row, plane, start = row[order], plane[order], start[order]
    hccl, places = trace.hccl, first_equal(trace.hccl.event, trace.slices.event[row])
    return PlaneTasks(
        row=row,
        operation=_operations_under_way(collectives, group_of[plane], start),
        group=group_of[plane],
        plane=plane,
        start=start,
        end=trace.slices.end[row],
        src=pick(hccl.src, places).astype(np.int32),
        dst=pick(hccl.dst, places).astype(np.int32),
        size=pick(hccl.size, places),
        transport=pick(hccl.transport, places).astype(np.int32),
        link=pick(hccl.link, places).astype(np.int32),
    )


def _operations_under_way(collectives: PlaneOperations, group: Int32s, start: Int64s) -> Int64s:
    """Return, for each (group, time), the operation under way that began last; -1 where none is."""
    operations = np.full(len(group), -1, np.int64)
    members = dict(group_by(collectives.group))
    for index, places in group_by(group):
        if index >= 0 and index in members:
            cuts = last_begun(collectives.start[members[index]], collectives.end[members[index]])
            if not len(cuts.end):
                continue
            piece = np.searchsorted(cuts.start, start[places], "right") - 1
            under_way = (piece >= 0) & (start[places] < cuts.end[piece])
            operations[places[under_way]] = members[index][cuts.place[piece[under_way]]]
    return operations


def _group_tracks(trace: Trace, planes: list[Track]) -> list[int]:
    """Return the track of the group of each plane, -1 where that is not known.

    Threads of planes follow that of their group; in traces of 2023 they stand before it, the only one.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for track in trace.tracks:
        if track.layer == Layer.COMMUNICATION and track.family == Family.GROUP:
            groups.setdefault(track.pid, []).append(_thread_order(track))
    indices = []
    for members in groups.values():
        members.sort()
    for plane in planes:
        members = groups.get(plane.pid, [])
        place = bisect_right(members, _thread_order(plane)) - 1
        indices.append(members[place][1] if place >= 0 or len(members) == 1 else -1)
    return indices


def _thread_order(track: Track) -> tuple[int, int]:
    """Return the number of its thread, and its index."""
    return (int(track.tid) if track.tid.isdecimal() and len(track.tid) < 19 else -1, track.index)
