"""Findings about the host: calls without an end, what recording cost it, and what was not recorded of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.leaps import ROUNDED, crossing_slices
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.idle.cause import of_families
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.idle.idle_lines import has_python
from tracetui.analysis.intervals import union
from tracetui.analysis.scheduler.scheduler import SCHEDULED
from tracetui.analysis.search import rows_of, span_of
from tracetui.arrays import EMPTY, Int64s, searchsorted
from tracetui.siblings.rank_files import rank_info
from tracetui.trace.model import Family, Layer, Trace, TraceKind, Track
from tracetui.units import format_duration

#: Calls without an end from which on lines are in doubt.
LEAST_UNCLOSED = 3
#: A call that ends with its thread lasts so many times as long as the longest other of its name, if unclosed.
_TOO_LONG = 5
#: ns that recording one call takes, least and most; docs/method.md says where that comes from.
FRAME_COST = (100, 1_000)
OPERATOR_COST = (500, 3_000)
#: Where recording explains more than this share of the host-bound idle time, that time is in doubt.
_DOUBTED_PART = 0.5
#: Stacks that cover less of the time of the operators were recorded for a part only.
_LEAST_STACKED = 0.5


def unclosed_calls(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where calls were never closed: they end with the recording, across their callers."""
    trace, slices = recording.trace, recording.trace.slices
    found: list[Int64s] = []
    tracks = []
    total = 0
    for track in trace.tracks:
        if track.family not in (Family.FRAMES, Family.OPERATORS, Family.CALLS) or len(track.rows) < 2:
            continue
        rows = np.arange(track.rows.start, track.rows.stop)
        total += len(rows)
        unclosed = _unclosed(trace, track)
        if len(unclosed) and len(crossing_slices(recording, track)) >= len(unclosed):
            continue  # slices of this thread cross anyway, as asynchronous ones do
        if track.family != Family.FRAMES:
            unclosed = np.union1d(unclosed, _much_longer(recording, rows))
        if len(unclosed):
            found.append(unclosed)
            tracks.append(track.index)
    rows = np.concatenate(found) if found else EMPTY
    count = len(rows) + trace.unclosed
    if not count:
        return
    if not tracks:
        tracks = [track.index for track in trace.tracks if track.family == Family.FRAMES and len(track.rows)]
    windows = ((int(slices.start[rows].min()), int(slices.end[rows].max())),) if len(rows) else ()
    yield Finding(
        id="host.unclosed",
        severity=Severity.DOUBTFUL if count >= LEAST_UNCLOSED else Severity.NOTE,
        affects=("lines",),
        sentence=(
            "1 call of the host was never closed"
            if count == 1
            else "{count} calls of the host were never closed: they end where the recording stops or their "
            "caller does"
        ),
        remedy=(
            "Lines, modules and stacks after the first of them may be wrong: let the profiler stop outside "
            "of the calls it records, or use a version that closes them (pytorch/pytorch#193440)."
        ),
        count=count,
        share=count / max(total, 1),
        steps=recording.steps_within(windows),
        windows=windows,
        tracks=tuple(tracks),
    )


def _unclosed(trace: Trace, track: Track) -> Int64s:
    """Return the rows of a thread that end with the last of it, and begin in one that ends before."""
    slices = trace.slices
    start, end = slices.start, slices.end
    rows = np.arange(track.rows.start, track.rows.stop)
    latest = int(end[track.rows.start : track.rows.stop].max()) - ROUNDED
    last = rows[end[track.rows.start : track.rows.stop] >= latest]
    crosses = np.zeros(len(last), np.bool_)
    for lane in track.lanes if len(rows) > 1 else ():
        held = trace.lane_slice_rows(lane)
        around = held.start + searchsorted(start[held], start[last], "right") - 1
        around -= (around >= held.start) & (start[around] == start[last]) & (around >= last)
        is_open = (around >= held.start) & (end[around] < latest)
        crosses |= is_open & (end[around] > start[last] + ROUNDED)
    return last[crosses]


def _much_longer(recording: HealthEvidence, rows: Int64s) -> Int64s:
    """Return the slices that end with their thread and last far longer than all others of their name."""
    slices = recording.trace.slices
    end = slices.end[rows]
    last = end >= end.max() - ROUNDED
    if np.count_nonzero(last) < LEAST_UNCLOSED:
        return rows[:0]
    size = len(recording.trace.strings)
    longest = np.zeros(size, np.int64)
    names = slices.name[rows]
    np.maximum.at(longest, names[~last], slices.dur[rows[~last]])
    kept = last & (longest[names] > 0) & (slices.dur[rows] > _TOO_LONG * longest[names])
    return rows[kept] if np.count_nonzero(kept) >= LEAST_UNCLOSED else rows[:0]


