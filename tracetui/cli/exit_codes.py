"""What the exit status of tracetui says."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit statuses, all of them."""

    OK = 0
    ERROR = 1  #: something went wrong that is neither the user's nor the trace's doing
    USAGE = 2  #: the arguments, or a terminal that cannot show the viewer
    UNREADABLE = 3  #: there is no trace at the path
    LIMIT = 4  #: `tracetui check`: a limit is passed
    UNCHECKED = 5  #: `tracetui check`: no device in the trace works, so that no limit says anything
    CANCELLED = 130  #: ctrl+c
