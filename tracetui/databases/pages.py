"""Tables of a database straight from their pages, many rows at once: a fifth of the time that SQLite takes.

SQLite hands over a row after the other, each cell as an object of Python. Here the leaves of a table's tree
are read as bytes, and numbers are taken out of all rows of some hundred leaves together: in C where that is
compiled (`reader/native/leaves.h`), else by numpy, which also reads texts and what C refuses. The format is
in https://www.sqlite.org/fileformat2.html. Whatever is not plain (rows that go on in other pages, other
encodings, anything that does not fit) is refused as a whole, and SQLite reads it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Floats, Int64s
from tracetui.compiled import COMPILED, native

UNKNOWN = -(1 << 63)  #: the number of a cell that is empty, or holds no number
_LEAF, _INTERIOR = 13, 5  # kinds of pages of a table
_HEADER = 100  # bytes before the first page's own
_TOGETHER = 1 << 21  # bytes of pages whose rows are read together
_DEEPEST = 20
_LEAST_CELL = 4  # bytes of a row in its page
_SAMPLE = 16  # leaves whose rows are counted to know about how many a table has
_THREADS, _AHEAD = 2, 2  # that read pages, and parts that they may be ahead
_NULL, _FLOAT, _ZERO, _ONE, _TEXT = 0, 7, 8, 9, 13
#: Bytes of a cell by its serial type, below those of texts and blobs; of types that are reserved more than
#: a page has.
_SIZES = np.array([0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 1 << 20, 1 << 20], np.int64)
_MOST_DIGITS = 19  #: of a number of 64 bits
LONG_TEXT = 40  #: characters of a text that is taken for no number, whatever it says
_ASCII_ZEROS = 0x3030303030303030
_INTEGERS, _FLOATS, _ROWIDS = 0, 1, 2  # of `leaves.h`
_MOST_WANTED = 64  # of `read_leaves.h`


class Unusual(Exception):  # noqa: N818 - no error: SQLite reads it
    """Something is not as it usually is."""


@dataclass(frozen=True)
class Field:
    """A column of a table as its rows have it."""

    place: int  #: among the columns of the table
    is_rowid: bool  #: another name of the rowid: rows hold nothing for it
    is_number: bool = False  #: whole numbers are all that is wanted of it
    is_text: bool = False  #: texts are wanted of it


class LeafRows:
    """Consecutive rows of a table whose numbers are read in C; as `tables.DatabaseRows`, without texts."""

    def __init__(
        self, count: int, first: int, last: int, numbers: dict[str, Int64s], floats: dict[str, Floats]
    ) -> None:
        self.count = count
        self.first = first  #: rowid of the first
        self.last = last
        self._numbers = numbers
        self._floats = floats

    def __contains__(self, column: str) -> bool:
        return column in self._numbers

    def numbers(self, column: str) -> Int64s:
        """Return whole numbers; UNKNOWN where there is none. Text of digits is one."""
        return self._numbers[column] if column in self._numbers else np.full(self.count, UNKNOWN, np.int64)

    def floats(self, column: str) -> Floats:
        """Return numbers; NaN where there is none. Raises KeyError where only whole ones were wanted."""
        return self._floats[column] if column in self._numbers else np.full(self.count, np.nan)

    def texts(self, column: str) -> list[str | None]:
        """Raise KeyError: no texts were wanted."""
        raise KeyError(column)


class PageRows:
    """Consecutive rows of a table; the same as `tables.DatabaseRows`."""

    def __init__(self, buffer: NDArray[np.uint8], rowid: Int64s, cells: dict[str, _Cells]) -> None:
        self.count = len(rowid)
        self.first = int(rowid[0])  #: rowid of the first
        self.last = int(rowid[-1])
        self._buffer = buffer
        self._cells = cells
        self._numbers: dict[str, Int64s] = {}

    def work_out(self, columns: Sequence[str]) -> None:
        """Work out the whole numbers of columns before they are asked for."""
        self._numbers = {column: self.numbers(column) for column in columns}

    def __contains__(self, column: str) -> bool:
        return column in self._cells

    def numbers(self, column: str) -> Int64s:
        """Return whole numbers; UNKNOWN where there is none. Text of digits is one."""
        if column in self._numbers:
            return self._numbers[column]
        if column not in self._cells:
            return np.full(self.count, UNKNOWN, np.int64)
        return self._cells[column].numbers(self._buffer)

    def floats(self, column: str) -> Floats:
        """Return numbers; NaN where there is none."""
        if column not in self._cells:
            return np.full(self.count, np.nan)
        return self._cells[column].floats(self._buffer)

    def texts(self, column: str) -> list[str | None]:
        """Return texts, those of blobs and numbers too; None where there is none."""
        return self._cells[column].texts(self._buffer)


@dataclass(frozen=True)
class _Cells:
    """The cells of a column in some rows: their serial types, and where their values are."""

    kind: Int64s
    start: Int64s
    size: Int64s
    rowid: Int64s | None  #: of a column that is another name of it

    def numbers(self, buffer: NDArray[np.uint8]) -> Int64s:
        if self.rowid is not None:
            return self.rowid
        integers = self._integers(buffer)
        rest = np.flatnonzero((self.kind == _FLOAT) | (self.kind >= _TEXT - 1))
        if len(rest):
            integers[rest] = UNKNOWN
            self._add_whole_floats(integers, buffer)
            self._add_digits(integers, buffer)
        integers[self.kind == _NULL] = UNKNOWN
        return integers

    def floats(self, buffer: NDArray[np.uint8]) -> Floats:
        if self.rowid is not None:
            return self.rowid.astype(np.float64)
        values = self._integers(buffer).astype(np.float64)
        values[(self.kind == _NULL) | (self.kind >= _TEXT - 1)] = np.nan
        (floats,) = np.nonzero(self.kind == _FLOAT)
        values[floats] = _words(buffer, ">f8")[self.start[floats]]
        return values

    def texts(self, buffer: NDArray[np.uint8]) -> list[str | None]:
        if self.rowid is not None:
            return [str(rowid) for rowid in self.rowid.tolist()]
        content = buffer.tobytes()
        spans = zip(self.start.tolist(), (self.start + self.size).tolist())
        texts: list[str | None] = [content[start:end].decode("utf-8", "replace") for start, end in spans]
        (numeric,) = np.nonzero(self.kind < _TEXT - 1)
        if len(numeric):
            numbers, floats = self.numbers(buffer).tolist(), self.floats(buffer).tolist()
            for row in numeric.tolist():
                number = floats[row] if self.kind[row] == _FLOAT else numbers[row]
                texts[row] = None if number == UNKNOWN else str(number)
        return texts

    def _integers(self, buffer: NDArray[np.uint8]) -> Int64s:
        """Return the cells as if all were integers: those that are none have any number."""
        lowest, highest = int(self.kind.min()), int(self.kind.max())
        if lowest == highest and highest in (_NULL, _ZERO, _ONE):
            return np.full(len(self.kind), int(highest == _ONE), np.int64)
        integers: Int64s = _words(buffer, ">i8")[self.start].astype(np.int64)
        if lowest == highest:
            integers >>= max(64 - 8 * int(self.size[0]), 0)
            return integers
        integers >>= np.clip(64 - 8 * self.size, 0, 63)
        if highest >= _ZERO:
            integers[self.kind == _ZERO] = 0
            integers[self.kind == _ONE] = 1
        return integers

    def _add_whole_floats(self, integers: Int64s, buffer: NDArray[np.uint8]) -> None:
        (floats,) = np.nonzero(self.kind == _FLOAT)
        values = _words(buffer, ">f8")[self.start[floats]].astype(np.float64)
        whole = (values >= -(2.0**63)) & (values < 2.0**63) & (values == np.floor(values))
        integers[floats[whole]] = values[whole].astype(np.int64)

    def _add_digits(self, integers: Int64s, buffer: NDArray[np.uint8]) -> None:
        is_text = (self.kind >= _TEXT) & (self.kind % 2 == 1) & (self.size > 0)
        for size in np.unique(self.size[is_text]).tolist():
            rows = np.flatnonzero(is_text & (self.size == size))
            if size <= _MOST_DIGITS:
                number, is_digits = _digits(buffer, self.start[rows], size)
                integers[rows[is_digits]] = number[is_digits]
                rows = rows[~is_digits]
            for row in rows.tolist() if size < 4 * LONG_TEXT else ():
                start = int(self.start[row])
                integers[row] = _parse_whole(buffer[start : start + size].tobytes())


AnyPageRows = Union[LeafRows, PageRows]


class _Wanted(NamedTuple):
    """The cells that are read in C, by their place in a row."""

    names: list[str]
    kinds: list[int]  #: as `leaves.h` has them
    pairs: bytes  #: place and kind of each, int32

    @classmethod
    def of_fields(cls, fields: dict[str, Field], columns: int) -> _Wanted | None:
        """Return what to read of the fields of a table with so many columns; None: that is not for C."""
        if not (COMPILED and fields) or any(field.is_text for field in fields.values()):
            return None
        cells = [
            (field.place, kind, name)
            for name, field in fields.items()
            for kind in (_ROWIDS if field.is_rowid else _INTEGERS, *(() if field.is_number else (_FLOATS,)))
        ]
        if len(cells) > _MOST_WANTED or any(
            field.is_rowid and not field.is_number for field in fields.values()
        ):
            return None
        cells.sort()
        pairs = np.array([cell[:2] for cell in cells], np.int32)
        return cls([name for *_, name in cells], pairs[:, 1].tolist(), pairs.tobytes())

    def rows(self, count: int, first: int, last: int, columns: list[bytearray]) -> LeafRows | None:
        """Return the rows that C has read."""
        numbers: dict[str, Int64s] = {}
        floats: dict[str, Floats] = {}
        for name, kind, values in zip(self.names, self.kinds, columns):
            if kind == _FLOATS:
                floats[name] = np.frombuffer(values, np.float64)
            else:
                numbers[name] = np.frombuffer(values, np.int64)
        return LeafRows(count, first, last, numbers, floats) if count else None


class PageReader:
    """The pages of a file; a context manager."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open it; raises Unusual, or OSError."""
        self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            header = os.pread(self._fd, _HEADER, 0)
            size = int.from_bytes(header[16:18], "big")
            self._page = 65536 if size == 1 else size
            self._usable = self._page - header[20]
            self._leaves_by_root: dict[int, Int64s] = {}
            self._pages = os.fstat(self._fd).st_size // self._page
            if self._page < 512 or self._usable < 480 or int.from_bytes(header[56:60], "big") != 1:
                raise Unusual  # the last: another encoding of texts
        except BaseException:
            os.close(self._fd)
            raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def rows(self, root: int, fields: dict[str, Field], columns: int) -> Iterator[AnyPageRows]:
        """Yield the rows of the table whose tree begins at a page, in the order of their rowids.

        Raises Unusual before the first row that it does not know how to read.

        Args:
            root: number of the page.
            fields: what is wanted, by its name.
            columns: how many the table has.
        """
        together = max(_TOGETHER // self._page, 1)
        leaves = self._leaves(root)
        parts = [leaves[place : place + together] for place in range(0, len(leaves), together)]
        wanted = _Wanted.of_fields(fields, columns)
        if len(parts) < 2:
            yield from filter(None, (self._read_rows(part, fields, columns, wanted) for part in parts))
            return
        # C and numpy let other threads run for most of the time.
        pool = ThreadPoolExecutor(_THREADS, "tracetui-pages")
        try:
            ahead: deque[Future[AnyPageRows | None]] = deque()
            for part in parts:
                ahead.append(pool.submit(self._read_rows, part, fields, columns, wanted))
                if len(ahead) > _AHEAD:
                    yield from filter(None, (ahead.popleft().result(),))
            while ahead:
                yield from filter(None, (ahead.popleft().result(),))
        finally:
            pool.shutdown(cancel_futures=True)

    def about_rows(self, root: int) -> int:
        """Return about how many rows a table has, by some of its leaves. Raises Unusual, or OSError."""
        leaves = self._leaves(root)
        sample = leaves[:: max(len(leaves) // _SAMPLE, 1)].tolist()
        cells = 0
        for number in sample:
            first = 3 + (_HEADER if number == 1 else 0)
            cells += int.from_bytes(self._read(number)[first : first + 2], "big")
        return -(-cells * len(leaves) // max(len(sample), 1))

    def _read_rows(
        self, leaves: Int64s, fields: dict[str, Field], columns: int, wanted: _Wanted | None
    ) -> AnyPageRows | None:
        """Return the rows of leaves, with their numbers, which whoever asked for them would only work out."""
        if wanted is not None and int(leaves.max()) <= self._pages:
            cells = native.read_leaves(self._fd, self._page, self._usable, leaves.tobytes(), wanted.pairs)
            if cells is not None:
                return wanted.rows(*cells)
        rows = self._rows(leaves, fields, columns)
        if rows is not None:
            rows.work_out([name for name, field in fields.items() if field.is_number])
        return rows

    def _leaves(self, root: int) -> Int64s:
        """Return the numbers of the leaves of a tree, from left to right."""
        if root not in self._leaves_by_root:
            self._leaves_by_root[root] = self._find_leaves(root)
        return self._leaves_by_root[root]

    def _find_leaves(self, root: int) -> Int64s:
        level = np.array([root], np.int64)
        visited = 0
        for _ in range(_DEEPEST):
            kinds = {self._kind(number) for number in level[[0, -1]].tolist()}
            if kinds == {_LEAF}:
                return level
            if kinds != {_INTERIOR}:
                raise Unusual
            visited += len(level)
            level = np.concatenate([self._children(number) for number in level.tolist()])
            if visited + len(level) > self._pages:
                raise Unusual
        raise Unusual

    def _kind(self, number: int) -> int:
        page = self._read(number)
        return page[_HEADER if number == 1 else 0]

    def _children(self, number: int) -> Int64s:
        page = self._read(number)
        first = _HEADER if number == 1 else 0
        if page[first] != _INTERIOR:
            raise Unusual
        count = int.from_bytes(page[first + 3 : first + 5], "big")
        pointers = (
            np.frombuffer(page, ">u2", count, first + 12) if first + 12 + 2 * count <= len(page) else None
        )
        if pointers is None or (count and int(pointers.max()) > self._usable - 5):
            raise Unusual
        places = np.append(pointers.astype(np.int64), first + 8)  # of each child, and of the last one
        numbers = np.frombuffer(page + bytes(8), np.uint8)
        children: Int64s = _words(numbers, ">u4")[places].astype(np.int64)
        return children

    def _read(self, number: int) -> bytes:
        if not 1 <= number <= self._pages:
            raise Unusual
        page = os.pread(self._fd, self._page, (number - 1) * self._page)
        if len(page) != self._page:
            raise Unusual
        return page

    def _read_together(self, leaves: Int64s) -> NDArray[np.uint8]:
        """Return the bytes of leaves one after the other, and some more; those in a row are read at once."""
        size = self._page
        if int(leaves.min()) < 1 or int(leaves.max()) > self._pages:
            raise Unusual
        room = bytearray(len(leaves) * size + 16)
        content = memoryview(room)
        opens = np.flatnonzero(np.append(True, np.diff(leaves) != 1)).tolist()
        for first, stop in zip(opens, [*opens[1:], len(leaves)]):
            target = content[first * size : stop * size]
            if os.preadv(self._fd, [target], (int(leaves[first]) - 1) * size) != len(target):
                raise Unusual
        return np.frombuffer(room, np.uint8)

    def _rows(self, leaves: Int64s, fields: dict[str, Field], columns: int) -> PageRows | None:
        buffer = self._read_together(leaves)
        base = np.arange(len(leaves), dtype=np.int64) * self._page
        header = base + np.where(leaves == 1, _HEADER, 0)
        if (buffer[header] != _LEAF).any():
            raise Unusual
        count = buffer[header + 3].astype(np.int64) << 8 | buffer[header + 4]
        content = header + 8 + 2 * count  # behind the pointers to cells
        if (content > base + self._usable).any():
            raise Unusual
        total = int(count.sum())
        if not total:
            return None
        page = np.repeat(np.arange(len(leaves)), count)
        place = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
        pointer = header[page] + 8 + 2 * place
        cell = base[page] + (buffer[pointer].astype(np.int64) << 8 | buffer[pointer + 1])
        end = base[page] + self._usable
        if (cell < content[page]).any() or (cell > end - _LEAST_CELL).any():
            raise Unusual
        payload, header_start = _varints(buffer, cell)
        if int(payload.max()) > self._usable - 35:  # rows that go on in other pages
            raise Unusual
        rowid, header_start = _rowids(buffer, header_start, count, page, place)
        record_end = header_start + payload
        if (record_end > end).any():
            raise Unusual
        return PageRows(buffer, rowid, self._cells(buffer, header_start, record_end, rowid, fields, columns))

    def _cells(
        self,
        buffer: NDArray[np.uint8],
        record: Int64s,
        end: Int64s,
        rowid: Int64s,
        fields: dict[str, Field],
        columns: int,
    ) -> dict[str, _Cells]:
        """Return the wanted cells of records that begin and end somewhere."""
        size, header = _varints(buffer, record)
        body = record + size
        if (body > end).any() or int(size.min()) < 1:
            raise Unusual
        start = body
        is_short = bool((size == columns + 1).all())  # of all columns a byte each
        names_of_column: dict[int, list[str]] = {}
        for name, field in fields.items():
            names_of_column.setdefault(field.place, []).append(name)
        cells: dict[str, _Cells] = {}
        for column in range(min(max(names_of_column, default=-1) + 1, columns)):
            if is_short:
                kind = buffer[record + (1 + column)].astype(np.int64)
                if int(kind.max()) > 0x7F:
                    raise Unusual
            else:
                has = header < body
                kind, following = _varints(buffer, header)
                if not has.all():  # columns that were added later: rows of before hold nothing for them
                    kind, following = np.where(has, kind, _NULL), np.where(has, following, header)
                header = following
            cell_size = _sizes(kind)
            for name in names_of_column.get(column, ()):
                alias = rowid if fields[name].is_rowid else None
                cells[name] = _Cells(kind, start, cell_size, alias)
            start = start + cell_size
            if (start > end).any():
                raise Unusual
        if not is_short and ((header >= body) & (start != end)).any():
            raise Unusual
        return cells


def _sizes(kind: Int64s) -> Int64s:
    """Return the bytes of cells by their serial types."""
    highest = int(kind.max())
    if highest < len(_SIZES):
        if highest == int(kind.min()):
            return np.full(len(kind), _SIZES[highest])
        return _SIZES[kind]
    return np.where(kind >= len(_SIZES), (kind - len(_SIZES)) // 2, _SIZES[np.minimum(kind, len(_SIZES) - 1)])


def _rowids(
    buffer: NDArray[np.uint8], position: Int64s, count: Int64s, page: Int64s, place: Int64s
) -> tuple[Int64s, Int64s]:
    """Return the rowids that begin at places, and where they end.

    Those of a leaf ascend. Where the last is so much more than the first as there are rows, none is missing,
    and the ones between need no reading.
    """
    ends = np.cumsum(count)
    filled = np.flatnonzero(count)
    first, after_first = _varints(buffer, position[(ends - count)[filled]])
    last, after_last = _varints(buffer, position[ends[filled] - 1])
    length = after_first - position[(ends - count)[filled]]
    if (last - first != count[filled] - 1).any() or (after_last - position[ends[filled] - 1] != length).any():
        return _varints(buffer, position)
    of_page = np.zeros((2, len(count)), np.int64)
    of_page[:, filled] = first, length
    return of_page[0][page] + place, position + of_page[1][page]


def _varints(buffer: NDArray[np.uint8], position: Int64s) -> tuple[Int64s, Int64s]:
    """Return the numbers of variable length that begin at places, and where they end."""
    first = buffer[position]
    value = first.astype(np.int64)
    position_after = position + 1
    if not len(first) or int(first.max()) < 0x80:
        return value, position_after
    (unfinished,) = np.nonzero(first & 0x80)
    value[unfinished] &= 0x7F
    for turn in range(1, 9):
        byte = buffer[position_after[unfinished]].astype(np.int64)
        position_after[unfinished] += 1
        if turn == 8:
            value[unfinished] = value[unfinished] << 8 | byte
            break
        value[unfinished] = value[unfinished] << 7 | (byte & 0x7F)
        unfinished = unfinished[byte >= 0x80]
        if not len(unfinished):
            break
    return value, position_after


def _words(buffer: NDArray[np.uint8], dtype: str) -> NDArray[Any]:
    """Return the bytes from each place on as a number, eight at most."""
    words: NDArray[Any] = np.ndarray((len(buffer) - 7,), dtype, buffer.data, strides=(1,))
    return words


def _digits(buffer: NDArray[np.uint8], start: Int64s, size: int) -> tuple[Int64s, NDArray[np.bool_]]:
    """Return the numbers that `size` digits from each place on say, and which of them are such digits."""
    words = _words(buffer, "<u8")
    number = np.zeros(len(start), np.int64)
    is_valid = np.ones(len(start), np.bool_)
    lead = size % 8
    if lead:
        # The digits move to where the last ones of eight stand; zeros come before them.
        gap = np.uint64(8 * (8 - lead))
        zeros = np.uint64(_ASCII_ZEROS >> 8 * lead)
        number, is_valid = _eight_digits(words[start].astype(np.uint64) << gap | zeros)
    for place in range(lead, size, 8):
        eight, valid_part = _eight_digits(words[start + place].astype(np.uint64))
        if size == _MOST_DIGITS and place == lead:
            valid_part = valid_part & (number < 922)
        number = number * 10**8 + eight
        is_valid = is_valid & valid_part
    return number, is_valid


def _eight_digits(text: NDArray[np.uint64]) -> tuple[Int64s, NDArray[np.bool_]]:
    """Return what eight characters each say, the first in the lowest byte, and which are all digits."""
    digit = text ^ np.uint64(_ASCII_ZEROS)
    is_valid = ((digit + np.uint64(0x7676767676767676)) | digit) & np.uint64(0x8080808080808080) == 0
    value = digit * np.uint64(2561) >> np.uint64(8)
    value = (value & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601) >> np.uint64(16)
    value = (value & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001) >> np.uint64(32)
    return value.astype(np.int64), is_valid


def _parse_whole(text: bytes) -> int:
    characters = text.decode("utf-8", "replace")
    try:
        number = int(characters) if len(characters) < LONG_TEXT else UNKNOWN
    except ValueError:
        return UNKNOWN
    return number if -(1 << 63) <= number < 1 << 63 else UNKNOWN
