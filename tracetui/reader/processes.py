"""A worker process, and what the system has to give for it: files in memory for its text and its pieces."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import orjson

from tracetui.reader.piece_order import PieceRange
from tracetui.reader.pieces import EventsPiece, PieceOptions
from tracetui.reader.text import LentText, Loan, Text
from tracetui.reader.threads import Excerpt, ReaderLost
from tracetui.reader.transport import unpack_piece
from tracetui.reader.worker import PieceAnswer, PieceTask, write_all

GOODBYE = 1.0  #: seconds for a killed process to be gone
SILENCE = 10.0  #: seconds without a sign of a worker at work after which it is given up
_ROUND = 0.25  # seconds of waiting for such a sign at a time
_LONGEST_LINE = 1 << 12
_SILENT = "it did not answer"
#: Nothing of what the site adds to a Python: the modules are found where this process finds them.
_START = "import sys; sys.path[:] = sys.argv[1:]; from tracetui.reader.worker import main; main()"
_ENVIRONMENT = {
    # numpy's libraries would start a thread for each core, with memory for each.
    **{f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")},
    # glibc would give the memory of arrays back after each and get it anew: a fifth of the time.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 25),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 28),
    "MALLOC_TOP_PAD_": str(1 << 24),
}


class Worker:
    """A process that reads pieces: a fresh interpreter, since a fork of a process with threads may hang.

    One thread has it read, and another may end it meanwhile.
    """

    def __init__(self, text: Text, options: PieceOptions) -> None:
        """Start it. Raises OSError or MemoryError."""
        self._text = text
        self._files: list[int] = []  # that have to be closed
        self._use_lock = threading.Lock()  # held by who uses its pipes and files
        self._closed = False
        try:
            self._piece_file = self._open_file()  # where it writes a piece to
            # Where it finds the text of a piece, if that is not on disk as such.
            self._text_file = -1 if text.loan is not None else self._open_file()
            lent = [] if text.loan is None else [text.loan.fd]
            self._process = subprocess.Popen(
                [sys.executable, "-S", "-c", _START, *_module_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                pass_fds=[*self._files, *lent],
                env={**os.environ, **_ENVIRONMENT},
            )
        except BaseException:
            self._close_files()
            raise
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._output = select.poll()
        self._output.register(self._stdout, select.POLLIN)
        with contextlib.suppress(OSError):  # it has ended: that is said once it is to read something
            self._stdin.write(orjson.dumps(options) + b"\n")

    def read(self, piece_range: PieceRange, excerpt: Excerpt | None) -> EventsPiece | None:
        """Have it read a piece, of an excerpt or of the file; return None where it cannot.

        Raises ReaderLost where it has ended, or was ended since it does not do what it should.
        """
        with self._use_lock:
            if self._closed:
                raise ReaderLost
            try:
                return self._read(piece_range, excerpt)
            except (EOFError, BrokenPipeError):
                reason = None
            except TimeoutError:
                reason = _SILENT
            except OSError as error:  # there is no memory for the text
                reason = error.strerror
            except (ValueError, TypeError, KeyError, AttributeError):
                reason = "it answered nonsense"
            if reason is not None:
                self.kill()
            status = self._end()
            raise ReaderLost(reason or exit_words(status))

    def _read(self, piece_range: PieceRange, excerpt: Excerpt | None) -> EventsPiece | None:
        loan = self._text.loan
        if excerpt is not None:
            write_all(self._text_file, excerpt.chars, 0)
            end = excerpt.start + len(excerpt.chars)
            loan = Loan(self._text_file, shift=-excerpt.start, end=end, last=excerpt.last)
        assert loan is not None
        start, stop, start_known = piece_range.start, piece_range.stop, piece_range.start_known
        self._stdin.write(PieceTask(start, stop, start_known, loan, self._piece_file).line())
        answer = PieceAnswer.parse(self._next_line())
        if answer.problem:
            self._text.report(answer.problem)
        if not answer.length:
            return None
        content = LentText(Loan(self._piece_file, shift=0, end=answer.length, last=True)).read(
            0, answer.length
        )
        if len(content) < answer.length:
            raise ValueError("fewer bytes than it says")
        return unpack_piece(content, answer.document)

    def _next_line(self) -> bytes:
        """Return the next line it sends, beside empty ones: those say that it is at work.

        Raises TimeoutError after a long silence, EOFError where it has ended, ValueError for an endless line.
        """
        line, silent = b"", 0.0
        while not line.endswith(b"\n"):
            # Rounds are counted instead of clock time, in which a suspended machine looks like silence.
            if not self._output.poll(_ROUND * 1000):
                silent += _ROUND
                if silent >= SILENCE:
                    raise TimeoutError
                continue
            silent = 0.0
            output = self._stdout.read(_LONGEST_LINE)
            if not output:
                raise EOFError
            line = (line + output).lstrip(b"\n")
            if len(line) > _LONGEST_LINE:
                raise ValueError
        return line

    def kill(self) -> None:
        """End the process, whatever it does: who awaits a piece of it is told so."""
        self._process.kill()

    def close(self, lock_deadline: float) -> None:
        """End it and give back what it has, unless a thread awaits a piece of it beyond the deadline.

        So it is where it cannot be killed, as while it waits for a file on a network: that thread does it
        then, once it gives the worker up. `lock_deadline` is a time of `time.monotonic`.
        """
        self.kill()
        if self._use_lock.acquire(timeout=max(lock_deadline - time.monotonic(), 0)):
            self._end()
            self._use_lock.release()

    def _end(self) -> int | None:
        """Wait for its end, which has to be near, and else kill it; give back what it has.

        Returns its exit status; None where nothing ends it.
        """
        if not self._closed:
            self._closed = True
            self._stdin.close()
            self._stdout.close()
            self._close_files()
            for _ in range(2):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return self._process.wait(GOODBYE)
                self.kill()
        return None

    def _open_file(self) -> int:
        self._files.append(_unnamed_file())
        return self._files[-1]

    def _close_files(self) -> None:
        for fd in self._files:
            os.close(fd)


def exit_words(status: int | None) -> str:
    """Return how a process ended, in a word or two."""
    if status is None:
        return _SILENT
    if status >= 0:
        return f"exit status {status}"
    try:
        return "killed" if status == -signal.SIGKILL else signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _unnamed_file() -> int:
    """Make a file that has no name, and is not in /dev/shm, which is small in containers. Raises OSError."""
    if hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):  # a sandbox may not have it
            return os.memfd_create("tracetui")
    fd, path = tempfile.mkstemp(prefix="tracetui-")
    Path(path).unlink()
    return fd


def _module_path() -> list[str]:
    """Return `sys.path`, with the place of this package where something else than that found it."""
    home = str(Path(__file__).resolve().parents[2])
    path = [entry for entry in sys.path if isinstance(entry, str)]
    return path if home in path else [*path, home]
