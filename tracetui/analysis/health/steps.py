"""Findings about steps that are not like the others, or too few to say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence, places
from tracetui.analysis.search import distinct
from tracetui.units import format_duration

#: The first step is no step like the others where it lasts so many times as long as their median.
FIRST = 1.5
#: Up to so many steps nothing can be said of their spread.
TOO_FEW = 2


def unusual_steps(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield notes where there are few steps, or the first one lasts far longer than the others."""
    begins = distinct(recording.host_starts)
    if not len(begins):
        return
    if len(begins) <= TOO_FEW:
        yield Finding(
            id="steps.few",
            severity=Severity.NOTE,
            affects=("steps",),
            sentence=(
                "1 step was recorded: nothing can be said of how steps differ"
                if len(begins) == 1
                else "{count} steps were recorded: nothing can be said of how steps differ"
            ),
            remedy="Record five steps or more after a warm-up.",
            count=len(begins),
            steps=places(np.arange(len(recording.steps))),
        )
        return
    lengths = np.zeros(len(begins), np.int64)
    np.maximum.at(
        lengths,
        np.searchsorted(begins, recording.host_starts),
        recording.host_ends - recording.host_starts,
    )
    median = int(np.median(lengths[1:]))
    if median <= 0 or lengths[0] <= FIRST * median:
        return
    yield Finding(
        id="steps.first",
        severity=Severity.NOTE,
        affects=("steps",),
        sentence="the first step lasts {first}, the median of the others is {median}: it warmed up",
        remedy="Compare steps without the first one, or record after a warm-up.",
        figures={"first": format_duration(int(lengths[0])), "median": format_duration(median)},
        count=1,
        share=1 / len(begins),
        steps=places(np.flatnonzero(recording.host_starts == begins[0])),
    )
