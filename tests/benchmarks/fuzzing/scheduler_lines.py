"""Damage lines of recordings of the scheduler, and read them in C as `line` reads them, or leave them."""

from __future__ import annotations

import random
import time

from tests.siblings.scheduler_lines import LINES, PIECES, difference
from tracetui.compiled import COMPILED


def fuzz_scheduler_lines(chooser: random.Random, seconds: float) -> None:
    """Read damaged lines for so long; whatever C takes otherwise than `line` ends the program."""
    assert COMPILED, "nothing is compiled"
    until = time.monotonic() + seconds
    read = taken = 0
    while time.monotonic() < until:
        for _ in range(200):
            line = _damaged(chooser, chooser.choice(LINES))
            by_c, problem = difference(line)
            assert not problem, (line, problem)
            read += 1
            taken += by_c
    print(f"{read:,} lines read, {taken:,} of them in C, none otherwise than by themselves")


def _damaged(chooser: random.Random, line: bytes) -> bytes:
    """Return a line with pieces put in, taken out or put in place of others."""
    for _ in range(chooser.choice((0, 1, 1, 1, 2, 3, 8))):
        place = chooser.randrange(len(line) + 1)
        piece = chooser.choice((*PIECES, bytes([chooser.randrange(256)])))
        line = line[:place] + piece + line[place + chooser.choice((0, 0, 1, len(piece), 12)) :]
    return line[: chooser.randrange(len(line) + 1)] if chooser.random() < 0.05 else line
