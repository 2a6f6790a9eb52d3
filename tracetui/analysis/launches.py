"""Which call of the runtime launched each device task, and when and on which thread.

Knows connection and correlation ids, launch arrows and OS processes; nothing of the task queue or operators.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tracetui.analysis.search import (
    among,
    connection_numbers,
    of_category,
    pick,
    rows_by_process,
    rows_of,
    track_of_rows,
)
from tracetui.arrays import Bools, Int8s, Int64s, first_equal
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Activity, Family, Layer, Trace

#: Pairs of processes, one with tasks and one with calls, that are looked at to find which belong together.
MOST_PAIRS = 256


def launches(trace: Trace, tasks: Int64s) -> tuple[Int64s, Int64s, Int64s]:
    """Return runtime call, launch point (ns), thread (place in Trace.threads) of each task; -1: unknown."""
    launch = _runtime_calls(trace, tasks)
    arrow = arrows_to(trace, tasks, KNOWN.flows.launch)
    ids = connection_numbers(trace, tasks)
    with_arrow = np.flatnonzero((arrow >= 0) & (ids >= 0))
    arrow = np.where(arrow >= 0, arrow, pick(arrow, pick(with_arrow, first_equal(ids[with_arrow], ids))))
    arrow = np.where(launch >= 0, -1, arrow)
    source = pick(trace.flows.source, arrow)
    launch = np.where(_is_call(trace, source), source, launch)
    point = np.where(arrow >= 0, pick(trace.flows.source_time, arrow), pick(trace.slices.start, launch))
    arrow_thread = pick(trace.flows.source_thread, arrow)
    return launch, point, np.where(arrow >= 0, arrow_thread, _thread_of_rows(trace, launch))


def _runtime_calls(trace: Trace, tasks: Int64s) -> Int64s:
    """Return the runtime call with the id of each task, the one that launches where several have it.

    Ids are those of a process. Of several processes with calls, those of the task's own OS process count
    where pids tell; else those of the process whose calls come before the tasks, and soonest before. Calls
    that stand with the tasks, as waits of MTIA do, tell the process where any has the id of a task.
    """
    calls: dict[str, list[Int64s]] = {}
    for track in trace.tracks:
        if track.layer == Layer.RUNTIME:
            rows = rows_of([track])
            calls.setdefault(track.pid, []).append(rows[trace.slices.correlation[rows] >= 0])
    launching = {pid: np.concatenate(parts) for pid, parts in calls.items()}
    callers: dict[str, list[Int64s]] = {}
    for pid, rows in launching.items():
        callers.setdefault(trace.owners[pid], []).append(rows)
    launched: list[tuple[Int64s, list[Int64s]]] = []
    unmatched: list[Int64s] = []
    for pid, places in rows_by_process(trace, tasks):
        own_calls = callers.get(trace.owners[pid], [])
        if own_calls and (
            pid not in launching or any(_share_ids(trace, rows, tasks[places]) for rows in own_calls)
        ):
            launched.append((places, own_calls))
        else:
            unmatched.append(places)
    all_calls = list(launching.values())
    if len(unmatched) * len(all_calls) > MOST_PAIRS:
        unmatched, all_calls = [np.concatenate(unmatched)], [np.concatenate(all_calls)]
    launch = np.full(len(tasks), -1, np.int64)
    for places, candidates in launched + [(places, all_calls) for places in unmatched]:
        columns = [_matching_calls(trace, tasks[places], rows) for rows in candidates]
        columns.sort(key=lambda column: _unlikeliness(trace, tasks[places], column))
        for column in columns:
            launch[places] = np.where(launch[places] >= 0, launch[places], column)
    return launch


def _share_ids(trace: Trace, rows: Int64s, tasks: Int64s) -> bool:
    ids = trace.slices.correlation
    return bool((first_equal(ids[rows], ids[tasks]) >= 0).any())


def _matching_calls(trace: Trace, tasks: Int64s, rows: Int64s) -> Int64s:
    """Return, for each task, the runtime call with its id; -1 where no call has it.

    Of several calls the one whose name ranks first is taken, then the first to start.
    """
    launch = np.full(len(tasks), -1, np.int64)
    has_correlation = trace.slices.correlation[tasks] >= 0
    copies = among(trace.slices.activity[tasks], (Activity.COPY, Activity.EVENT, Activity.WAIT))
    for of_kind, order in ((~copies, KNOWN.calls.kernel_beginnings), (copies, KNOWN.calls.copy_beginnings)):
        ranks = _rank(trace, rows, order)
        places = np.flatnonzero(of_kind & has_correlation)
        for rank in np.flatnonzero(np.bincount(ranks)).tolist():
            if not len(places):
                break
            calls = _first_with_id(trace, rows[ranks == rank], tasks[places])
            launch[places] = calls
            places = places[calls < 0]
    return launch


def _first_with_id(trace: Trace, rows: Int64s, tasks: Int64s) -> Int64s:
    """Return, for each task, the first call to start that has its id; -1 where none has it."""
    ids, by_start = trace.slices.correlation, rows[np.argsort(trace.slices.start[rows], kind="stable")]
    return pick(by_start, first_equal(ids[by_start], ids[tasks]))


def _unlikeliness(trace: Trace, tasks: Int64s, calls: Int64s) -> tuple[int, float]:
    """Return a key that sorts first the calls before the most of the tasks, then the closest ones."""
    has_call = calls >= 0
    late = trace.slices.start[tasks[has_call]] - trace.slices.start[calls[has_call]]
    late = late[late >= 0]
    return -len(late), float(np.median(late)) if len(late) else 0.0


def _rank(trace: Trace, rows: Int64s, prefixes: tuple[str, ...]) -> Int8s:
    """Return the place in `prefixes` of the beginning of each row's name; their number where none fits."""

    def rank(name: str) -> int:
        return next((i for i, prefix in enumerate(prefixes) if name.startswith(prefix)), len(prefixes))

    return meanings(trace.strings, trace.slices.name[rows], rank)


def arrows_to(trace: Trace, tasks: Int64s, categories: Collection[str]) -> Int64s:
    """Return, for each task, the first arrow of these categories that ends at it; -1 for none."""
    flows = trace.flows
    arrows = np.flatnonzero(of_category(trace, flows.category, categories) & (flows.target >= 0))
    return pick(arrows, first_equal(flows.target[arrows], tasks))


def _is_call(trace: Trace, rows: Int64s) -> Bools:
    calls = [track.index for track in trace.tracks if track.family == Family.CALLS]
    return np.isin(track_of_rows(trace, rows), calls)


def _thread_of_rows(trace: Trace, rows: Int64s) -> Int64s:
    places = {thread: index for index, thread in enumerate(trace.threads)}
    thread_of_track = np.array([places.get((track.pid, track.tid), -1) for track in trace.tracks], np.int64)
    return pick(thread_of_track, track_of_rows(trace, rows))
