"""Why a trace can't be read at all: one sentence for the user."""

from __future__ import annotations

import enum

from tracetui.language import Statement, state

NO_MEMORY = state("there is not enough memory for this trace")


class Reason(enum.Enum):
    """What stands in the way."""

    MISSING = "missing"  #: no such file, or no trace in the directory
    DIRECTORY = "directory"  #: a directory with several traces: the user has to choose
    PERMISSION = "permission"  #: the system refuses the reading
    EMPTY = "empty"  #: a trace without a single whole event
    NOT_A_TRACE = "not a trace"  #: something else than JSON with trace events
    SCHEDULER = "scheduler"  #: the recording of the scheduler that is asked for is of no use for the trace


class UnreadableTrace(Exception):  # noqa: N818 - the name says what is wrong, "Error" would add nothing
    """The path holds no trace that can be read; `str()` is one sentence, free of control characters."""

    def __init__(self, reason: Reason, sentence: str) -> None:
        super().__init__(plain(sentence))
        self.reason = reason


def plain(text: str) -> str:
    """Return `text` with every character that a terminal wouldn't print as itself shown as an escape.

    A statement stays one, so that it can be said in another language.
    """
    if isinstance(text, Statement):
        return text.with_values(plain)
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
