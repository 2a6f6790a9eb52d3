"""The launches of a recording that always have a task on the device, and those of them that have none.

A runtime call that launches one kernel has a task in every complete recording: on all clean traces that were
looked at, without exception. Copies and memsets are left out, of which some never have a task. Without
runtime calls (level 0) what a task queue takes out stands for launches, of kinds that mostly have tasks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.idle import calls
from tracetui.analysis.launch_chains import NEVER, LaunchChains, is_operator_track
from tracetui.analysis.search import name_meanings, of_category, pick, rows_by_process, rows_by_track, rows_of
from tracetui.arrays import EMPTY, Bools, Int64s, first_equal
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Layer, Trace

#: Launches with a task, between two without, up to which both are of one loss: streams are not equally far
#: behind their launches, so the edges of a loss are ragged.
_RAGGED = 32
#: Launches without a task from which on they are a loss.
LEAST_LOST = 3
#: Of two losses next to each other this share of all launches from the first to the last makes them one.
_DENSE = 0.5
#: This share of the launches may lie outside of a loss at the beginning or the end, and it is one.
_OUTSIDE = 0.01
#: Where this share of the launches lost their tasks one or two at a time, that is a loss as well.
_LEAST_SPREAD = 0.001


class Launches(NamedTuple):
    """Launches that have a task where nothing is lost, by start; columns of equal length."""

    row: Int64s
    start: Int64s  #: ns
    end: Int64s  #: ns
    lost: Bools  #: has no task on any device


class LostLaunches(NamedTuple):
    """A stretch of launches that have no tasks."""

    first: int  #: place in `Launches` of the first
    stop: int  #: and after the last
    places: Int64s  #: of those without a task
    at_start: bool  #: hardly any launch before it has a task, and some after it has
    at_end: bool  #: hardly any launch after it has a task, and some before it has; not both

    @property
    def is_dense(self) -> bool:
        """Return whether most launches from its first to its last have no task; of others tasks are lost
        here and there, so that nothing begins late, stops early or is empty as a whole.
        """
        return len(self.places) >= _DENSE * (self.stop - self.first)


def launches_of(trace: Trace, chains: LaunchChains) -> Launches:
    """Return the launches of a trace that are expected to have a task."""
    rows = rows_of(t for t in trace.tracks if t.layer == Layer.RUNTIME)
    launching = rows[name_meanings(trace, rows, calls.launches_kernel) == 1]
    if len(launching):
        lost = ~_has_task(trace, chains, launching)
        kept = ~(lost & _captured(trace, rows, launching, launching[~lost]))
        launching, lost = launching[kept], lost[kept]
    else:
        launching, lost = _dequeued(trace, chains)
    order = np.argsort(trace.slices.start[launching], kind="stable")
    rows = launching[order]
    return Launches(rows, trace.slices.start[rows], trace.slices.end[rows], lost[order])


def count_launches(trace: Trace) -> int:
    """Return how many launches are to run a kernel, with a task or without: calls, or else dequeues."""
    rows = rows_of(t for t in trace.tracks if t.layer == Layer.RUNTIME)
    launching = rows[name_meanings(trace, rows, calls.launches_kernel) == 1]
    if not len(launching):
        return len(_dequeues(trace))
    return int(np.count_nonzero(~_captured(trace, rows, launching, rows[:0])))


def find_losses(launches: Launches) -> list[LostLaunches]:
    """Return the stretches of launches without tasks, by start; none where no launch has any.

    What is lost here and there, fewer at a time than a loss has, is one stretch, the last.
    """
    places = np.flatnonzero(launches.lost)
    count = len(launches.lost)
    if not len(places) or len(places) == count:
        return []
    held: list[Int64s] = np.split(places, np.flatnonzero(np.diff(places) > _RAGGED + 1) + 1)
    merged = [held[0]]
    for part in held[1:]:
        size = len(merged[-1]) + len(part)
        if size >= _DENSE * (int(part[-1]) + 1 - int(merged[-1][0])):
            merged[-1] = np.concatenate((merged[-1], part))
        else:
            merged.append(part)
    had = np.concatenate(([0], np.cumsum(~launches.lost)))
    outside = int(_OUTSIDE * count)
    losses = []
    for part in merged:
        if len(part) >= LEAST_LOST:
            first, stop = int(part[0]), int(part[-1]) + 1
            before, after = int(had[first]), int(had[-1] - had[stop])
            at_end = after <= outside and before > (outside if after else 0)
            loss = LostLaunches(first, stop, part, before <= outside and after > 0, at_end)
            losses.append(loss if loss.is_dense else loss._replace(at_start=False, at_end=False))
    spread: Int64s = np.concatenate([places[:0], *(part for part in merged if len(part) < LEAST_LOST)])
    if len(spread) >= max(LEAST_LOST, _LEAST_SPREAD * count):
        losses.append(LostLaunches(int(spread[0]), int(spread[-1]) + 1, spread, False, False))
    return losses


def _has_task(trace: Trace, chains: LaunchChains, calls_rows: Int64s) -> Bools:
    """Return which calls have a task, by the chains or by an equal id."""
    has = np.zeros(len(trace.slices), np.bool_)
    has[chains.launch[chains.launch >= 0]] = True
    ids = trace.slices.correlation
    task_ids = ids[chains.tasks]
    return has[calls_rows] | (first_equal(task_ids[task_ids >= 0], ids[calls_rows]) >= 0)


def _captured(trace: Trace, rows: Int64s, launching: Int64s, ran: Int64s) -> Bools:
    """Return which launches are kept for a graph and not run: between two calls of one thread.

    That thread may wait meanwhile for another that launches, as the backward does. A capture of which only
    one end is recorded lasts until its process launches a graph, or its thread makes one or launches a kernel
    that runs, or from then on.

    Args:
        rows: all calls.
        launching: those of them that launch.
        ran: those of them that have a task.
    """
    captured = np.zeros(len(launching), np.bool_)
    turn = name_meanings(trace, rows, calls.turns_capture)
    turning = rows[turn >= 0]
    if not len(turning):
        return captured
    start = trace.slices.start
    begins = turn[turn >= 0] == 1
    launches_by_process = dict(rows_by_process(trace, launching))
    of_graph = rows[name_meanings(trace, rows, calls.launches_graph) == 1]
    graphs_by_process = dict(rows_by_process(trace, of_graph))
    over = np.concatenate((ran, rows[name_meanings(trace, rows, calls.makes_graph) == 1]))
    for track, found in rows_by_track(trace, turning):
        order = found[np.argsort(start[turning[found]], kind="stable")]
        launches = launches_by_process.get(track.pid, EMPTY)
        replays = of_graph[graphs_by_process.get(track.pid, EMPTY)]
        of_thread = over[(over >= track.rows.start) & (over < track.rows.stop)]
        running = np.concatenate(([-1], np.sort(start[np.concatenate((replays, of_thread))]), [NEVER]))
        times, is_begin, at = start[turning[order]], begins[order], start[launching[launches]]
        until = running[np.searchsorted(running, times, "right")]
        until[:-1][~is_begin[1:]] = NEVER  # its end is recorded
        since = running[np.searchsorted(running, times) - 1]
        before = np.searchsorted(times, at, "right") - 1
        after = np.minimum(before + 1, len(times) - 1)
        is_begun = (before >= 0) & is_begin[before]
        ends = (before < after) & ~is_begin[after] & (at > since[after])
        captured[launches] |= np.where(is_begun, at < until[before], ends)
    return captured


def _dequeued(trace: Trace, chains: LaunchChains) -> tuple[Int64s, Bools]:
    """Return what queues took out that mostly has tasks, and which of it has none."""
    rows = _dequeues(trace)
    has = np.zeros(len(trace.slices), np.bool_)
    has[chains.dequeue[chains.dequeue >= 0]] = True
    names = trace.slices.name[rows]
    size = len(trace.strings)
    with_task = np.bincount(names[has[rows]], minlength=size)
    kept = with_task[names] > 0
    return rows[kept], ~has[rows[kept]]


def _dequeues(trace: Trace) -> Int64s:
    """Return the rows of what queues took out."""
    rows = rows_of(track for track in trace.tracks if is_operator_track(track))
    return rows[of_category(trace, trace.slices.category[rows], KNOWN.categories.dequeues)]


def tasks_launched(trace: Trace, chains: LaunchChains, launches: Launches) -> Int64s:
    """Return the place in `launches` of what launched each task of `chains`, -1 for none of them; int64."""
    place = np.full(len(trace.slices) + 1, -1, np.int64)
    place[launches.row] = np.arange(len(launches.row))
    found = place[chains.launch]
    return np.where(found >= 0, found, pick(place, chains.dequeue))
