"""What became slower, or larger, than a limit allows, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.comparison.regressions import MEMORY, WAIT, Regression
from tracetui.units import format_bytes, format_duration

_DOUBT = {
    True: "",
    False: "; the steps do not tell it from chance",
    None: "; so few steps cannot tell whether that is chance",
}


def regressions_text(regressions: Sequence[Regression]) -> str:
    """Return a line for each: "step: 812 ms a step, 40.1 ms (5.2 %) more than in BASE, allowed is 5 %"."""
    return "".join(f"{_regression(regression)}\n" for regression in regressions)


def _regression(regression: Regression) -> str:
    limit, delta = regression.limit, regression.other - regression.base
    in_bytes = limit.measure == MEMORY
    written = format_bytes if in_bytes else format_duration
    per = {MEMORY: " at the peak", WAIT: " a step of all ranks"}.get(limit.measure, " a step")
    allowed = written(limit.amount or 0) if limit.share is None else f"{float(limit.share) * 100:.9g} %"
    share = f" ({float(100 * delta / regression.base):.3g} %)" if regression.base else ""
    doubt = "" if in_bytes else _DOUBT[regression.beyond_spread]
    more = f"{written(round(delta))}{share} more than in BASE"
    return f"{limit.measure}: {written(round(regression.other))}{per}, {more}, allowed is {allowed}{doubt}"
