"""The table of slices: what ran when and where, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.launch_chains import LaunchChains, frames_of
from tracetui.analysis.search import pick
from tracetui.arrays import Int32s, Int64s
from tracetui.export.sentences.causes import file_line
from tracetui.export.tables.column import CodedTexts, Column, Form, Table, Values, data
from tracetui.export.tables.operators import activity_name
from tracetui.export.trace.step_numbers import StepNumbers
from tracetui.trace.stack import Frame, parse_call_stack

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


def _column(key: str, get: Callable[[EventRows], Values], **more: Any) -> Column[EventRows]:
    return data(key, get, forms=Form.FRAME, **more)


def _string(name: str) -> Callable[[EventRows], CodedTexts]:
    return lambda rows: CodedTexts(getattr(rows.trace.slices, name)[rows.rows], rows.trace.string)


def _track(name: str) -> Callable[[EventRows], CodedTexts]:
    return lambda rows: CodedTexts(rows.track, lambda index: getattr(rows.trace.tracks[index], name))


EVENTS: Table[EventRows] = Table(
    columns=(
        _column("start_ns", lambda rows: rows.trace.slices.start[rows.rows]),
        _column("dur_ns", lambda rows: rows.trace.slices.dur[rows.rows]),
        _column("process", _track("process")),
        _column("thread", _track("name")),
        _column("lane", lambda rows: rows.lane - rows.events.first_lane[rows.track]),
        _column("name", _string("name")),
        _column("category", _string("category")),
        _column("activity", lambda rows: CodedTexts(rows.trace.slices.activity[rows.rows], activity_name)),
        _column(
            "step",
            lambda rows: rows.events.steps.numbers_at(rows.trace.slices.start[rows.rows], rows.track),
            optional=True,
        ),
        _column("operator", lambda rows: CodedTexts(rows.operator, rows.trace.string)),
        _column("python_line", lambda rows: CodedTexts(rows.stack, rows.events.line_of)),
        _column("stack", lambda rows: CodedTexts(rows.stack, rows.events.stack_of)),
    )
)


class Stacks:
    """Where slices come from: keys of stacks, so that each is looked at once, not once a slice."""

    def __init__(self, analysis: Analysis) -> None:
        self._trace = analysis.trace
        self._chains = analysis.launch_chains
        self._rules = analysis.rules
        self._called = analysis.trace.slices.have_stacks

    def keys(self, rows: Int64s) -> Int64s:
        """Return int64[n]: the key of the stack of each slice row, -1 where none is known.

        A task has the stack of its operator (backward: of the forward one), any other slice its own.
        """
        keys = self._trace.slices.stack[rows].astype(np.int64)
        tasks, place = tasks_among(self._chains, rows)
        # A call stack is its string; one that only python_function slices tell, the row of the innermost.
        stack, frame = self._chains.stack[place].astype(np.int64), self._chains.frame[place]
        keys[tasks] = np.where(stack >= 0, stack, np.where(frame >= 0, -2 - frame, -1))
        return keys

    def frames(self, key: int) -> tuple[Frame, ...]:
        """Return the stack of a key, leaf first."""
        if key == -1:
            return ()
        if key < 0:
            return frames_of(self._trace, -2 - key)
        return parse_call_stack(self._trace.strings[key])

    def text(self, key: int) -> str | None:
        """Return the stack of a key on one line, leaf first: "a.py(3): f < b.py(7): main"; None if empty."""
        return " < ".join(map(str, self.frames(key))) or None

    def line(self, key: int) -> str | None:
        """Return the user's line of a stack, "train.py(88)" with the path as written; None without one.

        python_function slices give the line where their function is defined: that counts only in a trace
        without any call stack, whose line is the one executed.
        """
        if self._called and key < 0:
            return None
        return file_line(self._rules.line_of(self.frames(key)))


def tasks_among(chains: LaunchChains, rows: Int64s) -> tuple[Int64s, Int64s]:
    """Return which of the slice rows are tasks: places in `rows`, and places in the columns of `chains`."""
    place = np.searchsorted(chains.tasks, rows)
    inside = np.flatnonzero(place < len(chains.tasks))
    tasks = inside[chains.tasks[place[inside]] == rows[inside]]
    return tasks, place[tasks]
