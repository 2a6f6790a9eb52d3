"""What a piece of advice is, and from where on each condition holds: the thresholds, in one table.

The sentences are made of these facts by `export/sentences/advice.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union

from tracetui.arrays import EMPTY, Int64s

Figures = dict[str, Union[int, float, str]]


@dataclass(frozen=True, eq=False)
class Advice:
    """Something to do about lost time, and the numbers that it follows from."""

    id: str  #: of the rule, snake_case; a rule that blames lines or names gives one advice for each
    #: the time that it is ranked by: what the evidence explains, of all devices; None: a note on the
    #: recording, which costs and saves nothing
    cost_ns: int | None
    evidence: Figures = field(default_factory=dict)  #: times are *_ns, shares 0..1
    context: Figures = field(default_factory=dict)  #: what its sentences need besides, in the same units
    variant: str = ""  #: which of the things that its rule finds, where each has a title of its own
    remedy: str = ""  #: which remedy fits, where its rule has several
    #: names that it is about, as written in the trace: never print them unescaped
    subjects: tuple[str, ...] = ()
    file: str | None = None  #: of the line to blame; None: no line, "" where its frames have no file
    line: int = 0
    function: str = ""
    per_step_ns: int | None = None  #: cost_ns of a mean step, rounded down; None without steps, and of a note
    gaps: Int64s = field(default_factory=lambda: EMPTY)  #: indices of gaps to look at, worst first
    rows: Int64s = field(default_factory=lambda: EMPTY)  #: slice rows to look at, worst first

    @property
    def kind(self) -> str:
        """What has a title, and what comparisons match: the id, and the variant where there are several."""
        return f"{self.id}.{self.variant}" if self.variant else self.id


@dataclass(frozen=True)
class Threshold:
    """From where on a condition holds, or up to where: its rule says which."""

    value: int
    unit: str  #: "ns", "%" or "times"
    source: str  #: whose threshold it is: OURS, MSPROF or MINDSPORE

    def reached(self, part: int, whole: int) -> bool:
        """Return whether a part reaches so many percent of the whole; nothing is no part of nothing."""
        return part > 0 and part * 100 >= whole * self.value

    def exceeded(self, part: int, whole: int) -> bool:
        """Return whether a part is more than so many percent of the whole."""
        return part * 100 > whole * self.value


MS, US = 1_000_000, 1_000
OURS, MSPROF, MINDSPORE = "tracetui", "msprof-analyze", "MindSpore"

LOOP_REPEATS = Threshold(4, "times", OURS)
LOOP_KERNEL = Threshold(50 * US, "ns", OURS)  #: the mean kernel lasts at most this
LOOP_SHARE = Threshold(1, "%", OURS)
LAUNCH_SHARE = Threshold(50, "%", OURS)
LAUNCH_PAUSE = Threshold(200 * US, "ns", OURS)  #: the mean idle time per launch is at most this
SYNC_REPEATS = Threshold(2, "times", OURS)
QUEUE_SHARE = Threshold(1, "%", OURS)
COMPILE_SHARE = Threshold(1, "%", OURS)
DATA_LOADER = Threshold(10 * MS, "ns", MSPROF)
COLLECTION = Threshold(MS, "ns", OURS)
MEMORY = Threshold(10 * MS, "ns", MSPROF)
START_UP = Threshold(100 * MS, "ns", OURS)  #: no call that only allocates lasts as long
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
NODE_MIGRATIONS = Threshold(10, "times", OURS)
HOST_BOUND_SHARE = Threshold(20, "%", OURS)
HOST_BOUND = Threshold(100 * MS, "ns", OURS)
MISSING_SHARE = Threshold(1, "%", OURS)
