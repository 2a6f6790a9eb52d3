"""Equal rows of 64-bit words get equal numbers, exactly: a hash table that numpy looks into.

Knows nothing of what the words stand for.
"""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Bools, Int32s, Int64s
from tracetui.reader.scan.words import UInt64s

_SPREAD = 0x9E3779B97F4A7C15
_FACTORS = [np.uint64(pow(_SPREAD, 2 * power + 1, 1 << 64)) for power in range(16)]
_TOP, _HALF = np.uint64(64), np.uint64(29)
_FEWEST = 10  # bits
_PER_ROW = 16  # places of the table


class RowTable:
    """Numbers rows of `width` words from 0 on in the order in which they are met.

    A row is looked up in two places that its hash names, and compared there. Rows that are in neither (new
    ones, and the few that others keep out of both) are looked up by Python.
    """

    def __init__(self, width: int) -> None:
        self._known: dict[bytes, int] = {}
        self._words: UInt64s = np.zeros((width, 1 << _FEWEST), np.uint64)  # of each row; the first is none
        self._bits = _FEWEST
        self._table: Int32s = np.zeros(1 << _FEWEST, np.int32)  # 1 + the row's number, 0 for none

    def numbers(self, rows: UInt64s) -> tuple[Int32s, list[int]]:
        """The number of each row, (width, n) words; and the index of the first row of each new number."""
        mixed = self._mixed(rows)
        places: Int32s = self._table.take(self._first(mixed))
        others = self._differ(places, rows).nonzero()[0]
        new: list[int] = []
        if len(others):
            rest = rows.take(others, axis=1)
            again = self._table.take(self._second(mixed.take(others)))
            places[others] = again
            differ = self._differ(again, rest)
            if differ.any():
                others, rest = others[differ], rest[:, differ]
                places[others], new = self._look_up(rest, others)
        places -= 1
        return places, new

    def _differ(self, places: Int32s, rows: UInt64s) -> Bools:
        """Which rows aren't those at these places."""
        differ: Bools = places == 0
        for own, row in zip(self._words, rows):
            differ |= own.take(places) != row
        return differ

    def _look_up(self, rows: UInt64s, indices: Int64s) -> tuple[list[int], list[int]]:
        known = self._known
        places: list[int] = []
        new: list[int] = []
        text, width = rows.T.tobytes(), len(rows) * 8
        for index, at in zip(indices.tolist(), range(0, len(text), width)):
            key = text[at : at + width]
            place = known.get(key)
            if place is None:
                place = known[key] = len(known) + 1
                new.append(index)
                self._keep(np.frombuffer(key, np.uint64), place)
            places.append(place)
        if new:
            self._enter(len(known) + 1 - len(new))
        return places, new

    def _keep(self, row: UInt64s, place: int) -> None:
        if place == self._words.shape[1]:
            self._words = np.concatenate([self._words, np.zeros_like(self._words)], axis=1)
        self._words[:, place] = row

    def _enter(self, first: int) -> None:
        """Put the rows from `first` on into the table, all of them where it has to grow."""
        count = len(self._known) + 1
        if count * _PER_ROW // 2 > len(self._table):
            self._bits = (count * _PER_ROW).bit_length()
            self._table = np.zeros(1 << self._bits, np.int32)
            first = 1
        number = np.arange(first, count, dtype=np.int32)
        mixed = self._mixed(self._words[:, first:count])
        for place_of in (self._first, self._second):
            places = place_of(mixed)
            free = self._table.take(places) == 0
            self._table[places[free]] = number[free]
            left = self._table.take(places) != number
            mixed, number = mixed[left], number[left]

    @staticmethod
    def _mixed(rows: UInt64s) -> UInt64s:
        mixed: UInt64s = rows[0] * _FACTORS[0]
        for row, factor in zip(rows[1:], _FACTORS[1:]):
            mixed += row * factor
        mixed ^= mixed >> _HALF
        mixed *= _FACTORS[0]
        return mixed

    def _first(self, mixed: UInt64s) -> Int64s:
        places: Int64s = (mixed >> (_TOP - np.uint64(self._bits))).view(np.int64)
        return places

    def _second(self, mixed: UInt64s) -> Int64s:
        return self._first(mixed * _FACTORS[1])
