"""Signals that end a command in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

#: as they are where nobody has said otherwise; a signal that is ignored (nohup) stays so
_USUAL = (signal.SIG_DFL, signal.default_int_handler)
_RETRY_S = 0.02  # until an import that a signal came into is looked at again
_MOST_RETRIES = 250  # such looks: an import from a network that hangs is interrupted then

_arrived: list[int] = []  # signals that came


@contextlib.contextmanager
def as_cancel(*signals: signal.Signals) -> Iterator[None]:
    """Let these signals do as ctrl+c does, so that half a file is never left behind.

    None is raised within an import: numpy makes an ImportError of it that fills a screen, and Python prints
    those that come into its own cleaning up, and goes on. An error after a signal counts as that signal.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    retries = 0

    def cancel(number: int, frame: FrameType | None) -> None:
        nonlocal retries
        _arrived.append(number)
        retries += 1
        if retries < _MOST_RETRIES and _is_importing(frame):
            signal.setitimer(signal.ITIMER_REAL, _RETRY_S)
        else:
            raise KeyboardInterrupt

    old_handlers = {number: signal.getsignal(number) for number in signals}
    handled = {number: handler for number, handler in old_handlers.items() if handler in _USUAL}
    alarm = signal.signal(signal.SIGALRM, cancel)
    _arrived.clear()
    try:
        for number in handled:
            signal.signal(number, cancel)
        yield
    except Exception:
        if _arrived:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        for number, handler in handled.items():
            signal.signal(number, handler)


def raise_if_signalled() -> None:
    """Raise KeyboardInterrupt if a signal has come that has not raised yet, or where nobody noticed."""
    if _arrived:
        raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    """Return whether something is being imported where a signal came."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
