"""Findings that the profiler logged itself: Kineto writes its warnings beside the events."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracetui.analysis.health.finding import LOST_TASKS, Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.units import format_count

#: As `libkineto/src/CuptiActivityApi.cpp` and `RoctracerLogger.cpp` spell them.
_DROPPED = re.compile(r"Dropped (\d{1,18}) activity records", re.ASCII)
_FULL = re.compile(r"Exceeded max GPU buffer count|collection was stopped early")


def logged_losses(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where the profiler dropped records, or stopped as its buffers were full."""
    messages = recording.trace.messages
    dropped = sum(int(found[1]) for text in messages if (found := _DROPPED.search(text)))
    full = sum(1 for text in messages if _FULL.search(text))
    if not dropped and not full:
        return
    yield Finding(
        id="device.dropped",
        severity=Severity.DOUBTFUL,
        affects=("idle", "causes"),
        sentence=(
            "the profiler logged that it dropped {count} records of the device"
            if dropped
            else "the profiler logged that its buffers were full, and recorded no more of the device"
        ),
        remedy=LOST_TASKS,
        figures={"count": format_count(dropped)},
        count=dropped or full,
    )