def overhead(recording: HealthEvidence, causes: Causes) -> Iterator[Finding]:
    """Yield a finding on how much of the host-bound idle time recording explains, as a range.

    Counts the calls of Python and the operators that begin while a device waits for the host, each with what
    recording one takes: for each device that waits, as idle time is that of all devices. Where the scheduler
    tells why, it is not due to recording.
    """
    trace = recording.trace
    host_bound = np.isin(causes.cause, of_families("host", "queue")) & ~np.isin(causes.cause, SCHEDULED)
    host_bound_ns = int(causes.ns[host_bound].sum())
    spans = []
    for device in range(len(recording.devices)):
        pieces = np.arange(len(causes))[causes.of_device(device)]
        pieces = pieces[host_bound[pieces]]
        spans.append(union(causes.start[pieces], causes.end[pieces]))  # fewer: pieces touch each other
    starts = np.sort(np.concatenate([span.starts for span in spans]))
    ends = np.sort(np.concatenate([span.ends for span in spans]))
    waiting = union(starts, ends)
    counts, lowest, highest = {}, 0, 0
    for family, cost in ((Family.FRAMES, FRAME_COST), (Family.OPERATORS, OPERATOR_COST)):
        lanes = [
            trace.slices.start[trace.lane_slice_rows(lane)]
            for track in trace.tracks
            if track.family == family and track.layer == Layer.PYTHON
            for lane in track.lanes
        ]
        counts[family] = sum(_count_within(times, waiting.starts, waiting.ends) for times in lanes)
        if not counts[Family.FRAMES]:
            return
        by_device = sum(_count_within(times, starts, ends) for times in lanes)
        lowest, highest = lowest + cost[0] * by_device, highest + cost[1] * by_device
    lowest, highest = min(lowest, host_bound_ns), min(highest, host_bound_ns)
    doubted = lowest > _DOUBTED_PART * host_bound_ns
    yield Finding(
        id="host.overhead",
        severity=Severity.DOUBTFUL if doubted else Severity.NOTE,
        affects=("idle", "causes", "lines"),
        sentence=(
            "while devices waited for the host {frames} calls of Python and {operators} operators were "
            "recorded: an estimated {least} to {most} of {bound} of host-bound idle time is due to that"
        ),
        remedy=(
            "Record once more without stacks (with_stack=False) and let tracetui compare measure the "
            "difference; read lines from this recording and times from that one."
        ),
        figures={
            "frames": counts[Family.FRAMES],
            "operators": counts[Family.OPERATORS],
            "least": format_duration(lowest),
            "most": format_duration(highest),
            "bound": format_duration(host_bound_ns),
        },
        count=counts[Family.FRAMES] + counts[Family.OPERATORS],
        share=highest / host_bound_ns,
    )


def _count_within(times: Int64s, starts: Int64s, ends: Int64s) -> int:
    """Return how many times lie in spans, each span counted by itself; all ascending, ns.

    The fewer are looked up in the others.
    """
    if len(times) < len(starts):
        inside = searchsorted(starts, times, "right") - searchsorted(ends, times, "right")
    else:
        inside = searchsorted(times, ends) - searchsorted(times, starts)
    return int(inside.sum())


def absent(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield notes on what was not recorded of the host."""
    trace = recording.trace
    layers = {track.layer for track in trace.tracks if len(track.rows)}
    if not recording.devices:
        return
    if Layer.PYTHON not in layers:
        yield _note(
            "host.absent",
            ("causes", "lines"),
            "no operators of the host were recorded: which of them launched tasks cannot be known",
            "Record the host too (PyTorch: ProfilerActivity.CPU).",
        )
        return
    if trace.kind == TraceKind.ASCEND and Layer.RUNTIME not in layers:
        yield _note(
            "host.absent",
            ("causes",),
            "no calls of the runtime were recorded (level 0): launches are known by their arrows only",
            "Record at profiler level 1 or 2.",
        )
    if not has_python(trace):
        yield _note(
            "stacks.absent",
            ("lines",),
            "no stacks of Python were recorded: idle time leads to operators, not to lines",
            "Record with with_stack=True.",
        )
    elif _stacks_cut(recording):
        yield _note(
            "stacks.cut",
            ("lines",),
            "stacks cover less than half of the time of the operators: they were recorded for a part only",
            "Record stacks for the whole time.",
        )
    if rank_info(Path(trace.path)).options.get("record_shapes") is False:
        yield _note(
            "shapes.absent",
            ("operators",),
            "no shapes of inputs were recorded: calls of one operator cannot be told apart by them",
            "Record with record_shapes=True.",
        )


def _stacks_cut(recording: HealthEvidence) -> bool:
    """Return whether call stacks are of less than half of the time of the operators, of either end."""
    trace, slices = recording.trace, recording.trace.slices
    tracks = [track for track in trace.tracks if len(track.rows)]
    frames = [span_of(trace, t) for t in tracks if t.family == Family.FRAMES]
    operators = [t for t in tracks if t.family == Family.OPERATORS and t.layer == Layer.PYTHON]
    if not operators:
        return False
    starts, ends = zip(*(span_of(trace, track) for track in operators))
    start, end = min(starts), max(ends)
    if frames:
        covered = max(last for _, last in frames) - min(first for first, _ in frames)
        return bool(covered < _LEAST_STACKED * (end - start))
    rows = rows_of(operators)
    known = rows[slices.stack[rows] >= 0]
    if not len(known):
        return False
    covered = int(slices.end[known].max()) - int(slices.start[known].min())
    return bool(covered < _LEAST_STACKED * (end - start))


def _note(identity: str, affects: tuple[str, ...], sentence: str, remedy: str) -> Finding:
    return Finding(identity, Severity.NOTE, affects, sentence, remedy)
