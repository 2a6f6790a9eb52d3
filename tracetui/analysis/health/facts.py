"""The health of a recording as results that outlive it keep it: a comparison's side, a rank's digest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.health.finding import NUMBERS, Severity


class Doubt(NamedTuple):
    """A finding that is more than a note."""

    id: str
    severity: int  #: of `Severity`
    affects: tuple[str, ...]  #: of `NUMBERS`
    sentence: str  #: a statement in English, with its numbers


@dataclass(frozen=True)
class HealthFacts:
    """How a recording was made, and which of its numbers can be believed."""

    doubts: tuple[Doubt, ...] = ()  #: worst first
    findings: tuple[str, ...] = ()  #: ids of all findings, notes too
    steps: tuple[int, ...] = ()  #: numbers of those that cannot be believed
    level: str = ""  #: of the profiler; "" where nothing tells
    stacks: bool = False  #: Python stacks are recorded
    versions: tuple[str, ...] = ()  #: as written by the producer: never print them unescaped

    @property
    def trust(self) -> dict[str, str]:
        """Return the verdict on each of `NUMBERS`: "good", "doubtful" or "wrong"."""
        return {number: self.severity_of((number,)).verdict for number in NUMBERS}

    def severity_of(self, numbers: Iterable[str]) -> Severity:
        """Return the worst severity of some of `NUMBERS`."""
        wanted = set(numbers)
        return Severity(max((d.severity for d in self.doubts if wanted & set(d.affects)), default=0))


def health_facts(analysis: Analysis) -> HealthFacts:
    """Return the health of an analysis to keep."""
    health, run = analysis.health, analysis.run
    return HealthFacts(
        doubts=tuple(Doubt(f.id, int(f.severity), f.affects, f.english) for f in health.doubts),
        findings=tuple(dict.fromkeys(finding.id for finding in health.findings)),
        steps=tuple(sorted({analysis.steps[place].number for place in health.doubted_steps})),
        level=run.level or "",
        stacks=analysis.has_python,
        versions=tuple(f"{name} {version}" for name, version in sorted(run.versions.items())),
    )


def worst_trust(parts: Iterable[HealthFacts]) -> dict[str, str]:
    """Return the verdict on each of `NUMBERS` over several recordings: the worst of theirs."""
    facts = list(parts)
    return {
        number: max((part.severity_of((number,)) for part in facts), default=Severity.NOTE).verdict
        for number in NUMBERS
    }
