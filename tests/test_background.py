"""Threads that an event loop is left with: what it waits for, and what it gives up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from tracetui.background import LeavableThreads, finishing, map_beside


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """An event that what a test leaves behind waits for."""
    event = threading.Event()
    yield event
    event.set()


def test_a_loop_ends_while_a_call_goes_on(released: threading.Event) -> None:
    started = threading.Event()

    def call() -> None:
        started.set()
        released.wait()

    async def leave() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(LeavableThreads(2, 0.01))
        loop.run_in_executor(None, call)
        while not started.is_set():
            await asyncio.sleep(0.001)

    # In a thread of its own: the main one would be left without a loop, which widgets need on Python 3.9.
    running = threading.Thread(target=asyncio.run, args=(leave(),), daemon=True)
    running.start()
    running.join(60)
    assert not running.is_alive() and not released.is_set()


def test_results_and_errors_come_back() -> None:
    threads = LeavableThreads(2, 1.0)
    assert threads.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 7, 0).result()


def test_a_call_that_waits_its_turn_is_given_up(released: threading.Event) -> None:
    threads = LeavableThreads(1, 0.01)
    started, called = threading.Event(), threading.Event()

    def call() -> None:
        started.set()
        released.wait()

    running = threads.submit(call)
    assert started.wait(60)
    waiting = threads.submit(called.set)
    threads.shutdown()
    assert waiting.cancelled() and not running.done()
    released.set()
    running.result()
    assert not called.is_set()


def test_what_must_be_finished_is_waited_for(released: threading.Event) -> None:
    threads = LeavableThreads(1, 0.01)
    started, ended = threading.Event(), threading.Event()

    def call() -> None:
        with finishing():
            started.set()
            released.wait()
        ended.set()

    threads.submit(call)
    assert started.wait(60)
    leaving = threading.Thread(target=threads.shutdown)
    leaving.start()
    leaving.join(0.1)
    assert leaving.is_alive()
    released.set()
    leaving.join()
    assert ended.wait(60)


def test_each_item_is_taken_once_and_results_keep_their_order() -> None:
    here, there = threading.Event(), threading.Event()
    main = threading.get_ident()

    def square(number: int) -> int:
        mine, other = (here, there) if threading.get_ident() == main else (there, here)
        mine.set()
        assert other.wait(60)  # each thread has one by now
        return number * number

    assert map_beside(square, range(5)) == [0, 1, 4, 9, 16]
    assert map_beside(square, []) == []


def test_all_is_done_here_where_that_is_asked() -> None:
    assert map_beside(lambda _: threading.get_ident(), range(9), here=True) == [threading.get_ident()] * 9


@pytest.mark.parametrize("items", [[1, 0], [0, 1], [0]])
def test_an_error_in_either_thread_is_raised(items: list[int]) -> None:
    with pytest.raises(ZeroDivisionError):
        map_beside(lambda number: 1 // number, items)
