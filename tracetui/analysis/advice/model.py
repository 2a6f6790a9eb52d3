"""What a piece of advice is, and from where on each condition holds: the thresholds, in one table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

import numpy as np

from tracetui.arrays import Int64s
from tracetui.units import format_duration

Figures = dict[str, Union[int, float, str]]


def _nowhere() -> Int64s:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Advice:
    """Something to do about lost time, and the numbers that it follows from. Text and title are ASCII."""

    id: str  #: of the rule, snake_case; a rule that blames lines or names gives one advice for each
    title: str
    text: str  #: one or two sentences with the numbers, free of names from the trace
    rule: str  #: the condition with its threshold and where that comes from
    #: the time that it is ranked by: what the evidence explains, of all devices; None: a note on the
    #: recording, which costs and saves nothing
    cost_ns: int | None
    evidence: Figures = field(default_factory=dict)  #: times are *_ns, shares 0..1
    #: names that it is about, as written in the trace: never print them unescaped
    subjects: tuple[str, ...] = ()
    file: str | None = None  #: of the line to blame; None: no line, "" where its frames have no file
    line: int = 0
    function: str = ""
    per_step_ns: int | None = None  #: cost_ns of a mean step, rounded down; None without steps, and of a note
    gaps: Int64s = field(default_factory=_nowhere)  #: indices of gaps to look at, worst first
    rows: Int64s = field(default_factory=_nowhere)  #: slice rows to look at, worst first


@dataclass(frozen=True)
class Threshold:
    """The least that makes a condition hold."""

    least: int
    unit: str  #: "ns", "%" or "times"
    source: str  #: whose threshold it is

    def __str__(self) -> str:
        if self.unit == "ns":
            return duration(self.least)
        return f"{self.least} {self.unit}"

    def share(self, part: int, whole: int) -> bool:
        """Return whether a part reaches so many percent of the whole; nothing is no part of nothing."""
        return part > 0 and part * 100 >= whole * self.least

    def exceeded(self, part: int, whole: int) -> bool:
        """Return whether a part is more than so many percent of the whole."""
        return part * 100 > whole * self.least

    def rule(self, condition: str) -> str:
        """Return a sentence of the condition and the source; {} stands for the threshold."""
        return f"{condition.format(self)} ({self.source})."


MS, US = 1_000_000, 1_000
OURS, MSPROF = "tracetui", "as msprof-analyze advises"
MINDSPORE = "as MindSpore's guide says"

LOOP_REPEATS = Threshold(4, "times", OURS)
LOOP_KERNEL = Threshold(50 * US, "ns", OURS)  #: the mean kernel of a loop is shorter
LOOP_SHARE = Threshold(1, "%", OURS)
LAUNCH_SHARE = Threshold(50, "%", OURS)
LAUNCH_PAUSE = Threshold(200 * US, "ns", OURS)  #: the mean idle time a launch that is bound by launching
SYNC_REPEATS = Threshold(2, "times", OURS)
QUEUE_SHARE = Threshold(1, "%", OURS)
COMPILE_SHARE = Threshold(1, "%", OURS)
DATA_LOADER = Threshold(10 * MS, "ns", MSPROF)
COLLECTION = Threshold(MS, "ns", OURS)
MEMORY = Threshold(10 * MS, "ns", MSPROF)
AI_CPU = Threshold(20 * US, "ns", MSPROF)
CONVERSION_SHARE = Threshold(5, "%", OURS)
COMMUNICATION_SHARE = Threshold(5, "%", OURS)
COMMUNICATION_EXPOSED = Threshold(50, "%", OURS)
COPY_SHARE = Threshold(5, "%", OURS)
ITERATION_GAP = Threshold(MS, "ns", OURS)
DATA_QUEUE_SHARE = Threshold(5, "%", OURS)
DATA_QUEUE_EMPTY = Threshold(30, "%", MINDSPORE)
FREQUENCY = Threshold(5, "%", MSPROF)
FREE_SHARE = Threshold(10, "%", OURS)
PREEMPTED_SHARE = Threshold(1, "%", OURS)
INTERRUPT_SHARE = Threshold(1, "%", OURS)
MIGRATIONS = Threshold(100, "times", OURS)
HOST_BOUND_SHARE = Threshold(20, "%", OURS)
HOST_BOUND = Threshold(100 * MS, "ns", OURS)
MISSING_SHARE = Threshold(1, "%", OURS)


def duration(ns: int) -> str:
    """Return a time in ASCII: "1.24 ms", "20.0 us"."""
    return format_duration(ns).replace("µ", "u")
