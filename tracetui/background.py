"""Work in a thread of its own: whoever awaits it may do something else meanwhile, or leave.

A read of a file on a network may hang for ever, and nothing can interrupt it. While numpy works in one
thread, another one goes on.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Callable, Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")

PATIENCE = 0.05  #: seconds between two chances to stop
#: Slices up to which two threads work on what has as many rows: both take memory for that.
MOST_BESIDE = 3_000_000


class Background(Generic[T]):
    """A call under way in another thread, which keeps no program from ending."""

    def __init__(self, call: Callable[[], T], here: bool = False) -> None:
        """Start it; do it `here` if that is asked for, or where there can be no more threads."""
        self._call = call
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._done = threading.Event()
        if here:
            self._run()
            return
        try:
            threading.Thread(target=self._run, daemon=True).start()
        except RuntimeError:
            self._run()

    def _run(self) -> None:
        try:
            self._results.append(self._call())
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def wait(self, seconds: float) -> bool:
        """Return whether it is done, within so many seconds."""
        return self._done.wait(seconds)

    def result(self) -> T:
        """Return what it returns, or raise what it raises; waits for that."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._results.pop()


def in_background(items: Iterator[T]) -> Iterator[T | None]:
    """Yield the items, each made in another thread; None every now and then while one is awaited."""
    while True:
        following = Background(lambda: [*islice(items, 1)])
        while not following.wait(PATIENCE):
            yield None
        found = following.result()
        if not found:
            return
        yield found.pop()


def map_beside(call: Callable[[S], T], items: Iterable[S], here: bool = False) -> list[T]:
    """Return what a call returns for each item; another thread takes some, unless all are `here`."""
    left = enumerate(items)
    lock = threading.Lock()
    results: dict[int, T] = {}

    def work() -> None:
        while True:
            with lock:
                following = next(left, None)
            if following is None:
                return
            place, item = following
            results[place] = call(item)

    beside = Background(work, here)
    work()
    beside.result()
    return [results[place] for place in range(len(results))]


class LeavableThreads(ThreadPoolExecutor):
    """Threads for an event loop that is left while they work: it waits a moment for them, and no longer.

    It would wait until the last of them is done, and so would Python at its end: nothing can interrupt an
    analysis of many devices.
    """

    def __init__(self, at_once: int, patience_s: float) -> None:
        """Have so many calls run at once, and wait so many seconds for them in the end."""
        super().__init__(at_once)  # which starts no thread before its own `submit`
        self._free = threading.Semaphore(at_once)
        self._patience_s = patience_s
        self._futures: set[Future[Any]] = set()

    def submit(self, call: Callable[..., T], /, *arguments: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            with self._free:
                if not future.set_running_or_notify_cancel():
                    return
                try:
                    future.set_result(call(*arguments, **options))
                except BaseException as error:
                    future.set_exception(error)

        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        threading.Thread(target=run, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Give up what is waiting, and what takes longer than a moment unless it must be finished."""
        running = [future for future in [*self._futures] if not future.cancel()]
        if wait:
            concurrent.futures.wait(running, self._patience_s)
            for done in [*_unfinished]:
                done.wait()


_unfinished: set[threading.Event] = set()  # set when what must be finished is


@contextlib.contextmanager
def finishing() -> Iterator[None]:
    """Do in a thread of `LeavableThreads` what the end of the program waits for."""
    done = threading.Event()
    _unfinished.add(done)
    try:
        yield
    finally:
        done.set()
        _unfinished.discard(done)
