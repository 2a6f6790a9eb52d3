"""Where the host waited for a device: the synchronisations of each thread, by what was called and its line.

One that runs inside another (`aten::_local_scalar_dense` in `aten::item`, and the runtime's calls in both) is
part of it. What a synchronisation exposes is the idle time of the intervals that began while it was under
way, and of others the part that it covers; without the time that has a reason of its own, such as a slow data
loader after the last synchronisation of a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import numpy as np

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.idle.host import HostThread, HostThreads
from tracetui.analysis.idle.idle_lines import lines_of, python_line
from tracetui.analysis.intervals import Intervals
from tracetui.analysis.search import distinct, group_by
from tracetui.analysis.sums import most_first, sums
from tracetui.arrays import EMPTY, Bools, Int64s
from tracetui.trace.model import Trace


@dataclass(frozen=True, eq=False)
class SyncCall:
    """All synchronisations by one call from one line."""

    call: str  #: the operator, runtime call or frame, as written in the trace: never print it unescaped
    file: str | None  #: None: there is no stack; "" where its frames have no file
    line: int  #: 0 without a file
    function: str
    count: int
    total_ns: int  #: how long the host waited
    longest_ns: int
    dry_count: int  #: how many of them expose idle time
    exposed_ns: int  #: the idle time of all devices that they expose
    exposed_by_step: dict[int, int]  #: ns by index of the step, in order; -1: of none
    gap_indices: Int64s  #: of the gaps with that idle time, most first
    rows: Int64s  #: slice rows of the calls, longest first


class _Syncs(NamedTuple):
    """The synchronisations of all threads; columns of equal length."""

    start: Int64s  #: ns
    end: Int64s  #: ns
    row: Int64s  #: the slice in which the host waits, the outermost that begins with it
    operator: Int64s  #: row: what ran, or was next to run
    frame: Int64s  #: row


def sync_table(
    trace: Trace,
    host_threads: HostThreads,
    causes: Causes,
    rules: FrameRules,
    window: tuple[int, int] | None = None,
    gaps: Bools | None = None,
) -> tuple[SyncCall, ...]:
    """Return the synchronisations that took time: those first that expose most idle time, then the longest.

    `window`, [start, end) in ns: only those that start in it or expose idle time. `gaps`, bool[gaps]: only
    the idle time of these counts as exposed.
    """
    syncs, exposing = _find_syncs(trace, host_threads, causes)
    other_reasons = [cause for cause in Cause if cause.facts.reason_of_its_own]
    exposing[np.isin(causes.cause, other_reasons)] = -1
    if gaps is not None:
        exposing[~gaps[causes.intervals.gap[causes.interval]]] = -1
    is_listed = np.ones(len(syncs.start), np.bool_)
    if window is not None:
        is_listed = (window[0] <= syncs.start) & (syncs.start < window[1])
        is_listed[exposing[exposing >= 0]] = True
    rows = np.flatnonzero(is_listed)
    key, called_of = _calls_of(trace, host_threads, syncs, rules)
    group_of = np.full(len(key) + 1, -1, np.int64)  # the last is that of no synchronisation
    groups = [rows[places] for _, places in group_by(key[rows])]
    for group, places in enumerate(groups):
        group_of[places] = group
    exposed = dict(group_by(group_of[exposing]))
    table = [
        SyncCall(
            **called_of(int(places[0])),
            **_waits(syncs, places),
            **_exposed_fields(causes, exposing, exposed.get(group, EMPTY)),
        )
        for group, places in enumerate(groups)
    ]
    return tuple(sorted(table, key=lambda sync: (-sync.exposed_ns, -sync.total_ns, sync.call, sync.line)))


def _calls_of(
    trace: Trace, host_threads: HostThreads, syncs: _Syncs, rules: FrameRules
) -> tuple[Int64s, Callable[[int], dict[str, Any]]]:
    """Return a number that synchronisations of one call and line share; and what they are, by place."""
    sites = host_threads.callers.call_sites(syncs.operator)
    frame = np.where(syncs.frame >= 0, syncs.frame, sites.frame)
    lines, line = lines_of(trace, sites.stack, frame, rules)
    name = trace.slices.name[syncs.row].astype(np.int64)

    def call(place: int) -> dict[str, Any]:
        line_frame = None if line[place] < 0 else lines[int(line[place])]
        return {"call": trace.string(int(name[place])) or "", **python_line(line_frame)._asdict()}

    return (line + 1) * (len(trace.strings) + 1) + name + 1, call


def _waits(syncs: _Syncs, places: Int64s) -> dict[str, Any]:
    """Return how long the host waited in some synchronisations, by the names of `SyncCall`."""
    length = syncs.end[places] - syncs.start[places]
    return {
        "count": len(places),
        "total_ns": int(length.sum()),
        "longest_ns": int(length.max()),
        "rows": syncs.row[places[np.argsort(-length, kind="stable")]],
    }


def _exposed_fields(causes: Causes, exposing: Int64s, pieces: Int64s) -> dict[str, Any]:
    """Return the idle time of pieces as fields of `SyncCall`; `exposing`: what exposes each piece."""
    interval, ns = causes.interval[pieces], causes.end[pieces] - causes.start[pieces]
    steps, ns_by_step = sums(causes.intervals.step[interval].astype(np.int64), ns)
    return {
        "dry_count": len(distinct(exposing[pieces])),
        "exposed_ns": int(ns.sum()),
        "exposed_by_step": dict(zip(steps.tolist(), ns_by_step.tolist())),
        "gap_indices": most_first(causes.intervals.gap[interval], ns)[0],
    }


def _find_syncs(trace: Trace, host_threads: HostThreads, causes: Causes) -> tuple[_Syncs, Int64s]:
    """Return all synchronisations, and the place of the one that exposes each piece of idle time, or -1."""
    intervals, exposing = causes.intervals, np.full(len(causes), -1, np.int64)
    sync_of_interval = np.full(len(intervals), -1, np.int64)
    piece_thread = host_threads.of_rows(np.where(causes.operator >= 0, causes.operator, causes.frame))
    synchronising = causes.cause == Cause.SYNC
    parts: list[_Syncs] = []
    first = 0
    for index in range(len(host_threads)):
        thread = host_threads.thread(index)
        spans = thread.spans.get(Cause.SYNC)
        if spans is None or not len(thread.operators):
            continue
        parts.append(_syncs_of_thread(trace, thread, spans))
        places = np.flatnonzero(causes.sync_thread == index)
        sync_of_interval[places] = spans.index_at(intervals.start[places]) + first
        pieces = np.flatnonzero(synchronising & ((piece_thread == index) | (piece_thread < 0)))
        span_of_piece = spans.index_at(causes.start[pieces])
        exposing[pieces[span_of_piece >= 0]] = span_of_piece[span_of_piece >= 0] + first
        first += len(spans)
    whole = sync_of_interval[causes.interval]
    exposing = np.where(whole >= 0, whole, exposing)
    return _Syncs(*(np.concatenate(columns) for columns in zip(_Syncs(*[EMPTY] * 5), *parts))), exposing


def _syncs_of_thread(trace: Trace, thread: HostThread, spans: Intervals) -> _Syncs:
    starts = spans.starts
    row = thread.waits[np.searchsorted(trace.slices.start[thread.waits], starts)]
    running, frame = thread.running(starts), thread.frame(starts)
    operator = np.where(running >= 0, running, thread.next_line_slice(starts))
    return _Syncs(starts, spans.ends, row, operator, frame)
