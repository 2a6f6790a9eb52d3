"""The tables of the product as the viewer shows them: what the terminal adds to their columns.

A column's key, title, values and words are the table's own. Here it gets its importance, width and ink; what
a table gains is shown after the columns that are laid out, without a word here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, Union

import numpy as np
from rich.cells import cell_len
from rich.style import Style

from tracetui.export.tables import column as tables
from tracetui.export.tables.column import CodedTexts, Form, Table
from tracetui.ui.tables.columns import ViewColumn, named_column, number_column

Rows = TypeVar("Rows")


@dataclass(frozen=True)
class ColumnLook:
    """How the viewer shows a column of a table."""

    key: str
    rank: int = 9  #: importance; the columns of the highest rank vanish first where space is short
    width: int = 0  #: cells it wants; 0: what its values need
    least: int = 0  #: of names: cells it can shrink to
    style: Style | None = None
    title: str = ""  #: where the terminal has no room for the table's
    write: Callable[[int], str] | None = None  #: of numbers, where it says them in other words
    show: Callable[[str], str] = str  #: of names: what of them is shown


#: A column of the table, one that only the viewer has, or `...`: all that the table has beside.
ColumnPlace = Union[ColumnLook, ViewColumn, Any]


def laid_out(
    table: Table[Rows], rows: Rows, places: Sequence[ColumnPlace], omitted: Collection[str] = ()
) -> list[ViewColumn]:
    """Return the viewer's columns of some rows: those placed that the table has, in that order.

    `omitted` are keys of columns that are not shown.
    """
    shown = {column.key: column for column in table.shown(Form.VIEWER, rows) if column.key not in omitted}
    named = {place.key for place in places if place is not ...}
    columns: list[ViewColumn] = []
    for place in places:
        if isinstance(place, ViewColumn):
            columns += [] if place.key in omitted else [place]
        elif place is ...:
            columns += [
                _column(column, rows, ColumnLook(key)) for key, column in shown.items() if key not in named
            ]
        elif place.key in shown:
            columns.append(_column(shown[place.key], rows, place))
    return columns


def _column(column: tables.Column[Rows], rows: Rows, look: ColumnLook) -> ViewColumn:
    values, title = column.get(rows), look.title or column.title
    if isinstance(values, CodedTexts):
        return _names(column, values, title, look)
    numbers, words = np.asarray(values), look.write
    texts = None if column.words is None else column.words(rows)
    if numbers.dtype == np.object_:  # whole ones beside others
        numbers = numbers.astype(np.float64)

    def write(value: Any) -> str:
        return column.write(value.item(), rows) if words is None else words(int(value))

    of_known = numbers[numbers >= 0] if column.optional else numbers
    made = number_column(
        column.key, title, of_known, write, width=look.width, rank=look.rank, style=look.style
    )
    if texts is not None:
        made = replace(made, draw=lambda row, _: texts[row], width=max([made.width, *map(cell_len, texts)]))
    if not column.optional:
        return made
    return replace(
        made,
        values=np.where(numbers < 0, np.nan, numbers),  # sorted after all others
        draw=lambda row, _: (
            column.unknown if numbers[row] < 0 else write(numbers[row]) if texts is None else texts[row]
        ),
        plain=lambda row: None if numbers[row] < 0 else numbers[row].item(),
    )


def _names(column: tables.Column[Rows], values: CodedTexts, title: str, look: ColumnLook) -> ViewColumn:
    places, texts = values.distinct()
    known = np.array([text is not None for text in texts], np.bool_)
    codes = np.where(known, np.cumsum(known) - 1, -1)[places] if len(texts) else places
    return named_column(
        column.key,
        title,
        codes.astype(np.int32),
        [text for text in texts if text is not None],
        width=look.width or 40,
        least=look.least or 12,
        rank=look.rank,
        style=look.style,
        show=look.show,
    )
