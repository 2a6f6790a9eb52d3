"""How far the screen lags behind a held key where the link to the terminal is slow.

The viewer runs on a pseudo-terminal whose other end takes so many bytes a second and no more. A key comes 30
times a second for some seconds; the lag is the time from the last of them until the last byte has come.
"""

from __future__ import annotations

import os
import select
import threading
import time
from pathlib import Path
from typing import NamedTuple

from tests.ui.terminal import Terminal, viewer

LINK = 500_000  #: bytes a second: 4 Mbit/s
KEYS_PER_S = 30
_TURN_S = 0.005
_QUIET_S = 0.4


class Lag(NamedTuple):
    """What a held key cost."""

    seconds: float  #: from the last key to the last byte
    bytes: int
    frames: int


def held_key(
    trace: Path, *arguments: str, key: str = "d", zooms: int = 5, seconds: float = 3.0, **environ: str
) -> Lag:
    """Hold a key in the viewer of a trace, after so many zooms."""
    with viewer(trace, *arguments, size=(200, 60), **environ) as terminal:
        terminal.wait_for(b"worst gaps", 120)
        for _ in range(zooms):
            terminal.send(b"w")
            terminal.read(0.1)
        terminal.read(0.5)
        link = _SlowLink(terminal, LINK)
        link.start()
        for _ in range(int(seconds * KEYS_PER_S)):
            terminal.send(key.encode())
            time.sleep(1 / KEYS_PER_S)
        released = time.monotonic()
        while time.monotonic() - max(link.last, released) < _QUIET_S:
            time.sleep(_TURN_S)
        link.stop()
        return Lag(max(link.last - released, 0.0), link.taken, link.frames)


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
