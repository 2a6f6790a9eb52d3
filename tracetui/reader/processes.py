"""What the system has to give for worker processes: the processes, and files in memory to write to.

Knows not what they read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tracetui.reader.text import Loan
from tracetui.reader.worker import PieceTask, write_all

GOODBYE = 1.0  #: seconds for a killed process to be gone
_LONGEST_LINE = 1 << 12
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
    """A process that reads pieces: a fresh interpreter, since a fork of a process with threads may hang."""

    def __init__(self, fds: list[int]) -> None:
        """Start it with `fds` open. Raises OSError."""
        self.tasks: dict[int, PieceTask] = {}  #: in hand, by number
        self.silent = 0.0  #: seconds of waiting for it since it said something, or was given something to do
        self._line = b""  # the begin of one
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", _START, *_module_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            pass_fds=fds,
            env={**os.environ, **_ENVIRONMENT},
        )

    def send(self, line: bytes) -> bool:
        """Send a line, shorter than a pipe is; return False where the process is gone."""
        assert self.process.stdin is not None
        self.silent = 0.0
        try:
            self.process.stdin.write(line)
        except OSError:
            return False
        return True

    def lines(self) -> list[bytes] | None:
        """Return the lines it has sent, of which one has to be there; an empty one says that it is at work.

        None where the process is gone or sends nonsense.
        """
        assert self.process.stdout is not None
        try:
            output = self.process.stdout.read(1 << 16)
        except OSError:
            return None
        self.silent = 0.0
        *lines, self._line = (self._line + output).split(b"\n")
        return lines if output and len(self._line) < _LONGEST_LINE else None

    def reap(self, deadline: float | None = None) -> int | None:
        """Wait for its end, which has to be near, and else kill it.

        until : when it has to be gone, of `time.monotonic`; None: within the usual time.

        Returns its exit status; None where nothing ends it, as while it waits for a file on a network.
        """
        process = self.process
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        for _ in range(2):
            seconds = GOODBYE if deadline is None else max(deadline - time.monotonic(), 0)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(seconds)
            process.kill()
        return None


def exit_deadline() -> float:
    """Return when a process that is killed now has to be gone, of `time.monotonic`."""
    return time.monotonic() + GOODBYE


class Buffers:
    """Files in memory that workers write to, each for one piece at a time."""

    def __init__(self) -> None:
        self._all: list[Buffer] = []
        self._free: list[Buffer] = []
        self._taken: dict[int, Buffer] = {}

    def open(self, count: int, with_text: bool) -> None:
        """Make so many; `with_text`: with a place for the text to read. Raises OSError."""
        for _ in range(count):
            buffer = Buffer(_file())
            self._all.append(buffer)
            if with_text:
                buffer.text = _file()
        self._free = self._all[::-1]

    def close(self) -> None:
        """Give the memory back."""
        for fd in self.fds():
            os.close(fd)
        self._all.clear()

    def fds(self) -> list[int]:
        """Return the file descriptors of all."""
        return [fd for buffer in self._all for fd in (buffer.piece, buffer.text) if fd is not None]

    def take(self, number: int) -> Buffer | None:
        """Return a buffer for the piece with this number, None where all are taken."""
        if not self._free:
            return None
        return self._taken.setdefault(number, self._free.pop())

    def free(self, number: int) -> None:
        """Take back the buffer of the piece with this number."""
        self._free.append(self._taken.pop(number))


@dataclass
class Buffer:
    """Where a worker writes what it read."""

    piece: int  #: file descriptor
    text: int | None = None  #: of the text to read, where that isn't on disk as such

    def lend(self, chars: bytes, start: int, stop: int) -> Loan:
        """Put the text from `start` on there for a worker to read; it ends before `stop` if it is shorter.

        Raises OSError.
        """
        assert self.text is not None
        write_all(self.text, chars, 0)
        return Loan(self.text, -start, start + len(chars), len(chars) < stop - start)


def exit_words(status: int | None) -> str:
    """Return how a process ended, in a word or two."""
    if status is None:
        return "it did not answer"
    if status >= 0:
        return f"exit status {status}"
    try:
        return "killed" if status == -signal.SIGKILL else signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _file() -> int:
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
