"""A column of a table, said once: its key, its title, its values and how people read them.

The rows of a table are one object that its columns know how to look into; values are made for all rows at
once, as numpy columns. JSON is made of them here, all other forms where their libraries are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import Any, Generic, NamedTuple, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.export.cells import encodable
from tracetui.places import row_id
from tracetui.trace.order import numbered
from tracetui.units import format_bytes, format_count, format_duration

UNKNOWN = "-"  #: how people are shown what is not known

Rows = TypeVar("Rows")


class Form(Flag):
    """What a column is part of."""

    JSON = auto()
    FRAME = auto()  #: DataFrames, and csv, which is made of them
    TEXT = auto()
    MARKDOWN = auto()
    VIEWER = auto()
    DATA = JSON | FRAME
    SHOWN = TEXT | MARKDOWN | VIEWER
    ALL = DATA | SHOWN


@dataclass(frozen=True, eq=False)
class CodedTexts:
    """A text for each row, as written in the trace: never print it unescaped."""

    codes: NDArray[Any]  #: int[n]; -1: unknown
    text_of: Callable[[int], str | None]

    def distinct(self) -> tuple[Int64s, list[str | None]]:
        """Return the place of each row's text among the texts of the codes that occur, None for -1."""
        used, places = numbered(self.codes)
        texts = [None if code == -1 else self.text_of(code) for code in used.tolist()]
        return places, texts


#: int64, float64 or bool of each row, or object, which holds either, or None; a text of each; what JSON holds
#: of each, or for people some names.
Values = Union[Int64s, Floats, Bools, CodedTexts, NDArray[np.object_], Sequence[Any]]


def listed(texts: Sequence[str | None]) -> CodedTexts:
    """Return texts, one a row; None is unknown."""
    number: dict[str | None, int] = {}
    codes = [-1 if text is None else number.setdefault(text, len(number)) for text in texts]
    return CodedTexts(np.array(codes, np.int64), [*number].__getitem__)


def texts_at(codes: NDArray[Any], strings: Sequence[str | None]) -> CodedTexts:
    """Return the string at each place, unknown at -1."""
    return CodedTexts(codes, strings.__getitem__)


class ColumnCells(NamedTuple):
    """A column as people read it."""

    texts: list[str]  #: one a row
    numeric: bool  #: to be set right


@dataclass(frozen=True)
class Column(Generic[Rows]):
    """One column. To add it to a table is to list it there: all that is made of the table then has it."""

    key: str  #: its name in JSON, csv and DataFrames, with the unit as its end: "idle_ns"
    title: str  #: above it where people read it
    get: Callable[[Rows], Values]
    write: Callable[[Any, Rows], str] = lambda value, _: str(value)  #: a known value for people
    forms: Form = Form.ALL
    optional: bool = False  #: of numbers: those below 0 are unknown
    trusted: bool = False  #: of texts: the program's, not the trace's
    path: bool = False  #: of texts: the end says more than the start
    least: int = 16  #: of texts: cells that text can cut them down to; 0: it cannot
    stacked: str = ""  #: the title in lines, where text sets it on several
    unknown: str = UNKNOWN  #: what people read where the value is not known
    when: Callable[[Rows, Form], bool] = lambda *_: True  #: whether people are shown it
    words: Callable[[Rows], Sequence[str]] | None = None  #: in place of `write`, of all rows at once

    def of(self, *forms: Form) -> Column[Rows]:
        """Return the column, in these forms alone."""
        chosen = Form(0)
        for form in forms:
            chosen |= form
        return replace(self, forms=chosen)

    def exact(self, rows: Rows) -> list[Any]:
        """Return the value of each row as JSON has it: None is unknown."""
        values = self.get(rows)
        if isinstance(values, CodedTexts):
            places, texts = values.distinct()
            texts_or_none = [None if text is None else encodable(text) for text in texts]
            return [texts_or_none[place] for place in places.tolist()]
        if not isinstance(values, np.ndarray):
            return list(values)
        if self.optional:
            return [None if value < 0 else value for value in values.tolist()]
        return list(values.tolist())

    def cells(self, rows: Rows, quote: Callable[[str], str]) -> ColumnCells:
        """Return what people read in each row; `quote` makes the trace's own texts harmless."""
        values = self.get(rows)
        if isinstance(values, np.ndarray):
            known = [None if self.optional and value < 0 else value for value in values.tolist()]
            if self.words is not None:
                words = zip(known, self.words(rows))
                return ColumnCells([self.unknown if value is None else text for value, text in words], True)
            return ColumnCells(
                [self.unknown if value is None else self.write(value, rows) for value in known], True
            )
        quoted = str if self.trusted else quote
        if isinstance(values, CodedTexts):
            places, texts = values.distinct()
            quoted_texts = [self.unknown if text is None else quoted(text) for text in texts]
            return ColumnCells([quoted_texts[place] for place in places.tolist()], False)
        return ColumnCells([", ".join(map(quoted, names)) or self.unknown for names in values], False)


