"""Share the reading of one text among worker processes, and read all of it even if they fail.

The text is cut at equal distances. A worker looks for the first event after a cut, and reads from there to
the first one after the next cut. Its piece counts only if it starts exactly where the piece before ended, so
a wrong guess of where an event begins never changes what is read.
"""

from __future__ import annotations

import selectors
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import orjson

from tracetui.background import PATIENCE, Background
from tracetui.language import state
from tracetui.reader.pieces import AFTER, BEFORE, EventsPiece, PieceReader, Syntax, last_number, stop_of
from tracetui.reader.processes import Buffer, Buffers, Worker, exit_deadline, exit_words
from tracetui.reader.text import LentText, Loan, Text
from tracetui.reader.transport import unpack_piece
from tracetui.reader.worker import PieceAnswer, PieceTask

_TASKS_AT_ONCE = 2  # for each worker: it does the second while this process takes the answer to the first
_SILENCE = 10.0  # seconds without an answer after which a worker is given up
_NONSENSE = "it answered nonsense"


class WorkerPool:
    """Reads a text with worker processes; a context manager that ends them."""

    def __init__(
        self,
        text: Text,
        start: int,
        piece_bytes: int,
        syntax: Syntax,
        jobs: int,
        end: int = sys.maxsize,
        first: int | None = None,
    ) -> None:
        """Prepare `jobs` processes for the events up to offset `end`; the text is cut from `start` on.

        `first`: offset of the first event that nobody has read yet; None: `start`.
        """
        self._text = text
        self._start, self._end = start, end
        self._piece_bytes = piece_bytes
        self._syntax = syntax
        self._reader = PieceReader(syntax)
        self._next_start = start if first is None else first  # offset at which the next piece must begin
        self._next_in_damage = False  # whether the next piece begins inside damaged text
        # Pieces are numbered by the cut before them; the first one is read in this process.
        self._next_number = (self._next_start - start) // piece_bytes
        self._first_unassigned = self._next_number + 1  # the lowest number that was never given to a worker
        self._last_number = sys.maxsize  # number of the piece at the end of the text, once that is known
        if text.shared is not None:
            self._last_number = last_number(text.shared.end, start, piece_bytes, end)
        self._jobs = max(min(jobs, self._last_number - self._next_number), 0)
        self._to_redo: dict[int, PieceTask] = {}  # tasks to be done again, by number
        self._answers: dict[int, tuple[PieceTask, PieceAnswer, Worker]] = {}
        # The next piece, while this process reads it.
        self._local_reading: Background[EventsPiece] | None = None
        # The offset of the text that is being inflated for a worker, and that text.
        self._inflating: tuple[int, Background[bytes]] | None = None
        self._buffers = Buffers()
        self._workers: list[Worker] = []
        self._start_errors: list[str] = []  # why workers could not be started
        self._end_reasons: list[str] = []  # why workers ended early
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
        deadline = exit_deadline()
        for worker in self._workers:
            worker.reap(deadline)
        self._workers.clear()
        self._selector.close()
        self._buffers.close()

    def pieces(self) -> Iterator[EventsPiece | None]:
        """Yield all pieces from front to back; None while the next is awaited: the caller may stop."""
        if self._text.shared is not None:
            self._assign()
        piece = self._read_here()  # meanwhile the workers start
        while True:
            yield piece
            if piece is not None:
                if piece.over or piece.end >= self._end:
                    return
                self._next_start, self._next_in_damage = piece.end, piece.in_damage
                self._next_number = (piece.end - self._start) // self._piece_bytes
                self._drop_earlier()
            piece = self._next_piece()

    def troubles(self) -> Iterator[str]:
        """Yield a sentence for each kind of failure of workers from which the reading recovered."""
        if self._start_errors:
            count, why = len(self._start_errors), ", ".join(sorted(set(self._start_errors)))
            template = "{count} of {jobs} worker processes could not be started ({reason})"
            yield state(template, count=count, jobs=self._jobs, reason=why)
        if self._end_reasons:
            count, why = len(self._end_reasons), ", ".join(sorted(set(self._end_reasons)))
            template = (
                "{count} of {jobs} worker processes ended early ({reason}); their parts were read again"
            )
            if count == 1:
                template = "1 of {jobs} worker processes ended early ({reason}); its part was read again"
            yield state(template, count=count, jobs=self._jobs, reason=why)

    def _next_piece(self) -> EventsPiece | None:
        """Return the next piece if it is there, else wait a little for workers and return None.

        A worker's answer counts if it begins where the piece before ended. If not, the piece is read again
        from there: by a worker, or in this process where no worker is left or one failed at it again.
        """
        if self._local_reading is not None:
            return self._read_here()
        number = self._next_number
        if number > self._last_number:
            return self._read_here()
        if number in self._answers:
            task, answer, worker = self._answers.pop(number)
            piece = None
            if (answer.start, task.starts_in_damage) == (self._next_start, self._next_in_damage):
                piece = self._unpack_answer(task, answer, worker)
            if piece is not None or task.start_known:
                self._buffers.free(number)
                self._assign()
                return self._read_here() if piece is None else piece
            self._to_redo[number] = task
        if number in self._to_redo:
            self._to_redo[number] = replace(
                self._to_redo[number],
                start=self._next_start,
                start_known=True,
                starts_in_damage=self._next_in_damage,
            )
        if not self._workers:
            return self._read_here()
        assigned = self._assign()
        ready = self._selector.select(0 if assigned else PATIENCE)
        for key, _ in ready:
            self._receive(key.data)
        if not (ready or assigned):
            self._give_up_unresponsive()
        return None

    def _read_here(self) -> EventsPiece | None:
        """Read the next piece in this process; None while that is under way."""
        if self._local_reading is None:
            stop = stop_of(self._next_start, self._start, self._piece_bytes, self._end)
            self._local_reading = Background(
                partial(self._reader.read, self._text, self._next_start, stop, self._next_in_damage)
            )
        if not self._local_reading.wait(PATIENCE):
            return None
        reading, self._local_reading = self._local_reading, None
        return reading.result()

    def _drop_earlier(self) -> None:
        """Forget the tasks and answers before the next piece: the one just yielded may span several cuts."""
        for number in [number for number in (*self._to_redo, *self._answers) if number < self._next_number]:
            self._to_redo.pop(number, None)
            self._answers.pop(number, None)
            self._buffers.free(number)
        self._first_unassigned = max(self._first_unassigned, self._next_number)

    def _assign(self) -> bool:
        """Hand out tasks, to the worker with the fewest first, until each has `_TASKS_AT_ONCE`.

        The text of a gzip file is inflated here, which takes long: only one task is handed out then, and
        True is returned, as there may be more.
        """
        while self._workers:
            worker = min(self._workers, key=lambda worker: len(worker.tasks))
            if len(worker.tasks) >= _TASKS_AT_ONCE:
                return False
            task = self._to_redo.pop(min(self._to_redo)) if self._to_redo else self._new_task()
            if task is None:
                return False
            worker.tasks[task.number] = task
            if not worker.send(task.line()):
                self._give_up(worker)
            if self._text.shared is None:
                return True
        return False

    def _new_task(self) -> PieceTask | None:
        """Return a task for the first unassigned piece.

        None if there is none, no buffer is free, or its text is still being inflated.
        """
        number = self._first_unassigned
        buffer = self._buffers.take(number) if number <= self._last_number else None
        if buffer is None:
            return None
        start_known = number == self._next_number
        start = self._next_start if start_known else self._start + number * self._piece_bytes
        stop = stop_of(start, self._start, self._piece_bytes, self._end)
        try:
            loan = self._text.shared or self._lend_text(buffer, max(0, start - BEFORE), stop + AFTER)
        except OSError as error:  # there is no memory, and none for other pieces either
            self._buffers.free(number)
            for worker in [*self._workers]:
                self._give_up(worker, error.strerror)
            return None
        if loan is None:
            self._buffers.free(number)
            return None
        if loan.last:
            self._last_number = last_number(loan.end, self._start, self._piece_bytes, self._end)
            if number > self._last_number:
                self._buffers.free(number)
                return None
        self._first_unassigned += 1
        return PieceTask(
            number, start, stop, start_known, start_known and self._next_in_damage, loan, buffer.piece
        )

    def _lend_text(self, buffer: Buffer, start: int, stop: int) -> Loan | None:
        """Put inflated text where workers can read it; None while it is being inflated. Raises OSError."""
        if self._inflating is None or self._inflating[0] != start:
            self._inflating = start, Background(partial(self._text.read, start, stop - start))
        _, inflating = self._inflating
        if not inflating.wait(PATIENCE):
            return None
        self._inflating = None
        return buffer.lend(inflating.result(), start, stop)

    def _receive(self, worker: Worker) -> None:
        """Store the answers that a worker has written; give it up where they are nonsense."""
        lines = worker.lines()
        if lines is None:
            self._give_up(worker)
            return
        for line in filter(None, lines):
            try:
                answer = PieceAnswer.parse(line)
                task = worker.tasks.pop(answer.number)
            except (ValueError, TypeError, KeyError):
                self._give_up(worker, _NONSENSE)
                return
            if answer.number < self._next_number:
                self._buffers.free(answer.number)
            else:
                self._answers[answer.number] = task, answer, worker

    def _unpack_answer(self, task: PieceTask, answer: PieceAnswer, worker: Worker) -> EventsPiece | None:
        """Return the piece that a worker has written; None where that is nonsense."""
        try:
            content = LentText(Loan(task.buffer, 0, answer.length, True))
            piece = unpack_piece(content.read(0, answer.length), answer.document)
        except (ValueError, TypeError, KeyError, AttributeError):
            self._give_up(worker, _NONSENSE)
            return None
        if answer.problem:
            self._text.report(answer.problem)
        return piece

    def _give_up_unresponsive(self) -> None:
        """Give up workers that have a task and do not answer.

        Rounds of waiting are counted instead of clock time, in which a suspended machine looks like silence.
        """
        for worker in [*self._workers]:
            worker.silent += PATIENCE
            if worker.tasks and worker.silent >= _SILENCE:
                self._give_up(worker, "it did not answer")

    def _give_up(self, worker: Worker, why: str | None = None) -> None:
        """End a worker and take its tasks back, for others to do. `why` None: it has ended by itself."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        self._selector.unregister(worker.process.stdout or -1)
        if why is not None:
            worker.process.kill()
        status = worker.reap()
        self._end_reasons.append(why or exit_words(status))
        for number, task in worker.tasks.items():
            if number < self._next_number:
                self._buffers.free(number)
            else:
                self._to_redo[number] = task

    def _start_workers(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            return  # there is no interpreter to start
        try:
            self._buffers.open(self._jobs * _TASKS_AT_ONCE, with_text=self._text.shared is None)
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
