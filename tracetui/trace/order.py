"""Orders of columns that are sorted for the most part, found in less time than `numpy.lexsort` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Int32s, Int64s


def stable_order(numbers: NDArray[np.signedinteger[Any]]) -> Int64s:
    """Stable argsort of small non-negative numbers: numpy sorts 16-bit numbers by radix, in linear time."""
    few = not len(numbers) or int(numbers.max()) < 2**16
    order: Int64s = np.argsort(numbers.astype(np.uint16) if few else numbers, kind="stable")
    return order


def order_by_group(group: Int32s, time: Int64s) -> Int64s:
    """`np.lexsort((time, group))`, where the times of a group mostly are in order; int64[n]."""
    order = stable_order(group)
    groups, times = group[order], time[order]
    if ((times[1:] < times[:-1]) & (groups[1:] == groups[:-1])).any():
        order = np.lexsort((time, group))
    return order


def ties(numbers: Int64s) -> Int64s:
    """The places of sorted numbers that are like the one before or behind; int64."""
    like_next = np.append(numbers[1:] == numbers[:-1], False)
    return np.flatnonzero(like_next | np.roll(like_next, 1))