@dataclass(frozen=True)
class Table(Generic[Rows]):
    """The columns of a table, and in which order people are shown them."""

    columns: tuple[Column[Rows], ...]  #: as JSON and csv have them
    order: tuple[Any, ...] = (...,)  #: keys; all that it does not name stand where it says `...`
    markdown: tuple[Any, ...] = ()  #: the order in Markdown, where it is another
    kind: str = ""  #: what the ids of its rows begin with; "": they have none
    identity: tuple[str, ...] = ()  #: keys of the columns that ids are made of, a flag last
    apart: str = ""  #: key of a column that ids end with where rows are alike in those

    def column(self, key: str, form: Form = Form.FRAME) -> Column[Rows]:
        """Return the column that has a key in a form."""
        return next(column for column in self.of(form) if column.key == key)

    def of(self, form: Form) -> list[Column[Rows]]:
        """Return the columns of a form, in their order; data has the ids of the rows, too, at the end."""
        columns = [column for column in self.columns if column.forms & form]
        return [*columns, ids_column(self._ids)] if self.identity and form & Form.DATA else columns

    def _ids(self, rows: Rows) -> list[str]:
        columns = [self._data(key) for key in self.identity]
        values = zip(*(column.exact(rows) for column in columns))
        parts = [[*_id_parts(self.identity, row)] for row in values]
        ids = [row_id(self.kind, *row) for row in parts]
        if self.apart and len(set(ids)) < len(ids):
            times = Counter(ids)
            ends = self._data(self.apart).exact(rows)
            several = [times[identity] > 1 for identity in ids]
            parts = [[*row, str(end)] if is_one else row for row, end, is_one in zip(parts, ends, several)]
            ids = [row_id(self.kind, *row) for row in parts]
        return ids

    def _data(self, key: str) -> Column[Rows]:
        return next(column for column in self.columns if column.key == key and column.forms & Form.DATA)

    def shown(self, form: Form, rows: Rows) -> list[Column[Rows]]:
        """Return the columns of a form for people, in its order."""
        columns = [column for column in self.columns if column.forms & form and column.when(rows, form)]
        return arranged(columns, (self.markdown if form is Form.MARKDOWN else ()) or self.order)


def _id_parts(keys: Sequence[str], values: Sequence[object]) -> Iterator[str]:
    """Yield the texts that an id is made of: a flag is its name where it holds."""
    for key, value in zip(keys, values):
        if isinstance(value, bool):
            yield from (key,) if value else ()
        elif isinstance(value, list):
            yield "/".join(map(str, value))
        else:
            yield "" if value is None else str(value)


def arranged(columns: Sequence[Column[Rows]], order: Sequence[Any]) -> list[Column[Rows]]:
    """Return the columns in an order of keys; those that it does not name stand where it says `...`."""
    places = {key: place for place, key in enumerate(order)}
    return sorted(columns, key=lambda column: places.get(column.key, places[...]))


def records(table: Table[Rows], rows: Rows) -> list[dict[str, Any]]:
    """Return a JSON object for each row."""
    columns = table.of(Form.JSON)
    keys = [column.key for column in columns]
    return [dict(zip(keys, row)) for row in zip(*(column.exact(rows) for column in columns))]


# ------------------------------------------------------------------ of usual kinds


def duration(key: str, title: str, get: Callable[[Rows], Values], **more: Any) -> Column[Rows]:
    """Return a column of lengths of time in ns."""
    return Column(key, title, get, lambda ns, _: format_duration(ns), **more)


def count(key: str, title: str, get: Callable[[Rows], Values], **more: Any) -> Column[Rows]:
    """Return a column of numbers of things."""
    return Column(key, title, get, lambda number, _: format_count(number), **more)


def size(key: str, title: str, get: Callable[[Rows], Values], **more: Any) -> Column[Rows]:
    """Return a column of bytes."""
    return Column(key, title, get, lambda number, _: format_bytes(number), **more)


def data(key: str, get: Callable[[Rows], Values], **more: Any) -> Column[Rows]:
    """Return a column that people are not shown."""
    return Column(key, "", get, **{"forms": Form.DATA, **more})


def worded(key: str, title: str, texts: Callable[[Rows], Sequence[str | None]], **more: Any) -> Column[Rows]:
    """Return a column of the program's own words for people, a text a row; None is unknown."""
    return Column(
        key, title, lambda rows: listed(texts(rows)), **{"forms": Form.SHOWN, "trusted": True, **more}
    )


def ids_column(ids_of: Callable[[Rows], Sequence[str]]) -> Column[Rows]:
    """Return the column of the ids of rows."""
    return data("id", lambda rows: _distinct(ids_of(rows)))


def _distinct(texts: Sequence[str]) -> CodedTexts:
    return CodedTexts(np.arange(len(texts)), texts.__getitem__)


def json_only(key: str, get: Callable[[Rows], Values]) -> Column[Rows]:
    """Return a column of objects or lists, which only JSON has."""
    return Column(key, "", get, forms=Form.JSON)
