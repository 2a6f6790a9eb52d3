"""Columns that are filled part by part, in memory that is allocated once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracetui.reader.columns import fits


class GrowingColumn:
    """A column whose length is about known. Parts kept by themselves would be in memory twice when joined."""

    def __init__(self, dtype: type[np.generic], expected: int) -> None:
        self._column: NDArray[Any] = np.empty(expected, dtype)
        self._count = 0

    def add(self, values: NDArray[Any]) -> None:
        """Append values. Whole numbers have the type of the column until one is too large for it."""
        self._widen_for(values)
        self._room(len(values))[:] = values

    def repeat(self, value: int, count: int) -> None:
        """Append a value `count` times."""
        self._widen_for(np.array([value], np.int64))
        self._room(count)[:] = value

    def so_far(self) -> NDArray[Any]:
        """Return a copy of what was added."""
        values: NDArray[Any] = self._column[: self._count].copy()
        return values

    def filled(self) -> NDArray[Any]:
        """Return what was added, a copy where much room is left; nothing can be added afterwards."""
        filled: NDArray[Any] = self._column[: self._count]
        return filled if 4 * self._count >= 3 * len(self._column) else filled.copy()

    def _widen_for(self, values: NDArray[Any]) -> None:
        """Make the type of the column that of the values where these do not fit into it."""
        if not fits(values, self._column.dtype):
            wider = np.empty(len(self._column), values.dtype)
            wider[: self._count] = self._column[: self._count]
            self._column = wider

    def _room(self, count: int) -> NDArray[Any]:
        """Return the place of the next `count` values, to be filled in."""
        start, stop = self._count, self._count + count
        if stop > len(self._column):
            longer = np.empty(max(stop, start * 3 // 2), self._column.dtype)
            longer[:start] = self._column[:start]
            self._column = longer
        self._count = stop
        return self._column[start:stop]


def join(parts: list[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    """Return the parts of a column one after the other; without any an empty column of the type."""
    return np.concatenate(parts) if parts else np.empty(0, dtype)
