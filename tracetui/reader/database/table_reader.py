"""Tables read from front to back: their columns, the places of their rows, and how far the reading is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Floats, Int64s
from tracetui.databases.tables import UNKNOWN, Database
from tracetui.reader.database.growing import GrowingColumn
from tracetui.reader.events import BlockColumns

_EVERY = 1 << 16  #: rows between two calls of `on_rows`
_LEAST_ROW = 6  # bytes of a row: its place in the page, its length, its rowid, and a cell
_ROWID_BITS = 48
_SAMPLE = 1 << 12  # rows of a column in which its distinct numbers are looked for first
_NO_ROWID = (1 << _ROWID_BITS) - 1


class ReadingStopped(Exception):  # noqa: N818 - no error: the user has seen enough
    """The reading was stopped."""


@dataclass(frozen=True)
class TableColumns:
    """A table, or what of it could be read; columns of equal length."""

    count: int
    numbers: dict[str, Int64s]  #: UNKNOWN where a cell holds no whole number
    floats: dict[str, Floats]  #: NaN where a cell holds none
    event: Int64s  #: ordinals of the rows among all that are drawn; empty where they are not

    def __getitem__(self, column: str) -> Int64s:
        return self.numbers[column]

    def at(self, places: NDArray[Any]) -> TableColumns:
        """Return the rows at some places, or for which a mask of booleans is true."""
        event = self.event[places] if len(self.event) else self.event
        return TableColumns(
            count=len(event) if len(self.event) else _length(places),
            numbers={name: column[places] for name, column in self.numbers.items()},
            floats={name: column[places] for name, column in self.floats.items()},
            event=event,
        )


@dataclass(frozen=True)
class DatabaseBlock:
    """Rows of a table that follow each other, and so their ordinals."""

    first: int  #: ordinal of the first row
    rowid: int  #: of the first row
    table: int  #: place among the names of tables


class EventPlace(NamedTuple):
    """Where rows begin: their table, by its place among those that are drawn, and the first one's rowid."""

    table: int
    rowid: int

    @property
    def number(self) -> int:
        """Both as one number, which grows from block to block; rowids that do not fit are none."""
        rowid = self.rowid if 0 <= self.rowid < _NO_ROWID else _NO_ROWID
        return self.table << _ROWID_BITS | rowid

    @classmethod
    def from_number(cls, number: int) -> EventPlace:
        """Return the place that a number stands for."""
        return cls(number >> _ROWID_BITS, number & _NO_ROWID)


class TableReader:
    """Reads tables of a database one after the other, and remembers where the rows are that are drawn."""

    def __init__(self, database: Database, names: Sequence[str], on_rows: Callable[[], None]) -> None:
        """Prepare to read the tables `names` whose rows are drawn; `on_rows` is called now and then and may
        raise Stopped.
        """
        self.database = database
        self.rows = 0  #: that were read of all tables
        self.events = 0  #: rows that have an ordinal
        self._names = list(names)
        self._blocks: list[DatabaseBlock] = []
        self._on_rows = on_rows
        self._next = _EVERY

    def columns(
        self, name: str, numbers: Sequence[str], floats: Sequence[str] = (), drawn: bool = False
    ) -> TableColumns:
        """Return columns of a table, empty where it is not there; `drawn`: its rows get ordinals."""
        expected = self.expected(name)
        columns = {column: GrowingColumn(np.int64, expected) for column in numbers}
        columns.update({column: GrowingColumn(np.float64, expected) for column in floats})
        first_event, count = self.events, 0
        for part in self.parts(name, numbers, floats, drawn):
            count += part.count
            for column, values in (*part.numbers.items(), *part.floats.items()):
                columns[column].add(values)
        return TableColumns(
            count,
            {column: columns[column].filled() for column in numbers},
            {column: columns[column].filled() for column in floats},
            np.arange(first_event, self.events),
        )

    def expected(self, name: str) -> int:
        """Return about how many rows a table has, and no more than the file has room for."""
        return min(self.database.count(name), self.database.bytes // _LEAST_ROW)

    def parts(
        self, name: str, numbers: Sequence[str], floats: Sequence[str] = (), drawn: bool = False
    ) -> Iterator[TableColumns]:
        """Yield columns of a table part by part, as `columns` returns them."""
        for rows in self.database.rows(name, [*numbers, *floats], floats=floats):
            event = np.empty(0, np.int64)
            if drawn:
                self._blocks.append(DatabaseBlock(self.events, rows.first, self._names.index(name)))
                event = np.arange(self.events, self.events + rows.count)
                self.events += rows.count
            yield TableColumns(
                rows.count,
                {column: rows.numbers(column) for column in numbers},
                {column: rows.floats(column) for column in floats},
                event,
            )
            self._count(rows.count)

    def texts(self, name: str, key: str, text: str) -> tuple[Int64s, list[str]]:
        """Return the numbers and the texts of a table of names; cells of other types become text."""
        keys: list[Int64s] = []
        texts: list[str] = []
        for rows in self.database.rows(name, [key, text], [text]):
            if key not in rows or text not in rows:
                break
            keys.append(rows.numbers(key))
            texts += [cell or "" for cell in rows.texts(text)]
            self._count(rows.count)
        return _join(keys, np.int64), texts

    def blocks(self) -> BlockColumns:
        """Return where the rows are that have ordinals: the offset of a block is its `EventPlace`."""
        empty = np.empty(0, np.int64)
        places = [EventPlace(block.table, block.rowid).number for block in self._blocks]
        return BlockColumns(
            first=np.array([*(block.first for block in self._blocks), self.events], np.int64),
            offset=np.array(places, np.int64),
            length=np.zeros(len(self._blocks), np.int64),
            spans=np.zeros(len(self._blocks), np.int64),
            span_start=empty,
            span_end=empty,
        )

    def release(self) -> None:
        """Call `on_rows` no more: what it belongs to can then be freed without the collector of cycles."""
        self._on_rows = _do_nothing

    def _count(self, rows: int) -> None:
        self.rows += rows
        if self.rows >= self._next:
            self._next = self.rows + _EVERY
            self._on_rows()


def _do_nothing() -> None:
    """Do nothing."""


def distinct_places(column: NDArray[Any]) -> tuple[NDArray[Any], Int64s]:
    """Return the distinct numbers of a column that has few, sorted, and the place of each row's in them."""
    distinct = np.unique(column[:: len(column) // _SAMPLE + 1])
    place = np.searchsorted(distinct, column)
    is_new = distinct[np.minimum(place, len(distinct) - 1)] != column
    if is_new.any():  # numbers that are rare
        distinct = np.unique(np.append(distinct, column[is_new]))
        place = np.searchsorted(distinct, column)
    return distinct, place


def places_of(keys: Int64s, numbers: Int64s) -> Int64s:
    """Return the first place of each wanted number among `keys`; -1 where it is not there, or unknown."""
    if not len(keys):
        return np.full(len(numbers), -1, np.int64)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    place = np.minimum(np.searchsorted(ordered, numbers), len(keys) - 1)
    return np.where((ordered[place] == numbers) & (numbers != UNKNOWN), order[place], -1)


def take(column: NDArray[Any], places: Int64s, missing: Any) -> NDArray[Any]:
    """Return the values at some places, `missing` where a place is -1."""
    return np.append(column, np.array([missing], column.dtype))[places]


def _join(parts: list[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def _length(places: NDArray[Any]) -> int:
    return int(np.count_nonzero(places)) if places.dtype == np.bool_ else len(places)
