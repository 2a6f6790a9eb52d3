"""Signals that end a command in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def as_cancel(*signals: signal.Signals) -> Iterator[None]:
    """Let these signals do as ctrl+c does, so that half a file is never left behind."""

    def cancel(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A signal that is ignored (nohup) stays so.
    caught = [number for number in signals if signal.getsignal(number) == signal.SIG_DFL]
    for number in caught:
        signal.signal(number, cancel)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
