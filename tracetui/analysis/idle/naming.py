"""Answers that depend on a slice's name alone, asked once for each distinct name."""

from __future__ import annotations

import re
from typing import Callable

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.model import Trace


def by_name(trace: Trace, rows: Int64s, answer: Callable[[str], int | None]) -> Int64s:
    """The answer for the name of each slice row, -1 for None; int64."""
    names = trace.slices.name[rows]
    distinct = np.flatnonzero(np.bincount(names, minlength=1))
    answers = np.full(len(trace.strings) + 1, -1, np.int64)
    for name in distinct.tolist():
        told = answer(trace.strings[name])
        answers[name] = -1 if told is None else int(told)
    return answers[names]


def matching(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    """The answer whether a name begins as the pattern says."""
    return lambda name: pattern.match(name) is not None
