"""Findings that put numbers of a recording in doubt, and which numbers can be believed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np

from tracetui.analysis.intervals import union
from tracetui.arrays import Int8s, Int64s
from tracetui.language import state
from tracetui.units import format_count


class Severity(IntEnum):
    """What a finding does to the numbers that it affects."""

    NOTE = 0  #: they stand
    DOUBTFUL = 1  #: they may be false
    WRONG = 2  #: they are known to be false

    @property
    def verdict(self) -> str:
        """Return "good", "doubtful" or "wrong": the verdict on a number that such a finding affects."""
        return ("good", "doubtful", "wrong")[self]

    @property
    def label(self) -> str:
        """Return "note", "doubtful" or "wrong"."""
        return self.name.lower()


#: What to do where tasks were lost.
LOST_TASKS = (
    "The profiler lost tasks: record fewer steps at once, at a lower level, or with larger buffers. "
    "Do not read the idle time there."
)
#: The kinds of numbers that findings affect, in the order in which people read them.
NUMBERS = ("steps", "idle", "causes", "lines", "communication", "operators", "memory", "ranks")
#: What a finding affects that concerns every time of a recording.
EVERYTHING = ("steps", "idle", "causes")

TimeWindows = tuple[tuple[int, int], ...]  #: (start, end) in ns on the trace's clock


@dataclass(frozen=True)
class Finding:
    """One thing that a healthy recording does not have."""

    id: str
    severity: Severity
    affects: tuple[str, ...]  #: of `NUMBERS`
    sentence: str  #: what was seen, in English, with fields of `figures`
    remedy: str  #: how to record it better, or how to read it
    figures: Mapping[str, int | str] = field(default_factory=dict)  #: beside `count`
    count: int = 0  #: of the things concerned
    share: float | None = None  #: of all such things, or of the time; None where there is nothing to compare
    steps: tuple[int, ...] = ()  #: places in the steps of the analysis
    windows: TimeWindows = ()
    tracks: tuple[int, ...] = ()  #: places in the tracks of the trace
    is_chosen: bool = False  #: somebody chose not to record what is missing: nothing is lost

    @property
    def words(self) -> dict[str, str]:
        """Return what stands for the fields of the sentence and the remedy: the count and the figures."""
        figures = {"count": self.count, **self.figures}
        return {name: format_count(f) if isinstance(f, int) else f for name, f in figures.items()}

    @property
    def english(self) -> str:
        """Return the sentence with its numbers, as a statement."""
        return state(self.sentence, **self.words)

    @property
    def doubts(self) -> bool:
        """Return whether it is more than a note."""
        return self.severity > Severity.NOTE


@dataclass(frozen=True)
class Health:
    """All findings of a recording, worst first."""

    findings: tuple[Finding, ...]

    @cached_property
    def verdict(self) -> str:
        """Return "good", "doubtful" or "wrong": the worst of all findings."""
        return _worst(self.findings).verdict

    @cached_property
    def trust(self) -> dict[str, str]:
        """Return the verdict on each of `NUMBERS`: "good", "doubtful" or "wrong"."""
        return {number: self._severities[number].verdict for number in NUMBERS}

    @cached_property
    def doubted_steps(self) -> frozenset[int]:
        """Return the places of the steps whose numbers cannot be believed."""
        doubting = (f for f in self.findings if f.doubts and {"steps", "idle"} & set(f.affects))
        return frozenset(step for finding in doubting for step in finding.steps)

    def trust_of_step(self, place: int) -> str:
        """Return "good", "doubtful" or "wrong": the verdict on the step at a place of the analysis."""
        return _worst(
            f for f in self.findings if place in f.steps and {"steps", "idle"} & set(f.affects)
        ).verdict

    @property
    def doubts(self) -> tuple[Finding, ...]:
        """Return the findings that are more than notes."""
        return tuple(finding for finding in self.findings if finding.doubts)

    def severity_of(self, numbers: Iterable[str]) -> Severity:
        """Return the worst severity of some of `NUMBERS`."""
        return max((self._severities[number] for number in numbers), default=Severity.NOTE)

    def severities_between(self, starts: Int64s, ends: Int64s, numbers: Collection[str]) -> Int8s:
        """Return the worst severity of the findings that concern each stretch of time; int8[stretches].

        A finding without windows is about the whole recording.

        Args:
            starts: int64[stretches], ns.
            ends: int64[stretches], ns, none before its start.
            numbers: of `NUMBERS`: findings that affect none of them do not count.
        """
        worst = np.full(len(starts), Severity.NOTE, np.int8)
        for finding in self.doubts:
            if not set(numbers) & set(finding.affects):
                continue
            concerned = np.ones(len(starts), np.bool_)
            if finding.windows:
                begin, end = np.array(finding.windows, np.int64).T
                concerned = union(begin, end).covered(starts, ends) > 0
            worst[concerned] = np.maximum(worst[concerned], finding.severity)
        return worst

    @cached_property
    def _severities(self) -> dict[str, Severity]:
        return {
            number: _worst(finding for finding in self.findings if number in finding.affects)
            for number in NUMBERS
        }


def _worst(findings: Iterable[Finding]) -> Severity:
    return max((finding.severity for finding in findings), default=Severity.NOTE)
