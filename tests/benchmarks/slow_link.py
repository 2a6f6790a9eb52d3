"""How far the screen lags behind the keys: on a fast terminal, and at the end of a slow link.

The viewer runs on a pseudo-terminal, over a trace made of columns. For the slow link, its other end takes so
many bytes a second and no more, while a key comes 30 times a second; the lag is the time from the last key
until the last byte has come.

python -m tests.benchmarks.slow_link SLICES PALETTE     is the viewer
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.benchmarks.table import Row
from tests.benchmarks.traces import made_trace
from tests.ui.terminal import Terminal, program

LINK = 500_000  #: bytes a second: 4 Mbit/s
KEYS_PER_S = 30
REMOTE = {"SSH_CONNECTION": "10.0.0.1 50000 10.0.0.2 22"}
_TURN_S = 0.005
_QUIET_S = 0.4
_ZOOMS = 12  #: to where a frame has the most bytes


class Lag(NamedTuple):
    """What a held key cost."""

    seconds: float  #: from the last key to the last byte
    bytes: int
    frames: int


def rows(slices: int, held_s: float) -> list[Row]:
    """A line per terminal."""
    found = []
    for palette in ("ansi", "true"):
        for link, environ in (("known to be remote", REMOTE), ("not known to be", {})):
            lag = held_key(slices, palette, held_s, environ)
            at_4_mbit = f"{lag.seconds:.2f} s at 4 Mbit/s" if environ else ""
            sent = f"{lag.frames} frames, {lag.bytes / 1e3:,.0f} kB"
            found.append(
                Row(f"lag behind a held pan key, {palette}", f"{lag.seconds:.2f} s", link, sent, at_4_mbit)
            )
    times = key_times(slices, 40)
    middle, high = np.percentile(times, [50, 95])
    found.append(
        Row("key to last byte, fast link, ansi", f"{middle * 1e3:.0f} ms", f"p95 {high * 1e3:.0f} ms")
    )
    return found


def held_key(slices: int, palette: str, seconds: float, environ: dict[str, str], key: bytes = b"d") -> Lag:
    """Hold a key in the viewer, where the screen is dense."""
    with _dense(slices, palette, environ) as terminal:
        link = _SlowLink(terminal, LINK)
        link.start()
        for _ in range(int(seconds * KEYS_PER_S)):
            terminal.send(key)
            time.sleep(1 / KEYS_PER_S)
        released = time.monotonic()
        while time.monotonic() - max(link.last, released) < _QUIET_S:
            time.sleep(_TURN_S)
        link.stop()
        return Lag(max(link.last - released, 0.0), link.taken, link.frames)


def key_times(slices: int, count: int) -> list[float]:
    """Seconds from a key to the last byte of its frame, on a terminal that takes all at once."""
    took = []
    with _dense(slices, "ansi", REMOTE) as terminal:
        for _ in range(count):
            sent = last = time.monotonic()
            terminal.send(b"d")
            while time.monotonic() - max(last, sent) < 0.15:
                if select.select([terminal.master], [], [], 0.02)[0]:
                    os.read(terminal.master, 1 << 16)
                    last = time.monotonic()
            took.append(last - sent)
    return took


@contextmanager
def _dense(slices: int, palette: str, environ: dict[str, str]) -> Iterator[Terminal]:
    """The viewer, with its analysis, where the screen is dense."""
    with program(__name__, str(slices), palette, size=(200, 60), **environ) as terminal:
        terminal.wait_for(b"worst gaps", 300)
        for _ in range(_ZOOMS):
            terminal.send(b"w")
            terminal.read(0.15)
        terminal.read(0.5)
        yield terminal


class _SlowLink(threading.Thread):
    """Takes from a terminal what a link carries."""

    def __init__(self, terminal: Terminal, rate: int) -> None:
        super().__init__(daemon=True)
        self._master, self._rate = terminal.master, rate
        self._stopped = threading.Event()
        self.taken = self.frames = 0
        self.last = time.monotonic()

    def run(self) -> None:
        due = time.monotonic()
        while not self._stopped.is_set():
            if not select.select([self._master], [], [], 0.05)[0]:
                continue
            chunk = os.read(self._master, int(self._rate * _TURN_S))
            self.taken += len(chunk)
            self.frames += chunk.count(b"\x1b[1;1H")  # each frame ends with the cursor where it was
            due = max(due, time.monotonic() - _TURN_S) + len(chunk) / self._rate
            time.sleep(max(due - time.monotonic(), 0.0))
            self.last = time.monotonic()

    def stop(self) -> None:
        self._stopped.set()
        self.join()


def _view(slices: int, palette: str) -> None:
    from tests.ui.viewing import open_viewer
    from tracetui.ui.options import ViewerOptions

    open_viewer(Path("trace_view.json"), ViewerOptions(palette=palette), trace=made_trace(slices)).run()


if __name__ == "__main__":
    _view(int(sys.argv[1]), sys.argv[2])
