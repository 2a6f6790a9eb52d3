"""Limits that ranks of a job pass, as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.analysis.limits import IMBALANCE, PHASE, Limit
from tracetui.export.json_document import SCHEMA
from tracetui.export.tables.column import records
from tracetui.export.tables.limits import JOB_BREACHES, LIMITS, LimitRows
from tracetui.job.limits import JobBreach
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.units import format_duration, format_percent


def job_breaches_text(breaches: Sequence[JobBreach]) -> str:
    """Return a line for each: "rank 3: wait is 42.5 % (9.21 ms of 21.7 ms), more than 10 %"."""
    return "".join(f"{_sentence(breach)}\n" for breach in breaches)


def job_limits_document(limits: Sequence[Limit], breaches: Sequence[JobBreach]) -> dict[str, Any]:
    """Return the limits, and which ranks pass them."""
    return {
        "schema": SCHEMA,
        "limits": records(LIMITS, LimitRows(limits)),
        "breaches": records(JOB_BREACHES, LimitRows(breaches)),
    }


def _sentence(breach: JobBreach) -> str:
    if breach.limit.measure.startswith(PHASE):
        name, longest = printable(breach.limit.measure), format_duration(breach.measured_ns)
        return translate(
            "rank {rank}: {measure} takes {time}, more than {most}",
            rank=breach.rank,
            measure=name,
            time=longest,
            most=breach.limit.allowed,
        )
    template = "rank {rank}: {measure} is {share} ({time} of {whole}), more than {most}"
    if breach.limit.measure == IMBALANCE:
        template = "rank {rank}: {measure} is {share} ({time} above a mean of {whole}), more than {most}"
    return translate(
        template,
        rank=breach.rank,
        measure=breach.limit.measure,
        share=format_percent(breach.measured_ns, breach.whole_ns),
        time=format_duration(breach.measured_ns),
        whole=format_duration(breach.whole_ns),
        most=breach.limit.allowed,
    )
