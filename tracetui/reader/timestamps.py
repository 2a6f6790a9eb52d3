"""Microseconds as text or number to integer nanoseconds, exactly.

A float64 has a grid of a quarter of a microsecond at today's date: a timestamp is never made a float.
"""

from __future__ import annotations

import re
from array import array
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any

import numpy as np

from tracetui.arrays import Bools, Int64s

LIMIT = 1 << 62  #: ns; beyond (146 years) sums of times would overflow
UNREADABLE = -(1 << 63)  #: stands for a time that can't be read

_LITERAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_LONGEST = 1000  # characters of a number: hostile ones have millions
_PRECISE = Context(prec=_LONGEST + 1100)


def times(values: list[Any]) -> Int64s:
    """Timestamps in microseconds (text or int; float where nothing better is known) as int64 ns, n values.

    The fraction is cut to nanoseconds. UNREADABLE where it isn't a time or is out of range.
    """
    if not values:
        return np.empty(0, np.int64)
    try:
        return _texts(values)
    except TypeError:
        pass  # not all are text
    try:
        whole = np.frombuffer(array("q", values), np.int64)
    except (TypeError, OverflowError):
        return _texts([value if type(value) is str else str(value) for value in values])
    far = (whole >= LIMIT // 1000) | (whole <= -LIMIT // 1000)
    return np.where(far, UNREADABLE, np.where(far, 0, whole) * 1000)


def time(value: Any) -> int:
    """One timestamp in microseconds as ns, the fraction cut; UNREADABLE where it isn't one."""
    return _exact(value, ROUND_DOWN)


def durations(values: list[Any]) -> Int64s:
    """Durations in microseconds (float, int or text) as int64 ns, rounded half to even; n values.

    0 where one is negative, isn't a number or is out of range.
    """
    try:
        floats = np.frombuffer(array("d", _floats(values)), np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array([duration(value) for value in values], np.int64)
    if not len(floats):
        return np.empty(0, np.int64)
    with np.errstate(all="ignore"):
        product = floats * 1000.0
        result = np.rint(product)
        # Where the product is so near to a half that its own error could decide, and where floats are
        # coarser than that, decimals decide.
        close = np.abs(np.abs(product - result) - 0.5) < 1e-4 + np.abs(product) * 4e-16
        wrong = ~(np.abs(product) < LIMIT)
    result[wrong | close] = 0
    rounded = np.maximum(result, 0).astype(np.int64)
    for index in np.flatnonzero(close & ~wrong):
        rounded[index] = duration(values[index])
    return rounded


def _floats(values: list[Any]) -> list[Any]:
    """Durations as text are made floats if all are text; the nearest float is good enough to see a half."""
    if type(values[0]) is not str if values else True:
        return values
    if "_" in "".join(values):
        raise ValueError  # float() takes 1_000, JSON's producers don't mean it
    return [float(value) for value in values]


def duration(value: Any) -> int:
    """One duration in microseconds as ns, rounded half to even; 0 where it isn't one or negative."""
    nanoseconds = _exact(value, ROUND_HALF_EVEN)
    return max(nanoseconds, 0)


def _exact(value: Any, rounding: str) -> int:
    if isinstance(value, int):
        nanoseconds = int(value) * 1000
        return nanoseconds if abs(nanoseconds) < LIMIT else UNREADABLE
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
    return nanoseconds if abs(nanoseconds) < LIMIT else UNREADABLE


def _texts(values: list[str]) -> Int64s:
    """Texts of digits with a dot and three decimals, all of one length, at once; others by their length."""
    joined = "\n".join(values)
    width = len(values[0]) + 1
    # With a newline behind each `width` - 1 characters and nowhere else, all have the same length.
    if joined[width - 1 :: width] != "\n" * (len(values) - 1) or len(joined) + 1 != len(values) * width:
        return _by_length(values)
    result, odd = _fixed_width(joined, len(values), width)
    for index in np.flatnonzero(odd):
        result[index] = time(values[index])
    return result


def _by_length(values: list[str]) -> Int64s:
    result = np.empty(len(values), np.int64)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        same = [values[row] for row in rows]
        if length == 0 or len(rows) < 8:
            result[rows] = [time(value) for value in same]
            continue
        times_, odd = _fixed_width("\n".join(same), len(rows), int(length) + 1)
        times_[odd] = [time(same[row]) for row in np.flatnonzero(odd)]
        result[rows] = times_
    return result


def _fixed_width(joined: str, count: int, width: int) -> tuple[Int64s, Bools]:
    """Times of `count` texts of `width` - 1 characters joined by newlines, and which are of another form.

    The form is digits, a dot and three digits, or digits only; at most 18 digits.
    """
    everything_odd = np.zeros(count, np.int64), np.ones(count, np.bool_)
    if not joined.isascii() or joined.count("\n") != count - 1:
        return everything_odd
    digits = np.frombuffer((joined + "\n").encode("ascii"), np.uint8).reshape(count, width) - np.uint8(
        ord("0")
    )
    dot = np.uint8((ord(".") - ord("0")) % 256)
    dotted = width > 5 and digits[0, -5] == dot
    whole = digits[:, : -5 if dotted else -1]
    if not 0 < whole.shape[1] <= 16:
        return everything_odd
    strange = (whole > 9).any()
    # Products of floats: exact below 2**53, more than LIMIT, and ten times as fast as with int64.
    powers = 10.0 ** np.arange(whole.shape[1] - 1, -1, -1)
    microseconds = whole.astype(np.float64) @ powers
    strange = strange or (microseconds >= LIMIT // 1000).any()
    odd = np.zeros(count, np.bool_)
    if dotted:
        fraction = digits[:, -4:-1]
        strange = strange or (fraction > 9).any() or (digits[:, -5] != dot).any()
    if strange:  # looking at each row costs as much as all the rest
        odd = (whole > 9).any(axis=1) | (microseconds >= LIMIT // 1000)
        if dotted:
            odd |= (fraction > 9).any(axis=1) | (digits[:, -5] != dot)
        microseconds[odd] = 0
    result = microseconds.astype(np.int64) * 1000
    if dotted:
        thousandths = fraction.astype(np.int64)
        result += thousandths[:, 0] * 100 + thousandths[:, 1] * 10 + thousandths[:, 2]
    return result, odd
