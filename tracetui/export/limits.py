"""Limits that devices, their memory and the ranks of a job pass, as sentences and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.limits import FREE, IDLE, IMBALANCE, PHASE, Breach, Limit
from tracetui.export.json_document import SCHEMA
from tracetui.export.tables.column import records
from tracetui.export.tables.common import FirstRows
from tracetui.export.tables.limits import BREACHES, JOB_BREACHES, LIMITS, MEMORY_BREACHES, MEMORY_LIMITS
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count, format_duration, format_exact, format_percent

if TYPE_CHECKING:  # what is not checked is not loaded
    from tracetui.analysis.memory.limits import MemoryBreach, MemoryLimit
    from tracetui.job.limits import JobBreach


def limits_document(limits: Sequence[Limit], breaches: Sequence[Breach]) -> dict[str, Any]:
    """Return the limits, and where they are exceeded."""
    return {
        "schema": SCHEMA,
        "limits": records(LIMITS, FirstRows(limits)),
        "breaches": records(BREACHES, FirstRows(breaches)),
    }


def breaches_text(breaches: Sequence[Breach]) -> str:
    """Return a line for each: "NPU 0: free is 42.5 % (9.21 ms of 21.7 ms), more than 10 %"."""
    return "".join(f"{_device_sentence(breach)}\n" for breach in breaches)


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
                "{device}: {share} of the idle time has no known cause (unlinked), and is in no limit "
                "on another cause",
                device=name,
                share=share,
            )


def memory_limits_document(limits: Sequence[MemoryLimit], breaches: Sequence[MemoryBreach]) -> dict[str, Any]:
    """Return the limits on memory, and where they are exceeded."""
    return {
        "memory_limits": records(MEMORY_LIMITS, FirstRows(limits)),
        "memory_breaches": records(MEMORY_BREACHES, FirstRows(breaches)),
    }


def memory_breaches_text(breaches: Sequence[MemoryBreach]) -> str:
    """Return a line for each: "NPU 0: memory is 61.2 GB, more than 60.0 GB"; nothing for none."""
    return "".join(f"{_memory_sentence(breach)}\n" for breach in breaches)


def job_limits_document(limits: Sequence[Limit], breaches: Sequence[JobBreach]) -> dict[str, Any]:
    """Return the limits, and which ranks pass them."""
    return {**limits_document(limits, ()), "breaches": records(JOB_BREACHES, FirstRows(breaches))}


def job_breaches_text(breaches: Sequence[JobBreach]) -> str:
    """Return a line for each: "rank 3: wait is 42.5 % (9.21 ms of 21.7 ms), more than 10 %"."""
    return "".join(f"{_rank_sentence(breach)}\n" for breach in breaches)


def _device_sentence(breach: Breach) -> str:
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


def _memory_sentence(breach: MemoryBreach) -> str:
    measured, allowed = format_bytes(breach.bytes), format_bytes(breach.limit.bytes)
    if measured == allowed:
        measured, allowed = (f"{format_count(count)} B" for count in (breach.bytes, breach.limit.bytes))
    device = printable(breach.device)
    if not breach.steps:
        return translate(
            "{device}: memory is {size}, more than {most}", device=device, size=measured, most=allowed
        )
    template = "{device}: memory grows by {size} or more in each of steps {steps}, more than {most}"
    if len(breach.steps) == 1:
        template = "{device}: memory grows by {size} or more in step {steps}, more than {most}"
    steps = ", ".join(map(str, breach.steps))
    return translate(template, device=device, size=measured, steps=steps, most=allowed)


def _rank_sentence(breach: JobBreach) -> str:
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
