"""The table of slices: what ran when and where, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.search import pick
from tracetui.arrays import Int64s
from tracetui.export.tables.column import CodedTexts, Column, Form, Table
from tracetui.export.tables.operators import activity_name
from tracetui.export.trace.stacks import Stacks, tasks_among
from tracetui.export.trace.step_numbers import StepNumbers

#: Texts kept from one chunk of rows to the next.
CACHED = 1 << 16


class Events:
    """The slices of an analysis; what many rows of them share is looked up once."""

    def __init__(self, analysis: Analysis) -> None:
        self.trace, self.launch_chains = analysis.trace, analysis.launch_chains
        self.stacks, self.steps = Stacks(analysis), StepNumbers(analysis)
        self.first_lane = np.array([track.lanes.start for track in self.trace.tracks], np.int64)
        self.line_of = lru_cache(maxsize=CACHED)(self.stacks.line)
        self.stack_of = lru_cache(maxsize=CACHED)(self.stacks.text)


class EventRows:
    """Some slices, by their rows."""

    def __init__(self, events: Events, rows: Int64s) -> None:
        self.events, self.rows = events, rows
        trace = self.trace = events.trace
        self.lane = np.searchsorted(trace.lane_rows, rows, "right") - 1
        self.track = trace.lane_track[self.lane]
        self.stack = events.stacks.keys(rows)
        self.operator = self._operators()

    def _operators(self) -> Int64s:
        """Return int64[n]: the name (a string) of the operator that a task leads back to, -1 for the rest."""
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
