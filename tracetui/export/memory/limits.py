"""Limits on memory that are passed, as sentences and as rows of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.analysis.memory.limits import GROWTH, MemoryBreach, MemoryLimit
from tracetui.export.tables.column import records
from tracetui.export.tables.limits import MEMORY_BREACHES, MEMORY_LIMITS, LimitRows
from tracetui.language import translate
from tracetui.trace.clean import printable
from tracetui.units import format_bytes, format_count


def memory_breaches_text(breaches: Sequence[MemoryBreach]) -> str:
    """Return a line for each: "NPU 0: memory is 61.2 GB, more than 60.0 GB"; nothing for none."""
    return "".join(f"{_sentence(breach)}\n" for breach in breaches)


def memory_limits_document(limits: Sequence[MemoryLimit], breaches: Sequence[MemoryBreach]) -> dict[str, Any]:
    """Return the limits on memory, and where they are passed."""
    return {
        "memory_limits": records(MEMORY_LIMITS, LimitRows(limits)),
        "memory_breaches": records(MEMORY_BREACHES, LimitRows(breaches)),
    }


def _sentence(breach: MemoryBreach) -> str:
    measured, allowed = format_bytes(breach.bytes), format_bytes(breach.limit.bytes)
    if measured == allowed:
        measured, allowed = (f"{format_count(count)} B" for count in (breach.bytes, breach.limit.bytes))
    device = printable(breach.device)
    if breach.limit.measure != GROWTH:
        return translate(
            "{device}: memory is {size}, more than {most}", device=device, size=measured, most=allowed
        )
    template = "{device}: memory grows by {size} or more in each of steps {steps}, more than {most}"
    if len(breach.steps) == 1:
        template = "{device}: memory grows by {size} or more in step {steps}, more than {most}"
    steps = ", ".join(map(str, breach.steps))
    return translate(template, device=device, size=measured, steps=steps, most=allowed)
