"""Findings about tasks that cannot be: two at once on one stream, or several of one launch."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.idle import calls
from tracetui.analysis.intervals import time_of, union
from tracetui.analysis.search import among, group_by, name_meanings, rows_of, track_of_rows
from tracetui.arrays import Bools, Int64s, first_equal
from tracetui.trace.model import Activity, Family, Layer, TraceKind, Track
from tracetui.trace.order import starts_run
from tracetui.units import format_duration

#: Tasks of a stream may overlap for this share of its busy time: 0.7 % at most on clean traces. This share of
#: them may lie in another one: none does on clean traces.
MOST_OVERLAP = 0.01
#: Ends of arrows, or tasks, of which ids are shared, from which on that is no accident.
LEAST_SHARED = 3


def overlapping_tasks(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where tasks of a stream run at the same time, those of graphs aside."""
    trace, slices = recording.trace, recording.trace.slices
    of_graph, is_early = _launched_by(recording, calls.launches_graph, calls.launches_early)
    streams = []
    for track in trace.tracks:
        if track.layer == Layer.DEVICE and track.family == Family.TASKS and len(track.rows) > 1:
            overlap, busy, rows, inside = overlap_of(recording, track, of_graph, is_early)
            is_much = overlap > MOST_OVERLAP * busy or inside > MOST_OVERLAP * len(track.rows)
            if len(rows) >= LEAST_SHARED and is_much:
                streams.append((track, overlap, busy, rows))
    if not streams:
        return
    total, busy = (sum(column) for column in list(zip(*streams))[1:3])
    rows = np.concatenate([found for *_, found in streams])
    yield Finding(
        id="tasks.overlap",
        severity=Severity.DOUBTFUL,
        affects=("operators",),
        sentence=(
            "tasks of one stream overlap for {time}, {share} % of its time, which a stream cannot"
            if len(streams) == 1
            else "tasks of {streams} streams overlap for {time}, {share} % of their time, "
            "which streams cannot"
        ),
        remedy=(
            "Sums of operators count this time more than once. Look whether files of several devices or runs "
            "were joined, or streams renumbered."
        ),
        figures={
            "streams": len(streams),
            "time": format_duration(total),
            "share": f"{100 * total / max(busy, 1):.1f}",
        },
        count=len(rows),
        share=total / max(busy, 1),
        steps=recording.steps_within(((int(slices.start[rows].min()), int(slices.start[rows].max()) + 1),)),
        windows=((int(slices.start[rows].min()), int(slices.end[rows].max())),),
        tracks=tuple(track.index for track, *_ in streams),
    )


def _launched_by(recording: HealthEvidence, *questions: calls.NamePredicate) -> Iterator[Bools]:
    """Yield, for each question about names of calls, whether it is so of the launch of each slice."""
    chains = recording.launch_chains
    launched = np.flatnonzero(chains.launch >= 0)
    for question in questions:
        answers = np.zeros(len(recording.trace.slices), np.bool_)
        is_so = name_meanings(recording.trace, chains.launch[launched], question) == 1
        answers[chains.tasks[launched[is_so]]] = True
        yield answers


def overlap_of(
    recording: HealthEvidence, track: Track, of_graph: Bools, is_early: Bools
) -> tuple[int, int, Int64s, int]:
    """Return the ns in which two tasks of a stream run or more, its busy ns, the rows that overlap one
    before, and how many of these end before it does.

    Args:
        track: the stream.
        of_graph: bool[slices]: whether each is of a graph, and may run beside others; these are left out.
        is_early: bool[slices]: whether each may begin before the one before it ends, if it outlasts that.
    """
    slices = recording.trace.slices
    rows = np.arange(track.rows.start, track.rows.stop)
    rows = rows[among(slices.activity[rows], (Activity.COMPUTE, Activity.AICPU, Activity.COPY))]
    rows = rows[~of_graph[rows]]
    busy = time_of(slices, rows).total
    order = rows[np.argsort(slices.start[rows], kind="stable")]
    if len(order) < 2:
        return 0, busy, order[:0], 0
    ends = slices.end[order]
    reach = np.maximum.accumulate(ends)[:-1]
    start, end = slices.start[order[1:]], ends[1:]
    start = np.where(is_early[order[1:]] & (end >= ends[:-1]), np.maximum(start, ends[:-1]), start)
    is_over = start < reach
    inside = int(np.count_nonzero(is_over & (end < reach)))
    overlap = union(start[is_over], np.minimum(end, reach)[is_over]).total
    return overlap, busy, order[1:][is_over], inside


