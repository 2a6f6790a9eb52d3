"""What the strings of a column mean: every distinct string is looked up once, whatever the number of rows."""

from __future__ import annotations

from typing import Callable

import numpy as np

from tracetui.arrays import Int8s, Int32s, Smalls

UNDECIDED = -1


def meanings(strings: list[str], column: Int32s | Smalls, meaning: Callable[[str], int | None]) -> Int8s:
    """Return the meaning of each string of a column, UNDECIDED where it has none; int8[n].

    Args:
        strings: the interned strings.
        column: int32[n] or int16[n], indices of them, -1 for none.
        meaning: of one string, from 0 to 127, or None.
    """
    table = np.full(len(strings) + 1, UNDECIDED, np.int8)
    for index in _numbers_in_use(strings, column):
        value = meaning(strings[index])
        if value is not None:
            table[index] = value
    return table.take(column, mode="wrap")  # half the time of an index


def distinct_strings(strings: list[str], column: Int32s | Smalls) -> list[str]:
    """Return the strings that a column has, in the order of their numbers."""
    return [strings[index] for index in _numbers_in_use(strings, column)]


def _numbers_in_use(strings: list[str], column: Int32s | Smalls) -> list[int]:
    used = np.zeros(len(strings) + 1, np.bool_)
    used[column] = True
    places: list[int] = np.flatnonzero(used[:-1]).tolist()
    return places
