"""Columns of a table and the order of its rows: sorting, filtering and fitting to a width.

Knows numpy columns and text; knows neither Textual nor where the columns come from. A column is an array to
sort by and a function that writes the cell of one row, so only the rows on screen are ever formatted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len, set_cell_size
from rich.style import Style

from tracetui.arrays import Bools, Floats, Int32s, Int64s
from tracetui.export.text import cell_width, cut
from tracetui.language import heading
from tracetui.trace.clean import printable
from tracetui.ui.drawing.bars import share_bar
from tracetui.ui.drawing.glyphs import Glyphs

GAP = 2  #: blanks between two columns
LONGEST = 400  #: characters of a name that can be seen in a table
UNKNOWN = "-"  #: how what is not known is shown

#: What a cell shows: plain text, or pieces of text with a style each.
Cell = Union[str, Sequence[tuple[str, Style]]]


@dataclass(frozen=True)
class ViewColumn:
    """One column of a table of n rows.

    values : array[n] that the rows are sorted by, NaN last. A column of names: int32[n], places in `names`.
    draw : (row, width) -> Cell. The table pads and clips it, so a number is simply returned as text.
    """

    key: str  #: the name of the column in an export
    title: str
    values: NDArray[Any]
    draw: Callable[[int, int], Cell]
    width: int  #: cells it wants
    least: int = 0  #: cells it can shrink to; 0: it cannot
    rank: int = 0  #: importance; the columns of the highest rank vanish first where space is short
    right: bool = True
    names: Sequence[str] | None = None  #: the distinct texts of a column of names: the filter looks in them
    style: Style | None = None
    plain: Callable[[int], Any] | None = None  #: row -> the value an export writes; default: values[row]

    def exported(self, row: int) -> Any:
        """Return the exact value of a row for an export: a Python int, float or str, None where unknown."""
        if self.plain is not None:
            return self.plain(row)
        value = self.values[row].item()
        if self.names is not None:
            return self.names[value]
        return None if isinstance(value, float) and np.isnan(value) else value


def place_of(columns: Sequence[ViewColumn], key: str) -> int:
    """Return the place of the column of a key; -1 where there is none."""
    return next((place for place, column in enumerate(columns) if column.key == key), -1)


def number_column(
    key: str,
    title: str,
    values: Int64s | Floats,
    write: Callable[[Any], str],
    *,
    width: int = 0,
    rank: int = 0,
    style: Style | None = None,
) -> ViewColumn:
    """Return a right-aligned column of numbers; `write` gets the value of a row as int64 or float64.

    Without a width the column is as wide as its title, its smallest and largest value, and one of each order
    of magnitude: "67.1 MB" is longer than "151 MB".
    """
    if not width:
        texts = [write(value) for value in _of_each_magnitude(values)]
        width = max(cell_len(text) for text in [*texts, heading(title) + "  "])
    return ViewColumn(key, title, values, lambda row, _: write(values[row]), width, rank=rank, style=style)


def _of_each_magnitude(values: Int64s | Floats) -> Int64s | Floats:
    """Return the least and the largest value, and one value for each number of digits."""
    if not len(values):
        return values
    with np.errstate(divide="ignore", invalid="ignore"):
        places = np.nan_to_num(np.floor(np.log10(np.abs(values))), nan=-99, posinf=99, neginf=-98)
    _, one_of_each = np.unique(places.astype(np.int16), return_index=True)
    return np.concatenate(([values.min(), values.max()], values[one_of_each]))


def bar_column(
    values: Int64s | Floats,
    whole: float,
    style_of: Callable[[int], Style],
    glyphs: Glyphs,
    width: int,
    least: int = 0,
    *,
    rank: int,
) -> ViewColumn:
    """Return a column of bars, each as long as the share of a value in the whole; no export has it."""

    def draw(row: int, width: int) -> Cell:
        return [(share_bar(values[row].item(), whole, width, glyphs), style_of(row))]

    return ViewColumn("", "", values, draw, width, least, rank=rank, right=False)


def with_line_number(column: ViewColumn, ellipsis: str) -> ViewColumn:
    """Return a column of lines that gives up the start of their files before their numbers."""

    def draw(row: int, width: int) -> Cell:
        text = column.draw(row, width)
        place = _PLACE.match(text) if isinstance(text, str) else None
        if place is None or cell_width(place[0]) < width or cell_width(str(text)) <= width:
            return text
        return ellipsis + cut(place[0], width, keep_end=True)[1:]

    return replace(column, draw=draw)


_PLACE = re.compile(r".*?\(\d+\)")  # "train.py(88)"


def named_column(
    key: str,
    title: str,
    codes: Int32s,
    names: Sequence[str],
    *,
    width: int = 40,
    least: int = 12,
    rank: int = 0,
    style: Style | None = None,
    show: Callable[[str], str] = str,
) -> ViewColumn:
    """Return a left-aligned column of names: codes int32[n] are places in `names`; -1 is unknown, a dash.

    `show` says how a name is shown; the filter and an export take the whole name.
    """
    shown = [*names, ""]  # -1 indexes the last one
    longest = max((cell_width(show(name)) for name in names), default=1)
    width = min(width, max(longest, cell_len(heading(title)) + 1))
    clean: dict[int, str] = {}

    def draw(row: int, width: int) -> str:
        code = int(codes[row])
        text = clean.get(code)
        if text is None:
            text = clean[code] = printable(show(shown[code]), LONGEST) if code >= 0 else UNKNOWN
        return text

    return ViewColumn(
        key,
        title,
        codes,
        draw,
        width,
        min(least, width),
        rank=rank,
        right=False,
        names=shown,
        style=style,
        plain=lambda row: shown[codes[row]] if codes[row] >= 0 else None,
    )


def clipped(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the text in at most `width` cells, its end marked with an ellipsis where cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + ellipsis if width > 0 else ""


@dataclass
class ViewRows:
    """The rows of a table in the order shown: all rows that match the filter, sorted by one column."""

    columns: Sequence[ViewColumn]
    length: int
    sort: int = -1  #: place of the column in `columns`; -1: the order given
    descending: bool = False
    filter: str = ""
    view: Int64s = field(init=False)  #: int64[shown]: the rows shown, in order
    _sorted: Int64s = field(init=False)
    _matches: Bools | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._matches = rows_matching(self.columns, self.filter)
        self.sort_by(self.sort, self.descending)

    def arranged(self, sort: int, descending: bool, text: str) -> ViewRows:
        """Return a copy of these rows in another order or through another filter."""
        other = copy(self)
        if (sort, descending) != (self.sort, self.descending):
            other.sort_by(sort, descending)
        if text != self.filter:
            other.filter_by(text)
        return other

    def sort_by(self, column: int, descending: bool) -> None:
        """Sort by a column; rows that are equal in it stay in the order given."""
        self.sort, self.descending = column, descending
        if column < 0:
            self._sorted = np.arange(self.length, dtype=np.int64)
        else:
            self._sorted = sorted_rows(self.columns[column], descending)
        self._show()

    def filter_by(self, text: str) -> None:
        """Keep the rows of which a name contains the text, whatever the case; an empty text keeps all."""
        self.filter = text
        self._matches = rows_matching(self.columns, text)
        self._show()

    def place(self, row: int) -> int:
        """Return where a row is shown, or -1."""
        places = np.flatnonzero(self.view == row)
        return int(places[0]) if len(places) else -1

    def _show(self) -> None:
        self.view = self._sorted if self._matches is None else self._sorted[self._matches[self._sorted]]


def sorted_rows(column: ViewColumn, descending: bool) -> Int64s:
    """Sort all rows by a column, stably; unknown (NaN, a name of -1) comes last either way."""
    keys = column.values
    if column.names is not None:
        unknown = -1 if descending else len(column.names)
        keys = np.where(keys < 0, unknown, _alphabetical(column.names)[keys])
    if descending:  # `~` turns the order of whole numbers and truth values around, at their limits too
        keys = -keys if keys.dtype.kind == "f" else ~keys
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)


def _alphabetical(names: Sequence[str]) -> Int64s:
    """Return the place of each name in alphabetical order; equal names share one."""
    folded = np.array([name.casefold() for name in names], np.object_)
    return np.unique(folded, return_inverse=True)[1].astype(np.int64)


def rows_matching(columns: Sequence[ViewColumn], text: str) -> Bools | None:
    """Return which rows have a name that contains the text; None for all. Tests each distinct name once."""
    wanted = text.casefold()
    found: Bools | None = None
    if not wanted:
        return None
    for column in columns:
        if column.names is None:
            continue
        hits = np.array([wanted in name.casefold() for name in column.names], dtype=np.bool_)
        rows: Bools = hits[column.values]
        found = rows if found is None else found | rows
    return found


def fit_columns(columns: Sequence[ViewColumn], width: int) -> list[tuple[int, int]]:
    """Return the columns that fit into a width: (place in `columns`, cells), in the order given.

    The most important columns stay; those that can shrink give way first, and share what is left up to the
    width they want, the most important first.
    """
    kept: list[int] = []
    left = width + GAP
    for place in sorted(range(len(columns)), key=lambda place: (columns[place].rank, place)):
        needed = (columns[place].least or columns[place].width) + GAP
        if needed > left and kept:
            break
        kept.append(place)
        left -= needed
    cells = {place: columns[place].least or columns[place].width for place in kept}
    for place in kept:
        more = min(max(left, 0), columns[place].width - cells[place])
        cells[place] += more
        left -= more
    return [(place, cells[place]) for place in sorted(kept)]
