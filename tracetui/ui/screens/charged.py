"""Charging idle time in a thread, at first use, for the screens that show what it is charged to."""

from __future__ import annotations

from collections.abc import Callable

from tracetui.analysis.analyse import Analysis
from tracetui.export.sentences.trace import IDLE_UNKNOWN
from tracetui.language import translate, wording
from tracetui.ui.screens.table_screen import AnswerScreen

CHARGING = "charge"  #: the group of the thread

NO_FILE = "This is no line of a Python file."
_NO_STACK = "No Python stack is recorded for what launched these tasks."
_NO_STACKS = "No Python stack is recorded in this trace. The profiler records them with with_stack=True."


def charge_idle(
    screen: AnswerScreen,
    target: str,
    prepare: Callable[[Analysis], object],
    show: Callable[[Analysis], None],
) -> None:
    """Have the idle time of the session charged, then shown; say why there is none.

    target : what it is charged to, which is said meanwhile: "lines".
    prepare : makes what takes a while of what will be shown; called in a thread.
    """
    analysis = screen.session.analysis
    assert analysis is not None
    if not any(device.window_ns for device in analysis.devices):
        screen.show_nothing(IDLE_UNKNOWN)
    elif not any(device.idle_ns for device in analysis.devices):
        screen.show_nothing("The device was never idle.")
    else:
        screen.clear(translate("Charging the idle time to {target}.", target=wording(target)))
        screen.in_background(CHARGING, lambda: prepare(analysis), lambda _: show(analysis))


def absent_source(analysis: Analysis, is_without_stack: bool) -> str:
    """Return why no source is shown: the trace or the task has no stack, or it leads to no file."""
    if not analysis.has_python:
        return _NO_STACKS
    return _NO_STACK if is_without_stack else NO_FILE
