"""Arrows: flow starts paired with flow ends, and both bound to the slices they belong to.

An arrow is never dropped for pointing backwards in time: host and device clocks are aligned only roughly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Int32s, Int64s, searchsorted
from tracetui.reader.events import EventTable
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Family, Flows, Track
from tracetui.trace.nesting import LaneSlices, enclosing, starting
from tracetui.trace.order import numbered, stable_order, ties
from tracetui.trace.processes import Processes

_START, _END = 0, 2

#: Starts of a category from which on it is worth its own search for equal ids.
LEAST_JOINED = 1000

#: The families a flow may belong to, innermost call first, where no table says better. Never frames: no
#: producer starts an arrow in one.
_ANY_FAMILY = tuple(family for family in reversed(Family) if family != Family.FRAMES)


def bind_flows(
    table: EventTable, lanes: LaneSlices, tracks: tuple[Track, ...], processes: Processes
) -> tuple[Flows, int]:
    """Return the arrows of a table, and how many ends have an id that several unrelated starts share.

    Starts and ends belong together by category and id, if possible within one OS process: those of several in
    one file have equal ids. One start may have many ends. Where an id returns
    (each step numbers its own), as many starts as ends are paired in time order; else an end belongs to the
    last start not after it, or to the first. A start or end belongs to the slice that starts with it on its
    thread, else to the innermost that encloses it. Arrows without a slice at either end are left out.
    """
    flows = table.flows
    sources, targets, shared = _pair(table, processes)
    # One start may have many ends: its slice is looked for once.
    is_source = np.zeros(len(flows.time), np.bool_)
    is_source[sources] = True
    sought = np.flatnonzero(is_source)
    row_of_start = np.empty(len(flows.time), np.int64)
    row_of_start[sought] = _bind(table, sought, lanes, tracks)
    source_row, target_row = row_of_start[sources], _bind(table, targets, lanes, tracks)
    bound = np.flatnonzero((source_row >= 0) | (target_row >= 0))
    sources, targets, source_row, target_row = (
        column[bound] for column in (sources, targets, source_row, target_row)
    )
    category = flows.category[sources]
    order = _arrow_order(category, source_row, flows.time[targets])
    bound_flows = Flows(
        category=category[order],
        source=source_row[order],
        target=target_row[order],
        source_time=flows.time[sources][order],
        source_thread=flows.thread[sources][order],
    )
    return bound_flows, shared


def _arrow_order(category: Int32s, source_row: Int64s, time: Int64s) -> Int64s:
    """`np.lexsort((time, source_row, category))`; most starts have one end."""
    key = category.astype(np.int64) * (int(source_row.max(initial=0)) + 2) + source_row
    order: Int64s = np.argsort(key, kind="stable")
    keys = key[order]
    tied = ties(keys)
    rows = order[tied]
    order[tied] = rows[np.lexsort((time[rows], keys[tied]))]
    return order


def _pair(table: EventTable, processes: Processes) -> tuple[Int64s, Int64s, int]:
    """Return the start event of each end event that has one; both int64, indices into the flow events.

    Last, how many ends have an id that several starts share.
    """
    flows = table.flows
    connected = flows.id != -1
    starts = np.flatnonzero(connected & (flows.phase == _START))
    ends = np.flatnonzero(connected & (flows.phase == _END))
    owner_of_thread = _owners(table, processes)
    has_flows = np.bincount(flows.thread, minlength=len(owner_of_thread)) > 0
    if len(set(owner_of_thread[has_flows].tolist())) < 2:
        return _pair_by_category(table, starts, ends)
    owner = owner_of_thread[flows.thread]
    ids, number = numbered(flows.id)
    same_process = _pair_by_id(table, starts, ends, owner * len(ids) + number)
    unpaired = np.setdiff1d(ends, same_process[1], assume_unique=True)
    other_process = _pair_by_id(table, starts, unpaired, flows.id)
    sources, targets = (np.concatenate(columns) for columns in zip(same_process[:2], other_process[:2]))
    shared = same_process[2] + (other_process[2] if len(np.unique(owner[starts])) < 2 else 0)
    return sources, targets, shared


def _pair_by_category(table: EventTable, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s, int]:
    """As `_pair_by_id` by the ids as they are.

    In most traces all starts of a category have ids of their own: an end is at one of them or at none, and
    there is no need to sort by time. 260,000 arrows take 12 ms then, 45 otherwise.
    """
    flows = table.flows
    start_category, end_category = flows.category[starts], flows.category[ends]
    joined, pairs = [], []
    for category in np.flatnonzero(np.bincount(start_category + 1) >= LEAST_JOINED) - 1:
        own_starts, own_ends = starts[start_category == category], ends[end_category == category]
        ids, own_starts = _by_id(flows.id, own_starts)
        if not (ids[1:] == ids[:-1]).any():
            end_ids, own_ends = _by_id(flows.id, own_ends)
            place = searchsorted(ids[:-1], end_ids)
            has_start = ids[place] == end_ids
            pairs.append((own_starts[place[has_start]], own_ends[has_start]))
            joined.append(category)
    unpaired = [
        events[~np.isin(category, joined)]
        for events, category in ((starts, start_category), (ends, end_category))
    ]
    left_sources, left_targets, shared = _pair_by_id(table, unpaired[0], unpaired[1], flows.id)
    pairs.append((left_sources, left_targets))
    sources, targets = (np.concatenate(columns) for columns in zip(*pairs))
    return sources, targets, shared


def _by_id(ids: Int64s, events: Int64s) -> tuple[Int64s, Int64s]:
    """Return the ids of some events in order, and these events."""
    event_ids = ids[events]
    order = np.argsort(event_ids, kind="stable")
    return event_ids[order], events[order]


def _owners(table: EventTable, processes: Processes) -> Int64s:
    """Of each thread a number that is equal for those of one OS process."""
    numbers: dict[str, int] = {}
    owners = [numbers.setdefault(processes.owners.get(pid, pid), len(numbers)) for pid, _ in table.threads]
    return np.array(owners, np.int64)


def _pair_by_id(table: EventTable, starts: Int64s, ends: Int64s, ids: Int64s) -> tuple[Int64s, Int64s, int]:
    """Return the same among those starts and ends, which belong together by `ids`, one of each flow event."""
    flows = table.flows
    events = np.concatenate((starts, ends))
    is_end = np.repeat([False, True], [len(starts), len(ends)])
    order = np.lexsort((is_end, flows.time[events], ids[events], flows.category[events]))
    events, is_end = events[order], is_end[order]
    groups = _Groups.from_columns(flows.category[events], ids[events], is_end)
    start_events, end_places = events[~is_end], np.flatnonzero(is_end)
    group = groups.number[end_places]
    started = np.cumsum(~is_end)[end_places]
    nth_end = np.arange(len(end_places)) - groups.first_end[group]
    first_start = groups.first_start[group]
    last_started = np.maximum(started - 1, first_start)
    balanced = groups.starts[group] == groups.ends[group]
    start_of_end = np.where(balanced, first_start + nth_end, last_started)
    category = flows.category[events[end_places]]
    is_unique = meanings(table.strings, category, lambda text: int(text in KNOWN.flows.unique)) == 1
    shared = (groups.starts[group] > 1) & is_unique
    has_start = (groups.starts[group] > 0) & ~shared
    launch_ids = meanings(table.strings, category, _has_launch_ids)
    mixed = (groups.starts[group] > 1) & ((launch_ids == 1) | ((launch_ids == 0) & groups.mixes[group]))
    return start_events[start_of_end[has_start]], events[end_places[has_start]], int(np.count_nonzero(mixed))


def _has_launch_ids(category: str) -> int | None:
    """Return 1 where arrows of a category have the ids of launches, which are given once; 0 of others.

    None where each step may number its own: from forward operators, and from thread to thread.
    """
    if category in KNOWN.flows.backward or category in KNOWN.flows.dispatch:
        return None
    return int(Family.CALLS in KNOWN.flows.families.get(category, ()))


@dataclass(frozen=True)
class _Groups:
    """The flow events of one category and id, of events sorted by both."""

    number: Int64s  #: per event
    starts: Int64s  #: per group, how many
    ends: Int64s
    first_start: Int64s  #: per group, the place of its first start among all starts
    first_end: Int64s
    mixes: Bools  #: per group, whether one start follows another before any end

    @classmethod
    def from_columns(cls, category: Int32s, flow_id: Int64s, is_end: Bools) -> _Groups:
        changes = (category[1:] != category[:-1]) | (flow_id[1:] != flow_id[:-1])
        number = np.concatenate(([0], np.cumsum(changes)))[: len(category)]
        counts = np.bincount(number)
        ends = np.bincount(number[is_end], minlength=len(counts))
        starts = counts - ends
        twice = ~changes & ~is_end[1:] & ~is_end[:-1]
        mixes = np.zeros(len(counts), np.bool_)
        mixes[number[1:][twice]] = True
        return cls(number, starts, ends, np.cumsum(starts) - starts, np.cumsum(ends) - ends, mixes)


def _bind(table: EventTable, events: Int64s, lanes: LaneSlices, tracks: tuple[Track, ...]) -> Int64s:
    """Return the slice that each flow event belongs to, -1 where its thread has none there."""
    flows = table.flows
    by_thread: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        by_thread.setdefault((track.pid, track.tid), []).append(track)
    rows = np.empty(len(events), np.int64)
    for places in _group_events(flows.category[events], flows.thread[events]):
        event = events[places[0]]
        category = int(flows.category[event])
        families = KNOWN.flows.families.get(table.strings[category] if category >= 0 else "", _ANY_FAMILY)
        candidates = by_thread.get(table.threads[int(flows.thread[event])], [])
        searched = [track for family in families for track in candidates if track.family == family]
        rows[places] = _slices_at(lanes, searched, flows.time[events[places]])
    return rows


def _group_events(category: Int32s, thread: Int32s) -> list[Int64s]:
    """Group the places of events by category and thread."""
    if not len(category):
        return []
    order = stable_order(thread)
    order = order[stable_order(category[order])]
    changes = (np.diff(category[order]) != 0) | (np.diff(thread[order]) != 0)
    return np.split(order, np.flatnonzero(changes) + 1)


def _slices_at(lanes: LaneSlices, tracks: list[Track], times: Int64s) -> Int64s:
    """Return the slice that starts at each time, in the first track with one, or the innermost around."""
    slices = np.full(len(times), -1, np.int64)
    for search in (starting, enclosing):
        for track in tracks:
            missing = np.flatnonzero(slices < 0)
            if len(missing):
                slices[missing] = search(lanes, track.lanes, times[missing])
    return slices
