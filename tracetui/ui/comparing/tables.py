"""The tables of a comparison as the viewer shows them: means per step, the change as a bar, most first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from rich.style import Style

from tracetui.arrays import Int64s
from tracetui.comparison.compared_row import ComparedRow
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.line_rows import LineRow
from tracetui.comparison.waterfall import term_places
from tracetui.export.sentences.comparison import (
    changed_words,
    ratio_words,
    row_name,
    shift_words,
    signed_ms,
    signed_size,
)
from tracetui.export.tables.comparison import (
    ADVICE,
    MEMORY,
    RANKS,
    ROOTS,
    TABLES,
    WATERFALL,
    ComparedRows,
    ComparedTable,
)
from tracetui.export.text import aligned
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText, tail
from tracetui.ui.tables.columns import LONGEST, Cell, ViewColumn, named_column
from tracetui.ui.tables.layout import ColumnLook, ColumnPlace, laid_out

#: The tables in the order of `tab`: all that `--by` has of single traces.
SHOWN = {table.by: table for table in (WATERFALL, *TABLES, ADVICE, MEMORY)}
#: What those are called in the list of them whose key is not short enough, or of other words.
_NAMES = {"term": "parts", "communication": "collectives", "api": "host"}
_TITLES = {"term": "part of a step", "api": "host operator"}  #: of the column of names, else the table's name
_CHANGED = ("no", "yes", "?")
_SIDE, _WIDE_SIDE, _WIDE_FROM = 10, 24, 160  #: cells of a bar to either side of zero
_LEAST, _ROOMY_FROM = 32, 100  #: cells that names keep, half of it below so many columns


def shown_of(comparison: Comparison | None) -> dict[str, ComparedTable]:
    """Return the tables of a comparison, in the order of `tab`; of jobs their ranks follow the parts."""
    if comparison is None or comparison.job is None:
        return SHOWN
    parts, *tables = SHOWN.values()
    return {table.by: table for table in (parts, RANKS, ROOTS, *tables)}


def table_rows(comparison: Comparison, table: ComparedTable) -> Sequence[ComparedRow]:
    """Return the rows of a table; of the parts of a step and the classes those that have any time."""
    rows = table.rows(comparison)
    if table.by in ("term", "class"):
        return [row for row in rows if row.base.ns or row.other.ns]
    return rows


def largest(rows: Sequence[ComparedRow], limit: int) -> Sequence[ComparedRow]:
    """Return at most so many rows, those that changed most, in their order."""
    ranked = sorted(rows, key=lambda row: (-abs(row.delta_ns), -row.base_ns))
    kept = {row.name for row in ranked[: max(limit, 0)]}
    return [row for row in rows if row.name in kept]


def short_name(table: ComparedTable) -> str:
    """Return what a table is called in the list of them."""
    return _NAMES.get(table.by, table.key)


def most_telling_table(comparison: Comparison) -> str:
    """Return the table that tells most of what changed: of lines, operators and collectives."""
    tables = ("line", "operator", "communication")
    most_ns = {by: abs(rows[0].delta_ns) for by in tables if (rows := SHOWN[by].rows(comparison))}
    return max(most_ns, key=most_ns.__getitem__, default="line")


def is_of_idle(table: ComparedTable, row: ComparedRow) -> bool:
    """Return whether a row is about idle time, whose slice is the task that ends it."""
    return table.by in ("line", "cause") or (table is WATERFALL and row.name.startswith("idle."))


def instance(comparison: Comparison, table: ComparedTable, row: ComparedRow, of_base: bool) -> int:
    """Return the slice row of the longest instance of a row, in the step with most of it; -1 for none."""
    if table is WATERFALL:
        label = row.name.partition("idle.")[2]
        causes = [cause for cause in comparison.causes if label and cause.name == label]
        if not causes:
            return -1
        row = causes[0]
    return row.base.row if of_base else row.other.row


def instance_or_span(
    comparison: Comparison, table: ComparedTable, row: ComparedRow, of_base: bool
) -> tuple[int, tuple[int, int] | None]:
    """Return the instance of a row; of a part of steps without one the step with most of it."""
    slice_row = instance(comparison, table, row, of_base)
    if slice_row >= 0 or table is not WATERFALL:
        return slice_row, None
    return slice_row, _span_of_most(comparison, row, of_base)


def _span_of_most(comparison: Comparison, row: ComparedRow, of_base: bool) -> tuple[int, int] | None:
    """Return the step with most of a part of steps: ns, its start and end; None where no step has any."""
    run = comparison.base if of_base else comparison.other
    ns = run.terms_ns[:, term_places(row.name)].sum(axis=1)
    if not ns.any():
        return None
    wall = int(ns.argmax())
    return int(run.walls.start[wall]), int(run.walls.end[wall])


class Laid:
    """The tables of a comparison, laid out when they are first asked for, 60 µs a row."""

    def __init__(self, comparison: Comparison, palette: Palette, glyphs: Glyphs) -> None:
        self.comparison = comparison
        self._palette, self._glyphs = palette, glyphs
        self._tables = shown_of(comparison)
        self._rows = {by: table_rows(comparison, table) for by, table in self._tables.items()}
        self._columns: dict[tuple[str, bool, bool], list[ViewColumn]] = {}

    def rows(self, table: ComparedTable) -> Sequence[ComparedRow]:
        """Return the rows of a table that are shown."""
        return self._rows[table.by]

    def columns(self, table: ComparedTable, screen_cells: int) -> list[ViewColumn]:
        """Return the columns of a table in a terminal of so many cells."""
        key = table.by, screen_cells >= _ROOMY_FROM, screen_cells >= _WIDE_FROM
        if key not in self._columns:
            rows = table.judged(self.comparison, self._rows[table.by])
            self._columns[key] = columns(rows, table, self._palette, self._glyphs, screen_cells)
        return self._columns[key]

    def columns_of(
        self, rows: Sequence[ComparedRow], table: ComparedTable, screen_cells: int
    ) -> list[ViewColumn]:
        """Return the columns of rows of a table, which may be fewer than it has."""
        if len(rows) == len(self.rows(table)):
            return self.columns(table, screen_cells)
        listed = table.judged(self.comparison, rows)
        return columns(listed, table, self._palette, self._glyphs, screen_cells)

    def warm(self, screen_cells: int) -> Laid:
        """Lay all out; for a thread."""
        for table in self._tables.values():
            self.columns(table, screen_cells)
        return self


def columns(
    listed: ComparedRows, table: ComparedTable, palette: Palette, glyphs: Glyphs, screen_cells: int
) -> list[ViewColumn]:
    """Return the columns of some rows; times in ms with three decimals, exported in ns.

    A change that is not certain has its mark.
    """
    rows: Sequence[ComparedRow] = listed.rows
    marks = listed.marks()
    marked = any(marks)
    delta = np.array([round(row.delta_ns) for row in rows], np.int64)
    ratios = np.array([np.nan if row.ratio is None else row.ratio for row in rows])
    text = palette.style_of(Role.TEXT)
    styles = {None: text, False: palette.style_of(Role.DIM)}
    more, less = palette.style_of(Role.IDLE), palette.style_of(Role.GOOD)

    def style_of(row: int) -> Style:
        changed = rows[row].changed
        return (more if delta[row] > 0 else less) if changed else styles[changed]

    in_bytes = table is MEMORY
    signed, amount, unit = (signed_size, "bytes", "") if in_bytes else (signed_ms, "ns", " ms")

    def change(row: int, _: int) -> Cell:
        amount = (signed(rows[row].delta_ns), style_of(row))
        return [amount, (f" {marks[row]:<3}", palette.style_of(Role.WARNING))] if marked else [amount]

    widest = max((row.delta_ns for row in rows), key=abs, default=Fraction(0))
    places: list[ColumnPlace] = [
        _names(rows, table, glyphs, _LEAST if screen_cells >= _ROOMY_FROM else _LEAST // 2),
        ColumnLook(f"base_{amount}", title=f"base{unit}", rank=1),
        ColumnLook(f"other_{amount}", title=f"other{unit}", rank=1),
        ViewColumn(f"delta_{amount}", "change", delta, change, max(8, len(signed(widest)) + 4 * marked)),
        _bars(delta, style_of, glyphs, _side(screen_cells)),
        _changed(rows),
        *([_shifts(rows)] if any(row.test is not None for row in rows[:1]) else []),
        ViewColumn("ratio", "ratio", ratios, lambda row, _: ratio_words(rows[row]), 8, rank=3),
        ColumnLook("base_count", title="base n", width=9, rank=4),
        ColumnLook("other_count", title="other n", width=9, rank=4),
        ...,
    ]
    return laid_out(table.table, ComparedRows(rows), places)


def _names(rows: Sequence[ComparedRow], table: ComparedTable, glyphs: Glyphs, least: int) -> ViewColumn:
    names = [table.name_of(row) for row in rows]
    shown = [_short(row) for row in rows] if table.by == "line" else names
    places = np.arange(len(names), dtype=np.int32)
    column = named_column("name", _TITLES.get(table.by, table.by), places, names, width=64, least=least)
    if table.by not in ("line", "module"):
        return column
    return replace(column, draw=lambda row, width: tail(shown[row], width, glyphs.ellipsis))


def _short(row: ComparedRow) -> str:
    """Name a line by the end of its file: "train.py(88) -> (93) forward"."""
    name = row_name(row)
    file = row.frame.file if isinstance(row, LineRow) and row.frame is not None else ""
    return path_end(file) + name[len(printable(file, LONGEST)) :] if file else name


def _changed(rows: Sequence[ComparedRow]) -> ViewColumn:
    codes = np.array([2 if row.changed is None else int(row.changed) for row in rows], np.int64)
    words = [changed_words(row) for row in rows]
    return ViewColumn(
        "changed",
        "changed",
        codes,
        lambda row, _: words[row],
        max((8, *map(len, words))),
        rank=1,
        right=False,
        plain=lambda row: _CHANGED[codes[row]],
    )


def _shifts(rows: Sequence[ComparedRow]) -> ViewColumn:
    """Show the shift of the steps, with the interval around it."""
    shifts = np.array([round(row.test.shift_ns) if row.test is not None else 0 for row in rows], np.int64)
    words = [shift_words(row) for row in rows]
    width = max((16, *map(len, words)))
    return ViewColumn(
        "shift_ns", "shift (interval)", shifts, lambda row, _: words[row], width, rank=5, right=False
    )


def _side(screen_cells: int) -> int:
    """Return the cells of a bar to either side of zero."""
    if screen_cells >= _WIDE_FROM:
        return _WIDE_SIDE
    return _SIDE if screen_cells >= _ROOMY_FROM else _SIDE // 2


def _bars(delta: Int64s, style_of: Callable[[int], Style], glyphs: Glyphs, side: int) -> ViewColumn:
    """Show the change as a bar to the left or the right of zero, in halves of a cell."""
    largest = int(np.abs(delta).max(initial=0))
    halves = (glyphs.left, glyphs.right) if glyphs.full == "█" else ("", "")

    def draw(row: int, _: int) -> Cell:
        cells = 2 * side * abs(int(delta[row])) // max(largest, 1)
        if delta[row] and not cells:
            cells = 1
        full, half = divmod(cells, 2)
        if half and not halves[0]:
            full, half = full + 1, 0
        drawn = glyphs.full * full
        left = right = ""
        if delta[row] < 0:
            left = (halves[0] if half else "") + drawn
        else:
            right = drawn + (halves[1] if half else "")
        pieces: list[StyledText] = [
            (" " * (side - len(left)), Style.null()),
            (left, style_of(row)),
            (glyphs.bar, Style.null()),
            (right, style_of(row)),
        ]
        return pieces

    title = f"{aligned(translate('less'), side)}{glyphs.bar}{translate('more')}"
    return ViewColumn("", title, delta, draw, 2 * side + 1, rank=2, right=False)
