"""What the exit status of tracetui says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit statuses, all of them, each with what it means."""

    meaning: str

    def __new__(cls, status: int, meaning: str) -> ExitCode:
        code = int.__new__(cls, status)
        code._value_ = status
        code.meaning = meaning
        return code

    OK = 0, "done"
    ERROR = 1, "an error that is neither in the arguments nor in the trace"
    USAGE = 2, "wrong arguments, or a terminal that cannot show the viewer"
    UNREADABLE = 3, "no readable trace"
    LIMIT = 4, "check: a limit is exceeded; doctor: numbers are in doubt"
    UNCHECKED = 5, "check: nothing to check, as no device works or no memory is recorded"
    CANCELLED = 130, "cancelled"
