"""Stretches of time are as doubtful as the findings that are about them."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.health.finding import Finding, Health, Severity, TimeWindows

STARTS, ENDS = np.array([0, 10, 20, 30]), np.array([10, 20, 30, 30])


def finding(severity: Severity, affects: str, windows: TimeWindows = ()) -> Finding:
    return Finding("any", severity, (affects,), "", "", windows=windows)


def severities(*findings: Finding) -> list[int]:
    return [*map(int, Health(findings).severities_between(STARTS, ENDS, ("idle", "causes")))]


def test_the_worst_finding_of_a_stretch_counts_and_windows_that_touch_do_not_overlap() -> None:
    wrong = finding(Severity.WRONG, "idle", ((5, 10), (29, 40)))
    doubtful = finding(Severity.DOUBTFUL, "causes", ((9, 11),))
    assert severities(wrong, doubtful) == [2, 1, 2, 0]


def test_a_finding_without_windows_is_about_all_of_the_recording() -> None:
    assert severities(finding(Severity.DOUBTFUL, "causes")) == [1, 1, 1, 1]


def test_notes_and_findings_about_other_numbers_do_not_count() -> None:
    assert severities(finding(Severity.NOTE, "idle"), finding(Severity.WRONG, "memory")) == [0, 0, 0, 0]
