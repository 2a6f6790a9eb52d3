"""Threads that read the pieces of a text ahead, and the loop that takes the pieces in their order.

Each thread has a reader: the compiled scanner, which gives up the interpreter's lock, or a worker process
that the thread waits for (`tracetui.reader.worker_pool`). What no thread could read, or what does not begin
where the piece before ended, is read again here.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from queue import Empty, SimpleQueue
from typing import Callable, Optional

from tracetui.background import PATIENCE, Background
from tracetui.reader.piece_order import PieceOrder, PieceRange
from tracetui.reader.pieces import AFTER, BEFORE, EventsPiece, PieceOptions, PieceReader
from tracetui.reader.text import Text

_AHEAD = 2  # pieces for each thread: it reads the second while the first waits for its turn


class ReaderLost(Exception):  # noqa: N818 - the reading goes on without it
    """A reader is of no use any more; the message says why, in a word or two."""


class Excerpt:
    """A part of an inflated text. Raises EOFError for what is after it."""

    def __init__(self, chars: bytes, start: int, last: bool) -> None:
        self.chars = chars
        self.start = start  #: its offset in the text
        self.last = last  #: the text ends with it

    def read(self, offset: int, length: int) -> bytes:
        """Read as `Text.read` does."""
        start = offset - self.start
        if start + length > len(self.chars) and not self.last:
            raise EOFError
        return self.chars[start : start + length]


#: Reads a piece from the text, or from the excerpt of it where it has to be inflated. Returns None where no
#: event seems to begin there; raises ReaderLost where it will read no other piece either.
ReadPiece = Callable[[PieceRange, Optional[Excerpt]], Optional[EventsPiece]]


class PieceThreads:
    """Reads a text with threads; a context manager that ends them.

    The order of the pieces is known to the thread that takes them. The others are given a piece through one
    queue and bring it through another.
    """

    def __init__(self, text: Text, order: PieceOrder, options: PieceOptions) -> None:
        """Prepare to read the pieces of `order`: without any thread until one is started."""
        self._text = text
        self._order = order
        self._options = options
        self._reader = PieceReader(options)
        self._ranges: SimpleQueue[PieceRange | None] = SimpleQueue()  # None ends a thread
        # The number of a piece, and the piece. None: a thread has ended.
        self._results: SimpleQueue[tuple[int, EventsPiece | None] | None] = SimpleQueue()
        self._running = 0  # threads
        self._stopped = False
        # Held by the thread that awaits a piece to read: it inflates the text, which is done front to back.
        self._inflate_lock = threading.Lock()
        self.loss_reasons: list[str] = []  #: why readers were lost, each in a word or two

    def __enter__(self) -> PieceThreads:
        return self

    def __exit__(self, *_error: object) -> None:
        """Have all threads end. None is waited for: it may hang in a read of a file on a network."""
        self._stopped = True
        for _ in range(self._running):
            self._ranges.put(None)
        while not self._results.empty():
            if (result := self._results.get()) is not None:
                self._order.bring(*result)
        self._order.take_back()

    def start_scanning(self, jobs: int) -> None:
        """Start `jobs` threads that scan, or as many as there are pieces."""
        for _ in range(min(jobs, self._order.unassigned)):
            self.start(partial(self._scan, PieceReader(self._options)))

    def start(self, read_piece: ReadPiece) -> bool:
        """Start a thread with this reader; return False where the system has no more threads."""
        try:
            threading.Thread(target=self._work, args=(read_piece,), daemon=True).start()
        except RuntimeError:
            return False
        self._running += 1
        return True

    def pieces(self) -> Iterator[EventsPiece | None]:
        """Yield all pieces from front to back, and None each PATIENCE s meanwhile: the caller may stop."""
        order, is_more = self._order, True
        while is_more:
            while self._awaits_next():
                yield None
            piece = order.take_next()
            if piece is None:
                arguments = order.next_start, order.next_stop, order.next_in_damage
                reading = Background(partial(self._reader.read, self._text, *arguments))
                while not reading.wait(PATIENCE):
                    yield None
                piece = reading.result()
            is_more = order.advance(piece)
            yield piece

    def _awaits_next(self) -> bool:
        """Give threads what to read, and wait a little for the next piece; return whether it is yet to come.

        Without threads it is not: all that is left is read here then.
        """
        for piece_range in iter(partial(self._order.assign, self._running * _AHEAD), None):
            self._ranges.put(piece_range)
        while self._running and self._order.awaits_next:
            try:
                result = self._results.get(timeout=PATIENCE)
            except Empty:
                return True
            if result is None:
                self._running -= 1
            else:
                self._order.bring(*result)
        return False

    def _work(self, read_piece: ReadPiece) -> None:
        """Read pieces, in a thread, until there are no more or the reader is lost."""
        try:
            while True:
                with self._inflate_lock:
                    piece_range = self._ranges.get()
                    if piece_range is None or self._stopped:
                        return
                    excerpt = None if self._text.loan is not None else self._inflate(piece_range)
                piece = None
                try:
                    piece = read_piece(piece_range, excerpt)
                except ReaderLost as error:
                    self.loss_reasons.append(str(error))
                    return
                except Exception:  # whoever takes the piece reads it again, and meets what is wrong
                    pass
                finally:
                    self._results.put((piece_range.number, piece))
        finally:
            self._results.put(None)

    def _inflate(self, piece_range: PieceRange) -> Excerpt:
        """Return the text of a piece, and a little around it; an empty excerpt where that fails."""
        start = max(0, piece_range.start - BEFORE)
        length = piece_range.stop + AFTER - start
        try:
            chars = self._text.read(start, length)
        except Exception:  # whoever takes the piece reads it again, and meets what is wrong
            return Excerpt(b"", start, False)
        return Excerpt(chars, start, len(chars) < length)

    def _scan(
        self, reader: PieceReader, piece_range: PieceRange, excerpt: Excerpt | None
    ) -> EventsPiece | None:
        text = _WantedText(self._text, lambda: not self._stopped) if excerpt is None else excerpt
        return reader.read_ahead(text, piece_range.start, piece_range.stop, piece_range.start_known)


class _WantedText:
    """The text, as long as somebody wants its pieces. Raises EOFError afterwards."""

    def __init__(self, text: Text, is_wanted: Callable[[], bool]) -> None:
        self._text = text
        self._is_wanted = is_wanted

    def read(self, offset: int, length: int) -> bytes:
        if not self._is_wanted():
            raise EOFError
        return self._text.read(offset, length)
