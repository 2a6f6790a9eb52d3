"""How soon a key shows, and how many bytes it sends: the viewer in a terminal of 200x60, over a file.

Keys are pressed one after another, each once all that follows from the one before is there. The time is that
to the end of the first frame, in which the cursor or the picture has moved; the bytes are all that follow,
also those of panels that are made anew in a thread.
"""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.benchmarks.table import Row
from tests.ui.terminal import Terminal, program

#: the keys that go to a screen, and those that are pressed there
SCREENS = {
    "timeline": ("T", "wwddaassjjkk"),
    "timeline, cursor": ("T", "\x1b[C\x1b[C\x1b[B\x1b[B\x1b[D\x1b[A"),
    "worst gaps": ("T", "xxxx"),
    "gaps": ("G", "jjjkk>="),
    "hotspots": ("H", "jjjkk"),
    "operators": ("O", "jjjkk"),
    "flame": ("F", "jjkk"),
    "steps": ("I", "jjkk"),
    "advice": ("V", "jjkk"),
}
_FRAME_S = 0.005  #: without a byte, after which the first frame is over
_REST_S = 0.15  #: without a byte, after which nothing follows
_ARRIVE_S = 2.0


class Answer(NamedTuple):
    """What came after a key."""

    ms: float  #: to the last byte of the first frame
    bytes: int


def rows(trace: Path, rounds: int, cache: Path) -> list[Row]:
    """Return a line for each screen, and one for all together; `cache`: where the trace is kept."""
    found, every = [], []
    environ = {"XDG_CACHE_HOME": str(cache), "SSH_CONNECTION": "", "TRACETUI_CACHE_MB": "10000"}
    with program("tracetui", "--palette", "ansi,dark", str(trace), size=(200, 60), **environ) as terminal:
        terminal.wait_for(b"worst gaps")
        for name, (way, keys) in SCREENS.items():
            terminal.send(way.encode())
            terminal.read(_ARRIVE_S)
            answers = [_press(terminal, key) for _ in range(rounds) for key in _split(keys)]
            shown = [answer for answer in answers if answer.bytes]
            if shown:
                found.append(_row(name, shown))
                every += shown
    together = _row("all screens", every)
    return [*found, together._replace(told=together.spread)]


def _split(keys: str) -> list[str]:
    """Return what a terminal sends for each key."""
    plain, *sequences = keys.split("\x1b")
    return [*plain, *("\x1b" + sequence for sequence in sequences)]


def _press(terminal: Terminal, key: str) -> Answer:
    """Press a key, and read the first frame and what follows; no bytes where it does nothing."""
    started = time.perf_counter()
    terminal.send(key.encode())
    size = 0
    first = last = started
    while select.select([terminal.master], [], [], _REST_S)[0]:
        size += len(os.read(terminal.master, 1 << 16))
        now = time.perf_counter()
        if last in (started, first) and (last == started or now - last < _FRAME_S):
            first = now
        last = now
    return Answer((first - started) * 1e3, size)


def _row(name: str, answers: list[Answer]) -> Row:
    times, sizes = zip(*answers)
    middle, high = np.percentile(times, [50, 99])
    sent = f"{np.median(sizes) / 1e3:.1f} kB"
    return Row(f"a key, {name}", f"{middle:.0f} ms", f"99th percentile {high:.0f} ms", sent)
