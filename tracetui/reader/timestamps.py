"""Microseconds as text or number to integer nanoseconds, exactly.

A float64 has a grid of a quarter of a microsecond at today's date: a timestamp is never made a float.
"""

from __future__ import annotations

import re
from array import array
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import EMPTY, Floats, Int64s

LIMIT = 1 << 62  #: ns; beyond (146 years) sums of times would overflow
UNREADABLE = -(1 << 63)  #: stands for a time that can't be read

_LITERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_LONGEST = 1000  # characters of a number: hostile ones have millions
_PRECISE = Context(prec=_LONGEST + 1100)


def times(values: list[Any]) -> Int64s:
    """Return n timestamps in microseconds (text or int; float where nothing better is known) as int64 ns.

    The fraction is cut to nanoseconds. UNREADABLE where it isn't a time or is out of range.
    """
    try:
        return text_times(values)
    except TypeError:
        pass  # not all are text
    try:
        whole = np.frombuffer(array("q", values), np.int64)
    except (TypeError, OverflowError):
        return text_times([value if type(value) is str else str(value) for value in values])
    far = (whole > LIMIT // 1000) | (whole < -(LIMIT // 1000))
    return np.where(far, UNREADABLE, np.where(far, 0, whole) * 1000)


def text_times(values: list[str]) -> Int64s:
    """Return `times` of texts only; raises TypeError where one isn't text."""
    if not values:
        return EMPTY
    result = _fixed_width("\n".join(values) + "\n", len(values))
    return _by_length(values) if result is None else result


def time(value: Any) -> int:
    """Return one timestamp in microseconds as ns, the fraction cut; UNREADABLE where it isn't one."""
    return _parse_exact(value, ROUND_DOWN)


def durations(values: list[Any]) -> Int64s:
    """Return n durations in microseconds (float, int or text) as int64 ns, rounded half to even.

    UNREADABLE where one is negative, isn't a number or is out of range.
    """
    try:
        floats = np.frombuffer(array("d", _floats(values)), np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([parse_duration(value) for value in values], np.int64)
    if not values:
        return EMPTY
    with np.errstate(all="ignore"):
        product = floats * 1000.0
        result = np.rint(product)
    if product.min() >= 0 and product.max() < 1e12 and (np.abs(product - result) < 0.4995).all():
        return result.astype(np.int64)  # 17 minutes at most each, none close to a half: nearly always
    # Where the product is so near to a half that its own error could decide, and where floats are
    # coarser than that, decimals decide.
    with np.errstate(all="ignore"):
        close = np.abs(np.abs(product - result) - 0.5) < 1e-4 + np.abs(product) * 4e-16
        wrong = ~(np.abs(product) < LIMIT)
    wrong |= result < 0
    result[wrong | close] = 0
    rounded = np.where(wrong, UNREADABLE, result.astype(np.int64))
    for index in np.flatnonzero(close & ~wrong):
        rounded[index] = parse_duration(values[index])
    return rounded


def _floats(values: list[Any]) -> list[Any]:
    """Return durations as floats if all are text; the nearest float is good enough to see a half."""
    if type(values[0]) is not str if values else True:
        return values
    if "_" in "".join(values):
        raise ValueError  # float() takes 1_000, JSON's producers don't mean it
    return [float(value) for value in values]


def parse_duration(value: Any) -> int:
    """Return one duration in microseconds as ns, rounded half to even; UNREADABLE where it isn't one."""
    nanoseconds = _parse_exact(value, ROUND_HALF_EVEN)
    return nanoseconds if nanoseconds >= 0 else UNREADABLE


def _parse_exact(value: Any, rounding: str) -> int:
    if isinstance(value, int):
        return _within_limit(int(value) * 1000)
    if isinstance(value, float):
        value = repr(value)
    if not isinstance(value, str):
        return UNREADABLE
    value = value.strip(" \t\r\n")
    if len(value) > _LONGEST or not _LITERAL.fullmatch(value):
        return UNREADABLE
    try:
        number = Decimal(value)
        # An exponent may stand for a billion digits: refuse by size before making an int of it.
        if number.adjusted() > 18:
            return UNREADABLE if number else 0
        nanoseconds = int(number.scaleb(3, _PRECISE).to_integral_value(rounding, _PRECISE))
    except (InvalidOperation, ValueError, OverflowError):
        return UNREADABLE
    return _within_limit(nanoseconds)


def _within_limit(nanoseconds: int) -> int:
    return nanoseconds if abs(nanoseconds) < LIMIT else UNREADABLE


def _by_length(values: list[str]) -> Int64s:
    """Convert as `text_times` does: those of equal length at once if all have one form, else singly."""
    result = np.empty(len(values), np.int64)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        same_length = [values[row] for row in rows]
        times_ = (
            _fixed_width("\n".join(same_length) + "\n", len(same_length)) if len(same_length) >= 8 else None
        )
        result[rows] = [time(value) for value in same_length] if times_ is None else times_
    return result


def _fixed_width(lines: str, count: int) -> Int64s | None:
    """Return times of `count` lines of one length: digits, with or without a dot and three more, at most 16.

    None where a line has another form or is out of range.
    """
    width, remainder = divmod(len(lines), count)
    if remainder or width < 2 or width > 21 or not lines.isascii():
        return None
    zeros, highest, weights = _form(width, dotted=width > 5 and lines[-5] == ".")
    digits = np.frombuffer(lines.encode("ascii"), np.uint8).reshape(count, width) - zeros
    if (digits > highest).any():
        return None
    # Products of floats: exact below 2**53, more than LIMIT, and ten times as fast as with int64.
    whole, fraction = (digits.astype(np.float64) @ weights).T
    if whole.max() >= LIMIT // 1000:
        return None
    result: Int64s = whole.astype(np.int64) * 1000 + fraction.astype(np.int64)
    return result


@lru_cache
def _form(width: int, dotted: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Floats]:
    """Describe a line of this length: its bytes for 0, by how much each may be more, and its weights."""
    places = width - (5 if dotted else 1)
    form = "0" * places + (".000\n" if dotted else "\n")
    zeros = np.frombuffer(form.encode("ascii"), np.uint8)
    weights = np.zeros((width, 2))
    weights[:places, 0] = 10.0 ** np.arange(places - 1, -1, -1)
    if dotted:
        weights[-4:-1, 1] = (100, 10, 1)
    return zeros, np.where(zeros == ord("0"), np.uint8(9), np.uint8(0)), weights
