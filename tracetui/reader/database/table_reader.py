"""Tables read from front to back: their columns, the places of their rows, and how far the reading is.

Another thread reads tables ahead, from the pages of the file, while those before them are made use of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Callable, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import EMPTY, Floats, Int64s, first_equal
from tracetui.background import PATIENCE
from tracetui.databases.pages import AnyPageRows, Unusual
from tracetui.databases.tables import UNKNOWN, AnyRows, Database
from tracetui.reader.database.growing import GrowingColumn, join
from tracetui.reader.events import BlockColumns

_EVERY = 1 << 16  #: rows between two calls of `on_rows`
_LEAST_ROW = 6  # bytes of a row: its place in the page, its length, its rowid, and a cell
_ROWID_BITS = 48
_SAMPLE = 1 << 12  # rows of a column in which its distinct numbers are looked for first
_NO_ROWID = (1 << _ROWID_BITS) - 1


T = TypeVar("T")


class ReadingStopped(Exception):  # noqa: N818 - no error: the user has seen enough
    """The reading was stopped."""


class TableQuery(NamedTuple):
    """The columns of a table that are wanted; what it lacks of them is unknown."""

    table: str
    numbers: tuple[str, ...]
    floats: tuple[str, ...] = ()
    is_drawn: bool = False  #: its rows get ordinals


@dataclass(frozen=True)
class TableColumns:
    """A table, or what of it could be read; columns of equal length."""

    count: int
    numbers: dict[str, Int64s]  #: UNKNOWN where a cell holds no whole number
    floats: dict[str, Floats]  #: NaN where a cell holds none
    #: Ordinals of the rows among all that are drawn; empty where they are not.
    event: Int64s = field(default_factory=lambda: EMPTY)

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
    """Where a block of rows begins: its table, by place among those drawn, and the rowid of its first row."""

    table: int
    rowid: int

    @property
    def number(self) -> int:
        """Both in one number, which grows from block to block; a rowid that does not fit is `_NO_ROWID`."""
        rowid = self.rowid if 0 <= self.rowid < _NO_ROWID else _NO_ROWID
        return self.table << _ROWID_BITS | rowid

    @classmethod
    def from_number(cls, number: int) -> EventPlace:
        """Return the place that a number stands for."""
        return cls(number >> _ROWID_BITS, number & _NO_ROWID)


Collect = Callable[[Iterator[TableColumns]], T]  #: makes something of the parts of a table


class _Span(NamedTuple):
    """Rows that follow each other in a table."""

    rows: int
    rowid: int  #: of the first


class TableReader:
    """Reads tables of a database one after the other, and remembers where the rows are that are drawn."""

    def __init__(self, database: Database, names: Sequence[str], on_rows: Callable[[], None]) -> None:
        """Prepare to read the tables `names` whose rows are drawn; `on_rows` is called now and then and may
        raise ReadingStopped.
        """
        self.database = database
        self.events = 0  #: rows that have an ordinal
        self._names = list(names)
        self._blocks: list[DatabaseBlock] = []
        self._on_rows = on_rows
        self._rows_read = self._rows_ahead = 0  # by this thread, and by the other
        self._rows_taken = 0  # of those that the other read
        self._next = _EVERY
        self._ahead: dict[TableQuery, Future[tuple[Any, list[_Span]] | None]] = {}
        self._thread = ThreadPoolExecutor(1, "tracetui-tables")
        self._is_released = False

    @property
    def rows(self) -> int:
        """The rows that were read of all tables; one that was read ahead counts half until it is taken."""
        return self._rows_read + (self._rows_ahead + self._rows_taken) // 2

    def begin(self, query: TableQuery, collect: Collect[Any] | None = None) -> None:
        """Read a table in the other thread, after those begun before; `collect` is that of `collected`."""
        collect = collect or self._joining(query)
        try:
            self._ahead[query] = self._thread.submit(self._read_ahead, query, collect)
        except RuntimeError:  # there can be no more threads: it is read when it is asked for
            return

    def columns(self, query: TableQuery) -> TableColumns:
        """Return columns of a table, empty where it is not there."""
        first_event = self.events
        columns = self.collected(query, self._joining(query))
        return replace(columns, event=np.arange(first_event, self.events))

    def collected(self, query: TableQuery, collect: Collect[T]) -> T:
        """Return what is made of the parts of a table."""
        read = self._take(query)
        if read is None:
            spans: list[_Span] = []
            rows = self.database.rows(query.table, [*query.numbers, *query.floats], floats=query.floats)
            read = collect(_parts(query, rows, spans, self._count)), spans
        made: T = read[0]
        if query.is_drawn:
            table = self._names.index(query.table)
            for span in read[1]:
                self._blocks.append(DatabaseBlock(self.events, span.rowid, table))
                self.events += span.rows
        self._on_rows()
        return made

    def _joining(self, query: TableQuery) -> Collect[TableColumns]:
        return partial(_join_parts, query, self.expected(query.table))

    def _take(self, query: TableQuery) -> tuple[Any, list[_Span]] | None:
        """Return what the other thread has read; None where nobody asked it to, or it could not."""
        future = self._ahead.pop(query, None)
        if future is None:
            return None
        while not wait([future], PATIENCE).done:
            self._on_rows()
        read = future.result()
        if read is not None:
            self._rows_taken += sum(span.rows for span in read[1])
        return read

    def _read_ahead(self, query: TableQuery, collect: Collect[T]) -> tuple[T, list[_Span]] | None:
        """Return what is made of a table, and where its rows are; None where that takes SQLite."""
        spans: list[_Span] = []
        try:
            rows = self.database.page_rows(query.table, [*query.numbers, *query.floats], floats=query.floats)
            return collect(_parts(query, rows, spans, self._count_ahead)), spans
        except (Unusual, OSError, MemoryError, ReadingStopped):
            return None

    def _count_ahead(self, rows: int) -> None:
        if self._is_released:
            raise ReadingStopped
        self._rows_ahead += rows

    def expected(self, name: str) -> int:
        """Return about how many rows a table has, and no more than the file has room for."""
        return min(self.database.count(name), self.database.bytes // _LEAST_ROW)

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
        return join(keys, np.int64), texts

    def blocks(self) -> BlockColumns:
        """Return where the rows are that have ordinals: the offset of a block is its `EventPlace`."""
        places = [EventPlace(block.table, block.rowid).number for block in self._blocks]
        return BlockColumns(
            first=np.array([*(block.first for block in self._blocks), self.events], np.int64),
            offset=np.array(places, np.int64),
            length=np.zeros(len(self._blocks), np.int64),
            spans=np.zeros(len(self._blocks), np.int64),
            span_start=EMPTY,
            span_end=EMPTY,
        )

    def release(self) -> None:
        """Read nothing ahead any more, and call `on_rows` no more.

        What it belongs to can then be freed without the collector of cycles.
        """
        self._is_released = True
        self._thread.shutdown(cancel_futures=True)
        self._on_rows = lambda: None

    def _count(self, rows: int) -> None:
        self._rows_read += rows
        if self.rows >= self._next:
            self._next = self.rows + _EVERY
            self._on_rows()


def _parts(
    query: TableQuery,
    rows: Iterator[AnyRows] | Iterator[AnyPageRows],
    spans: list[_Span],
    on_rows: Callable[[int], None],
) -> Iterator[TableColumns]:
    """Yield rows as columns, and note in `spans` where they are; `on_rows` is told how many follow."""
    for part in rows:
        spans.append(_Span(part.count, part.first))
        yield TableColumns(
            part.count,
            {column: part.numbers(column) for column in query.numbers},
            {column: part.floats(column) for column in query.floats},
        )
        on_rows(part.count)


def _join_parts(query: TableQuery, expected: int, parts: Iterator[TableColumns]) -> TableColumns:
    """Return the columns of all parts; `expected` is about how many rows they have."""
    columns = {column: GrowingColumn(np.int64, expected) for column in query.numbers}
    columns.update({column: GrowingColumn(np.float64, expected) for column in query.floats})
    count = 0
    for part in parts:
        count += part.count
        for column, values in (*part.numbers.items(), *part.floats.items()):
            columns[column].add(values)
    return TableColumns(
        count,
        {column: columns[column].filled() for column in query.numbers},
        {column: columns[column].filled() for column in query.floats},
    )


def distinct_places(column: NDArray[Any]) -> tuple[NDArray[Any], Int64s]:
    """Return the distinct numbers of a column that has few, sorted, and the place of each row's in them."""
    if len(column) and (column == column[0]).all():
        return column[:1].copy(), np.zeros(len(column), np.int64)
    distinct = np.unique(column[:: len(column) // _SAMPLE + 1])
    place = np.searchsorted(distinct, column)
    is_new = distinct[np.minimum(place, len(distinct) - 1)] != column
    if is_new.any():  # numbers that are rare
        distinct = np.unique(np.append(distinct, column[is_new]))
        place = np.searchsorted(distinct, column)
    return distinct, place


def groups_of(*columns: Int64s) -> list[tuple[Int64s, tuple[int, ...]]]:
    """Group rows by their values in all columns: the places of each group's rows, and its values."""
    if not len(columns[0]):
        return []
    number, groups = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        distinct, place = distinct_places(column)
        number, groups = number * len(distinct) + place, groups * len(distinct)
        if groups > len(number):  # more than there can be: those that are there are counted
            distinct, number = distinct_places(number)
            groups = len(distinct)
    # numpy sorts numbers of 16 bits by radix
    order = np.argsort(number.astype(np.uint16) if groups <= 1 << 16 else number, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(number))[:-1])
    return [(places, tuple(int(column[places[0]]) for column in columns)) for places in parts if len(places)]


def places_of(keys: Int64s, wanted: Int64s) -> Int64s:
    """Return the first place in `keys` of each number wanted; -1 where it is not there, or UNKNOWN."""
    return np.where(wanted == UNKNOWN, -1, first_equal(keys, wanted))


def take(column: NDArray[Any], places: Int64s, missing: Any) -> NDArray[Any]:
    """Return the values at some places, `missing` where a place is -1."""
    return np.append(column, np.array([missing], column.dtype))[places]


def _length(places: NDArray[Any]) -> int:
    return int(np.count_nonzero(places)) if places.dtype == np.bool_ else len(places)
