"""What the exit status of tracetui says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit statuses, all of them."""

    OK = 0
    ERROR = 1  #: something went wrong that is neither the user's nor the trace's doing
    USAGE = 2  #: the arguments, or a terminal that cannot show the viewer
    UNREADABLE = 3  #: there is no trace at the path
    CANCELLED = 130  #: ctrl+c
