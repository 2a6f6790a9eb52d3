"""Findings about replays of graphs that lack kernels which other replays have.

The arguments that would number graphs are not kept. Two replays are of one graph where the kernels of one are
those of the other with some left out, in the same order; and one of them lacks kernels only where it is the
rarer one and the device has a hole where those kernels would have run. Different graphs of one call, of which
one may be a part of another, leave no hole: what runs after a wait for a graph is none of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.idle import calls
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.intervals import NOTHING, Intervals
from tracetui.analysis.search import distinct, group_by, name_meanings, pick, rows_of
from tracetui.arrays import EMPTY, Int64s
from tracetui.trace.model import Layer
from tracetui.units import format_duration

#: So many kernels of a graph, from its start, and so many graphs are compared with each other at most.
_MOST_KERNELS, _MOST_GRAPHS = 5_000, 200
#: The hole of a replay lasts at least this share of the time of the kernels that it lacks.
_HOLE = 0.5
#: ns: a graph does not pause for so long between two tasks: 0.27 ms at most on clean traces.
_LEAST_HOLE = 1_000_000
_NEVER = np.iinfo(np.int64).max
#: A replay that lacks kernels is seldom: others of its graph are so many times as common.
_RARE = 2

Sequence_ = tuple[int, ...]


class Replay(NamedTuple):
    """One launch of a graph."""

    row: int  #: the call
    tasks: Int64s  #: rows, by start
    names: Sequence_  #: string of each task


def replays_of(recording: HealthEvidence) -> list[Replay]:
    """Return the launches of graphs by call row, with their tasks."""
    trace, chains = recording.trace, recording.launch_chains
    slices = trace.slices
    rows = rows_of(t for t in trace.tracks if t.layer == Layer.RUNTIME)
    rows = rows[name_meanings(trace, rows, calls.launches_graph) == 1]
    rows = rows[slices.correlation[rows] >= 0]  # without an id nothing leads to them
    if not len(rows):
        return []
    is_graph = np.zeros(len(slices) + 1, np.bool_)
    is_graph[rows] = True
    of_graph = np.flatnonzero(is_graph[chains.launch])
    by_launch = {row: chains.tasks[of_graph[found]] for row, found in group_by(chains.launch[of_graph])}
    replays = []
    for row in rows[np.argsort(slices.start[rows], kind="stable")].tolist():
        tasks = by_launch.get(row, EMPTY)
        tasks = tasks[np.argsort(slices.start[tasks], kind="stable")]
        replays.append(Replay(row, tasks, tuple(slices.name[tasks].tolist())))
    return replays


def incomplete_graphs(
    recording: HealthEvidence, lost: Sequence[tuple[int, int]], holes: Sequence[tuple[int, int]]
) -> Iterator[Finding]:
    """Yield a finding where replays of graphs have fewer kernels than others, or none.

    Args:
        lost: stretches of launches, ns, whose tasks are known to be lost: replays in them are left out,
        holes: and those next to the time in which these should have run, ns.
    """
    start = recording.trace.slices.start
    replays = [
        replay
        for replay in replays_of(recording)
        if not any(begin <= start[replay.row] <= end for begin, end in lost)
    ]
    empty = [replay for replay in replays if not replay.names]
    if len(empty) == len(replays):
        if replays and recording.launch_chains.total:
            yield _finding(recording, replays, empty, [], Severity.DOUBTFUL)
        return
    yield from _perforated(recording, replays)
    partial = list(_partial(recording, replays, holes))
    if empty or partial:
        yield _finding(recording, replays, empty, partial, Severity.WRONG if empty else Severity.DOUBTFUL)


def _partial(
    recording: HealthEvidence, replays: Sequence[Replay], holes: Sequence[tuple[int, int]]
) -> Iterator[tuple[Replay, tuple[int, int]]]:
    """Yield the replays that lack kernels of their graph, and when these may have run, ns; not in `holes`."""
    counts = Counter(replay.names for replay in replays if replay.names)
    if len(counts) < 2 or len(counts) > _MOST_GRAPHS:
        return
    whole: dict[Sequence_, Sequence_] = {}
    for names, count in counts.items():
        candidates = [
            other
            for other, often in counts.items()
            if often >= _RARE * count and len(other) > len(names) and _is_part(names, other)
        ]
        if candidates:
            whole[names] = max(candidates, key=lambda other: (counts[other], -len(other)))
    if not whole:
        return
    slices = recording.trace.slices
    usual: dict[Sequence_, Int64s] = {}
    for replay in replays:
        if replay.names in set(whole.values()) and replay.names not in usual:
            usual[replay.names] = slices.dur[replay.tasks]
    for replay in replays:
        complete = whole.get(replay.names)
        if complete is not None:
            missing = int(usual[complete].sum() - slices.dur[replay.tasks].sum())
            if missing <= 0:
                continue
            busy = _busy_for(recording, replay)
            start, end = _time_for_missing(recording, busy, replay, complete)
            is_hole = end - start - busy.clip(start, end).total >= _HOLE * missing
            if is_hole and not any(begin < end and start < stop for begin, stop in holes):
                yield replay, (start, end)


def _perforated(recording: HealthEvidence, replays: Sequence[Replay]) -> Iterator[Finding]:
    """Yield a finding where devices are idle for long inside of replays: all may lack the same kernels.

    They may lack their first ones then: idle time before one that was launched already counts as well.
    """
    slices, chains, idle = recording.trace.slices, recording.launch_chains, recording.idle
    begins = {replay.row: int(slices.start[replay.tasks[0]]) for replay in replays if len(replay.tasks)}
    long = np.flatnonzero(idle.end - idle.start >= _LEAST_HOLE)
    launch = pick(chains.launch, chains.index(idle.task[long]))
    begin = np.array([begins.get(row, _NEVER) for row in launch.tolist()], np.int64)
    inside = begin < idle.start[long]
    if not inside.any():
        return
    lacks = inside | ((begin < _NEVER) & (slices.end[launch] <= idle.start[long]))
    found, rows = long[lacks], launch[lacks]
    windows = tuple(zip(idle.start[found].tolist(), idle.end[found].tolist()))
    lacking = distinct(rows)
    yield Finding(
        id="graph.incomplete",
        severity=Severity.NOTE,
        affects=("idle", "operators"),
        sentence=(
            "the device is idle for {time} in or right before 1 of {replays} graph launches: "
            "kernels may be missing"
            if len(lacking) == 1
            else "the device is idle for {time} in or right before {count} of {replays} graph launches: "
            "kernels may be missing"
        ),
        remedy=(
            "Read this time as unknown, not as idle: record kernels inside of graphs, or time a run without "
            "graphs."
        ),
        figures={
            "replays": len(replays),
            "time": format_duration(int((idle.end[found] - idle.start[found]).sum())),
        },
        count=len(lacking),
        share=len(lacking) / len(replays),
        steps=places(recording.steps_at(slices.start[lacking])),
        windows=windows,
    )


def _busy_for(recording: HealthEvidence, replay: Replay) -> Intervals:
    """Return the busy time of the device that ran a replay."""
    device = recording.trace.track_of(int(replay.tasks[0])).device
    return next(activity.busy for activity in recording.devices if activity.device == device)


def _time_for_missing(
    recording: HealthEvidence, busy: Intervals, replay: Replay, complete: Sequence_
) -> tuple[int, int]:
    """Return from when to when the device may have run what a replay lacks of its graph, ns.

    Before its first task, from the work before on, if what is missing may come first; after its last task, if
    it may come last, until the work after or the return of a wait for it.

    Args:
        busy: when the device was busy.
        replay: has tasks.
        complete: the names of all tasks of the graph.
    """
    slices = recording.trace.slices
    start, end = int(slices.start[replay.tasks[0]]), int(slices.end[replay.tasks].max())
    before = int(np.searchsorted(busy.ends, start, "right")) - 1
    after = int(np.searchsorted(busy.starts, end, "left"))
    if before >= 0 and _is_part(replay.names, complete[1:]):
        start = min(start, max(int(busy.ends[before]), int(slices.start[replay.row])))
    if after < len(busy) and _is_part(replay.names, complete[:-1]):
        end = min((int(busy.starts[after]), *_returns_of_waits(recording, replay, end)))
    return start, end


def _returns_of_waits(recording: HealthEvidence, replay: Replay, end: int) -> Iterator[int]:
    """Yield when the waits return, ns, that threads began after a replay's launch and are in at its end."""
    for index in range(len(recording.host_threads)):
        waits = recording.host_threads.thread(index).spans.get(Cause.SYNC, NOTHING)
        (place,) = waits.index_at(np.array([end - 1])).tolist()
        if place >= 0 and waits.starts[place] >= recording.trace.slices.start[replay.row]:
            yield int(waits.ends[place])


