"""Keeping what was read while the program works on: nobody waits for the disk before there is an answer."""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
from collections.abc import Callable

from tracetui.cache.traces import keep, worth_keeping
from tracetui.reader.source import TraceFile
from tracetui.trace.model import Trace

#: seconds that a slow disk may hold up the end of the program, unless ctrl+c ends that: 150 MB are written in
#: 0.1 s by a fast one
_PATIENCE = 10.0
_LAST = 1.0  # seconds to remove what was begun

_running: list[tuple[threading.Thread, threading.Event]] = []


def keep_meanwhile(trace_file: TraceFile, trace: Trace) -> None:
    """Keep a trace that was just read, in a thread; `trace_file` may be closed."""
    if worth_keeping(trace_file, trace):
        run_meanwhile(lambda should_stop: keep(trace_file, trace, should_stop))


def run_meanwhile(work: Callable[[Callable[[], bool]], object]) -> None:
    """Run what keeps something in a thread; it is given a function that says whether to stop."""
    _running[:] = [(thread, stop) for thread, stop in _running if thread.is_alive()]
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop.is_set,), daemon=True)
    with contextlib.suppress(RuntimeError):  # no more threads: nothing is kept
        thread.start()
        _running.append((thread, stop))
        atexit.unregister(finish)
        atexit.register(finish)  # what was registered last is called first


def finish(patience: float = _PATIENCE) -> None:
    """Wait until all is written that is being written, at most `patience` seconds, and give up the rest."""
    end = time.monotonic() + patience
    with contextlib.suppress(KeyboardInterrupt):
        for thread, _ in _running:
            thread.join(max(end - time.monotonic(), 0))
    for _, stop in _running:
        stop.set()
    with contextlib.suppress(KeyboardInterrupt):
        for thread, _ in _running:
            thread.join(_LAST)
    _running.clear()
