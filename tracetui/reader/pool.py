"""The worker processes of one reading: who reads what, and that all of it is read whatever becomes of them.

The text is cut at equal distances. A worker looks for the first event after a cut, and reads from there to
the first one after the next cut. What it read counts only if the piece before ends where it began: so the
pieces are those of a reading from front to back, whatever a worker took for an event.
"""

from __future__ import annotations

import selectors
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import orjson

from tracetui.background import PATIENCE, Background
from tracetui.reader.pieces import BEFORE, Piece, PieceReader, Syntax, stop_of
from tracetui.reader.processes import Buffer, Buffers, Worker, exit_words, goodbye
from tracetui.reader.text import LentText, Loan, Text
from tracetui.reader.transport import unpack_piece
from tracetui.reader.worker import PieceAnswer, PieceTask

_IN_HAND = 2  # tasks of a worker: it goes on with the second while the answer to the first is taken
_SILENCE = 10.0  # seconds of waiting without a word of a worker
_BEYOND = 1 << 20  # bytes of inflated text after a piece: for the event that goes on there
_NONSENSE = "it answered nonsense"


class WorkerPool:
    """Reads a text with worker processes; a context manager that ends them."""

    def __init__(
        self, text: Text, start: int, piece_bytes: int, syntax: Syntax, jobs: int, end: int = sys.maxsize
    ) -> None:
        """Start `jobs` processes for the events from offset `start` up to `end`."""
        self._text = text
        self._start, self._end = start, end
        self._piece_bytes = piece_bytes
        self._syntax = syntax
        self._reader = PieceReader(syntax)
        self._at, self._lost = start, False  # where the next piece begins
        self._number = 0  # of the next piece: pieces are numbered by the cut before their start
        self._fresh = 1  # number of the first piece that nobody was asked for; this process reads number 0
        self._last = sys.maxsize  # number of the piece at the end of the text, once that is known
        if text.shared is not None:
            self._last = (min(text.shared.end, end) - 1 - start) // piece_bytes
        self._jobs = min(jobs, self._last)
        self._todo: dict[int, PieceTask] = {}  # that nobody has in hand
        self._answers: dict[int, tuple[PieceTask, PieceAnswer, Worker]] = {}
        self._own: Background[Piece] | None = None  # the next piece, while this process reads it
        self._inflating: tuple[int, Background[bytes]] | None = None  # text for workers, and its offset
        self._buffers = Buffers()
        self._workers: list[Worker] = []
        self._start_errors: list[str] = []  # why workers could not be started
        self._ends: list[str] = []  # why workers ended early
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> WorkerPool:
        try:
            self._start_workers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        for worker in self._workers:
            worker.process.kill()
        deadline = goodbye()
        for worker in self._workers:
            worker.reap(deadline)
        self._workers.clear()
        self._selector.close()
        self._buffers.close()

    def pieces(self) -> Iterator[Piece | None]:
        """Yield all pieces from front to back; None while the next one is awaited, so that one may stop."""
        if self._text.shared is not None:
            self._assign()
        piece = self._read()  # meanwhile the workers start
        while True:
            yield piece
            if piece is not None:
                if piece.over or piece.end >= self._end:
                    return
                self._at, self._lost = piece.end, piece.lost
                self._number = (piece.end - self._start) // self._piece_bytes
                self._drop_passed()
            piece = self._piece()

    def troubles(self) -> Iterator[str]:
        """Yield what was survived, one sentence each."""
        if self._start_errors:
            count, why = len(self._start_errors), ", ".join(sorted(set(self._start_errors)))
            yield f"{count} of {self._jobs} worker processes could not be started ({why})"
        if self._ends:
            count, why = len(self._ends), ", ".join(sorted(set(self._ends)))
            its = "its part was" if count == 1 else "their parts were"
            yield f"{count} of {self._jobs} worker processes ended early ({why}); {its} read again"

    def _piece(self) -> Piece | None:
        """Return the next piece, if it can be had now."""
        if self._own is not None:
            return self._read()
        number = self._number
        if number > self._last:
            return self._read()
        if number in self._answers:
            task, answer, worker = self._answers.pop(number)
            piece = None
            if (answer.start, task.lost) == (self._at, self._lost):
                piece = self._fetched(task, answer, worker)
            if piece is not None or task.exact:
                self._buffers.free(number)
                self._assign()
                return piece or self._read()
            self._todo[number] = task
        if number in self._todo:
            self._todo[number] = replace(self._todo[number], start=self._at, exact=True, lost=self._lost)
        if not self._workers:
            return self._read()
        assigned = self._assign()
        ready = self._selector.select(0 if assigned else PATIENCE)
        for key, _ in ready:
            self._receive(key.data)
        if not (ready or assigned):
            self._give_up_silent()
        return None

    def _read(self) -> Piece | None:
        """Read the next piece in this process; None while that is under way."""
        if self._own is None:
            stop = stop_of(self._at, self._start, self._piece_bytes, self._end)
            self._own = Background(partial(self._reader.read, self._text, self._at, stop, self._lost))
        if not self._own.wait(PATIENCE):
            return None
        future, self._own = self._own, None
        return future.result()

    def _drop_passed(self) -> None:
        """Give up all that is before the next piece: the one before it went on over several cuts."""
        for number in [number for number in (*self._todo, *self._answers) if number < self._number]:
            self._todo.pop(number, None)
            self._answers.pop(number, None)
            self._buffers.free(number)
        self._fresh = max(self._fresh, self._number)

    def _assign(self) -> bool:
        """Give workers something to do; return whether there is more: inflating all of it would take long."""
        while self._workers:
            worker = min(self._workers, key=lambda worker: len(worker.tasks))
            if len(worker.tasks) >= _IN_HAND:
                return False
            task = self._todo.pop(min(self._todo)) if self._todo else self._new_task()
            if task is None:
                return False
            worker.tasks[task.number] = task
            if not worker.send(task.line()):
                self._give_up(worker)
            if self._text.shared is None:
                return True
        return False

    def _new_task(self) -> PieceTask | None:
        """Return the first piece that nobody was asked for, None where there is none, or no buffer for it."""
        number = self._fresh
        buffer = self._buffers.take(number) if number <= self._last else None
        if buffer is None:
            return None
        exact = number == self._number
        start = self._at if exact else self._start + number * self._piece_bytes
        stop = stop_of(start, self._start, self._piece_bytes, self._end)
        try:
            loan = self._text.shared or self._lent(buffer, max(0, start - BEFORE), stop + _BEYOND)
        except OSError as error:  # no memory: none for other pieces either
            self._buffers.free(number)
            for worker in [*self._workers]:
                self._give_up(worker, error.strerror)
            return None
        if loan is None:
            self._buffers.free(number)
            return None
        if loan.last:
            self._last = (loan.end - 1 - self._start) // self._piece_bytes
            if number > self._last:
                self._buffers.free(number)
                return None
        self._fresh += 1
        return PieceTask(number, start, stop, exact, exact and self._lost, loan, buffer.piece)

    def _lent(self, buffer: Buffer, start: int, stop: int) -> Loan | None:
        """Put inflated text where workers can read it; None while it is inflated. Raises OSError."""
        if self._inflating is None or self._inflating[0] != start:
            self._inflating = start, Background(partial(self._text.read, start, stop - start))
        _, inflating = self._inflating
        if not inflating.wait(PATIENCE):
            return None
        self._inflating = None
        return buffer.lend(inflating.result(), start, stop)

    def _receive(self, worker: Worker) -> None:
        """Take what a worker has to say."""
        lines = worker.lines()
        if lines is None:
            self._give_up(worker)
            return
        for line in filter(None, lines):
            try:
                answer = PieceAnswer.of(line)
                task = worker.tasks.pop(answer.number)
            except (ValueError, TypeError, KeyError):
                self._give_up(worker, _NONSENSE)
                return
            if answer.number < self._number:
                self._buffers.free(answer.number)
            else:
                self._answers[answer.number] = task, answer, worker

    def _fetched(self, task: PieceTask, answer: PieceAnswer, worker: Worker) -> Piece | None:
        """Return the piece that a worker wrote; None where that is nonsense."""
        try:
            content = LentText(Loan(task.buffer, 0, answer.length, True))
            piece = unpack_piece(content.read(0, answer.length), answer.document)
        except (ValueError, TypeError, KeyError, AttributeError):
            self._give_up(worker, _NONSENSE)
            return None
        if answer.problem:
            self._text.report(answer.problem)
        return piece

    def _give_up_silent(self) -> None:
        """Go on without those that have a task and are silent for long: a clock would count a suspension."""
        for worker in [*self._workers]:
            worker.silent += PATIENCE
            if worker.tasks and worker.silent >= _SILENCE:
                self._give_up(worker, "it did not answer")

    def _give_up(self, worker: Worker, why: str | None = None) -> None:
        """Go on without a worker: others do what it has in hand."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        self._selector.unregister(worker.process.stdout or -1)
        if why is not None:
            worker.process.kill()
        status = worker.reap()
        self._ends.append(why or exit_words(status))
        for number, task in worker.tasks.items():
            if number < self._number:
                self._buffers.free(number)
            else:
                self._todo[number] = task

    def _start_workers(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            return  # there is no interpreter to start
        try:
            self._buffers.open(self._jobs * _IN_HAND, with_text=self._text.shared is None)
            fds = self._buffers.fds()
            if self._text.shared is not None:
                fds.append(self._text.shared.fd)
            for _ in range(self._jobs):
                worker = Worker(fds)
                self._workers.append(worker)
                self._selector.register(worker.process.stdout or -1, selectors.EVENT_READ, worker)
                worker.send(orjson.dumps(self._syntax) + b"\n")
        except (OSError, MemoryError) as error:
            why = getattr(error, "strerror", None) or "no memory"
            self._start_errors += [why] * (self._jobs - len(self._workers))
