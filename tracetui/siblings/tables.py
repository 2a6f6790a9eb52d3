"""The producer's tables as typed columns, found by the names in their header and read when asked for.

A `Format` says what a table may hold; a column that a table of another version lacks is missing, not an
error. Cells end in tabs, may be `N/A`, or damaged by a spreadsheet: rows without what they must have are left
out, and a sentence says how many.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Floats, Int32s, Int64s
from tracetui.language import state
from tracetui.siblings.beside import Refusal, find_beside, refuse_large, unreadable
from tracetui.siblings.cells import CsvCells, read_cells, thousandths
from tracetui.units import format_count

LEAST_DURATION = 0.0005  #: µs: what is shorter is no ns
LARGEST = 2_000_000_000  #: bytes of a table that is read, about 8 M allocations
_LONGEST_HEADER = 1 << 16
_SHOWN = 20  #: characters of a damaged cell that are quoted


class ValueKind(Enum):
    """What cells of a column hold."""

    TEXT = auto()
    TIME = auto()  #: µs -> int64 ns; what is finer is cut
    DURATION = auto()  #: µs -> int64 ns, rounded
    WHOLE = auto()  #: int64
    NUMBER = auto()  #: float64, NaN where there is none
    KB = auto()  #: -> int64 bytes
    MB = auto()  #: -> int64 bytes


_BYTES = {ValueKind.KB: 1 << 10, ValueKind.MB: 1 << 20}


class TableColumn(NamedTuple):
    """A column that a table may have."""

    key: str  #: what the result calls it
    kind: ValueKind
    titles: tuple[str, ...]  #: how headers spell it, newest first
    needed: bool = False  #: a row without it says nothing
    is_bound: bool = False  #: a length that stands for a time, for which the same holds where it is damaged


@dataclass(frozen=True)
class Format:
    """A table that producers write."""

    name: str  #: of its file
    columns: tuple[TableColumn, ...]  #: of those with one key the first counts that a table has
    has_extra: bool = False  #: columns of other names hold numbers, which are kept too
    raw_name: str | None = None  #: of its file where msprof wrote it, if another


class StringColumn(NamedTuple):
    """A column of texts: each row's place among the different ones, -1 where it has none."""

    place: Int32s  #: in `texts`
    texts: list[str]  #: as written by the producer: never print them unescaped


@dataclass(frozen=True, eq=False)
class SiblingTable:
    """The rows of a table; columns of equal length. Numbers are -1 where unknown."""

    rows: int
    numbers: Mapping[str, Int64s]  #: by key: times and lengths in ns, sizes in bytes
    floats: Mapping[str, Floats]  #: by key, or by title for what the format does not know; NaN where unknown
    texts: Mapping[str, StringColumn]
    problems: tuple[str, ...]  #: sentences about what is not read, free of control characters

    def text(self, key: str, row: int) -> str | None:
        """Return a cell of text, None where it has none; as written: never print it unescaped."""
        place, texts = self.texts[key]
        return None if place[row] < 0 else texts[int(place[row])]


_Values = Union[Int64s, Floats, Int32s]
_FoundColumn = tuple[TableColumn, Optional[int]]  # and its index in the header


def find_table(trace: Path, format_: Format) -> Path | None:
    """Return the file of a table of the run whose trace is at a path; None where the producer left none."""
    found = find_beside(trace, format_.name)
    return found if found or format_.raw_name is None else find_beside(trace, format_.raw_name)


def read_beside(trace: Path, format_: Format) -> SiblingTable | None:
    """Read a table of the run whose trace is at a path; None where the producer left none.

    A table that cannot be read has no rows, and one sentence that says why.
    """
    path = find_table(trace, format_)
    return None if path is None else read_table(path, format_)


def read_table(path: Path, format_: Format) -> SiblingTable:
    """Read the table of a file: never fails."""
    try:
        refuse_large(path, LARGEST)
        return _read(path, format_)
    except Refusal as refusal:
        problem = state("{name} {refusal}", name=format_.name, refusal=refusal)
    except MemoryError:
        problem = state("{name} is not read: there is not enough memory for it", name=format_.name)
    return _Builder(format_, _find_columns((), format_), []).table((problem,))


def _read(path: Path, format_: Format) -> SiblingTable:
    header = _header(path)
    columns = _find_columns(header, format_)
    lacking = [column.titles[0] for column, place in columns if column.needed and place is None]
    if lacking:
        raise Refusal(state("is not read: it has no column {name}", name=lacking[0]))
    repeated = next((title for place, title in enumerate(header) if title in header[:place] and title), "")
    named = {title for column in format_.columns for title in (column.key, *column.titles)}
    extra = [
        (TableColumn(title, ValueKind.NUMBER, (title,)), place)
        for place, title in enumerate(header)
        if title and title not in named and header.index(title) == place
    ]
    builder = _Builder(format_, columns, extra if format_.has_extra else [])
    try:
        for block in read_cells(path, len(header), builder.column_indexes):
            builder.add(block)
    except OSError as error:
        raise unreadable(error) from None
    column = _quoted(repeated)
    problem = state(
        "{name}: column {column} stands there twice, the first is read", name=format_.name, column=column
    )
    return builder.table((problem,) if repeated else ())


