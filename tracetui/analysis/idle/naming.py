"""Answers that depend on a slice's name alone, asked once for each distinct name."""

from __future__ import annotations

import re
from typing import Callable

from tracetui.arrays import Int8s, Int64s
from tracetui.trace.meanings import meanings
from tracetui.trace.model import Trace


def by_name(trace: Trace, rows: Int64s, answer: Callable[[str], int | None]) -> Int8s:
    """Return the answer, 0..127, for the name of each slice row, -1 for None; int8."""
    return meanings(trace.strings, trace.slices.name[rows], answer)


def matching(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """Return the answer whether a name begins as the pattern says."""
    return lambda name: pattern.match(name) is not None