def shared_tasks(recording: HealthEvidence) -> Int64s:
    """Return the tasks beyond the first of each launch that launches one kernel, at other times: rows.

    Kernels of a call that launched a copy count as well; on GPUs all that such a call has beyond the first.
    """
    trace, chains = recording.trace, recording.launch_chains
    slices = trace.slices
    launched = np.flatnonzero(chains.launch >= 0)
    single = name_meanings(trace, chains.launch[launched], calls.launches_kernel) == 1
    copying = _copying(recording, launched)
    places = launched[single | copying if trace.kind == TraceKind.GPU else single]
    launch = chains.launch[places]
    activity = slices.activity[chains.tasks[places]]
    collective = np.zeros(len(slices), np.bool_)
    groups = [track.index for track in trace.tracks if track.family == Family.GROUP]
    collective[launch[np.isin(track_of_rows(trace, chains.tasks[places]), groups)]] = True
    is_part = name_meanings(trace, chains.tasks[places], calls.is_part) == 1
    places = places[~collective[launch] & ~is_part & ~among(activity, (Activity.WAIT, Activity.EVENT))]
    order = places[np.lexsort((slices.start[chains.tasks[places]], chains.launch[places]))]
    # A task that stands twice in a file overlaps itself.
    again = ~starts_run(chains.launch[order]) & starts_run(slices.start[chains.tasks[order]])
    beside = chains.tasks[launched[copying]]
    return np.union1d(chains.tasks[order[again]], beside[slices.activity[beside] == Activity.COMPUTE])


def uncalled_tasks(recording: HealthEvidence, replayed: Collection[tuple[int, ...]]) -> Int64s:
    """Return the tasks beyond the first of each id that no call has, where calls have ids: rows.

    An id counts where so many share it that it is no accident. Of an NPU only kernels do: collectives have
    many tasks of one id.

    `replayed`: the names of the tasks of graphs, by start: one may have been launched before the recording.
    """
    trace, chains = recording.trace, recording.launch_chains
    slices = trace.slices
    called = slices.correlation[rows_of(t for t in trace.tracks if t.family == Family.CALLS)]
    called = called[called >= 0]
    rows = chains.tasks[(chains.launch < 0) & (slices.correlation[chains.tasks] >= 0)]
    if trace.kind == TraceKind.ASCEND:
        rows = rows[slices.activity[rows] == Activity.COMPUTE]
    rows = rows[~among(slices.activity[rows], (Activity.WAIT, Activity.EVENT))]
    if not len(called) or len(rows) <= LEAST_SHARED:
        return rows[:0]
    rows = rows[first_equal(called, slices.correlation[rows]) < 0]
    rows = rows[np.argsort(slices.start[rows], kind="stable")]
    groups = (rows[places] for _, places in group_by(slices.correlation[rows]) if len(places) > LEAST_SHARED)
    found = [group[1:] for group in groups if tuple(slices.name[group].tolist()) not in replayed]
    return np.sort(np.concatenate(found)) if found else rows[:0]


def _copying(recording: HealthEvidence, launched: Int64s) -> Bools:
    """Return which tasks are of a call that launched a copy, and no graph; bool[launched].

    `launched`: places in the launch chains of the tasks that have a launch.
    """
    trace, chains = recording.trace, recording.launch_chains
    copies = launched[trace.slices.activity[chains.tasks[launched]] == Activity.COPY]
    copying = np.zeros(len(trace.slices), np.bool_)
    copying[chains.launch[copies]] = True
    launch = chains.launch[launched]
    of_graph = name_meanings(trace, launch, calls.launches_graph) == 1
    held: Bools = copying[launch] & ~of_graph
    return held


def shared_flows(recording: HealthEvidence, extra: Int64s) -> Iterator[Finding]:
    """Yield a finding where one id leads to tasks that have nothing to do with each other.

    `extra`: rows of tasks beyond the first of their launch.
    """
    trace, slices = recording.trace, recording.trace.slices
    arrows = trace.shared_flows
    if arrows < LEAST_SHARED and len(extra) < LEAST_SHARED:
        return
    windows = ((int(slices.start[extra].min()), int(slices.end[extra].max())),) if len(extra) else ()
    by_arrow = arrows >= LEAST_SHARED
    yield Finding(
        id="flows.shared",
        severity=Severity.DOUBTFUL,
        affects=("causes",),
        sentence=(
            "{count} arrows end at ids that several unrelated starts share"
            if by_arrow
            else "{count} tasks share the id of a launch with others that it did not launch"
        ),
        remedy="What launched these tasks is not certain: convert the recording again with a newer profiler.",
        count=arrows if by_arrow else len(extra),
        share=(arrows / max(len(trace.flows.source) + arrows, 1)) if by_arrow else None,
        steps=recording.steps_within(windows),
        windows=windows,
    )
