"""Limits that ranks of a job pass, as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.analysis.limits import IMBALANCE, PHASE, Limit
from tracetui.export.json_document import SCHEMA
from tracetui.export.tables.column import records
from tracetui.export.tables.limits import JOB_BREACHES, LIMITS, LimitRows
from tracetui.job.limits import JobBreach
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_percent


def breaches_text(breaches: Sequence[JobBreach]) -> str:
    """Return a line for each: "rank 3: wait is 42.5 % (9.21 ms of 21.7 ms), more than 10 %"."""
    return "".join(f"{_sentence(breach)}\n" for breach in breaches)


def limits_document(limits: Sequence[Limit], breaches: Sequence[JobBreach]) -> dict[str, Any]:
    """Return the limits, and which ranks pass them."""
    return {
        "schema": SCHEMA,
        "limits": records(LIMITS, LimitRows(limits)),
        "breaches": records(JOB_BREACHES, LimitRows(breaches)),
    }


def _sentence(breach: JobBreach) -> str:
    if breach.limit.measure.startswith(PHASE):
        name, longest = printable(breach.limit.measure), format_duration(breach.measured_ns)
        return f"rank {breach.rank}: {name} takes {longest}, more than {breach.limit.allowed}"
    parts = [format_duration(ns) for ns in (breach.measured_ns, breach.whole_ns)]
    of = f"{parts[0]} above a mean of {parts[1]}" if breach.limit.measure == IMBALANCE else " of ".join(parts)
    share = format_percent(breach.measured_ns, breach.whole_ns)
    return f"rank {breach.rank}: {breach.limit.measure} is {share} ({of}), more than {breach.limit.allowed}"
