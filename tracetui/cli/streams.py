"""The standard streams of a process: they may be closed, full, or read by nobody."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Optional, TextIO

Stream = Optional[TextIO]


class Copy:
    """What was written to the standard streams, up to some characters."""

    def __init__(self, most: int) -> None:
        self.outputs: list[tuple[str, str]] = []  #: "stdout" or "stderr", and the text
        self.lasting = True  #: False: the next run may say something else, or this one said too much
        self._left = most  # characters

    def add(self, stream: str, text: str) -> None:
        """Add what is written to a stream; nothing is kept where it becomes too much."""
        self._left -= len(text)
        if self._left < 0:
            self.lasting = False
            self.outputs.clear()
        else:
            self.outputs.append((stream, text))


_copies: list[Copy] = []  # those that are being made


@contextlib.contextmanager
def copied(most: int) -> Iterator[Copy]:
    """Give a copy of what `write` and `print_line` write meanwhile, if it is `most` characters or fewer."""
    copy = Copy(most)
    _copies.append(copy)
    try:
        yield copy
    finally:
        _copies.remove(copy)


def mark_passing() -> None:
    """Tell those who copy that what is written holds for this time only."""
    for copy in _copies:
        copy.lasting = False


def write(stream: Stream, text: str) -> None:
    """Write a text, or as much of it as somebody reads: a closed stream or pipe is no error."""
    if stream is None:
        mark_passing()
        return
    _copy("stdout" if stream is sys.stdout else "stderr", text)
    try:
        stream.write(text)
    except BrokenPipeError:
        drop(stream)


def flush(stream: Stream) -> None:
    """Write what is buffered, as `write` does."""
    if stream is None:
        return
    try:
        stream.flush()
    except BrokenPipeError:
        drop(stream)


def print_line(sentence: str) -> None:
    """Print one line on stderr; what cannot be said is left unsaid."""
    if sys.stderr is None:
        mark_passing()
        return
    _copy("stderr", f"tracetui: {sentence}\n")
    try:
        sys.stderr.write(f"tracetui: {sentence}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(sys.stderr)


def _copy(stream: str, text: str) -> None:
    for copy in _copies:
        copy.add(stream, text)


def drop(stream: Stream) -> None:
    """Let all that is still to be written vanish: Python would try once more when it exits, and fail."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())  # type: ignore[union-attr]
        os.close(null)


def never_fail_to_encode(stream: Stream) -> None:
    """Write what the encoding of a stream lacks as \\x.., instead of failing."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