def _header(path: Path) -> list[str]:
    """Return the titles; at the start of a file may stand a mark of its encoding."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
            line = stream.readline(_LONGEST_HEADER)
    except OSError as error:
        raise unreadable(error) from None
    if not line.strip():
        raise Refusal(state("is empty"))
    try:
        return [title.strip() for title in next(csv.reader([line]))]
    except csv.Error:
        raise Refusal(state("is damaged: its first line is no header")) from None


def _find_columns(header: Sequence[str], format_: Format) -> list[_FoundColumn]:
    """Return the columns of a format with their indexes in the header, None for what it lacks; one by key."""
    found: dict[str, _FoundColumn] = {}
    for column in format_.columns:
        index = next((header.index(title) for title in column.titles if title in header), None)
        if found.get(column.key, (column, None))[1] is None:
            found[column.key] = column, index
    return [*found.values()]


class _Builder:
    """The columns of a table as its rows come."""

    def __init__(
        self, format_: Format, columns: Sequence[_FoundColumn], extra: Sequence[_FoundColumn]
    ) -> None:
        self._format = format_
        self._columns = columns = [*columns, *extra]
        self._parts: dict[str, list[_Values]] = {column.key: [] for column, _ in columns}
        self._code_by_text: dict[str, dict[str, int]] = {
            column.key: {} for column, _ in columns if column.kind is ValueKind.TEXT
        }
        self._rows = self._left_out = 0
        self._example = ""

    @property
    def column_indexes(self) -> list[int]:
        """The indexes in the header of the columns that are read."""
        return sorted({place for _, place in self._columns if place is not None})

    def add(self, cells: Mapping[int, CsvCells]) -> None:
        """Add rows: the cells of each of these columns, by its index."""
        count = len(next(iter(cells.values())))
        is_row = np.ones(count, np.bool_)
        values: dict[str, _Values] = {}
        for column, place in self._columns:
            if place is not None:
                values[column.key], faulty = self._values(column, cells[place])
                if faulty.any():
                    is_row &= ~faulty
                    if not self._example:
                        damaged = np.flatnonzero(faulty & ~cells[place].missing)
                        self._example = _quoted(cells[place].text(int(damaged[0]))) if len(damaged) else ""
        self._rows += int(np.count_nonzero(is_row))
        self._left_out += count - int(np.count_nonzero(is_row))
        for key, column_values in values.items():
            self._parts[key].append(column_values[is_row])

    def table(self, problems: tuple[str, ...] = ()) -> SiblingTable:
        """Return all rows."""
        numbers, floats, texts = {}, {}, {}
        for column, place in self._columns:
            parts = self._parts.pop(column.key)
            if column.kind is ValueKind.TEXT:
                codes = _join_parts(parts, place, self._rows, np.int32(-1))
                texts[column.key] = StringColumn(codes, list(self._code_by_text[column.key]))
            elif column.kind is ValueKind.NUMBER:
                floats[column.key] = _join_parts(parts, place, self._rows, np.float64("nan"))
            else:
                numbers[column.key] = _join_parts(parts, place, self._rows, np.int64(-1))
        if self._left_out:
            problems = (*problems, self._left_out_sentence())
        return SiblingTable(self._rows, numbers, floats, texts, problems)

    def _left_out_sentence(self) -> str:
        all_rows = self._rows + self._left_out
        template = "{name}: {count} of {rows} rows are left out, what they must hold is missing"
        if self._example:
            template = (
                "{name}: {count} of {rows} rows are left out: cells are missing or damaged, like {example}"
            )
        return state(
            template,
            name=self._format.name,
            count=format_count(self._left_out),
            rows=format_count(all_rows),
            example=self._example,
        )

    def _values(self, column: TableColumn, cells: CsvCells) -> tuple[_Values, Bools]:
        """Return the values of cells, and which of them make their row worthless.

        A damaged time makes it worthless even in a column that is not needed: a block whose release cannot be
        read would count as never released. A length is unknown then; producers write what is left of
        differences of floats for none: -5.5e-17.
        """
        if column.kind is ValueKind.TEXT:
            codes = self._codes(column.key, cells)
            return codes, (codes < 0) & column.needed
        if column.kind is ValueKind.TIME:
            read = thousandths(cells)
            return read.value, (read.missing & column.needed) | read.damaged
        if column.kind is ValueKind.DURATION:
            read = thousandths(cells, rounded=True)
            is_none = read.damaged
            if is_none.any():
                is_none = is_none & (np.abs(cells.trimmed().floats()) < LEAST_DURATION)
            is_worthless = (read.missing & column.needed) | (read.damaged & (column.needed | column.is_bound))
            return np.where(is_none, 0, read.value), is_worthless & ~is_none
        numbers = cells.trimmed().floats()
        if column.kind is ValueKind.NUMBER:
            return numbers, np.isnan(numbers) & column.needed
        numbers = np.rint(numbers * _BYTES.get(column.kind, 1))
        is_valid = (numbers >= 0) & (numbers < 2**62)
        return np.where(is_valid, numbers, -1).astype(np.int64), ~is_valid & column.needed

    def _codes(self, key: str, cells: CsvCells) -> Int32s:
        """Return the codes of texts, their places among the different ones so far; -1 for none."""
        code_by_text = self._code_by_text[key]
        place, texts = cells.distinct()
        codes = [
            -1
            if (text := without_quotes(cell)) in ("", "N/A")
            else code_by_text.setdefault(text, len(code_by_text))
            for cell in texts
        ]
        return np.array(codes or [-1], np.int32)[place]


def _join_parts(parts: list[Any], place: int | None, rows: int, unknown: Any) -> NDArray[Any]:
    if place is None or not parts:
        return np.full(rows, unknown)
    return np.concatenate(parts)


def without_quotes(cell: str) -> str:
    """Return a text without the blanks and quotes around it: shapes are in quotes of their own."""
    return cell.strip().strip('"').strip().replace('""', '"')


def _quoted(cell: str) -> str:
    text = without_quotes(cell)[:_SHOWN]
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
