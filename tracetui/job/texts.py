"""Texts and lines of Python, each once, with a place of its own: what columns of a digest hold places in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tracetui.analysis.search import distinct
from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.job.digest import DigestLine
from tracetui.trace.clean import shortened
from tracetui.trace.stack import Frame


class TextPlaces:
    """Texts in the order in which they are first asked for."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self._places = {text: place for place, text in enumerate(texts)}

    @property
    def all(self) -> tuple[str, ...]:
        """The texts by place."""
        return tuple(self._places)

    def place(self, text: str) -> int:
        """Return the place of a text."""
        return self._places.setdefault(shortened(text), len(self._places))

    def places(self, strings: Sequence[str], column: Int32s | Int64s) -> Int64s:
        """Return the places of the texts of a column of indices into `strings`; -1 of -1."""
        table = np.full(len(strings) + 1, -1, np.int64)
        for index in distinct(column).tolist():
            if index >= 0:
                table[index] = self.place(strings[index])
        return table[column]


class LinePlaces:
    """Lines in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._places: dict[DigestLine, int] = {}

    @property
    def all(self) -> tuple[DigestLine, ...]:
        """The lines by place."""
        return tuple(self._places)

    def place(self, frame: Frame, backward: bool) -> int:
        """Return the place of a line."""
        line = DigestLine(shortened(frame.file), frame.line, shortened(frame.function), backward)
        return self._places.setdefault(line, len(self._places))

    def places(self, frames: Sequence[Frame], column: Int64s, backward: Bools) -> Int64s:
        """Return the places of a column of indices into `frames`, in the backward pass or not; -1 of -1."""
        table = np.full(2 * len(frames) + 2, -1, np.int64)
        key = np.where(column >= 0, 2 * column + backward, -1)
        for index in distinct(key).tolist():
            if index >= 0:
                table[index] = self.place(frames[index // 2], index % 2 == 1)
        return table[key]
