"""The table of slices: what ran when and where, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.launch_chains import LaunchChains
from tracetui.analysis.search import pick
from tracetui.arrays import Int32s, Int64s
from tracetui.export.tables.column import CodedTexts, Column, Form, Table
from tracetui.export.tables.operators import activity_name
from tracetui.export.trace.stacks import Stacks, tasks_among
from tracetui.export.trace.step_numbers import StepNumbers

#: Texts kept from one chunk of rows to the next.
CACHED = 1 << 16


class Events:
    """The slices of an analysis; what many rows of them share is looked up once, when it is asked for."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.trace = analysis.trace
        self.first_lane = np.array([track.lanes.start for track in self.trace.tracks], np.int64)
        self.line_of = lru_cache(maxsize=CACHED)(lambda key: self.stacks.line(key))
        self.stack_of = lru_cache(maxsize=CACHED)(lambda key: self.stacks.text(key))

    @property
    def launch_chains(self) -> LaunchChains:
        """From which operator each task comes."""
        return self._analysis.launch_chains

    @cached_property
    def stacks(self) -> Stacks:
        """Where slices come from."""
        return Stacks(self._analysis)

    @cached_property
    def steps(self) -> StepNumbers:
        """Which step holds a moment."""
        return StepNumbers(self._analysis)


class EventRows:
    """Some slices, by their rows."""

    def __init__(self, events: Events, rows: Int64s) -> None:
        self.events, self.rows = events, rows
        self.trace = events.trace

    @cached_property
    def lane(self) -> Int64s:
        """int64[n]: the lane of each."""
        return np.searchsorted(self.trace.lane_rows, self.rows, "right") - 1

    @cached_property
    def track(self) -> Int32s:
        """int32[n]: the track of each."""
        return self.trace.lane_track[self.lane]

    @cached_property
    def stack(self) -> Int64s:
        """int64[n]: the key of the stack of each, -1 where none is known."""
        return self.events.stacks.keys(self.rows)

    @cached_property
    def operator(self) -> Int64s:
        """int64[n]: the name (a string) of the operator that a task leads back to, -1 for the rest."""
        chains = self.events.launch_chains
        tasks, places = tasks_among(chains, self.rows)
        names = np.full(len(self.rows), -1, np.int64)
        names[tasks] = pick(self.trace.slices.name, chains.operator[places])
        return names


def _text(key: str, get: Callable[[EventRows], CodedTexts]) -> Column[EventRows]:
    return Column(key, "", get, forms=Form.FRAME)


def _string(name: str) -> Callable[[EventRows], CodedTexts]:
    return lambda rows: CodedTexts(getattr(rows.trace.slices, name)[rows.rows], rows.trace.string)


def _track(name: str) -> Callable[[EventRows], CodedTexts]:
    return lambda rows: CodedTexts(rows.track, lambda index: getattr(rows.trace.tracks[index], name))


EVENTS: Table[EventRows] = Table(
    columns=(
        Column("start_ns", "", lambda rows: rows.trace.slices.start[rows.rows], forms=Form.FRAME),
        Column("dur_ns", "", lambda rows: rows.trace.slices.dur[rows.rows], forms=Form.FRAME),
        _text("process", _track("process")),
        _text("thread", _track("name")),
        Column("lane", "", lambda rows: rows.lane - rows.events.first_lane[rows.track], forms=Form.FRAME),
        _text("name", _string("name")),
        _text("category", _string("category")),
        _text("activity", lambda rows: CodedTexts(rows.trace.slices.activity[rows.rows], activity_name)),
        Column(
            "step",
            "",
            lambda rows: rows.events.steps.numbers_at(rows.trace.slices.start[rows.rows], rows.track),
            forms=Form.FRAME,
            optional=True,
        ),
        _text("operator", lambda rows: CodedTexts(rows.operator, rows.trace.string)),
        _text("python_line", lambda rows: CodedTexts(rows.stack, rows.events.line_of)),
        _text("stack", lambda rows: CodedTexts(rows.stack, rows.events.stack_of)),
    )
)
