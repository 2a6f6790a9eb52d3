"""Findings about collectives of which parts are missing on the streams of a device."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.finding import LOST_TASKS, Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.intervals import time_of
from tracetui.analysis.search import distinct, group_by, rows_of
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family

#: The parts of a collective cover this share of its time, or are missing: 98.8 % at least on clean traces.
COVERED = 0.9
#: Collectives with all of their parts, from which on another one is known to lack some.
_LEAST_WHOLE = 2


def missing_parts(recording: HealthEvidence) -> Iterator[Finding]:
    """Yield a finding where collectives have fewer parts than others of their kind, and a hole in them."""
    trace, slices = recording.trace, recording.trace.slices
    operations = rows_of(t for t in trace.tracks if t.family == Family.GROUP)
    operations = operations[slices.correlation[operations] >= 0]
    parts = rows_of(t for t in trace.tracks if t.family == Family.TASKS)
    parts = parts[slices.activity[parts] == Activity.COMMUNICATION_TASK]
    if len(operations) <= _LEAST_WHOLE or not len(parts):
        return
    order = np.argsort(slices.correlation[parts], kind="stable")
    parts = parts[order]
    first, stop = (
        np.searchsorted(slices.correlation[parts], slices.correlation[operations], side)
        for side in ("left", "right")
    )
    counts = stop - first
    kinds = _kinds(recording, operations)
    lacking: list[int] = []
    for _, places in group_by(kinds):
        whole = counts[places] == counts[places].max()
        if whole.all():
            continue
        covered = np.array(
            [_covered(recording, int(operations[p]), parts[first[p] : stop[p]]) for p in places.tolist()]
        )
        if np.count_nonzero(whole & (covered >= COVERED)) >= _LEAST_WHOLE:
            lacking += operations[places[~whole & (covered < COVERED)]].tolist()
    if not lacking:
        return
    windows = tuple((int(slices.start[row]), int(slices.end[row])) for row in sorted(lacking))
    yield Finding(
        id="device.dropped",
        severity=Severity.DOUBTFUL,
        affects=("idle", "causes"),
        sentence=(
            "1 of {operations} collectives lacks tasks on the device that others have"
            if len(lacking) == 1
            else "{count} of {operations} collectives lack tasks on the device that others have"
        ),
        remedy=LOST_TASKS,
        figures={"operations": len(operations)},
        count=len(lacking),
        share=len(lacking) / len(operations),
        steps=recording.steps_within(windows),
        windows=windows,
    )


def _kinds(recording: HealthEvidence, operations: Int64s) -> Int64s:
    """Return a number for each collective that is equal for those whose names differ in numbers only."""
    strings, names = recording.trace.strings, recording.trace.slices.name[operations]
    numbers: dict[str, int] = {}
    table = np.zeros(len(strings), np.int64)
    for name in distinct(names).tolist():
        table[name] = numbers.setdefault(re.sub(r"\d+", "#", strings[name]), len(numbers))
    return table[names]


def _covered(recording: HealthEvidence, row: int, parts: Int64s) -> float:
    """Return which share of a collective's time its parts cover."""
    slices = recording.trace.slices
    covered = time_of(slices, parts).clip(int(slices.start[row]), int(slices.end[row]))
    return covered.total / max(int(slices.dur[row]), 1)
