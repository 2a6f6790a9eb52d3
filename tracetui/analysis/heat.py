"""Heat maps: streams and gap lengths over time, phases and causes by step. A cell is an interval to open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import WORK
from tracetui.analysis.gaps import Gaps
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.causes import Causes
from tracetui.analysis.intervals import union
from tracetui.analysis.raster import Raster, even_edges, idle
from tracetui.analysis.search import distinct, runs
from tracetui.analysis.steps import Step
from tracetui.analysis.sums import most_of_each
from tracetui.arrays import Floats, Int64s
from tracetui.trace.model import Activity, Family, Trace

PHASES = ("iteration gap", "forward+backward", "tail")

#: Rows of the map of gap lengths, longest first: the label and the shortest gap in ns.
LENGTHS = (
    ("10 ms and more", 10_000_000),
    ("1 to 10 ms", 1_000_000),
    ("0.1 to 1 ms", 100_000),
    ("10 to 100 µs", 10_000),
    ("below 10 µs", 1),
)


@dataclass(frozen=True, eq=False)
class Heat:
    """A grid of values; all two-dimensional arrays have the shape (rows, columns)."""

    title: str
    rows: tuple[str, ...]  #: labels
    columns: tuple[str, ...]  #: labels; empty where the columns are times
    edges: Int64s  #: int64[columns + 1]: ns; empty where the columns are not times
    values: Floats  #: 0..1
    ns: Int64s  #: what a cell stands for
    start: Int64s  #: ns: the interval that a cell opens
    end: Int64s  #: ns; start == end where there is nothing to open
    gap: Int64s | None = None  #: the gap that a cell opens, -1 for none; None: cells do not stand for gaps
    work: tuple[Activity, ...] = ()  #: of each row, where rows are work


def stream_busy(trace: Trace, start_ns: int, end_ns: int, columns: int) -> Heat:
    """How much of each column every stream and group works; waits and events are not work."""
    edges = even_edges(start_ns, end_ns, columns)
    tracks = [t for t in trace.tracks if t.device is not None and t.family in (Family.TASKS, Family.GROUP)]
    busy = np.zeros((len(tracks), len(edges) - 1), np.int64)
    for place, track in enumerate(tracks):
        rows = slice(track.rows.start, track.rows.stop)
        works = np.isin(trace.slices.activity[rows], (*WORK, Activity.COMMUNICATION_TASK))
        busy[place] = idle(union(trace.slices.start[rows][works], trace.slices.end[rows][works]), edges).busy
    return Heat(
        title="Time at work, by stream",
        rows=tuple(_on_device(trace, track.device or "", track.name) for track in tracks),
        columns=(),
        edges=edges,
        values=busy / np.maximum(np.diff(edges), 1),
        ns=busy,
        start=np.broadcast_to(edges[:-1], busy.shape),
        end=np.broadcast_to(edges[1:], busy.shape),
        work=tuple(
            Activity.COMMUNICATION if track.family is Family.GROUP else Activity.AICORE for track in tracks
        ),
    )


def step_phase(steps: Sequence[Step]) -> Heat:
    """How much of each phase of every step the device does nothing; phases that are not known are empty."""
    spans = [(step.iteration_gap, step.forward_backward, step.tail) for step in steps]
    bounds = np.array([[span or (0, 0) for span in row] for row in spans], np.int64).reshape(len(steps), 3, 2)
    ns = np.array([step.phase_idle_ns for step in steps], np.int64).reshape(len(steps), 3)
    several = len({step.device for step in steps}) > 1
    return Heat(
        title="Idle time, by step and phase",
        rows=tuple(f"step {step.number}" + (f" {step.device}" if several else "") for step in steps),
        columns=PHASES,
        edges=np.empty(0, np.int64),
        values=ns / np.maximum(bounds[..., 1] - bounds[..., 0], 1),
        ns=ns,
        start=bounds[..., 0],
        end=bounds[..., 1],
    )


def cause_step(causes: Causes, gaps: Gaps, steps: Sequence[Step]) -> Heat:
    """How much of the idle time of each step each cause has. A cell opens the gap with the most of it.

    The causes are in order of their time; what is idle outside of all steps is a column of its own, so that
    all cells add up to the idle time.
    """
    totals = causes.by_cause()
    order = list(totals)
    row_of = np.zeros(len(Cause), np.int64)
    row_of[np.array(order, np.int64)] = np.arange(len(order))
    outside = bool((causes.intervals.step[causes.interval] < 0).any())
    shape = (len(order), len(steps) + outside)
    row, gap = row_of[causes.cause], causes.intervals.gap[causes.interval]
    column = causes.intervals.step[causes.interval].astype(np.int64)  # -1 is the last column
    ns = np.zeros(shape, np.int64)
    np.add.at(ns, (row, column), causes.ns)
    cell = row * shape[1] + column % shape[1]
    worst = most_of_each(cell, gap, causes.ns, ns.size).reshape(shape)
    several = len({step.device for step in steps}) > 1
    names = [f"{step.number}" + (f" {step.device}" if several else "") for step in steps]
    return Heat(
        title="Idle time, by cause and step",
        rows=tuple(cause.label for cause in order),
        columns=(*names, *(("no step",) if outside else ())),
        edges=np.empty(0, np.int64),
        values=ns / np.maximum(ns.sum(axis=0), 1),
        ns=ns,
        start=np.where(worst < 0, 0, gaps.start[worst]),
        end=np.where(worst < 0, 0, gaps.end[worst]),
        gap=worst,
    )


def gap_lengths(gaps: Gaps, start_ns: int, end_ns: int, columns: int) -> Heat:
    """Of each column, of all devices: the part taken by gaps of each length. A cell opens the longest."""
    edges = even_edges(start_ns, end_ns, columns)
    shape = (len(LENGTHS), len(edges) - 1)
    ns, longest, start, end = (np.zeros(shape, np.int64) for _ in range(4))
    devices = len(distinct(gaps.device))
    length = gaps.end - gaps.start
    for place, (_, shortest) in enumerate(LENGTHS):
        below = LENGTHS[place - 1][1] if place else np.iinfo(np.int64).max
        (chosen,) = np.nonzero((length >= shortest) & (length < below))
        for _, places in runs(gaps.device[chosen]):
            own = chosen[places]
            drawn = Raster(gaps.start[own], gaps.end[own]).columns(range(len(own)), edges)
            ns[place] += drawn.busy
            better = drawn.longest > longest[place]
            best = own[drawn.row[better]]
            longest[place][better] = drawn.longest[better]
            start[place][better], end[place][better] = gaps.start[best], gaps.end[best]
    return Heat(
        title="Time without AICore work, by length of the gap",
        rows=tuple(label for label, _ in LENGTHS),
        columns=(),
        edges=edges,
        values=ns / (np.maximum(np.diff(edges), 1) * max(devices, 1)),
        ns=ns,
        start=start,
        end=end,
    )


def _on_device(trace: Trace, device: str, name: str) -> str:
    return f"{device} {name}" if len(trace.devices) > 1 else name
