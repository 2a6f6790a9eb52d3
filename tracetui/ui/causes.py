"""How causes of idle time look: a letter and a style each, which both tell it from the others.

A capital is the host's, a small letter what came after the task was enqueued.
"""

from __future__ import annotations

from rich.style import Style

from tracetui.analysis.calls import Cause
from tracetui.trace.model import Activity
from tracetui.ui.palette import Palette, Role

_LOOKS: dict[Cause, tuple[str, Role | Activity]] = {
    Cause.GC: ("G", Role.WARNING),
    Cause.SYNC: ("S", Role.ERROR),
    Cause.DATALOADER: ("D", Role.GOOD),
    Cause.COPY: ("C", Activity.COPY),
    Cause.COMMUNICATION: ("N", Activity.COMMUNICATION),
    Cause.COMPILE: ("K", Activity.AICPU),
    Cause.OPERATOR: ("O", Role.HOST),
    Cause.PYTHON: ("P", Role.IDLE),
    Cause.UNRECORDED: ("H", Activity.OTHER),
    Cause.QUEUE_BUSY: ("q", Activity.AICORE),
    Cause.QUEUE_WAKEUP: ("w", Activity.AICORE),
    Cause.LAUNCH_COMPILE: ("k", Activity.AICPU),
    Cause.LAUNCH_DISPATCH: ("l", Activity.AICPU),
    Cause.STREAM_WAIT: ("e", Activity.COMMUNICATION_TASK),
    Cause.LATENCY: ("t", Activity.OTHER),
    Cause.UNKNOWN: ("u", Activity.OTHER),
    Cause.UNLINKED: ("?", Role.DIM),
}


def cause_letter(cause: Cause) -> str:
    """The letter of a cause, different for each."""
    return _LOOKS[cause][0]


def cause_style(cause: Cause, palette: Palette) -> Style:
    """The style of a cause; those of one family may share it."""
    return palette.style_of(_LOOKS[cause][1])
