"""Lists of numbers from decoded events to arrays, and what is none among them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.arrays import Floats, Int32s, Int64s
from tracetui.reader.normalise import CORRELATION_KEYS, correlation_of, int32_of, number_of


def pack_numbers(code: str, values: list[Any]) -> NDArray[Any]:
    """Return numbers as an array of the type with this code in `struct`; raises struct.error for others.

    Twice as fast as numpy and `array` make one of a list, which is 3 % of all the reading.
    """
    return np.frombuffer(struct.pack(f"{len(values)}{code}", *values), code)


def floats(values: list[Any]) -> Floats:
    """Return numbers, or texts of such, as float64; NaN for anything else."""
    try:
        return pack_numbers("d", values)
    except struct.error:
        numbers = map(number_of, values)
        return np.array([np.nan if number is None else number for number in numbers], np.float64)


def correlations(all_args: list[Any], keys: set[str]) -> Int64s:
    """Return the id that links each event to its launch, int64, -1 for none; `keys`: of any of the args."""
    links = [key for key in CORRELATION_KEYS if key in keys]
    if not links:
        return np.full(len(all_args), -1, np.int64)
    if len(links) == 1:
        numbers = _pack_whole("q", [args.get(links[0], -1) for args in all_args])
        if numbers is not None and numbers.max() < 0xFFFFFFFF:
            return numbers
    return np.array([correlation_of(args) for args in all_args], np.int64)


def python_ids(values: list[Any]) -> Int32s:
    """Return numbers of 31 bits as int32, -1 for anything else."""
    numbers = _pack_whole("i", values)
    return np.array([int32_of(value) for value in values], np.int32) if numbers is None else numbers


def _pack_whole(code: str, values: list[Any]) -> NDArray[Any] | None:
    """Return integers from -1 on, None where there is anything else."""
    try:
        numbers = pack_numbers(code, values)
    except struct.error:
        return None
    return numbers if numbers.min() >= -1 else None
