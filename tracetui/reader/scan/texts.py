"""Equal pieces of a text get equal numbers: names, categories, processes and threads as the JSON has them.

Knows JSON's strings and numbers; not what they name.
"""

from __future__ import annotations

import re

import numpy as np

from tracetui.arrays import Int32s, Int64s
from tracetui.reader.decode import lenient, strict
from tracetui.reader.scan.rows import RowTable
from tracetui.reader.scan.words import FIRST, UInt64s, Words

_WHOLE = re.compile(rb"-?(?:0|[1-9][0-9]{0,17})")
_WIDTHS = (1, 2, 4, 8)  # words; what is longer is looked up by Python
_LONGEST = _WIDTHS[-1] * 8
#: How much of a word (first index) is the text's own where that has so many bytes.
_OWN = FIRST[np.clip(np.arange(_LONGEST + 1) - np.arange(0, _LONGEST, 8)[:, None], 0, 8)]


class Texts:
    """The different pieces of text that were met, numbered from 0 on."""

    def __init__(self) -> None:
        self.raw: list[bytes] = []  #: as in the JSON
        self._decoded: list[str | None] = []
        self._tables = {width: RowTable(width + 1) for width in _WIDTHS}
        self._numbers: dict[int, Int32s] = {width: np.empty(0, np.int32) for width in _WIDTHS}
        self._long: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self.raw)

    def numbers(self, words: Words, start: Int64s, end: Int64s) -> Int32s:
        """The number of each piece from `start` to `end`, n each."""
        length = end - start
        numbers: Int32s = np.empty(len(start), np.int32)
        shortest, longest = (int(length.min()), int(length.max())) if len(length) else (0, 0)
        below = -1
        for width in _WIDTHS:
            upto = width * 8
            if shortest <= upto and below < longest:
                if below < shortest and longest <= upto:
                    return self._short(words, start, length, width)
                chosen = np.flatnonzero((length > below) & (length <= upto))
                if len(chosen):
                    numbers[chosen] = self._short(words, start[chosen], length[chosen], width)
            below = upto
        for index in np.flatnonzero(length > _LONGEST).tolist():
            raw = words.buffer[start[index] : end[index]]
            number = self._long.get(raw)
            if number is None:
                number = self._long[raw] = self._new(raw)
            numbers[index] = number
        return numbers

    def _short(self, words: Words, start: Int64s, length: Int64s, width: int) -> Int32s:
        rows: UInt64s = np.empty((width + 1, len(start)), np.uint64)
        for word in range(width):
            np.bitwise_and(words.at(start + 8 * word), _OWN[word].take(length), out=rows[word])
        rows[width] = length
        own, new = self._tables[width].numbers(rows)
        if new:
            fresh = [self._new(words.buffer[start[row] : start[row] + length[row]]) for row in new]
            self._numbers[width] = np.append(self._numbers[width], np.array(fresh, np.int32))
        return self._numbers[width].take(own)

    def _new(self, raw: bytes) -> int:
        self.raw.append(raw)
        self._decoded.append(None)
        return len(self.raw) - 1

    def string(self, number: int) -> str:
        """What a piece from between the quotes of a JSON string stands for."""
        text = self._decoded[number]
        if text is None:
            quoted = b'"' + self.raw[number] + b'"'
            values = strict(quoted) or lenient(quoted)
            text = self._decoded[number] = values[0] if values else ""
        return text

    def is_whole(self, number: int) -> bool:
        """Whether a piece is an integer of at most 18 digits."""
        return _WHOLE.fullmatch(self.raw[number]) is not None
