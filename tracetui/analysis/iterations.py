"""The iterations of a graph on a device, as msprof times them: no host that would tell steps is recorded.

`Iteration N` lasts from the start of the graph to its end, `FP_BP Time N` inside it from the first operator
of the forward pass to the last one of the backward pass. Where several graphs take turns (the models of a
thread `Step Trace(Model ID:N)`), those of the one that takes most of the time are the steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from re import Pattern
from typing import NamedTuple

import numpy as np

from tracetui.analysis.intervals import Intervals, union
from tracetui.analysis.search import distinct, rows_of
from tracetui.arrays import EMPTY, Int64s
from tracetui.siblings.step_points import StepPoints, step_points
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Family, Layer, Trace, Track

_CLOSE = 1_000  #: ns between two clocks of one device that agree
_ITERATION = compile_any(KNOWN.operators.iterations)
_PASSES = compile_any(KNOWN.operators.iteration_passes)


class Iteration(NamedTuple):
    """One iteration of a graph."""

    number: int
    row: int  #: its slice; without one, its first task
    start: int  #: ns
    end: int
    passes: tuple[int, int] | None  #: ns, forward and backward; None where not told


def iterations(trace: Trace, device: str) -> list[Iteration]:
    """Return the iterations of a device by start, of the graph that takes most of the time.

    A trace without any has those in the table that MindSpore left beside a timeline for MindInsight.
    """
    candidates = [
        _iterations_on_track(trace, track)
        for track in trace.device_tracks.get(device, ())
        if track.layer == Layer.DEVICE and track.family == Family.ANNOTATIONS
        if track.name.startswith(KNOWN.threads.annotations)
    ]
    longest = max(
        candidates,
        key=lambda sequence: sum(iteration.end - iteration.start for iteration in sequence),
        default=[],
    )
    return longest or _iterations_in_table(trace, device)


def iteration_at(sequence: Sequence[Iteration], times: Int64s) -> Int64s:
    """Return the place of the iteration that holds each time; -1 for none. `sequence` is sorted by start."""
    starts, ends = (
        np.array(column, np.int64)
        for column in zip(*((iteration.start, iteration.end) for iteration in sequence))
    )
    place = np.searchsorted(starts, times, "right") - 1
    return np.where((place >= 0) & (times < ends[place]), place, -1)


def work_of_iterations(trace: Trace, device: str, work: Intervals) -> Intervals | None:
    """Return the stretch from the first to the last work of each iteration; None without iterations.

    Work counts for the iteration that starts last before it, as in exports of one iteration each.
    """
    starts = np.array([iteration.start for iteration in iterations(trace, device)], np.int64)
    if not len(starts) or not len(work):
        return None
    iteration_of_work = np.searchsorted(starts, work.starts, "right")
    first = np.flatnonzero(np.diff(iteration_of_work, prepend=-1))
    last = np.append(first[1:], len(iteration_of_work)) - 1
    return union(work.starts[first], work.ends[last])


def _iterations_on_track(trace: Trace, track: Track) -> list[Iteration]:
    rows = np.arange(track.rows.start, track.rows.stop)
    passes = {number: row for row, number in _numbered(trace, rows, _PASSES)}
    starts, ends = trace.slices.start, trace.slices.end
    sequence = []
    for row, number in _numbered(trace, rows, _ITERATION):
        inside = passes.get(number, -1)
        pass_times = (int(starts[inside]), int(ends[inside])) if inside >= 0 else None
        start, end = int(starts[row]), int(ends[row])
        if pass_times is not None and not start <= pass_times[0] <= pass_times[1] <= end:
            pass_times = None
        sequence.append(Iteration(number, row, start, end, pass_times))
    return sorted(sequence, key=lambda iteration: (iteration.start, iteration.number))


def _numbered(trace: Trace, rows: Int64s, pattern: Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the rows with a name of a pattern, and the number in it."""
    names = trace.slices.name[rows]
    for name in distinct(names).tolist():
        match = pattern.fullmatch(trace.strings[name])
        number = next((int(group) for group in match.groups() if group), None) if match else None
        if number is not None:
            yield from ((row, number) for row in rows[names == name].tolist())


def _iterations_in_table(trace: Trace, device: str) -> list[Iteration]:
    """Return the iterations in the table beside a timeline, which has a clock of its own.

    The first all-reduce that both contain shows how far the clocks are apart, if other all-reduces agree.
    """
    points = step_points(Path(trace.path))
    if points is None:
        return []
    shift = _clock_shift(trace, points)
    if shift is None:
        return []
    tasks = rows_of(
        t for t in trace.device_tracks.get(device, ()) if t.family in (Family.TASKS, Family.GROUP)
    )
    tasks = tasks[np.argsort(trace.slices.start[tasks], kind="stable")]
    starts = trace.slices.start[tasks]
    sequence = []
    for number, start, end, forward, backward in zip(*(column.tolist() for column in points[:5])):
        first = int(np.searchsorted(starts, start + shift))
        if start < end and first < len(tasks):
            passes = (forward + shift, backward + shift) if start <= forward <= backward <= end else None
            sequence.append(Iteration(number, int(tasks[first]), start + shift, end + shift, passes))
    return sorted(sequence, key=lambda iteration: (iteration.start, iteration.number))


def _clock_shift(trace: Trace, points: StepPoints) -> int | None:
    """Return the ns to add to the clock of the table for that of the trace; None where they do not match."""
    names, starts = trace.slices.name, trace.slices.start
    differences = []
    for name, begins in points.all_reduce_starts.items():
        if name in trace.strings:
            rows = np.flatnonzero(names == trace.strings.index(name))
            rows = rows[np.argsort(starts[rows], kind="stable")]
            listed = np.sort(begins[begins > 0])
            count = min(len(rows), len(listed))
            differences.append(starts[rows[:count]] - listed[:count])
    all_differences = np.concatenate([EMPTY, *differences])
    if not len(all_differences):
        return None
    shift = int(np.median(all_differences))
    return (
        shift if int((np.abs(all_differences - shift) <= _CLOSE).sum()) * 2 > len(all_differences) else None
    )
