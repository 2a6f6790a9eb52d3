"""Limits that are passed, and limits that the trace says too little about, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.limits import FREE, IDLE, Breach, Limit
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
            yield f"{name}: {share} of the idle time has no known cause (unlinked), and is in no other limit"


def _sentence(breach: Breach) -> str:
    step = "" if breach.step is None else f" step {breach.step}"
    where = f"{printable(breach.device)}{step}: {breach.limit.measure} is"
    if breach.limit.share is None:
        allowed = breach.limit.ns or 0
        measured, limit = format_duration(breach.measured_ns), format_duration(allowed)
        if measured == limit:
            measured, limit = format_exact(breach.measured_ns), format_exact(allowed)
        return f"{where} {measured}, more than {limit}"
    parts = [format_duration(ns) for ns in (breach.measured_ns, breach.window_ns)]
    share = format_percent(breach.measured_ns, breach.window_ns)
    return f"{where} {share} ({parts[0]} of {parts[1]}), more than {breach.limit.allowed}"
