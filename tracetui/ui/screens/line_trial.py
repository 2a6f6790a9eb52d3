"""The trial of the hotspots: which line is tried at less host time, and what follows for the steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.critical.whatif import LineWhatIf
from tracetui.analysis.idle.idle_lines import LineKey

NEXT_FACTOR = {1.0: 0.5, 0.5: 0.0, 0.0: 1.0}


class LineTried(NamedTuple):
    """What follows if a line is faster."""

    what_if: LineWhatIf
    with_peers: LineWhatIf | None  #: if late peers come sooner too; None: none is late
    job_words: str  #: what a step of the job gains by it; "" where the trace is of no job


class LineTrial:
    """The line that is tried, at half of its host time or at none of it; no line while `line` is None."""

    def __init__(self) -> None:
        self.line: LineKey | None = None
        self.factor = 1.0  #: of its host time
        self.running = False  #: a thread works it out: one at a time, as each runs a large trace again

    def turn(self, line: LineKey) -> None:
        """Try a line at half of its host time; the same line again at none of it, then as it is."""
        factor = NEXT_FACTOR[self.factor if line == self.line else 1.0]
        self.line, self.factor = (None, 1.0) if factor == 1.0 else (line, factor)

    def drop(self) -> None:
        """Try no line."""
        self.line, self.factor = None, 1.0

    def is_of(self, what_if: LineWhatIf) -> bool:
        """Return whether a result is of the line and the factor that are tried now."""
        return self.line is not None and (what_if.key, what_if.factor) == (self.line, self.factor)


def try_line(
    analysis: Analysis, line: LineKey, factor: float, job_words: Callable[[], str] = str
) -> LineTried:
    """Return what follows for the steps if a line takes `factor` of its host time; may take seconds.

    `job_words` says what a step of the job gains by it.
    """
    late, prompt = analysis.what_ifs_with_late_peers, analysis.what_ifs
    with_peers = None if late is prompt else prompt.faster(line, factor)
    return LineTried(late.faster(line, factor), with_peers, job_words())
