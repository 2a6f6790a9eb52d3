"""The cells of a csv file as offsets into its bytes: a million rows are columns of numbers, not objects.

Decimal numbers are read exactly: µs of 16 digits and three decimals fit no float64.

Quotes count as RFC 4180 has them. Where a file uses them otherwise, the rest of it is read by Python's csv.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from tracetui.arrays import Bools, Floats, Int32s, Int64s
from tracetui.siblings.beside import Refusal

WIDEST = 40  #: bytes of a cell that holds a number: a longer one is none
_LONGEST_TEXT = 256  #: bytes of texts that are told apart all at once
_LONGEST_ROW = 1 << 26
_BLOCK = 1 << 23  #: bytes read at a time
_ROWS = 1 << 14  #: read at a time by Python's csv
_COMMA, _NEWLINE, _RETURN, _QUOTE = b',\n\r"'
_PRIME = np.uint64(0x9E3779B97F4A7C15)
#: By byte: whether it stands around a value and does not count.
_AROUND = np.zeros(256, np.bool_)
_AROUND[[*b" \t\r\n\"'"]] = True


_BEGINS_NUMBER = np.zeros(256, np.bool_)
_BEGINS_NUMBER[[*b"0123456789.+-"]] = True
_LATEST = 9_000_000_000_000_000  #: what is above does not fit int64 in thousandths, as µs do until 2255
_NOTHING = (b"", b"N/A", b"NA", b"nan", b"NaN", b"None", b"null", b"-")


class Damaged(Refusal):
    """A table whose rows cannot be told apart."""

    def __init__(self) -> None:
        super().__init__("is damaged: its rows cannot be told apart")


@dataclass(frozen=True, eq=False)
class CsvCells:
    """A column of some rows."""

    data: NDArray[np.uint8]  #: the bytes of the file around it, and _LONGEST_TEXT more
    start: Int64s  #: place of the first byte of each cell
    end: Int64s

    def __len__(self) -> int:
        return len(self.start)

    def text(self, row: int) -> str:
        """Return a cell as text."""
        return self.data[int(self.start[row]) : int(self.end[row])].tobytes().decode("utf-8", "replace")

    def trimmed(self) -> CsvCells:
        """Return the cells without the blanks, tabs and quotes around them."""
        start, end = self.start.copy(), self.end.copy()
        for _ in range(WIDEST):
            at_start = (start < end) & _AROUND[self.data[start]]
            at_end = (start + at_start < end) & _AROUND[self.data[end - 1]]
            if not (at_start.any() or at_end.any()):
                break
            start += at_start
            end -= at_end
        return CsvCells(self.data, start, end)

    @property
    def missing(self) -> Bools:
        """Which cells are empty, or say that there is no value."""
        return _is_nothing(self.trimmed().numbers())

    def letters(self, width: int) -> NDArray[np.uint8]:
        """Return the first bytes of each cell, zeros after its end: uint8[rows, width]."""
        letters: NDArray[np.uint8] = sliding_window_view(self.data, width)[self.start]
        letters[np.arange(width) >= self._lengths[:, np.newaxis]] = 0
        return letters

    def numbers(self) -> NDArray[np.bytes_]:
        """Return the cells as texts of at most WIDEST bytes; a longer one becomes "x", which is no number."""
        lengths = self._lengths
        width = min(max(int(lengths.max(initial=0)), 1), WIDEST)
        letters = self.letters(width)
        letters[lengths > width] = [ord("x")] + [0] * (width - 1)
        return letters.view(f"S{width}").reshape(-1)

    @property
    def _lengths(self) -> Int64s:
        return self.end - self.start

    def floats(self) -> Floats:
        """Return the cells as numbers, NaN for those that are none: float64[rows]."""
        texts, values = self.numbers(), np.full(len(self), np.nan)
        letters = texts.view(np.uint8).reshape(-1, texts.itemsize)
        rows = np.flatnonzero(_BEGINS_NUMBER[letters[:, 0]])
        try:
            values[rows] = texts[rows].astype(np.float64)
        except ValueError:
            values[rows] = [*map(_float, texts[rows].tolist())]
        return np.where(np.isfinite(values), values, np.nan)

    def distinct(self) -> tuple[Int32s, list[str]]:
        """Return the place of each cell among the different texts, and those as written."""
        if not len(self):
            return np.empty(0, np.int32), []
        length = int(self._lengths.max())
        hashed = self._alike(-(-length // 8) * 8) if 0 < length <= _LONGEST_TEXT else None
        if hashed is not None:
            first, place = hashed
            return place.astype(np.int32), [self.text(row) for row in first.tolist()]
        number: dict[bytes, int] = {}
        places = (self.data[a:b].tobytes() for a, b in zip(self.start.tolist(), self.end.tolist()))
        codes = np.fromiter((number.setdefault(cell, len(number)) for cell in places), np.int32, len(self))
        return codes, [cell.decode("utf-8", "replace") for cell in number]

    def _alike(self, width: int) -> tuple[Int64s, Int64s] | None:
        """Return a row of each distinct text, and the place of each cell among them; None if hashes clash."""
        words, lengths = self.letters(width).view(np.uint64), self._lengths
        key = lengths.astype(np.uint64)
        for column in words.T:
            key = (key ^ column) * _PRIME
            key ^= key >> np.uint64(29)
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        model = first[place]
        is_exact = (words == words[model]).all() and (lengths == lengths[model]).all()
        return (first, place) if is_exact else None


def _is_nothing(texts: NDArray[np.bytes_]) -> Bools:
    return np.isin(texts, np.array(_NOTHING, texts.dtype))


def _float(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def read_cells(path: Path, columns: int, places: Sequence[int]) -> Iterator[dict[int, CsvCells]]:
    """Yield the cells of the wanted columns of a csv file of so many, after its first line, some rows at a
    time. A row that is too long is cut, one that is too short ends in empty cells; empty lines do not count.

    Raises Damaged, or OSError.
    """
    with path.open("rb") as stream:
        stream.readline()
        rest = b""
        while True:
            part = stream.read(_BLOCK)
            text = b"".join((rest, part, b"" if part else b"\n"))
            data = np.frombuffer(text + bytes(_LONGEST_TEXT), np.uint8)
            separators, ends_line = _separators(data)
            (lines,) = np.nonzero(ends_line)
            end = int(separators[lines[-1]]) + 1 if len(lines) else 0
            if len(lines):
                line_span = slice(int(lines[-1]) + 1)
                if _misquoted(data[:end]):
                    yield from _by_csv(io.BytesIO(text), stream, columns, places)
                    return
                yield _block(data, separators[line_span], ends_line[line_span], columns, places)
            rest = text[end:]
            if (rest and not part) or len(rest) > _LONGEST_ROW:
                raise Damaged
            if not part:
                return


def _separators(data: NDArray[np.uint8]) -> tuple[Int64s, Bools]:
    """Return the offsets of commas and line breaks outside of quotes, and which of them are line breaks."""
    ends = (data == _COMMA) | (data == _NEWLINE)
    quotes = data == _QUOTE
    if quotes.any():
        ends &= (np.cumsum(quotes, dtype=np.uint8) & 1) == 0
    separators = np.flatnonzero(ends)
    return separators, data[separators] == _NEWLINE


def _misquoted(data: NDArray[np.uint8]) -> bool:
    """Return whether a quote opens within a cell, or closes before its end."""
    (quotes,) = np.nonzero(data == _QUOTE)
    if not len(quotes):
        return False
    padded = np.concatenate(([_NEWLINE], data, [_NEWLINE])).astype(np.uint8)
    left, right = padded[quotes[0::2]], padded[quotes[1::2] + 2]
    opens = np.isin(left, [_COMMA, _NEWLINE, _QUOTE]).all()
    return not (opens and np.isin(right, [_COMMA, _NEWLINE, _QUOTE, _RETURN]).all())


def _block(
    data: NDArray[np.uint8], separators: Int64s, ends_line: Bools, columns: int, places: Sequence[int]
) -> dict[int, CsvCells]:
    """Return the cells of whole lines, by the place of their column."""
    begins = np.concatenate(([0], separators[:-1] + 1))
    lines = int(np.count_nonzero(ends_line))
    if len(separators) == lines * columns and ends_line[columns - 1 :: columns].all():
        start, end = begins.reshape(lines, columns), separators.reshape(lines, columns)
        return {place: CsvCells(data, start[:, place], end[:, place]) for place in places}
    (last,) = np.nonzero(ends_line)
    first = np.concatenate(([0], last[:-1] + 1))
    length = separators[last] - begins[last]
    blank = (first == last) & ((length == 0) | ((length == 1) & (data[begins[last]] == _RETURN)))
    first, last = first[~blank], last[~blank]
    cells = {}
    for place in places:
        exists = first + place <= last
        positions = np.where(exists, first + place, 0)
        cells[place] = CsvCells(
            data, np.where(exists, begins[positions], 0), np.where(exists, separators[positions], 0)
        )
    return cells


def _by_csv(
    buffered: io.BytesIO, stream: io.BufferedReader, columns: int, places: Sequence[int]
) -> Iterator[dict[int, CsvCells]]:
    """Yield the cells of the rest of a file, as Python's csv reads them."""

    def lines() -> Iterator[str]:
        tail = b""
        for line in buffered:
            tail = line
            if line.endswith(b"\n"):
                yield line.decode("utf-8", "replace")
        if not tail.endswith(b"\n"):
            yield (tail + stream.readline()).decode("utf-8", "replace")
        for line in stream:
            yield line.decode("utf-8", "replace")

    rows = (row for row in csv.reader(lines()) if row)
    try:
        while batch := list(islice(rows, _ROWS)):
            full = [row[:columns] + [""] * (columns - len(row)) for row in batch]
            yield {place: csv_cells([row[place] for row in full]) for place in places}
    except csv.Error:
        raise Damaged from None


