"""Signals that end a command in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: as they are where nobody has said otherwise; a signal that is ignored (nohup) stays so
_USUAL = (signal.SIG_DFL, signal.default_int_handler)
_AGAIN_S = 0.02  # until an import that a signal came into is looked at again
_MOST = 250  # such looks: an import from a network that hangs is interrupted then

_told: list[int] = []  # signals that came


@contextlib.contextmanager
def as_cancel(*signals: signal.Signals) -> Iterator[None]:
    """Let these signals do as ctrl+c does, so that half a file is never left behind.

    None is raised within an import: numpy makes an ImportError of it that fills a screen, and Python prints
    those that come into its own cleaning up, and goes on. An error after a signal counts as that signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    looks = 0

    def cancel(number: int, frame: FrameType | None) -> None:
        nonlocal looks
        _told.append(number)
        looks += 1
        if looks < _MOST and _imports(frame):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in signals}
    caught = {number: handler for number, handler in before.items() if handler in _USUAL}
    alarm = signal.signal(signal.SIGALRM, cancel)
    _told.clear()
    try:
        for number in caught:
            signal.signal(number, cancel)
        yield
    except Exception:
        if _told:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        for number, handler in caught.items():
            signal.signal(number, handler)


def raise_if_told() -> None:
    """Raise KeyboardInterrupt if a signal has come that has not raised yet, or where nobody noticed."""
    if _told:
        raise KeyboardInterrupt


def _imports(frame: FrameType | None) -> bool:
    """Whether something is being imported where a signal came."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
