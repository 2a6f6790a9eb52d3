"""Limits on idle and free time, for a build that fails when one is exceeded: "free 10%", "host.sync 3ms".

A share is of the time that the device computed, communicated or was free: of the device's window W, or of the
rows that start in the step. Compared in integers, so that a limit of exactly what was measured is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from tracetui.analysis.idle.cause import FAMILIES, Cause
from tracetui.analysis.scheduler.scheduler import SCHEDULED
from tracetui.language import state
from tracetui.units import format_duration, parse_duration

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis

FREE, IDLE = "free", "idle"
#: Of the ranks of a job: what they lose by waiting for each other, and by how much their computing differs.
OF_JOBS = WAIT, IMBALANCE = "wait", "imbalance"
PHASE = "phase "  #: with the name of a marked range: how long it takes at most
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?|\.[0-9]{1,9})\s*%", re.ASCII)
_LABELS = frozenset(cause.label for cause in Cause)


@dataclass(frozen=True)
class Limit:
    """The most that something may take, as a share or as a time: one of them is given."""

    measure: str  #: "free", "idle", the name of a cause ("host.sync") or of a family of causes ("host")
    share: Fraction | None  #: 0..1
    ns: int | None

    @property
    def allowed(self) -> str:
        """What is allowed, a share as exact as it was given: "10.25 %", "3.00 ms"."""
        return format_duration(self.ns or 0) if self.share is None else f"{float(self.share) * 100:.9g} %"


@dataclass(frozen=True)
class Breach:
    """A limit that a device exceeded, over all or in one step."""

    limit: Limit
    device: str
    step: int | None  #: the number of the step; None: the whole window of the device
    measured_ns: int
    window_ns: int  #: what shares are of

    @property
    def measured(self) -> float:
        """What was measured, in the limit's terms: a share 0..1, or ns."""
        if self.limit.share is None:
            return self.measured_ns
        return self.measured_ns / self.window_ns if self.window_ns else 0.0

    @property
    def allowed(self) -> float:
        """What was allowed, in the same terms."""
        return float(self.limit.share) if self.limit.share is not None else float(self.limit.ns or 0)


def parse_limit(measure: str, text: str) -> Limit:
    """Return the limit of "10%" or "3ms" on a measure. Raises ValueError with a sentence."""
    is_known = measure in (FREE, IDLE, *OF_JOBS) or measure in _LABELS or measure in FAMILIES
    if not is_known:
        raise ValueError(
            state("no such cause; there are {causes}", causes=tuple(cause.label for cause in Cause))
        )
    percent = _PERCENT.fullmatch(text.strip())
    if percent is None:
        try:
            return Limit(measure, None, parse_duration(text))
        except ValueError:
            raise ValueError(state("a limit is a share or a time, like 10% or 3ms")) from None
    share = Fraction(f"0{percent[1]}") / 100
    if share > 1:
        raise ValueError(state("a share is at most 100%"))
    return Limit(measure, share, None)


def parse_cause_limit(text: str) -> Limit:
    """Return the limit of "host.sync=5%" or "host=3ms". Raises ValueError with a sentence."""
    measure, equals, allowed = text.partition("=")
    if not equals or measure.strip() in OF_JOBS:
        raise ValueError(state("a limit on a cause is CAUSE=SHARE or CAUSE=TIME, like host.sync=5%"))
    return parse_limit(measure.strip(), allowed)


def parse_phase_limit(text: str) -> Limit:
    """Return the limit of "generate=2.1s". Raises ValueError with a sentence."""
    name, equals, allowed = text.rpartition("=")
    if not equals or not name:
        raise ValueError(state("a limit on a phase is NAME=TIME, like generate=2.1s"))
    return Limit(f"{PHASE}{name}", None, parse_duration(allowed))


def unrecorded_causes(has_scheduler: bool, has_runtime: bool) -> set[str]:
    """Return the labels of the causes that only the scheduler, or calls of the runtime, would tell."""
    scheduled = () if has_scheduler else SCHEDULED
    compiling = () if has_runtime else (Cause.COMPILE, Cause.LAUNCH_COMPILE)
    return {cause.label for cause in (*scheduled, *compiling)}


def find_breaches(analysis: Analysis, limits: Iterable[Limit]) -> tuple[Breach, ...]:
    """Return the limits that are exceeded: by each device as a whole, then in its steps; in their order."""
    spans = list(_spans(analysis))
    breaches = []
    for limit in limits:
        for span in spans:
            measured = span.measured(limit.measure)
            allowed = limit.ns if limit.share is None else limit.share * span.window_ns
            if allowed is not None and measured > allowed:
                breaches.append(Breach(limit, span.device, span.step, measured, span.window_ns))
    return tuple(breaches)


class _Span(NamedTuple):
    """A device, or a step on it."""

    device: str
    step: int | None
    window_ns: int
    free_ns: int
    idle_ns: int
    causes: dict[Cause, int]

    def measured(self, measure: str) -> int:
        if measure in (FREE, IDLE):
            return self.free_ns if measure == FREE else self.idle_ns
        return sum(ns for cause, ns in self.causes.items() if measure in (cause.label, cause.family))


def _spans(analysis: Analysis) -> Iterator[_Span]:
    causes = analysis.causes
    for index, device in enumerate(analysis.devices):
        sums = causes.by_cause(index)
        yield _Span(device.device, None, device.window_ns, device.free_ns, device.idle_ns, sums)
        for place in analysis.steps_by_device.get(device.device, ()):
            step = analysis.steps[place]
            window = step.computing_ns + step.communication_not_overlapped_ns + step.free_ns
            sums = causes.by_step(place)
            yield _Span(step.device, step.number, window, step.free_ns, step.idle_ns, sums)
