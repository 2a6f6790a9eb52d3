"""The steps of the training loop: what each spent its time on, and how one differs from the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import median_low
from typing import Any

import numpy as np
from rich.cells import cell_len
from textual import on
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.comparison.step_parts import StepParts, step_parts
from tracetui.export.sentences.health import without_steps
from tracetui.export.tables.column import Form, Table
from tracetui.export.tables.steps import PHASES, STEPS, StepRows
from tracetui.export.trace.selection import Selection
from tracetui.language import clauses, counted, heading, translate, wording
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.bars import TimeInks, stacked_bar, time_inks
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import ruled, wrapped
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.stories.step_story import step_causes, step_story
from tracetui.ui.tables.columns import Cell, ViewColumn
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_percent

#: title, key, importance: the titles are shorter than those of the table
_SUMS = (
    ("computing", "computing_ns", 1),
    ("exposed", "communication_not_overlapped_ns", 1),
    ("overlapped", "overlapped_ns", 5),
    ("communication", "communication_ns", 4),
    ("free", "free_ns", 1),
    ("stage", "stage_ns", 3),
    ("bubble", "bubble_ns", 6),
    ("no receive", "communication_not_overlapped_exclude_receive_ns", 7),
    ("preparing", "preparing_ns", 0),
    ("idle", "idle_ns", 0),
)
#: of what the wall of a step went into
_NAMES = {"exposed": "exposed comm"}
NO_STEPS = "No ProfilerStep in this trace: a step is what lies between two calls of profiler.step()."


class StepsScreen(TableScreen):
    """One row per step and device, in milliseconds."""

    DEFAULT_CSS = "StepsScreen #story { height: 7; }"
    BINDINGS = bindings("steps")
    TITLE_OF = "Steps, ms"
    NUMBERS = ("steps", "idle")
    KEYS = (
        ("enter", "open in the timeline"),
        ("< > =", "sort"),
        ("e", "export"),
        ("T", "timeline"),
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._explained: Analysis | None = None  # whose causes and critical chains are there
        self._failure = ""
        self._parts: list[StepParts] = []  # of each step

    def below(self) -> Iterable[Widget]:
        yield Lines(id="story")

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        steps = analysis.steps
        if not steps:
            self.show_nothing(NO_STEPS if analysis.devices else "No known device in this trace: no steps.")
            return
        inks = time_inks(self.palette, self.glyphs)
        self._parts = step_parts(analysis)
        self.table.show(step_columns(analysis, self._parts, inks), len(steps))
        believed = self._believed(range(len(steps)))
        left_out = {step.number for step in steps} - {steps[place].number for place in believed}
        parts = [self._parts[place] for place in believed]
        self.show_answer(steps_answer(parts, sum(analysis.tasks_of_no_step.values()), left_out))
        if self._explained is not analysis:
            self.in_background(
                "causes",
                lambda: (analysis.causes, analysis.preparing, analysis.critical),
                lambda _: self._tell_causes(analysis),
            )

    def _believed(self, places: Sequence[int]) -> Sequence[int]:
        """Return those of some steps that can be believed; all of them where none can."""
        analysis = self.session.analysis
        assert analysis is not None
        return Selection(all_steps=self.session.options.all_steps).believed(analysis, places)

    def _tell_causes(self, analysis: Analysis) -> None:
        self._explained = analysis
        self._tell()

    def failed(self, group: str, sentence: str) -> None:
        self._failure = sentence
        self._tell()

    def on_resize(self) -> None:
        self._tell()

    @on(TableWidget.Moved)
    def _tell(self) -> None:
        """Show the story of the step under the cursor, with causes once they are known."""
        analysis, row = self.session.analysis, self.table.cursor_row
        if analysis is None or not 0 <= row < len(analysis.steps):
            return
        rule, width = self.glyphs.rule, self.size.width
        step = analysis.steps[row]
        text, dim = self.style_of(Role.TEXT), self.style_of(Role.DIM)
        title = ruled(
            translate("step {number} on {device}", number=step.number, device=printable(step.device, 40)),
            rule,
            width,
        )
        lines: list[Pieces] = [[(title, self.style_of(Role.RULE))]]
        believed = self._believed(analysis.steps_by_device[step.device])
        story = step_story(analysis, row, self._parts, believed)
        lines += [[(line, text)] for sentence in story for line in wrapped(sentence, width)]
        if self._explained is analysis:
            lines += step_causes(analysis, row, self.palette, self.glyphs, width)
        else:
            lines.append([(self._failure or translate("Looking for the causes of its idle time."), dim)])
        self.query_one("#story", Lines).show_whole(lines)

    @property
    def contents(self) -> tuple[Table[Any], Any] | None:
        analysis = self.session.analysis
        return None if analysis is None else (STEPS, StepRows(analysis))

    @on(TableWidget.Activated)
    def _open(self, message: TableWidget.Activated) -> None:
        analysis = self.session.analysis
        if analysis is not None:
            step = analysis.steps[message.row]
            self.viewer.show_interval(step.start_ns, step.end_ns, step.row)


def step_columns(analysis: Analysis, parts: Sequence[StepParts], inks: TimeInks) -> list[ViewColumn]:
    """Return the columns of the step table; times in ms with three decimals, exported in ns.

    parts : of each step.
    """
    rows = StepRows(analysis)
    places: list[ColumnPlace] = [
        ColumnLook("step", 0),
        ColumnLook("device", 1, 8, 6),
        _bar_column(parts, inks),
        *(ColumnLook(key, rank, _width(key, title, rows), title=title) for title, key, rank in _SUMS),
        *(ColumnLook(column.key, 8, _width(column.key, column.title, rows)) for column in PHASES),
        ...,
    ]
    return laid_out(STEPS, rows, places)


def _width(key: str, title: str, rows: StepRows) -> int:
    """Return the cells that the numbers of a column take, and its title with the mark of the order."""
    cells = STEPS.column(key, Form.VIEWER).cells(rows, str).texts
    return max(cell_len(heading(title)) + 1, *map(len, cells))


def _bar_column(parts: Sequence[StepParts], inks: TimeInks) -> ViewColumn:
    whole = max(step.wall for step in parts)
    part_inks = (inks.preparing, inks.compute, inks.communication, inks.idle)

    def draw(row: int, width: int) -> Cell:
        return stacked_bar(list(zip(parts[row], part_inks)), whole, width)

    wholes = np.array([step.wall for step in parts], np.int64)
    marks = (ink.glyph for ink in part_inks)
    title = "".join(
        f"{wording(word, f'bar.{word}')}{mark}" for word, mark in zip(("prep", "comp", "comm", "rest"), marks)
    )
    return ViewColumn("", title, wholes, draw, 40, cell_len(title), rank=1, right=False)


def steps_answer(parts: Sequence[StepParts], tasks_of_none: int = 0, left_out: Collection[int] = ()) -> str:
    """Return "40 steps: preparing 12.0 %, computing 61.0 %, ...; median 812 ms; 9 tasks of no step".

    Args:
        parts: those of each step.
        tasks_of_none: tasks of no step.
        left_out: the numbers of the steps that are not to be believed, and not in `parts`.
    """
    whole = sum(step.wall for step in parts)
    shares = [
        f"{wording(_NAMES.get(name, name))} {format_percent(sum(column), whole)}"
        for name, column in zip(StepParts._fields, zip(*parts))
    ]
    usual = format_duration(median_low([step.wall for step in parts]))
    median = usual if len(parts) == 1 else translate("median {time}", time=usual)
    answer = translate(
        "{steps}: {parts}; {median}",
        steps=counted(len(parts), "1 step", "{count} steps"),
        parts=clauses(shares),
        median=median,
    )
    answer = without_steps(answer, left_out)
    tasks = counted(tasks_of_none, "1 task", "{count} tasks")
    return translate("{answer}; {tasks} of no step", answer=answer, tasks=tasks) if tasks_of_none else answer
