"""Limits on what became slower or larger, for a build: "5%", "idle=2ms", "Matmul=3%", "memory=500MB"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from tracetui.analysis.idle.cause import FAMILIES, Cause
from tracetui.analysis.limits import unrecorded_causes
from tracetui.analysis.memory.limits import parse_size
from tracetui.analysis.scheduler.scheduler import SPLIT_FAMILIES
from tracetui.comparison.classes import CLASSES, CUBE, IN_CUBE, OTHER, VECTOR, is_part_of_row
from tracetui.comparison.compared_row import MATCHED, ComparedRow
from tracetui.comparison.compared_row import row as row_of
from tracetui.comparison.comparison import Comparison, steadier_on_device, sums_of_walls
from tracetui.comparison.memory_rows import ALLOCATED
from tracetui.comparison.tally import sum_together
from tracetui.comparison.waterfall import AICORE, AICPU, COPY, IDLE_TERMS, PREPARING, PREPARING_COPY, TERMS
from tracetui.language import state
from tracetui.trace.model import TraceKind
from tracetui.units import parse_duration

STEP, IDLE, COMPUTING, COMMUNICATION = "step", "idle", "computing", "communication"
MEMORY, WAIT = "memory", "wait"
_PERCENT = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*%", re.ASCII)
_CLASSES = {name.lower(): name for name in CLASSES}
#: What tables of GPUs call a class and terms.
_NAMES_ON_GPU = {"other kernels": VECTOR.lower(), "kernels": AICORE, "other compute": AICPU}
_TIMES = "a limit is a share or a time, like 5%, 2ms, idle=2ms or Matmul=3%"
_SIZES = "a limit is a share or a size, like memory=5% or memory=500MB"
_LABELS = frozenset(cause.label for cause in Cause)


@dataclass(frozen=True)
class RegressionLimit:
    """How much more of something there may be, as a share of what it was or as an amount: one is given."""

    measure: str  #: "step", a term, a cause, a family of causes, a class in lower case, "memory" or "wait"
    share: Fraction | None
    amount: int | None  #: ns; of memory bytes


@dataclass(frozen=True)
class Regression:
    """A limit that was exceeded; means of a step, ns; of memory the peaks, bytes."""

    limit: RegressionLimit
    base: Fraction
    other: Fraction
    beyond_spread: bool | None  #: steps tell the change from chance; None where they cannot


def parse_regression(text: str) -> RegressionLimit:
    """Return the limit of "5%" (of the step), "idle=2ms" or "Matmul=3%". Raises ValueError."""
    measure, equals, allowed = text.rpartition("=")
    name = measure.strip().lower() if equals else STEP
    if name not in _known_measures():
        raise ValueError(
            state(
                "{measure} is not measured; there are {measures}",
                measure=ascii(measure),
                measures=tuple(_known_measures()),
            )
        )
    percent = _PERCENT.fullmatch(allowed.strip())
    if percent is not None:
        return RegressionLimit(name, Fraction(f"0{percent[1]}") / 100, None)
    try:
        return RegressionLimit(name, None, (parse_size if name == MEMORY else parse_duration)(allowed))
    except ValueError:
        raise ValueError(state(_SIZES if name == MEMORY else _TIMES)) from None


def find_regressions(comparison: Comparison, limits: Iterable[RegressionLimit]) -> tuple[Regression, ...]:
    """Return the limits that are exceeded, in their order. What is as slow as allowed exceeds none."""
    regressions = []
    for limit in limits:
        base, other, changed = _measure(comparison, limit.measure)
        if limit.measure != MEMORY and not comparison.knows_spread:
            changed = None
        allowed = Fraction(limit.amount or 0) if limit.share is None else limit.share * base
        if other - base > allowed:
            regressions.append(Regression(limit, base, other, changed))
    return tuple(regressions)


def unknown_measures(comparison: Comparison, limits: Iterable[RegressionLimit]) -> tuple[str, ...]:
    """Return the measures of limits of which a side tells nothing."""
    base, other = comparison.base, comparison.other
    on_gpu = TraceKind.GPU in (base.kind, other.kind)
    unrecorded: set[str] = set()
    for run in (base, other):
        unrecorded |= unrecorded_causes(run.tells_scheduler, run.has_runtime)
    if base.tells_scheduler != other.tells_scheduler:
        for cause in Cause:
            unrecorded |= {cause.label, cause.family} if cause.family in SPLIT_FAMILIES else set()
    is_known = {
        MEMORY: _peak(comparison) is not None,
        WAIT: comparison.job is not None,
        CUBE.lower(): on_gpu or base.tells_cube == other.tells_cube,
        OTHER.lower(): not base.kind is other.kind is TraceKind.GPU,  # these have "other kernels"
        Cause.LATENCY.label: base.has_runtime == other.has_runtime,
        PREPARING: bool(base.numbers and other.numbers),
        **dict.fromkeys(unrecorded, False),
    }
    return tuple(dict.fromkeys(limit.measure for limit in limits if not is_known.get(limit.measure, True)))


def _peak(comparison: Comparison) -> ComparedRow | None:
    """Return what tensors held at most on both sides: of the allocator's components the largest."""
    peaks = [row for row in comparison.memory if row.what == ALLOCATED and row.status == MATCHED]
    return max(peaks, key=lambda row: row.base_ns, default=None)


