"""The steps of the training loop: what each spent its time on, and how one differs from the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from rich.cells import cell_len
from textual import on
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.annotated import AnnotatedPhase
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.notes import clocks_apart
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s
from tracetui.comparison.step_parts import StepParts, step_parts
from tracetui.export.tables.column import Form
from tracetui.export.tables.row_ids import ids_of
from tracetui.export.tables.steps import PHASES, STEPS, StepRows, longest_phases
from tracetui.language import clauses, counted, heading, translate, wording
from tracetui.trace.clean import printable
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.bars import TimeInks, stacked_bar, time_inks
from tracetui.ui.drawing.causes import legend
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import Piece, ruled
from tracetui.ui.screens.table_screen import TableScreen
from tracetui.ui.session import Session
from tracetui.ui.stories.gap_story import exact_us
from tracetui.ui.tables.columns import Cell, ViewColumn
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out
from tracetui.ui.widgets.lines import Lines, Pieces
from tracetui.ui.widgets.table import TableWidget
from tracetui.units import format_duration, format_ms, format_percent

if TYPE_CHECKING:
    import pandas as pd

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
COLON = ": "
HANGS = "(what the step's end waited for)"
_PHASES = (("iteration gap", "iteration_gap"), ("fwd+bwd", "forward_backward"), ("tail", "tail"))


class StepsScreen(TableScreen):
    """One row per step and device, in milliseconds."""

    DEFAULT_CSS = """
    StepsScreen #story { height: 7; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("steps")]
    TITLE_OF = "Steps, ms"
    NUMBERS = ("steps", "idle")
    KEYS = (
        ("enter", "open in the timeline"),
        ("< > =", "sort"),
        ("e", "export"),
        ("T", "timeline"),
        ("?", "keys"),
    )

    class Explained(Message):
        """The causes and the critical chains of an analysis are there."""

        def __init__(self, analysis: Analysis) -> None:
            super().__init__()
            self.analysis = analysis

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._explained: Analysis | None = None  # whose causes and critical chains are there
        self._failure = ""
        self._parts: list[StepParts] = []  # of each step

    def below(self) -> Iterable[Widget]:
        yield Lines(self.viewer.glyphs, id="story")

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        steps = analysis.steps
        if not steps:
            self.nothing(NO_STEPS if analysis.devices else "No device in this trace: no steps.")
            return
        inks = time_inks(self.viewer.palette, self.viewer.glyphs)
        self._parts = step_parts(analysis)
        self.table.show(step_columns(analysis, self._parts, inks), len(steps))
        answer = steps_answer(self._parts, sum(analysis.tasks_of_no_step.values()))
        self.show_answer(answer, self.place())
        if self._explained is not analysis:
            self.in_background("causes", lambda: explained(analysis))

    @on(Explained)
    def _tell_causes(self, message: Explained) -> None:
        message.stop()
        self._explained = message.analysis
        self._tell(self.table.row)

    def failed(self, group: str, sentence: str) -> None:
        self._failure = sentence
        self._tell(self.table.row)

    def missing(self, sentence: str) -> None:
        super().missing(sentence)
        self.query_one("#story", Lines).show([])

    @on(TableWidget.Moved)
    def _tell_story(self, message: TableWidget.Moved) -> None:
        self._tell(message.row)

    def _tell(self, row: int) -> None:
        """Show the story of a step, with causes once they are known."""
        analysis = self.session.analysis
        if analysis is None or not 0 <= row < len(analysis.steps):
            return
        rule, width = self.viewer.glyphs.rule, self.size.width
        step = analysis.steps[row]
        text, dim = self.style_of(Role.TEXT), self.style_of(Role.DIM)
        title = ruled(
            translate("step {number} on {device}", number=step.number, device=printable(step.device, 40)),
            rule,
            width,
        )
        lines: list[Pieces] = [[(title, self.style_of(Role.RULE))]]
        usual = [self._parts[place] for place in analysis.steps_by_device[step.device]]
        story = step_story(step, self._parts[row], usual, analysis.annotated_phases[row])
        lines += [[(line, text)] for line in story]
        if self._explained is analysis:
            lines += step_causes(analysis, row, self.viewer.palette, self.viewer.glyphs, width)
        else:
            lines.append([(self._failure or translate("Looking for the causes of its idle time."), dim)])
        self.query_one("#story", Lines).show(lines)

    def row_ids(self, rows: Int64s) -> Sequence[str]:
        analysis = self.session.analysis
        return ids_of(STEPS, StepRows(analysis, rows.tolist())) if analysis is not None else ()

    def frame(self, view: Int64s) -> pd.DataFrame:
        from tracetui.export.trace.frames import steps_frame

        analysis = self.session.analysis
        assert analysis is not None
        return steps_frame(analysis, view.tolist())

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


