"""Which stretches of time stand in doubt: those that a finding is about."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tracetui.analysis.health.finding import Health, Severity
from tracetui.analysis.intervals import union
from tracetui.arrays import Int8s, Int64s


def severities_between(health: Health, starts: Int64s, ends: Int64s, numbers: Collection[str]) -> Int8s:
    """Return the worst severity of the findings that concern each stretch of time; int8[stretches].

    A finding without windows is about the whole recording.

    Args:
        health: the findings.
        starts: int64[stretches], ns.
        ends: int64[stretches], ns, none before its start.
        numbers: of `NUMBERS`: findings that affect none of them do not count.
    """
    worst = np.full(len(starts), Severity.NOTE, np.int8)
    for finding in health.doubts:
        if not set(numbers) & set(finding.affects):
            continue
        concerned = np.ones(len(starts), np.bool_)
        if finding.windows:
            begin, end = np.array(finding.windows, np.int64).T
            concerned = union(begin, end).covered(starts, ends) > 0
        worst[concerned] = np.maximum(worst[concerned], finding.severity)
    return worst
