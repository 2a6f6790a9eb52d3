"""Limits that are passed, and limits that the trace says too little about, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.limits import FREE, IDLE, Breach, Limit
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_exact, format_percent


def breaches_text(breaches: Sequence[Breach]) -> str:
    """Return a line for each: "NPU 0: free is 42.5 % (9.21 ms of 21.7 ms), more than 10 %"."""
    return "".join(f"{_sentence(breach)}\n" for breach in breaches)


def doubts(analysis: Analysis, limits: Iterable[Limit]) -> Iterator[str]:
    """Yield a sentence for each device whose idle time has no known cause, where limits are about causes."""
    if all(limit.measure in (FREE, IDLE, Cause.UNLINKED.label) for limit in limits):
        return
    for index, activity in enumerate(analysis.devices):
        unlinked = analysis.causes.by_cause(index).get(Cause.UNLINKED, 0)
        if unlinked:
            share = format_percent(unlinked, activity.idle_ns)
            name = printable(activity.device)
            yield translate(
                "{device}: {share} of the idle time has no known cause (unlinked), and is in no other limit",
                device=name,
                share=share,
            )


def _sentence(breach: Breach) -> str:
    where = printable(breach.device) + ("" if breach.step is None else f" step {breach.step}")
    if breach.limit.share is None:
        allowed = breach.limit.ns or 0
        measured, limit = format_duration(breach.measured_ns), format_duration(allowed)
        if measured == limit:
            measured, limit = format_exact(breach.measured_ns), format_exact(allowed)
        return translate(
            "{device}: {measure} is {time}, more than {most}",
            device=where,
            measure=breach.limit.measure,
            time=measured,
            most=limit,
        )
    return translate(
        "{device}: {measure} is {share} ({time} of {whole}), more than {most}",
        device=where,
        measure=breach.limit.measure,
        share=format_percent(breach.measured_ns, breach.window_ns),
        time=format_duration(breach.measured_ns),
        whole=format_duration(breach.window_ns),
        most=breach.limit.allowed,
    )
