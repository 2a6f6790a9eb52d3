"""Decimal numbers out of a text, many at once, exactly.

A number is taken only in its plain form (digits, at most one dot among them); of all others it is said that
they aren't readable here. Knows no JSON beyond that and no unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Int64s
from tracetui.reader.scan.words import LAST, UInt64s, Words


def _repeated(byte: int) -> np.uint64:
    word: np.uint64 = np.uint64(int.from_bytes(bytes([byte]) * 8, "little"))
    return word


_ZEROS, _LOW7, _TO_HIGH, _HIGH = _repeated(0x30), _repeated(0x7F), _repeated(0x76), _repeated(0x80)
_DOT = _repeated(0x30 ^ 0x2E)  # as it is after `_ZEROS` are taken off
_PAIRS = np.uint64(0x000000FF000000FF)
_HUNDREDS, _ONES = np.uint64(100 + (1000000 << 32)), np.uint64(1 + (10000 << 32))
_BYTE_INDEX = np.uint64(0x0001020304050607)
_0, _1, _7, _8, _10, _16, _32, _56, _FF = (np.uint64(number) for number in (0, 1, 7, 8, 10, 16, 32, 56, 0xFF))
_ALL = ~_0
_WEIGHTS = [np.uint64(10**power) for power in (0, 8, 16)]
_POWERS: NDArray[np.int64] = 10 ** np.arange(19, dtype=np.int64)
_MOST = np.uint64(900)  # of the digits above the sixteenth: 9e18 fits 63 bits
LONGEST = 24  #: characters


def decimals(words: Words, start: Int64s, end: Int64s) -> tuple[Int64s, Int64s, Bools]:
    """Numbers without a sign: (all digits as one integer, how many follow the dot, whether readable)."""
    length = end - start
    longest = min(int(length.max()), LONGEST) if len(length) else 0
    ok = (length > 0) & (length <= LONGEST) & (words.bytes.take(end - 1) != ord("."))
    ok &= _well_begun(words, start, length)
    number: UInt64s = np.zeros(len(start), np.uint64)
    places: Int64s = np.zeros(len(start), np.int64)
    moved: UInt64s = np.zeros(
        len(start), np.uint64
    )  # all bits once the dot was met: digits before it move up
    digits = _digits(words, end, length, 0)
    for behind, weight in zip(range(0, longest, 8), _WEIGHTS):
        others = _others(digits)
        before = _digits(words, end, length, behind + 8) if behind + 8 < longest else moved * _0
        if others.any() or moved.any():
            ok &= (others == _dots(digits)) & ((others & (others - _1)) == 0) & ((others & moved) == 0)
            unit = others >> _7  # 1 << 8 * the dot's byte
            dotted = unit != 0
            places += np.where(dotted, behind + 7 - ((unit * _BYTE_INDEX) >> _56).view(np.int64), 0)
            moved |= np.where(dotted, _ALL, _0)
            below = (unit - _1) & moved
            digits = (digits & ~(below | (unit * _FF))) | ((digits & below) << _8) | ((before >> _56) & moved)
        value = _value(digits)
        if behind == 16:
            ok &= value <= _MOST
        number += value * weight
        digits = before
    ok &= places < len(_POWERS)
    return number.view(np.int64), places, ok


def plain_numbers(words: Words, start: Int64s, end: Int64s) -> Bools:
    """Whether each is plainly a number: an optional minus, digits, and at most one dot among them."""
    start = start + (words.bytes.take(start) == ord("-"))
    length = end - start
    longest = int(length.max()) if len(length) else 0
    ok: Bools = (length > 0) & (length <= LONGEST) & (words.bytes.take(end - 1) != ord("."))
    seen: Bools = np.zeros(len(start), np.bool_)
    for behind in range(0, min(longest, LONGEST), 8):
        digits = _digits(words, end, length, behind)
        others = _others(digits)
        ok &= (others == _dots(digits)) & ((others & (others - _1)) == 0)
        other = others != 0
        ok &= ~(other & seen)
        seen |= other
    ok &= _well_begun(words, start, length)
    return ok


def _well_begun(words: Words, start: Int64s, length: Int64s) -> Bools:
    """Not with a dot, and with a zero only before one."""
    first = words.bytes.take(start)
    zero = (first == ord("0")) & (length > 1) & (words.bytes.take(start + 1) != ord("."))
    well: Bools = ~zero & (first != ord("."))
    return well


def _digits(words: Words, end: Int64s, length: Int64s, behind: int) -> UInt64s:
    """The word that ends `behind` bytes before the end; digits as 0 to 9, 0 before the number's start."""
    return (words.at(end - (8 + behind)) ^ _ZEROS) & LAST.take(np.minimum(np.maximum(length - behind, 0), 8))


def _others(digits: UInt64s) -> UInt64s:
    """The highest bit of each byte that is no digit."""
    others: UInt64s = (((digits & _LOW7) + _TO_HIGH) | digits) & _HIGH
    return others


def _dots(digits: UInt64s) -> UInt64s:
    """The highest bit of each byte that is a dot."""
    other = digits ^ _DOT
    dots: UInt64s = (((other & _LOW7) + _LOW7) | other | _LOW7) ^ _ALL
    return dots


def _value(digits: UInt64s) -> UInt64s:
    """The number of eight digits, the first in the lowest byte: pairs, then fours, then all."""
    pairs = digits * _10 + (digits >> _8)
    value: UInt64s = ((pairs & _PAIRS) * _HUNDREDS + ((pairs >> _16) & _PAIRS) * _ONES) >> _32
    return value


def powers(exponents: Int64s) -> Int64s:
    """10 to these powers, 10**18 for higher ones."""
    return _POWERS.take(exponents, mode="clip")
