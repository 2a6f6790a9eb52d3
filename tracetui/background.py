"""Work in a thread of its own: whoever awaits it may do something else meanwhile, or leave.

A read of a file on a network may hang for ever, and nothing can interrupt it. While numpy works in one
thread, another one goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Callable, Generic, TypeVar

T = TypeVar("T")

PATIENCE = 0.05  #: seconds between two chances to stop


class Background(Generic[T]):
    """A call under way in another thread, which keeps no program from ending."""

    def __init__(self, call: Callable[[], T]) -> None:
        """Start it; where there can be no more threads, do it here."""
        self._call = call
        self._results: list[T] = []
        self._error: BaseException | None = None
        self._done = threading.Event()
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
