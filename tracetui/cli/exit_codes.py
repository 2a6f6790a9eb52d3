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
    USAGE = 2, "arguments are wrong, or ask for what is not there; an unfit terminal"
    UNREADABLE = 3, "no readable trace"
    LIMIT = 4, "check: a limit or --trusted does not hold; doctor: numbers are in doubt"
    UNCHECKED = 5, "check: nothing recorded tells of what is to be checked"
    CANCELLED = 130, "cancelled"
