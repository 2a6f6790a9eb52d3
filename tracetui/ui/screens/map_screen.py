"""What the screens of a heat map share: its cursor, what its shades mean, and the cell in words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from textual import on

from tracetui.language import translate, wording
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.ramp import LEVELS, Ramp
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.heat.cell_words import BETWEEN
from tracetui.ui.heat.sheet import Map, Sheet
from tracetui.ui.screens.table_screen import AnswerScreen
from tracetui.ui.session import Session
from tracetui.ui.widgets.heat import HeatMap
from tracetui.ui.widgets.lines import Lines


class MapScreen(AnswerScreen):
    """A screen with a heat map, a `#legend` and a `#readout`."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._view: Map | None = None  # the map shown
        self._scale = ""  # the fullest shade of the map shown
        self._scale_before = ""  # that of the map before it, where it differs
        self._moved = False  # whether the cursor is no longer where it was put

    @property
    def map(self) -> HeatMap:
        """The map, which has the cursor."""
        return self.query_one(HeatMap)

    def clear(self, sentence: str) -> None:
        self.map.say(self.told_below(sentence))
        self.query_one("#readout", Lines).show([])
        self.query_one("#legend", Lines).show([])
        self._view = None
        self.show_answer(sentence)

    @property
    @abstractmethod
    def map_names(self) -> Sequence[str]:
        """What the maps are called, in the order of their digits."""

    @property
    @abstractmethod
    def map_shown(self) -> int:
        """The place of the map shown among them."""

    def beside_answer(self) -> list[StyledText]:
        """Return the right end of the first line: which map it is, where the last line cannot say."""
        if _cells(self._named_maps()) < self.size.width - _cells(self._help_key()):
            return []
        return [(f"{self.map_shown + 1}/{len(self.map_names)}", self.style_of(Role.DIM))]

    def show_map(self, view: Map, sheet: Sheet, origin_ns: int) -> None:
        """Show a map, its legend and its answer; `origin_ns` is 0 of an axis of time."""
        cursor = self._cursor_on(sheet)
        scale = _scale_of(sheet)
        if view is not self._view or scale != self._scale:
            self._scale_before = self._scale if self._scale != scale else ""
        self._scale = scale
        self._view = view
        self.map.show(sheet, (view.label_cells, view.total_cells), cursor, origin_ns)
        self.query_one("#legend", Lines).show([self._legend(view, sheet)])
        self.show_answer(view.answer())

    def _keys(self) -> list[StyledText]:
        """Return the maps with their digits, then the other keys that fit."""
        names = self._named_maps()
        room = self.size.width - _cells(self._help_key()) - 1
        if self._is_empty or _cells(names) > room:
            return super()._keys()
        line = names
        for key, does in self.hints:
            if key[0] not in "123456789":
                pieces = [
                    (f"  {wording(key)}", self.style_of(Role.KEY)),
                    (f" {wording(does, f'key.{does}')}", self.style_of(Role.DIM)),
                ]
                line = [*line, *pieces] if _cells([*line, *pieces]) <= room else line
        return line

    def _named_maps(self) -> list[StyledText]:
        pieces = []
        for place, name in enumerate(self.map_names):
            gap = "  " if place else ""
            role = Role.TITLE if place == self.map_shown else Role.DIM
            pieces += [(f"{gap}{place + 1} ", self.style_of(Role.KEY)), (wording(name), self.style_of(role))]
        return pieces

    def copy_text(self) -> str:
        """Return the numbers of the cell under the cursor."""
        sheet, view = self.map.sheet, self._view
        return "" if sheet is None or view is None else view.words(sheet, self.map.row, self.map.column)

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
        while 0 <= at < len(sheet.ranked):
            row, column = divmod(int(sheet.ranked[at]), self.map.columns)
            if row <= self.last_row:
                self._go(row, column)
                break
            at += by

    @property
    def last_row(self) -> int:
        """The last row that the cursor can be on."""
        return len(self.map.sheet.rows) - 1 if self.map.sheet is not None else 0

    def _go(self, row: int, column: int) -> None:
        self._moved = True
        self.map.move_to(min(row, self.last_row), column)

    def _cursor_on(self, sheet: Sheet) -> tuple[int, int]:
        """Return the worst cell; where the user has moved the cursor, that place at another size."""
        rows, columns = sheet.cells.ns.shape
        if not self._moved or self.map.sheet is None:
            row, column = divmod(int(sheet.ranked[0]), columns) if len(sheet.ranked) else (0, 0)
            return row, column
        before = self.map.sheet.cells.ns.shape
        return self.map.row * rows // before[0], self.map.column * columns // before[1]

    def _legend(self, view: Map, sheet: Sheet) -> list[StyledText]:
        """Draw the shades with their numbers, as many as fit."""
        dim = self.style_of(Role.DIM)
        numbers = [f"{100 * bound:g}" for bound in sheet.bounds.tolist()]
        numbers[-1] = _scale_of(sheet)
        first = self.map.ramps[view.heats[0][0]]
        of = wording(view.heats[0][1])
        shades: list[StyledText] = [(f" {translate('{of} to', of=of)} ", dim)]
        for level, number in enumerate(numbers, 1):
            shades += first.swatch(level, number, dim)
        further: list[StyledText] = []
        for heat, name in view.heats[1:]:
            ramp = self.map.ramps[heat]
            if self.palette.color_system or ramp.glyphs != first.glyphs:  # without colours they look the same
                further += [(f"  {wording(name)} ", dim), *_swatches(ramp)]
        unit: list[StyledText] = [(f" {wording(view.unit)}", dim)]
        short = [(f" {of} ", dim), *_swatches(first), (f" {numbers[-1]} ", dim)]
        before: list[StyledText] = []
        if self._scale_before:
            words = translate("(before: {scale})", scale=self._scale_before)
            before = [(f"{words} ", self.style_of(Role.WARNING))]
        choices = (
            [*shades, *before, *unit, *further],
            [*shades, *before, *further],
            [*shades, *further],
            [*short, *before, *further],
            shades,
        )
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


def _swatches(ramp: Ramp) -> list[StyledText]:
    """Draw all shades side by side."""
    return [(ramp.glyphs[level], ramp.styles[level]) for level in range(1, LEVELS + 1)]


def _scale_of(sheet: Sheet) -> str:
    """Return what the fullest shade stands for: "20 %"."""
    return f"{100 * sheet.bounds[-1]:g} %"


def _cells(line: list[StyledText]) -> int:
    return sum(cell_len(text) for text, _ in line)
