"""Four heat maps, each the answer to a question: digits or tab choose, enter opens a cell on the timeline."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from rich.cells import cell_len
from textual import events, on
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from tracetui.analysis.analyse import Analysis
from tracetui.ui.actions import bindings
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.ramp import LEVELS, Ramp
from tracetui.ui.drawing.strips import Piece
from tracetui.ui.heat.cause_view import CauseView
from tracetui.ui.heat.fold_view import FoldView
from tracetui.ui.heat.length_view import LengthView
from tracetui.ui.heat.sheet import Sheet, View
from tracetui.ui.heat.step_view import StepView
from tracetui.ui.heat.words import BETWEEN
from tracetui.ui.heat.work_view import WorkView
from tracetui.ui.messages import SelectionChanged, ViewChanged
from tracetui.ui.screens.table_screen import AnswerScreen
from tracetui.ui.session import Session
from tracetui.ui.widgets.heat import HeatMap, Marks
from tracetui.ui.widgets.lines import Lines

#: slices from which a thread makes a map
MANY_SLICES = 200_000
#: the size of a terminal from which there is a legend, from which words have one line only
LEGEND_FROM, ONE_LINE_FROM = 14, 160


def _steps(analysis: Analysis) -> View:
    return StepView(analysis) if len(analysis.steps) > 1 else FoldView(analysis)


#: the maps: what each is called, and how it is made
MAPS: tuple[tuple[str, Callable[[Analysis], View]], ...] = (
    ("who works", WorkView),
    ("steps", _steps),
    ("gap lengths", LengthView),
    ("causes", CauseView),
)


class HeatmapScreen(AnswerScreen):
    """One heat map at a time."""

    AUTO_FOCUS = "HeatMap"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("heatmap")]
    TITLE_OF = "Heatmap"
    KEYS = (
        ("enter", "open in the timeline"),
        ("x", "next worst"),
        ("1-4 tab", "map"),
        ("arrows", "cell"),
        ("y", "copy"),
    )

    @dataclass
    class Made(Message, bubble=False):
        """The map of what was wanted."""

        wanted: object
        view: View
        sheet: Sheet | None

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._number = 0
        self._views: dict[int, View] = {}  # those made of the analysis
        self._of: Analysis | None = None  # the analysis
        self._view: View | None = None  # the one shown
        self._wanted: object = None  # what the next map is of
        self._moved = False  # whether the cursor is no longer where it was put

    def body(self) -> Iterable[Widget]:
        yield HeatMap(self.viewer.palette, self.viewer.glyphs)
        yield Lines(self.viewer.glyphs, id="legend")
        yield Lines(self.viewer.glyphs, id="readout")

    @property
    def map(self) -> HeatMap:
        return self.query_one(HeatMap)

    @property
    def heading(self) -> str:
        return self.TITLE_OF if self._view is None else self._view.question

    def on_resize(self, event: events.Resize) -> None:
        self._set_heights()
        self.call_after_refresh(self.refresh_answer)

    def _set_heights(self) -> None:
        self.query_one("#legend").display = self.size.height >= LEGEND_FROM
        roomy = self.size.height >= LEGEND_FROM and self.size.width < ONE_LINE_FROM
        self.query_one("#readout").styles.height = 2 if roomy else 1

    def on_view_changed(self, message: ViewChanged) -> None:
        self._mark()

    def on_selection_changed(self, message: SelectionChanged) -> None:
        self._mark()

    def _mark(self) -> None:
        state = self.session.state
        everything = state.viewport == state.bounds
        viewport = None if everything else (state.viewport.start_ns, state.viewport.end_ns)
        self.map.mark(Marks(viewport, state.window))

    def action_next_view(self, by: int = 1) -> None:
        self.action_show_map((self._number + by) % len(MAPS) + 1)

    def action_show_map(self, number: int) -> None:
        if number - 1 != self._number:
            self._number, self._moved = number - 1, False
            self.refresh_answer()

    def action_cell(self, rows: int, columns: int) -> None:
        self._go(self.map.row + rows, self.map.column + columns)

    def action_edge_cell(self, way: int) -> None:
        self._go(self.map.row, 0 if way < 0 else self.map.columns)

    def action_worst_cell(self, by: int) -> None:
        """Go to the cell with the next less time, or the next more."""
        sheet = self.map.sheet
        if sheet is None or not len(sheet.ranked):
            return
        (here,) = np.nonzero(sheet.ranked == self.map.row * self.map.columns + self.map.column)
        at = int(here[0]) + by if len(here) else 0
        if 0 <= at < len(sheet.ranked):
            self._go(*divmod(int(sheet.ranked[at]), self.map.columns))

    def _go(self, row: int, column: int) -> None:
        self._moved = True
        self.map.move_to(row, column)

    def missing(self, sentence: str) -> None:
        self.map.show(None)
        self.query_one("#readout", Lines).show([])
        self.query_one("#legend", Lines).show([])
        self._view = None
        self.show_answer(sentence, self._names())

    def build(self) -> None:
        analysis = self.session.analysis
        assert analysis is not None
        if not analysis.devices:
            self.missing("No device in this trace: there is nothing that could be idle.")
            return
        if analysis is not self._of:
            self._of, self._views, self._moved = analysis, {}, False
        self._wanted = wanted = object()
        number = self._number
        if len(analysis.trace.slices) < MANY_SLICES:
            self._show_made(self._make(analysis, number, wanted))
        else:
            if number not in self._views:
                self.show_answer("making the map", self._names())
            self.in_background("heat", lambda: self._make(analysis, number, wanted))

    def _make(self, analysis: Analysis, number: int, wanted: object) -> Made:
        view = self._views.get(number)
        if view is None:
            view = self._views[number] = MAPS[number][1](analysis)
        heat_map = self.map
        room = heat_map.room(view.label_cells, view.total_cells)
        return self.Made(wanted, view, view.sheet(*room, heat_map.halves))

    @on(Made)
    def _show_made(self, made: Made) -> None:
        analysis = self.session.analysis
        if made.wanted is not self._wanted or analysis is None:
            return
        view, sheet = made.view, made.sheet
        if sheet is None or not sheet.cells.ns.size:
            self.missing(f"{view.question} {view.nothing()}")
            return
        cursor = self._cursor(sheet)
        self._view = view
        self._mark()
        self.map.show(sheet, (view.label_cells, view.total_cells), cursor, analysis.trace.start_ns)
        self.query_one("#legend", Lines).show([self._legend(view, sheet)])
        self.show_answer(view.answer(), self._names())

    def _cursor(self, sheet: Sheet) -> tuple[int, int]:
        """The worst cell; where the user has moved the cursor, that place at another size."""
        rows, columns = sheet.cells.ns.shape
        if not self._moved or self.map.sheet is None:
            row, column = divmod(int(sheet.ranked[0]), columns) if len(sheet.ranked) else (0, 0)
            return row, column
        before = self.map.sheet.cells.ns.shape
        return self.map.row * rows // before[0], self.map.column * columns // before[1]

    def _names(self) -> list[Piece]:
        """The maps there are, the one shown marked."""
        if self.size.width < 150:
            return [(f"{self._number + 1}/{len(MAPS)}", self.style_of(Role.DIM))]
        pieces = []
        for place, (name, _) in enumerate(MAPS):
            gap = "  " if place else ""
            role = Role.TITLE if place == self._number else Role.DIM
            pieces += [(f"{gap}{place + 1} ", self.style_of(Role.KEY)), (name, self.style_of(role))]
        return pieces

    # ---------------------------------------------------------------- words

    def _legend(self, view: View, sheet: Sheet) -> list[Piece]:
        """The shades with their numbers, as much of it as fits."""
        dim = self.style_of(Role.DIM)
        numbers = [f"{100 * bound:g}" for bound in sheet.bounds.tolist()]
        numbers[-1] += " %"
        first = self.map.ramp(view.heats[0][0])
        told: list[Piece] = [(f" {view.heats[0][1]} to ", dim)]
        for level, number in enumerate(numbers, 1):
            told += first.swatch(level, number, dim)
        others: list[Piece] = []
        for heat, name in view.heats[1:]:
            others += [(f"  {name} ", dim), *_swatches(self.map.ramp(heat))]
        unit: list[Piece] = [(f" {view.unit}", dim)]
        short = [(f" {view.heats[0][1]} ", dim), *_swatches(first), (f" {numbers[-1]}", dim)]
        choices = ([*told, *unit, *others], [*told, *others], [*short, *others], told, short)
        return next((line for line in choices if _cells(line) <= self.size.width), short)

    @on(HeatMap.Moved)
    def _read_out(self, message: HeatMap.Moved) -> None:
        sheet, view = self.map.sheet, self._view
        if sheet is None or view is None or message.row >= len(sheet.rows):
            return
        words = view.words(sheet, self.map.row, self.map.column)
        readout = self.query_one("#readout", Lines)
        room, lines = self.size.width - 2, [""]
        for part in words.split(BETWEEN):
            longer = f"{lines[-1]}{BETWEEN}{part}" if lines[-1] else part
            if cell_len(longer) > room and lines[-1]:
                lines.append(part)
            else:
                lines[-1] = longer
        last = max(readout.size.height, 1) - 1
        lines[last:] = [BETWEEN.join(lines[last:])] if lines[last:] else []
        readout.show([[(f" {line}", self.style_of(Role.NUMBER))] for line in lines])

    @on(HeatMap.Activated)
    def _activated(self, message: HeatMap.Activated) -> None:
        self.action_open_cell()

    def copy_text(self) -> str:
        """The numbers of the cell under the cursor."""
        sheet, view = self.map.sheet, self._view
        return (
            view.words(sheet, self.map.row, self.map.column) if sheet is not None and view is not None else ""
        )

    def action_open_cell(self) -> None:
        """Show the time of the cell in the timeline, and select its gap or slice."""
        sheet, view, viewer = self.map.sheet, self._view, self.viewer
        target = None
        if sheet is not None and view is not None:
            target = view.target(sheet, self.map.row, self.map.column)
        if target is None:
            viewer.show_status("There is nothing to open here.")
            return
        if target.gap >= 0 or target.row < 0:
            state = self.session.state
            state.show(target.start_ns, max(target.end_ns, target.start_ns + 1))
            line = target.line or state.place.cursor
            place = replace(state.place, gap=target.gap, row=-1, cursor=line, time_ns=target.start_ns)
            state.go(place, state.burst)
            viewer.selection_changed()
            viewer.action_go("timeline")
        else:
            viewer.show_interval(target.start_ns, target.end_ns, target.row)


def _swatches(ramp: Ramp) -> list[Piece]:
    """All shades side by side."""
    return [(ramp.glyphs[level], ramp.styles[level]) for level in range(1, LEVELS + 1)]


def _cells(line: list[Piece]) -> int:
    return sum(cell_len(text) for text, _ in line)
