"""Waiting until a viewer in a test has nothing left to do: by what it has to do, not by the clock.

Textual's own wait ends once the process uses little of a processor, which it also does on a busy machine.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from textual._context import active_app
from textual.app import App

SOON_S = 0.2  #: debounces are shorter, sentences come and stand later
CALM = 3  #: turns of the event loop in which nothing was left to do
TURN_S = 0.002
PATIENCE_S = 300.0  #: for what never comes

_held: list[bool] = []


@contextmanager
def threads_held() -> Iterator[None]:
    """Do not wait for threads: the test holds them."""
    _held.append(True)
    try:
        yield
    finally:
        _held.pop()


async def keys_taken(*_: float) -> None:
    """Let the viewer work until messages and threads are done."""
    await _rest(debounces=False)


async def at_rest(*_: float) -> None:
    """Let the viewer work until messages, debounces and threads are done."""
    await _rest(debounces=True)


async def _rest(debounces: bool) -> None:
    app = active_app.get()
    loop: Any = asyncio.get_running_loop()
    calm, until = 0, time.monotonic() + PATIENCE_S
    while calm < CALM and app._running and app._exception is None and not app._exit:
        await asyncio.sleep(0 if calm or loop._ready else TURN_S)
        calm = 0 if loop._ready or has_work(app) or _expects(app, debounces) else calm + 1
        assert time.monotonic() < until, f"never at rest: {[*app.workers]}, or held without threads_held()"


def _expects(app: App[Any], debounces: bool) -> bool:
    """Whether something will come that is to be waited for."""
    if _held:
        return debounces and timer_runs(app)
    return thread_runs(app) or (debounces and timer_runs(app))


def has_work(app: App[Any]) -> bool:
    """Whether something is left to do but what timers and threads will bring."""
    screen = app.screen
    return bool(
        getattr(app, "_resize_timer", None) is not None  # since 8.1
        or app._batch_count
        or screen._dirty_widgets
        or screen._layout_required
        or screen._repaint_required
        or screen._scroll_required
        or screen._callbacks
        or screen._compositor._dirty_regions
        or any(pump._message_queue.qsize() or pump._next_callbacks for pump in (app, *app._registry) if pump)
    )


def thread_runs(app: App[Any]) -> bool:
    """Whether a thread will bring something."""
    return any(not worker.is_finished for worker in app.workers)


def timer_runs(app: App[Any], soon_s: float = SOON_S) -> bool:
    """Whether a timer that runs soon will bring something."""
    return any(
        timer._repeat == 0 and timer._interval < soon_s and timer._task and not timer._task.done()
        for pump in (app, *app._registry)
        for timer in pump._timers
    )
