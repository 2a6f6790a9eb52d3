"""Threads that read the pieces of a text at once, in this process: scanning gives up the interpreter's lock.

The text is cut at equal distances, and each thread reads from the first event after a cut to the first one
after the next cut, as the worker processes of `tracetui.reader.pool` do. A piece counts only if the piece
before ends where it begins; any other is read again from there.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from functools import partial

from tracetui.background import PATIENCE, Background
from tracetui.reader.pieces import (
    AFTER,
    BEFORE,
    EventsPiece,
    PieceReader,
    Reads,
    Syntax,
    guess_start,
    last_number,
    stop_of,
)
from tracetui.reader.text import Text

_AHEAD = 2  # pieces for each thread that are read before the next one is taken


class _Stopped(Exception):  # noqa: N818 - no error: nobody wants the piece any more
    pass


class PieceThreads:
    """Reads a text with threads; a context manager that ends them."""

    def __init__(
        self, text: Text, start: int, piece_bytes: int, syntax: Syntax, jobs: int, end: int = sys.maxsize
    ) -> None:
        """Prepare `jobs` threads for the events from offset `start` up to `end`."""
        self._text = text
        self._start, self._end = start, end
        self._piece_bytes = piece_bytes
        self._syntax = syntax
        self._jobs = jobs
        self._changed = threading.Condition()  # guards all below
        self._pieces: dict[int, EventsPiece | None] = {}  # by number; None: it has to be read again
        self._next_number = 0  # of the piece that is yielded next; pieces are numbered by the cut before them
        self._first_unassigned = 0
        self._last_number = sys.maxsize  # number of the piece at the end of the text, once that is known
        if text.shared is not None:
            self._last_number = last_number(text.shared.end, start, piece_bytes, end)
        self._started = 0  # threads
        self._stopped = False
        self._inflate_lock = threading.Lock()  # a text that is inflated is read from front to back

    def __enter__(self) -> PieceThreads:
        for _ in range(min(self._jobs, self._last_number + 1)):
            try:
                threading.Thread(target=self._work, daemon=True).start()
            except RuntimeError:  # no more threads: those that there are, or this one, read everything
                break
            self._started += 1
        return self

    def __exit__(self, *_error: object) -> None:
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def pieces(self) -> Iterator[EventsPiece | None]:
        """Yield all pieces from front to back; None while the next one is awaited, so that one may stop."""
        reader = PieceReader(self._syntax)
        offset, in_damage = self._start, False
        while True:
            piece = None
            if self._started and self._next_number <= self._last_number:
                while not self._is_there():
                    yield None
                piece = self._take()
            if piece is None or (piece.start, in_damage) != (offset, False):
                stop = stop_of(offset, self._start, self._piece_bytes, self._end)
                reading = Background(partial(reader.read, self._text, offset, stop, in_damage))
                while not reading.wait(PATIENCE):
                    yield None
                piece = reading.result()
            yield piece
            if piece.over or piece.end >= self._end:
                return
            offset, in_damage = piece.end, piece.in_damage
            self._go_on((offset - self._start) // self._piece_bytes)

    def _is_there(self) -> bool:
        """Wait a little for the next piece; return whether there is anything to take, or nothing to await."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._next_number in self._pieces or self._next_number > self._last_number, PATIENCE
            )

    def _take(self) -> EventsPiece | None:
        with self._changed:
            return self._pieces.pop(self._next_number, None)

    def _go_on(self, number: int) -> None:
        """Go on with the piece of a number: those before it are part of the last one."""
        with self._changed:
            self._next_number = number
            self._first_unassigned = max(self._first_unassigned, number)
            for earlier in [*self._pieces]:
                if earlier < number:
                    del self._pieces[earlier]
            self._changed.notify_all()

    def _work(self) -> None:
        """Read pieces until there are no more."""
        reader = PieceReader(self._syntax)
        while True:
            with self._inflate_lock:
                task = self._next_task()
            if task is None:
                return
            number, text = task
            try:
                piece = self._read(reader, number, text)
            except _Stopped:
                return
            except Exception:  # whoever takes the piece reads it again, and meets what is wrong
                piece = None
            with self._changed:
                if number >= self._next_number:
                    self._pieces[number] = piece
                self._changed.notify_all()

    def _next_task(self) -> tuple[int, Reads] | None:
        """Return the number of the next piece and its text; None where there are no more."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._stopped or self._first_unassigned < self._next_number + self._jobs * _AHEAD
            )
            number = self._first_unassigned
            if self._stopped or number > self._last_number:
                return None
            self._first_unassigned += 1
        if self._text.shared is not None:
            return number, _SharedText(self, self._text)
        start = self._start + number * self._piece_bytes
        first, stop = max(0, start - BEFORE), stop_of(start, self._start, self._piece_bytes, self._end)
        length = stop + AFTER - first
        try:
            chars = self._text.read(first, length)
        except Exception:  # whoever takes the piece reads it again, and meets what is wrong
            chars, length = b"", 0
        excerpt = _Excerpt(chars, first, len(chars) < length)
        if excerpt.last:
            with self._changed:
                self._last_number = last_number(first + len(chars), self._start, self._piece_bytes, self._end)
                self._changed.notify_all()
                if number > self._last_number:
                    return None
        return number, excerpt

    def _read(self, reader: PieceReader, number: int, text: Reads) -> EventsPiece | None:
        """Return the piece of a number, None where no event seems to begin in it."""
        cut = self._start + number * self._piece_bytes
        stop = stop_of(cut, self._start, self._piece_bytes, self._end)
        start = guess_start(text, cut, stop) if number else cut
        return None if start is None else reader.read(text, start, stop, False)

    def refuse_stopped(self) -> None:
        """Raise an exception that ends a thread, where its pieces are not wanted any more."""
        if self._stopped:
            raise _Stopped


class _SharedText:
    """The text, as long as somebody wants its pieces."""

    def __init__(self, threads: PieceThreads, text: Text) -> None:
        self._threads = threads
        self._text = text

    def read(self, offset: int, length: int) -> bytes:
        self._threads.refuse_stopped()
        return self._text.read(offset, length)


class _Excerpt:
    """A part of an inflated text. Raises EOFError for what is after it."""

    def __init__(self, chars: bytes, start: int, last: bool) -> None:
        self.last = last  #: the text ends there
        self._chars = chars
        self._start = start

    def read(self, offset: int, length: int) -> bytes:
        start = offset - self._start
        if start + length > len(self._chars) and not self.last:
            raise EOFError
        return self._chars[start : start + length]
