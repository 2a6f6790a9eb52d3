"""A process that reads pieces for another: a task on each line of stdin, an answer on each line of stdout.

An empty line there says that it is at work. What it read lies in a file that the task names. It ends with its
stdin, and so with whoever started it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import Callable

import orjson

from tracetui.reader.pieces import PieceOptions, PieceReader
from tracetui.reader.text import LentText, Loan
from tracetui.reader.transport import pack_piece

_PULSE = 1.0  # seconds


@dataclass(frozen=True)
class PieceTask:
    """What to read; offsets in the text, as in `PieceRange`."""

    start: int
    stop: int
    start_known: bool
    loan: Loan  #: the text
    buffer: int  #: file descriptor to write the piece to

    def line(self) -> bytes:
        """Return the task for another process."""
        return orjson.dumps(self) + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> PieceTask:
        """Return the task again."""
        members = orjson.loads(line)
        return cls(**{**members, "loan": Loan(**members["loan"])})


@dataclass(frozen=True)
class PieceAnswer:
    """What became of a task."""

    length: int = 0  #: bytes written; 0: the piece couldn't be read
    document: int = 0  #: bytes of the first of what was written
    problem: str | None = None  #: why there is less text than there should be

    def line(self) -> bytes:
        """Return the answer for another process: so short that it's written and read as a whole."""
        return orjson.dumps(self) + b"\n"

    @classmethod
    def parse(cls, line: bytes) -> PieceAnswer:
        """Return the answer again; raises ValueError or TypeError where the line is something else."""
        answer = cls(**orjson.loads(line))
        if type(answer.length) is not int or type(answer.document) is not int:
            raise TypeError
        return answer


def main() -> None:
    """Do the tasks on stdin; the arguments say what is common to all."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the other process decides
    gc.disable()  # as in TraceFile.read
    stdin = sys.stdin.buffer
    reader = PieceReader(PieceOptions(**orjson.loads(stdin.readline())))
    pulse = _Pulse().beat
    for line in iter(stdin.readline, b""):
        answer = read_task(PieceTask.parse(line), reader, pulse)
        try:
            os.write(1, answer.line())
        except OSError:
            break  # nobody is there to read it
    os._exit(0)


class _Pulse:
    """Tells the other process every second that something is read."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _PULSE

    def beat(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _PULSE
            os.write(1, b"\n")


def read_task(task: PieceTask, reader: PieceReader, on_read: Callable[[], None] | None = None) -> PieceAnswer:
    """Read the piece of a task, and write it to the task's buffer; `on_read` is called of each block."""
    text = LentText(task.loan, on_read)
    try:
        piece = reader.read_ahead(text, task.start, task.stop, task.start_known)
        if piece is None:
            return PieceAnswer()
        contents = pack_piece(piece)
        length = 0
        for content in contents:
            length = write_all(task.buffer, content, length)
    except Exception:  # the other process reads it itself, and meets what is wrong
        return PieceAnswer()
    return PieceAnswer(length, len(contents[0]), text.problem)


def write_all(fd: int, content: bytes, offset: int) -> int:
    """Write all of `content` to a place in a file; returns the place after it. Raises OSError."""
    view = memoryview(content)
    while view:
        count = os.pwrite(fd, view, offset)
        view = view[count:]
        offset += count
    return offset