def steps_answer(parts: Sequence[StepParts], tasks_of_none: int = 0) -> str:
    """Return "40 steps: preparing 12.0 %, computing 61.0 %, ...; median 812 ms; 9 tasks of no step"."""
    whole = sum(step.wall for step in parts)
    shares = [
        f"{wording(_NAMES.get(name, name))} {format_percent(sum(column), whole)}"
        for name, column in zip(StepParts._fields, zip(*parts))
    ]
    usual = format_duration(_median([step.wall for step in parts]))
    median = usual if len(parts) == 1 else translate("median {time}", time=usual)
    answer = translate(
        "{steps}: {parts}; {median}",
        steps=counted(len(parts), "1 step", "{count} steps"),
        parts=clauses(shares),
        median=median,
    )
    tasks = counted(tasks_of_none, "1 task", "{count} tasks")
    return translate("{answer}; {tasks} of no step", answer=answer, tasks=tasks) if tasks_of_none else answer


def step_story(
    step: Step, parts: StepParts, usual: Sequence[StepParts], annotated: Sequence[AnnotatedPhase] = ()
) -> list[str]:
    """Return three lines on one step: what it adds up to, its phases, how it differs from the median step.

    usual : the parts of all steps of its device.
    """
    host = longest_phases(annotated)
    sums = " + ".join(f"{wording(name)} {exact_us(ns)}" for name, ns in parts._asdict().items())
    phases = [
        f"{heading(title)} {format_ms(span[1] - span[0])} ms"
        for title, key in _PHASES
        for span in (getattr(step, key),)
        if span is not None
    ]
    phase_words = clauses(phases) if phases else translate("the trace does not tell them apart")
    on_host = translate("; on the host {phases}", phases=printable(host)) if host else ""
    return [
        f"{sums} = {exact_us(parts.wall)} µs",
        translate("Phases: {phases}", phases=phase_words) + on_host,
        _differences(parts, usual),
    ]


def explained(analysis: Analysis) -> StepsScreen.Explained:
    """Have what `step_causes` tells, which may take a while."""
    _ = analysis.causes, analysis.preparing, analysis.critical
    return StepsScreen.Explained(analysis)


def step_causes(analysis: Analysis, index: int, palette: Palette, glyphs: Glyphs, width: int) -> list[Pieces]:
    """Return the causes of the idle and of the preparing time of a step, and what its wall time hangs on."""
    text, dim, bold = (palette.style_of(role) for role in (Role.TEXT, Role.DIM, Role.NUMBER))

    apart = clocks_apart(analysis.steps[index])
    disagree = (
        translate("; host and device clocks disagree by {time}", time=format_duration(apart)) if apart else ""
    )

    def causes(name: str, by_cause: Mapping[Cause, int], copy_ns: int = 0) -> Pieces:
        total = format_duration(sum(by_cause.values()) + copy_ns)
        copied = (
            translate("of which copies {time}, the rest", time=format_duration(copy_ns)) if copy_ns else ""
        )
        line: list[Piece] = [
            (f"{name} ", text),
            (total, bold),
            (f"{translate(COLON)}{copied}{' ' * bool(copied)}", text),
        ]
        room = width - sum(cell_len(piece) for piece, _ in line)
        return [*line, *legend(by_cause.items(), palette, glyphs, room)]

    by_kind = analysis.critical_in_step(index)
    wall = sum(by_kind.values())
    shares = "  ".join(
        f"{wording(kind.label, f'critical.{kind.label}')} {format_percent(ns, wall)}"
        for kind, ns in sorted(by_kind.items(), key=lambda item: -item[1])
    )
    preparing = analysis.preparing
    return [
        causes(translate("Idle"), analysis.causes.by_step(index)),
        [
            *causes(translate("Preparing"), preparing.causes.by_step(index), int(preparing.copy_ns[index])),
            (disagree, dim),
        ],
        [
            (f"{translate('Critical path')} ", text),
            (format_duration(wall), bold),
            (f"{translate(COLON)}{shares}", text),
            (f"  {translate(HANGS)}", dim),
        ],
    ]


def _differences(parts: StepParts, usual: Sequence[StepParts]) -> str:
    if len(usual) < 3:
        return translate("Too few steps to say what is usual.")
    medians = StepParts(*map(_median, zip(*usual)))
    by = {name: getattr(parts, name) - getattr(medians, name) for name in StepParts._fields}
    words = [f"{wording(name)} {_signed(by[name])}" for name in sorted(by, key=lambda name: -abs(by[name]))]
    whole = parts.wall - _median([step.wall for step in usual])
    return translate(
        "Against the median step: {change}; {parts}", change=_signed(whole), parts=clauses(words)
    )


def _signed(ns: int) -> str:
    return ("+" if ns >= 0 else "") + format_duration(ns)


def _median(values: Sequence[int]) -> int:
    """Return the lower median: a value that occurs."""
    return sorted(values)[(len(values) - 1) // 2]
