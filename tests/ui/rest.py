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
from textual.message_pump import MessagePump
from textual.screen import Screen

SOON_S = 0.2  #: debounces are shorter, sentences come and stand later
CALM = 3  #: turns of the event loop in which nothing was left to do
TURN_S = 0.002  #: a look whether a thread is done
LONGEST_S = 0.02
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
    calm, rests, until = 0, True, time.monotonic() + PATIENCE_S
    while calm < CALM and app._running and app._exception is None and not app._exit:
        await asyncio.sleep(0 if rests or loop._ready else _until_next(app, loop))
        rests = not (loop._ready or _works(app) or _expects(app, debounces) or _frame_is_due(app))
        calm = calm + 1 if rests else 0
        assert time.monotonic() < until, f"never at rest, or held without threads_held(): {_left(app, loop)}"


def _left(app: App[Any], loop: Any) -> dict[str, object]:
    """What a viewer that never rests has to do."""
    screen, pumps = app.screen, _pumps(app)
    timers = [timer for pump in pumps for timer in pump._timers if timer._task and not timer._task.done()]
    return {
        "ready": [*loop._ready][:5],
        "workers": [*app.workers],
        "timers": [(timer.name, timer._interval, timer._repeat) for timer in timers],
        "messages": [pump for pump in pumps if pump._message_queue.qsize() or pump._next_callbacks],
        "widgets": [*screen._dirty_widgets],
        "screen": (screen, screen._layout_required, screen._repaint_required, screen._scroll_required),
        "callbacks": [*screen._callbacks],
        "regions": [*screen._compositor._dirty_regions][:5],
        "app": (getattr(app, "_resize_timer", None), app._batch_count),
    }


def _until_next(app: App[Any], loop: Any) -> float:
    """Return how long nothing but threads does anything, s: a look at the viewer is most of waiting."""
    if thread_runs(app):
        return TURN_S
    timers = [timer for timer in loop._scheduled if not timer.cancelled()]
    if not timers:
        return LONGEST_S
    first = min(timers, key=lambda timer: timer.when())
    left: float = first.when() - loop.time()
    return min(max(left, 0.0), LONGEST_S)


def _frame_is_due(app: App[Any]) -> bool:
    """Return whether something of the screen in front is not drawn yet."""
    return bool(app.screen._compositor._dirty_regions)


def _expects(app: App[Any], debounces: bool) -> bool:
    """Whether something will come that is to be waited for."""
    if _held:
        return debounces and timer_runs(app)
    return thread_runs(app) or (debounces and timer_runs(app))


def has_work(app: App[Any]) -> bool:
    """Whether something is left to do but what timers and threads will bring."""
    return _works(app) or _frame_is_due(app)


def _works(app: App[Any]) -> bool:
    """Whether something but a frame is left to do."""
    screen = app.screen
    return bool(
        getattr(app, "_resize_timer", None) is not None  # since 8.1
        or app._batch_count
        or screen._dirty_widgets
        or screen._layout_required
        or screen._repaint_required
        or screen._scroll_required
        or screen._callbacks
        or any(map(_works_behind, app._background_screens))
        or any(pump._message_queue.qsize() or pump._next_callbacks for pump in _pumps(app))
    )


def _works_behind(screen: Screen[Any]) -> bool:
    """Return whether a screen that others let through will draw something, which theirs show then."""
    return screen._update_timer._active.is_set()


def _pumps(app: App[Any]) -> list[MessagePump]:
    """The app and its widgets, as far as they are not gone."""
    return [pump for pump in (app, *app._registry) if pump]


def thread_runs(app: App[Any]) -> bool:
    """Whether a thread will bring something."""
    return any(not worker.is_finished for worker in app.workers)


def timer_runs(app: App[Any], soon_s: float = SOON_S) -> bool:
    """Whether a timer that runs soon will bring something."""
    return any(
        timer._repeat == 0 and timer._interval < soon_s and timer._task and not timer._task.done()
        for pump in _pumps(app)
        for timer in pump._timers
    )
