"""What became slower, or larger, than a limit allows, in a line each."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.comparison.regressions import MEMORY, WAIT, Regression
from tracetui.language import translate
from tracetui.units import format_bytes, format_duration

_DOUBT = {
    False: "{line}; the steps do not tell it from chance",
    None: "{line}; so few steps cannot tell whether that is chance",
}


def regressions_text(regressions: Sequence[Regression]) -> str:
    """Return a line for each: "step: 812 ms a step, 40.1 ms (5.2 %) more than in BASE, allowed is 5 %"."""
    return "".join(f"{_regression(regression)}\n" for regression in regressions)


def _regression(regression: Regression) -> str:
    limit, delta = regression.limit, regression.other - regression.base
    in_bytes = limit.measure == MEMORY
    written = format_bytes if in_bytes else format_duration
    template = "{measure}: {value} a step, {more} more than in BASE, allowed is {allowed}"
    if limit.measure == MEMORY:
        template = "{measure}: {value} at the peak, {more} more than in BASE, allowed is {allowed}"
    elif limit.measure == WAIT:
        template = "{measure}: {value} a step of all ranks, {more} more than in BASE, allowed is {allowed}"
    allowed = written(limit.amount or 0) if limit.share is None else f"{float(limit.share) * 100:.9g} %"
    percent = float(100 * delta / regression.base) if regression.base else 0.0
    share = f" ({percent:{',.0f' if percent >= 100 else '.3g'}} %)" if percent else ""
    line = translate(
        template,
        measure=limit.measure,
        value=written(round(regression.other)),
        more=f"{written(round(delta))}{share}",
        allowed=allowed,
    )
    template = "" if in_bytes else _DOUBT.get(regression.beyond_spread, "")
    return translate(template, line=line) if template else line
