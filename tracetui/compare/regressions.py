"""Limits on what became slower, for a build that fails when one is passed: "5%", "idle=2ms", "Matmul=3%"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.idle.cause import FAMILIES, Cause
from tracetui.compare.classes import CLASSES, is_part
from tracetui.compare.comparison import Comparison
from tracetui.compare.waterfall import AICORE, AICPU, COPY, PREPARING, TERMS
from tracetui.units import parse_duration

STEP, IDLE, COMPUTING, COMMUNICATION = "step", "idle", "computing", "communication"
_PERCENT = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*%", re.ASCII)
_CLASSES = {name.lower(): name for name in CLASSES}
_LABELS = frozenset(cause.label for cause in Cause)


@dataclass(frozen=True)
class RegressionLimit:
    """How much slower something may become, as a share of what it was or as a time: one of them is given."""

    measure: str  #: "step", a term, a cause, a family of causes, or a class in lower case
    share: Fraction | None
    ns: int | None


@dataclass(frozen=True)
class Regression:
    """A limit that was passed; means of a step."""

    limit: RegressionLimit
    base_ns: Fraction
    other_ns: Fraction
    beyond_spread: bool | None  #: the change is larger than the steps differ; None where that is not known


def parse_regression(text: str) -> RegressionLimit:
    """The limit of "5%" (of the step), "idle=2ms" or "Matmul=3%". Raises ValueError with a sentence."""
    measure, equals, allowed = text.rpartition("=")
    name = measure.strip().lower() if equals else STEP
    if name not in _known():
        raise ValueError(f"{measure!a} is not measured; there are {', '.join(_known())}")
    percent = _PERCENT.fullmatch(allowed.strip())
    if percent is not None:
        return RegressionLimit(name, Fraction(f"0{percent[1]}") / 100, None)
    try:
        return RegressionLimit(name, None, parse_duration(allowed))
    except ValueError:
        raise ValueError("a limit is a share or a time, like 5%, 2ms, idle=2ms or Matmul=3%") from None


def find_regressions(comparison: Comparison, limits: Iterable[RegressionLimit]) -> tuple[Regression, ...]:
    """The limits that are passed, in their order. What is as slow as allowed passes none."""
    found = []
    for limit in limits:
        base, other, changed = _measured(comparison, limit.measure)
        allowed = Fraction(limit.ns or 0) if limit.share is None else limit.share * base
        if other - base > allowed:
            found.append(Regression(limit, base, other, changed))
    return tuple(found)


def _known() -> list[str]:
    terms = [PREPARING, AICORE, AICPU, COPY]
    causes = [cause.label for cause in Cause]
    return [STEP, IDLE, COMPUTING, COMMUNICATION, *terms, *FAMILIES[:-1], *causes, *_CLASSES]


def _measured(comparison: Comparison, measure: str) -> tuple[Fraction, Fraction, bool | None]:
    """The means of both sides, and whether they differ by more than the steps do."""
    if measure == STEP:
        step = comparison.step
        return step.base_ns, step.other_ns, step.changed
    if measure in _CLASSES and measure not in (COMMUNICATION, COPY):
        rows = [
            each
            for each in comparison.classes
            if each.name.lower().startswith(measure) and not is_part(each.name)
        ]
    elif measure in _LABELS or measure in FAMILIES:
        rows = [each for each in comparison.causes if measure in (each.name, each.name.split(".")[0])]
    else:
        own = set(_terms(measure))
        rows = [each for each in comparison.waterfall if each.name in own]
    base = sum((row.base_ns for row in rows), Fraction(0))
    other = sum((row.other_ns for row in rows), Fraction(0))
    changed = [row.changed for row in rows if row.delta_ns > 0]
    return base, other, True if True in changed else None if None in changed else False


def _terms(measure: str) -> Iterator[str]:
    """The terms that a measure sums up."""
    if measure == COMPUTING:
        yield from (AICORE, AICPU)
    elif measure == IDLE:
        yield from (name for name in TERMS if name == PREPARING or name.startswith("idle."))
    else:
        yield from (name for name in TERMS if name.split(".")[0] == measure)