def _known_measures() -> list[str]:
    terms = [PREPARING, AICORE, AICPU, COPY]
    causes = [cause.label for cause in Cause]
    names = [STEP, IDLE, COMPUTING, COMMUNICATION, MEMORY, WAIT, *terms, *FAMILIES[:-1], *causes, *_CLASSES]
    return [*names, *_NAMES_ON_GPU]


def _measure(comparison: Comparison, measure: str) -> tuple[Fraction, Fraction, bool | None]:
    """Return the means of both sides, and whether steps tell that they differ by more than chance."""
    measure = _NAMES_ON_GPU.get(measure, measure)
    if measure == STEP:
        return _row_values(comparison.step)
    if measure == MEMORY:
        return _row_values(_peak(comparison))
    if measure == WAIT:
        return _row_values(comparison.job.waits if comparison.job is not None else None)
    if measure in _CLASSES and measure not in (COMMUNICATION, COPY):
        rows = [
            row
            for row in comparison.classes
            if (
                row.name.endswith(IN_CUBE[0])
                if measure == CUBE.lower()
                else row.name.lower().startswith(measure) and not is_part_of_row(row.name)
            )
        ]
    elif measure in _LABELS or measure in FAMILIES:
        rows = [row for row in comparison.causes if measure in (row.name, row.name.split(".")[0])]
    else:
        base_run, other_run = comparison.base, comparison.other
        on_device = steadier_on_device(base_run, other_run) if measure == IDLE else measure != PREPARING
        terms = [*_terms_of_measure(measure)]
        return _row_values(sums_of_walls(base_run, other_run, measure, terms, on_device))
    base, other = (sum_together(getattr(row, side) for row in rows) for side in ("base", "other"))
    return _row_values(row_of(measure, base, other, rows[0].scale) if rows else None)


def _row_values(row: ComparedRow | None) -> tuple[Fraction, Fraction, bool | None]:
    if row is None:
        return Fraction(0), Fraction(0), False
    test = row.test
    # a limit may be less than what a table marks as a change
    changed = row.changed if test is None else test.is_change and test.shift_ns * row.delta_ns > 0
    return row.base_ns, row.other_ns, changed


def _terms_of_measure(measure: str) -> Iterator[str]:
    """Yield the terms that a measure sums up."""
    if measure == COMPUTING:
        yield from (AICORE, AICPU)
    elif measure == IDLE:
        yield from IDLE_TERMS
    elif measure == COPY:
        yield from (COPY, PREPARING_COPY)
    else:
        yield from (name for name in TERMS if name.split(".")[0] == measure)
