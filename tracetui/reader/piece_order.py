"""Which piece of a text is next, which ones may be read ahead of it, and which of those count.

The text is cut at equal distances, and a piece has the number of the cut before it, from 0. Whoever reads a
piece ahead guesses where the first event after the cut begins. The piece counts only if it starts exactly
where the piece before ended, so a wrong guess never changes what is read. Knows no thread and no process.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tracetui.reader.pieces import EventsPiece, stop_of


@dataclass(frozen=True)
class PieceRange:
    """Where somebody is to read a piece ahead; offsets in the text."""

    number: int
    start: int
    stop: int  #: the piece ends before the first event that begins there or after
    start_known: bool  #: the piece begins at `start`; else with the first event found from there on


class PieceOrder:
    """The pieces of a text from front to back, as far as they are read."""

    def __init__(
        self, start: int, piece_bytes: int, text_end: int = sys.maxsize, end: int = sys.maxsize
    ) -> None:
        """Cut a text each `piece_bytes` from offset `start` on; events that begin before `end` are wanted.

        `text_end`: where the text ends, if that is known.
        """
        self._start, self._piece_bytes, self._end = start, piece_bytes, end
        self.next_start = start  #: offset at which the next piece must begin
        self.next_in_damage = False  #: whether the next piece begins inside damaged text
        self._next_number = 0
        self._first_unassigned = 0  # the lowest number that `assign` has not given out
        # A very large number while the end is not known.
        self._last_number = (min(text_end, end) - 1 - start) // piece_bytes
        self._read_ahead: dict[int, EventsPiece | None] = {}  # by number; None: nobody could read it

    @property
    def next_stop(self) -> int:
        """Return the offset at which the next piece is to stop."""
        return self._stop_of(self.next_start)

    @property
    def unassigned(self) -> int:
        """Return how many pieces nobody was given yet; a very large number where the end is not known."""
        read_ahead = sum(number >= self._first_unassigned for number in self._read_ahead)
        return max(self._last_number - self._first_unassigned + 1 - read_ahead, 0)

    @property
    def awaits_next(self) -> bool:
        """Return whether somebody was given the next piece who has not brought it yet."""
        return self._next_number < self._first_unassigned and self._next_number not in self._read_ahead

    def assign(self, at_once: int) -> PieceRange | None:
        """Return the first piece that nobody was given yet, for somebody to read it.

        None where there is none, or where it is not among the `at_once` pieces from the next one on: what is
        read further ahead would fill the memory.
        """
        number = self._first_unassigned
        while number in self._read_ahead:
            number += 1
        if number > self._last_number or number >= self._next_number + at_once:
            return None
        self._first_unassigned = number + 1
        start_known = number == self._next_number
        start = self.next_start if start_known else self._start + number * self._piece_bytes
        return PieceRange(number, start, self._stop_of(start), start_known)

    def keep_next(self) -> None:
        """Keep the next piece from those who read ahead: whoever takes it reads it."""
        piece_range = self.assign(1)
        if piece_range is not None:
            self.bring(piece_range.number, None)

    def take_back(self) -> None:
        """Give what nobody has read to others: those who were given it will bring nothing any more."""
        self._first_unassigned = self._next_number
        self._read_ahead = {number: piece for number, piece in self._read_ahead.items() if piece is not None}

    def bring(self, number: int, piece: EventsPiece | None) -> None:
        """Take the piece that somebody was given; None: it could not be read."""
        if number >= self._next_number:
            self._read_ahead[number] = piece

    def take_next(self) -> EventsPiece | None:
        """Return the next piece if it was read ahead and counts; None: it is to be read from `next_start`."""
        piece = self._read_ahead.pop(self._next_number, None)
        # Whoever reads ahead begins outside damaged text.
        fits = piece is not None and piece.start == self.next_start and not self.next_in_damage
        return piece if fits else None

    def advance(self, piece: EventsPiece) -> bool:
        """Go on after the next piece, which is this one; return whether there is another.

        Pieces that were read ahead and are part of this one are dropped: an event may span several cuts.
        """
        self.next_start, self.next_in_damage = piece.end, piece.in_damage
        self._next_number = (piece.end - self._start) // self._piece_bytes
        self._first_unassigned = max(self._first_unassigned, self._next_number)
        for number in [number for number in self._read_ahead if number < self._next_number]:
            del self._read_ahead[number]
        return not piece.over and piece.end < self._end

    def _stop_of(self, start: int) -> int:
        return stop_of(start, self._start, self._piece_bytes, self._end)