def _until_later(recording: HealthEvidence, replay: Replay) -> tuple[int, int]:
    """Return the time from the launch of a replay without kernels to the first task launched later, ns."""
    slices, chains = recording.trace.slices, recording.launch_chains
    start, end = int(slices.start[replay.row]), int(slices.end[replay.row])
    later = chains.tasks[chains.launch_time > start]
    return start, max(end, int(slices.start[later].min())) if len(later) else end


def _is_part(names: Sequence_, whole: Sequence_) -> bool:
    """Return whether one sequence is another with some left out."""
    following = iter(whole[:_MOST_KERNELS])
    return all(name in following for name in names[:_MOST_KERNELS])


def _finding(
    recording: HealthEvidence,
    replays: Sequence[Replay],
    empty: Sequence[Replay],
    partial: Sequence[tuple[Replay, tuple[int, int]]],
    severity: Severity,
) -> Finding:
    slices = recording.trace.slices
    rows = np.array([replay.row for replay in (*empty, *(replay for replay, _ in partial))], np.int64)
    if not partial:
        sentence = (
            "1 of {replays} graph launches has no kernels on the device"
            if len(empty) == 1
            else "{empty} of {replays} graph launches have no kernels on the device"
        )
    elif not empty:
        sentence = (
            "1 of {replays} graph launches has fewer kernels than others of the same graph"
            if len(partial) == 1
            else "{partial} of {replays} graph launches have fewer kernels than others of the same graph"
        )
    else:
        sentence = (
            "{count} of {replays} graph launches have no kernels on the device, or fewer than others of the "
            "same graph"
        )
    return Finding(
        id="graph.incomplete",
        severity=severity,
        affects=("idle", "operators"),
        sentence=sentence,
        remedy=(
            "The device was busy where it seems idle: record kernels inside of graphs "
            "(CUPTI node tracing; on an NPU level 1 or 2), or time a run without graphs."
        ),
        figures={"replays": len(replays), "empty": len(empty), "partial": len(partial)},
        count=len(rows),
        share=len(rows) / len(replays),
        steps=places(recording.steps_at(slices.start[rows])),
        windows=(*(_until_later(recording, replay) for replay in empty), *(window for _, window in partial)),
    )
