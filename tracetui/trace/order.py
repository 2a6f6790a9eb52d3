"""Orders of columns that are sorted for the most part, found in less time than `numpy.lexsort` takes."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Bools, Int32s, Int64s, Smalls

Whole = TypeVar("Whole", bound=np.signedinteger[Any])


def stable_order(numbers: NDArray[np.signedinteger[Any]]) -> Int64s:
    """Return the stable argsort of numbers that mostly are close together; int64[n].

    Numbers less than 2**16 apart are told apart by their last 16 bits, counted from those of the lowest;
    numpy sorts those by radix, in linear time: 231 k numbers of tracks in 0.4 ms, as int64 in 7.4 ms.
    """
    if len(numbers) and int(numbers.max()) - (low := int(numbers.min())) < 2**16:
        return np.argsort(numbers.astype(np.uint16) - np.uint16(low % 2**16), kind="stable")
    return np.argsort(numbers, kind="stable")


def numbered(values: NDArray[Whole]) -> tuple[NDArray[Whole], Int64s]:
    """Return the values, sorted, each once; and the place of each value among those, int64[n].

    As `numpy.unique` with `return_inverse`, which sorts in four times the time what is in order for the most
    part, as rows are, and in numpy 2.0.0 gives the places another shape.
    """
    order = stable_order(values)
    ordered = values[order]
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    places = np.empty(len(ordered), np.int64)
    places[order] = np.cumsum(first) - 1
    return ordered[first], places


def order_by_group(group: Int32s | Int64s | Smalls, time: Int64s) -> Int64s:
    """Return `np.lexsort((time, group))`, fast where the times of a group mostly are in order; int64[n]."""
    order = stable_order(group)
    groups, times = group[order], time[order]
    if ((times[1:] < times[:-1]) & (groups[1:] == groups[:-1])).any():
        order = np.lexsort((time, group))
    return order


def starts_run(*columns: NDArray[Any]) -> Bools:
    """Return whether each row differs in any column from the row before it; true of the first one."""
    starts = np.ones(len(columns[0]), np.bool_)
    starts[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return starts


def ties(numbers: Int64s) -> Int64s:
    """Return the places of sorted numbers that are like the one before or after; int64."""
    like_next = np.append(numbers[1:] == numbers[:-1], False)
    return np.flatnonzero(like_next | np.roll(like_next, 1))
