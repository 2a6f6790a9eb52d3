"""Arrows: flow starts paired with flow ends, and both bound to the slices they belong to.

An arrow is never dropped for pointing backwards in time: host and device clocks are aligned only roughly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.reader.events import EventTable
from tracetui.trace.dialect import FLOW_FAMILIES, UNIQUE_FLOWS
from tracetui.trace.model import Family, Flows, Track
from tracetui.trace.nesting import Lanes, enclosing, starting
from tracetui.trace.processes import Processes

_START, _END = 0, 2

#: The families a flow may belong to, innermost call first, where no table says better. Never frames: no
#: producer starts an arrow in one.
_ANY_FAMILY = tuple(family for family in reversed(Family) if family != Family.FRAMES)


def bind_flows(table: EventTable, lanes: Lanes, tracks: tuple[Track, ...], processes: Processes) -> Flows:
    """The arrows of a table.

    Starts and ends belong together by category and id, if possible within one OS process: those of several in
    one file have equal ids. One start may have many ends. Where an id returns
    (each step numbers its own), as many starts as ends are paired in time order; else an end belongs to the
    last start not after it, or to the first. A start or end belongs to the slice that starts with it on its
    thread, else to the innermost that encloses it. Arrows without a slice at either end are left out.
    """
    flows = table.flows
    sources, targets = _pair(table, processes)
    sought, place = np.unique(sources, return_inverse=True)
    source_row = _bind(table, sought, lanes, tracks)[place.reshape(-1)]
    target_row = _bind(table, targets, lanes, tracks)
    bound = (source_row >= 0) | (target_row >= 0)
    sources, targets, source_row, target_row = (
        column[bound] for column in (sources, targets, source_row, target_row)
    )
    category = flows.category[sources]
    order = np.lexsort((flows.time[targets], source_row, category))
    return Flows(
        category=category[order],
        source=source_row[order],
        target=target_row[order],
        source_time=flows.time[sources][order],
        source_thread=flows.thread[sources][order],
        target_time=flows.time[targets][order],
    )


def _pair(table: EventTable, processes: Processes) -> tuple[Int64s, Int64s]:
    """The start event of each end event that has one; both int64, indices into the flow events."""
    flows = table.flows
    connected = flows.id != -1
    starts = np.flatnonzero(connected & (flows.phase == _START))
    ends = np.flatnonzero(connected & (flows.phase == _END))
    owner = _owners(table, processes)[flows.thread]
    several = len(np.unique(owner)) > 1
    if not several:
        return _paired(table, starts, ends, flows.id)
    ids, number = np.unique(flows.id, return_inverse=True)
    within = _paired(table, starts, ends, owner * len(ids) + number.reshape(-1))
    left = np.setdiff1d(ends, within[1], assume_unique=True)
    across = _paired(table, starts, left, flows.id)
    return np.concatenate((within[0], across[0])), np.concatenate((within[1], across[1]))


def _owners(table: EventTable, processes: Processes) -> Int64s:
    """Of each thread a number that is equal for those of one OS process."""
    numbers: dict[str, int] = {}
    owners = [numbers.setdefault(processes.owners.get(pid, pid), len(numbers)) for pid, _ in table.threads]
    return np.array(owners, np.int64)


def _paired(table: EventTable, starts: Int64s, ends: Int64s, ids: Int64s) -> tuple[Int64s, Int64s]:
    """The same among those starts and ends, which belong together by `ids`, one of each flow event."""
    flows = table.flows
    events = np.concatenate((starts, ends))
    is_end = np.repeat([False, True], [len(starts), len(ends)])
    order = np.lexsort((is_end, flows.time[events], ids[events], flows.category[events]))
    events, is_end = events[order], is_end[order]
    groups = _Groups.of(flows.category[events], ids[events], is_end)
    start_events, end_places = events[~is_end], np.flatnonzero(is_end)
    group = groups.number[end_places]
    started = np.cumsum(~is_end)[end_places]
    nth_end = np.arange(len(end_places)) - groups.first_end[group]
    first_start = groups.first_start[group]
    last_started = np.maximum(started - 1, first_start)
    balanced = groups.starts[group] == groups.ends[group]
    chosen = np.where(balanced, first_start + nth_end, last_started)
    categories = np.unique(flows.category)
    unique = [index for index in categories[categories >= 0] if table.strings[index] in UNIQUE_FLOWS]
    shared = (groups.starts[group] > 1) & np.isin(flows.category[events[end_places]], unique)
    has_start = (groups.starts[group] > 0) & ~shared
    return start_events[chosen[has_start]], events[end_places[has_start]]


@dataclass(frozen=True)
class _Groups:
    """The flow events of one category and id, of events sorted by both."""

    number: Int64s  #: per event
    starts: Int64s  #: per group, how many
    ends: Int64s
    first_start: Int64s  #: per group, the place of its first start among all starts
    first_end: Int64s

    @classmethod
    def of(cls, category: Int32s, flow_id: Int64s, is_end: Bools) -> _Groups:
        changes = (category[1:] != category[:-1]) | (flow_id[1:] != flow_id[:-1])
        number = np.concatenate(([0], np.cumsum(changes))) if len(category) else np.zeros(0, np.int64)
        count = int(number[-1]) + 1 if len(number) else 0
        ends = np.bincount(number[is_end], minlength=count)
        starts = np.bincount(number[~is_end], minlength=count)
        return cls(number, starts, ends, np.cumsum(starts) - starts, np.cumsum(ends) - ends)


def _bind(table: EventTable, events: Int64s, lanes: Lanes, tracks: tuple[Track, ...]) -> Int64s:
    """The slice that each flow event belongs to, -1 where its thread has none there."""
    flows = table.flows
    by_thread: dict[tuple[str, str], list[Track]] = {}
    for track in tracks:
        by_thread.setdefault((track.pid, track.tid), []).append(track)
    rows = np.full(len(events), -1, np.int64)
    for places in _runs(flows.category[events], flows.thread[events]):
        event = events[places[0]]
        category = int(flows.category[event])
        families = FLOW_FAMILIES.get(table.strings[category] if category >= 0 else "", _ANY_FAMILY)
        candidates = by_thread.get(table.threads[int(flows.thread[event])], [])
        searched = [track for family in families for track in candidates if track.family == family]
        rows[places] = _slices_at(lanes, searched, flows.time[events[places]])
    return rows


def _runs(category: Int32s, thread: Int32s) -> list[Int64s]:
    """The places of the events of each (category, thread)."""
    order = np.lexsort((thread, category))
    changes = (np.diff(category[order]) != 0) | (np.diff(thread[order]) != 0)
    return [run for run in np.split(order, np.flatnonzero(changes) + 1) if len(run)]


def _slices_at(lanes: Lanes, tracks: list[Track], times: Int64s) -> Int64s:
    """The slice that starts at each time, in the first track that has one; else the innermost enclosing."""
    found = np.full(len(times), -1, np.int64)
    for search in (starting, enclosing):
        for track in tracks:
            missing = np.flatnonzero(found < 0)
            if len(missing):
                found[missing] = search(lanes, track.lanes, times[missing])
    return found
