"""Share the reading of one text among worker processes, and read all of it even if they fail.

Used for a whole text where the scanner is not compiled, else for the rest after an undamaged piece of which
most had to be decoded: decoding keeps the interpreter's lock, so that threads would wait for each other. Each
worker has a thread here that hands it one piece after the other and brings what it read
(`tracetui.reader.threads`).
Which piece is next, and whether a worker found its start, `tracetui.reader.piece_order` knows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

from tracetui.language import state
from tracetui.reader import processes
from tracetui.reader.piece_order import PieceOrder
from tracetui.reader.pieces import EventsPiece, PieceOptions
from tracetui.reader.processes import Worker
from tracetui.reader.text import Text
from tracetui.reader.threads import PieceThreads


class WorkerPool:
    """Reads a text with worker processes; a context manager that kills them."""

    def __init__(self, text: Text, order: PieceOrder, options: PieceOptions, jobs: int) -> None:
        """Prepare to read the rest of `order`, here and in as many processes as pieces, at most `jobs`."""
        self._text = text
        self._options = options
        # While the workers start, this process reads the next piece, if they can read the text from the file
        # themselves. Any other text is inflated here for them: two readers at different places would have it
        # inflated anew each time.
        if text.loan is not None:
            order.keep_next()
        self._jobs = min(jobs, order.unassigned)
        self._threads = PieceThreads(text, order, options)
        self._workers: list[Worker] = []
        self._start_errors: list[str] = []  # why processes, or the threads for them, could not be started

    def __enter__(self) -> WorkerPool:
        try:
            self._start_workers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        """Kill all workers.

        Wait `processes.GOODBYE` seconds for all threads to let go of them, and up to twice that for each
        process to end. A thread that does not let go closes its worker itself later.
        """
        self._threads.__exit__()
        for worker in self._workers:
            worker.kill()
        lock_deadline = time.monotonic() + processes.GOODBYE
        for worker in self._workers:
            worker.close(lock_deadline)

    def pieces(self) -> Iterator[EventsPiece | None]:
        """Yield all pieces from front to back, and None each `background.PATIENCE` s: the caller may stop."""
        return self._threads.pieces()

    def troubles(self) -> Iterator[str]:
        """Yield a sentence for each kind of failure of workers from which the reading recovered so far.

        Only before `__exit__`, which kills workers: those at work would count as lost.
        """
        if self._start_errors:
            count, why = len(self._start_errors), ", ".join(sorted(set(self._start_errors)))
            template = "{count} of {jobs} worker processes could not be started ({reason})"
            yield state(template, count=count, jobs=self._jobs, reason=why)
        if self._threads.loss_reasons:
            count, why = len(self._threads.loss_reasons), ", ".join(sorted(set(self._threads.loss_reasons)))
            template = (
                "{count} of {jobs} worker processes ended early ({reason}); their parts were read again"
            )
            if count == 1:
                template = "1 of {jobs} worker processes ended early ({reason}); its part was read again"
            yield state(template, count=count, jobs=self._jobs, reason=why)

    def _start_workers(self) -> None:
        """Start processes until one cannot be started, and a thread for each; note why some were not started.

        None is started, and none noted, where this program is no interpreter that could be started again.
        """
        if not sys.executable or getattr(sys, "frozen", False):
            return
        try:
            for _ in range(self._jobs):
                worker = Worker(self._text, self._options)
                self._workers.append(worker)
                if not self._threads.start(worker.read):
                    self._start_errors.append("no more threads")
        except (OSError, MemoryError) as error:
            why = "no memory" if isinstance(error, MemoryError) else error.strerror or type(error).__name__
            self._start_errors += [why] * (self._jobs - len(self._workers))
