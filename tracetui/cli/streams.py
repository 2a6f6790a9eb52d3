"""The standard streams of a process: they may be closed, full, or read by nobody."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Optional, TextIO

Stream = Optional[TextIO]


def write(stream: Stream, text: str) -> None:
    """Write a text, or as much of it as somebody reads: a closed stream or pipe is no error."""
    if stream is None:
        return
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


def say(sentence: str) -> None:
    """Print one line on stderr; what cannot be said is left unsaid."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(f"tracetui: {sentence}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        drop(sys.stderr)


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
