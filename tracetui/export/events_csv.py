"""The slices of a window of time as csv, each with where it comes from: step, operator, Python line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.steps import step_of
from tracetui.arrays import Int32s, Int64s
from tracetui.export.atomic import write_atomically
from tracetui.export.cells import Cell, Cells, stack_cell, text_cell, write_rows
from tracetui.export.lines import Stacks
from tracetui.trace.model import Activity, Trace, Track

HEADER = (
    "start_ns",
    "dur_ns",
    "process",
    "thread",
    "lane",
    "name",
    "category",
    "activity",
    "step",
    "operator",
    "python_line",
    "stack",
)

#: Rows turned into text at a time: enough for numpy, little beside the columns of a large trace.
CHUNK = 65536


def export_window(
    analysis: Analysis,
    start_ns: int,
    end_ns: int,
    path: str,
    tracks: Sequence[Track] | None = None,
    force: bool = False,
) -> int:
    """Write the slices of `[start_ns, end_ns)` (epoch ns) to a file; returns how many there are.

    Raises FileExistsError where the file exists, without `force`, and OSError of the file system.
    """
    rows = 0

    def write(stream: BinaryIO) -> None:
        nonlocal rows
        rows = write_events(stream, analysis, start_ns, end_ns, tracks)

    write_atomically(path, write, force)
    return rows


def write_events(
    stream: BinaryIO, analysis: Analysis, start_ns: int, end_ns: int, tracks: Sequence[Track] | None = None
) -> int:
    """Write the slices that touch the window, of all tracks or of some, by start; returns how many."""
    trace = analysis.trace
    rows = rows_touching(trace, trace.tracks if tracks is None else tracks, start_ns, end_ns)
    return write_rows(stream, HEADER, _Lines(analysis).of(rows))


def matching_tracks(trace: Trace, text: str) -> list[Track]:
    """The tracks with `text` in "process/thread", whatever the case."""
    wanted = text.casefold()
    return [track for track in trace.tracks if wanted in f"{track.process}/{track.name}".casefold()]


def rows_touching(trace: Trace, tracks: Sequence[Track], start_ns: int, end_ns: int) -> Int64s:
    """Slice rows with a part in `[start_ns, end_ns)`, empty ones that start in it included, by start."""
    start, end = trace.slices.start, trace.slices.end
    parts = [np.empty(0, np.int64)]
    for track in tracks:
        for lane in track.lanes:
            held = trace.lane_slice_rows(lane)
            # Starts and ends of a lane are both sorted. What ends at start_ns is in only if it is empty.
            first = int(np.searchsorted(end[held], start_ns, "left"))
            last = int(np.searchsorted(start[held], end_ns, "left"))
            near = np.arange(held.start + first, held.start + max(first, last), dtype=np.int64)
            parts.append(near[(end[near] > start_ns) | (start[near] >= start_ns)])
    rows = np.concatenate(parts)
    order: Int64s = np.lexsort((rows, start[rows]))
    return rows[order]


class _Lines:
    """Rows of cells for slice rows."""

    def __init__(self, analysis: Analysis) -> None:
        trace = analysis.trace
        self._trace, self._links = trace, analysis.links
        self._stacks = Stacks(analysis)
        self._step_of = _StepOf(analysis)
        self._first_lane = np.array([track.lanes.start for track in trace.tracks], np.int64)
        self._text = Cells(lambda index: text_cell(trace.strings[index]))
        self._process = Cells(lambda index: text_cell(trace.tracks[index].process))
        self._thread = Cells(lambda index: text_cell(trace.tracks[index].name))
        self._activity = Cells(lambda index: Activity(index).name.lower() if index else "")
        self._line = Cells(lambda key: text_cell(self._stacks.line(key) or ""))
        self._stack = Cells(lambda key: stack_cell(self._stacks.frames(key)))

    def of(self, rows: Int64s) -> Iterator[tuple[Cell, ...]]:
        """One tuple of cells per row, in the order given."""
        for first in range(0, len(rows), CHUNK):
            yield from self._chunk(rows[first : first + CHUNK])

    def _chunk(self, rows: Int64s) -> Iterator[tuple[Cell, ...]]:
        slices = self._trace.slices
        lane = np.searchsorted(self._trace.lane_rows, rows, "right") - 1
        track = self._trace.lane_track[lane]
        tracks, stacks = track.tolist(), self._stacks.keys(rows).tolist()
        return zip(
            slices.start[rows].tolist(),
            slices.dur[rows].tolist(),
            map(self._process.__getitem__, tracks),
            map(self._thread.__getitem__, tracks),
            (lane - self._first_lane[track]).tolist(),
            map(self._text.__getitem__, slices.name[rows].tolist()),
            map(self._text.__getitem__, slices.category[rows].tolist()),
            map(self._activity.__getitem__, slices.activity[rows].tolist()),
            self._step_of(slices.start[rows], track),
            map(self._text.__getitem__, self._operator_names(rows).tolist()),
            map(self._line.__getitem__, stacks),
            map(self._stack.__getitem__, stacks),
        )

    def _operator_names(self, rows: Int64s) -> Int32s:
        """Strings: the operator that each device task leads back to, -1 for all others."""
        names = np.full(len(rows), -1, np.int32)
        tasks = np.flatnonzero(np.isin(rows, self._links.tasks))
        operators = self._links.operator[self._links.index(rows[tasks])]
        names[tasks] = np.where(operators >= 0, self._trace.slices.name[operators], -1)
        return names


class _StepOf:
    """The number of the step that holds each slice's start: on a device by the step's device window, on the
    host by the step's own slice."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._numbers = np.array([step.number for step in analysis.steps] + [-1], np.int64)
        hosts = sorted({(step.host_start_ns, step.host_end_ns, step.number) for step in analysis.steps})
        columns = np.array(hosts, np.int64).reshape(-1, 3)
        self._starts, self._ends, self._host_numbers = columns[:, 0], columns[:, 1], columns[:, 2]
        self._devices = np.array([track.device or "" for track in analysis.trace.tracks], object)

    def __call__(self, starts: Int64s, tracks: Int32s) -> list[int | None]:
        numbers = self._on_host(starts)
        devices = self._devices[tracks]
        for device in set(devices.tolist()) - {""}:
            there = devices == device
            numbers[there] = self._numbers[step_of(self._analysis.steps, device, starts[there])]
        return [None if number < 0 else number for number in numbers.tolist()]

    def _on_host(self, starts: Int64s) -> Int64s:
        if not len(self._starts):
            return np.full(len(starts), -1, np.int64)
        place = np.searchsorted(self._starts, starts, "right") - 1
        return np.where((place >= 0) & (starts < self._ends[place]), self._host_numbers[place], -1)