def csv_cells(texts: Sequence[str]) -> CsvCells:
    """Return texts as the cells of a column."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    ends = np.cumsum([0, *map(len, encoded)])
    data = np.frombuffer(b"".join([*encoded, bytes(_LONGEST_TEXT)]), np.uint8)
    return CsvCells(data, ends[:-1], ends[1:])


class Thousandths(NamedTuple):
    """What cells hold, of equal length."""

    value: Int64s  #: in thousandths, as ns of µs; -1 where missing or damaged
    missing: Bools  #: nothing stands there: empty, or N/A
    damaged: Bools  #: something stands there that is no such number: 1.69512E+15, -3, abc


def thousandths(cells: CsvCells, rounded: bool = False) -> Thousandths:
    """Read cells such as "1736412474720984.920\\t" as whole thousandths: of µs, ns.

    What stands behind the third decimal is cut, or with `rounded` rounded half up. Blanks, tabs and quotes
    around a number do not count.
    """
    raw = cells.trimmed().numbers()
    letters = raw.view(np.uint8).reshape(len(raw), raw.itemsize)
    lengths = np.char.str_len(raw)
    dots = letters == ord(".")
    point = np.where(dots.any(axis=1), dots.argmax(axis=1), lengths)
    value = np.full(len(raw), -1, np.int64)
    # Numbers of one form at a time: 1 M cells take 0.3 s, digit by digit 1.7 s.
    form = lengths * (WIDEST + 1) + point
    for code in np.unique(form).tolist():
        (rows,) = np.nonzero(form == code)
        length, place = divmod(code, WIDEST + 1)
        value[rows] = _thousandths_of_form(letters[rows], length, place, rounded)
    missing = _is_nothing(raw)
    return Thousandths(value, missing, (value < 0) & ~missing)


def _thousandths_of_form(letters: NDArray[np.uint8], length: int, point: int, rounded: bool) -> Int64s:
    """Return the thousandths of texts of one length with one place of the point, -1 for what is no number."""
    digits = [letters[:, place] - np.uint8(ord("0")) for place in range(length) if place != point]
    if not digits or length == WIDEST:
        return np.full(len(letters), -1, np.int64)
    good = np.ones(len(letters), np.bool_)
    for digit in digits:
        good &= digit < 10
    leading = max(point - 16, 0)
    for digit in digits[:leading]:
        good &= digit == 0
    whole = _number(digits[leading:point], len(letters))
    good &= whole <= _LATEST
    fraction = digits[point : point + 3]
    value = np.where(good, whole, 0) * 1000 + _number(fraction, len(letters)) * 10 ** (3 - len(fraction))
    if rounded and len(digits) > point + 3:
        value += digits[point + 3] >= 5
    return np.where(good, value, -1)


def _number(digits: list[NDArray[np.uint8]], count: int) -> Int64s:
    number = np.zeros(count, np.int64)
    for digit in digits:
        number *= 10
        number += digit
    return number
