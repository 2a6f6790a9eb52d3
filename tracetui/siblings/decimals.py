"""Decimal numbers in columns of text, exactly: µs of 16 digits and three decimals fit no float64."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Int64s
from tracetui.siblings.cells import WIDEST, CsvCells

_LATEST = 9_000_000_000_000_000  #: what is above does not fit int64 in thousandths, as µs do until 2255
_NOTHING = (b"", b"N/A", b"NA", b"nan", b"NaN", b"None", b"null", b"-")


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
    missing = np.isin(raw, np.array(_NOTHING, raw.dtype))
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
