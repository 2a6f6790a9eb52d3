"""Findings about collectives of which parts are missing on the streams of a device."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.finding import Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.intervals import union
from tracetui.analysis.search import rows_of, runs
from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family
from tracetui.units import format_count

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
    by_id = {key: parts[found] for key, found in runs(slices.correlation[parts])}
    kinds: dict[str, list[int]] = {}
    for row in operations.tolist():
        kinds.setdefault(re.sub(r"\d+", "#", trace.name(row)), []).append(row)
    lacking: list[int] = []
    for rows in kinds.values():
        parts_by_row = [by_id.get(int(slices.correlation[row]), parts[:0]) for row in rows]
        counts = np.array([len(found) for found in parts_by_row])
        whole = counts == counts.max()
        if whole.all():
            continue
        covered = np.array([_covered(recording, row, found) for row, found in zip(rows, parts_by_row)])
        if np.count_nonzero(whole & (covered >= COVERED)) >= _LEAST_WHOLE:
            lacking += np.array(rows)[~whole & (covered < COVERED)].tolist()
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
        remedy=(
            "The profiler lost tasks: record fewer steps at once, at a lower level, or with larger buffers. "
            "Do not read the idle time there."
        ),
        figures={"count": format_count(len(lacking)), "operations": format_count(len(operations))},
        count=len(lacking),
        share=len(lacking) / len(operations),
        steps=recording.steps_within(windows),
        windows=windows,
    )


def _covered(recording: HealthEvidence, row: int, parts: Int64s) -> float:
    """Return which share of a collective's time its parts cover."""
    slices = recording.trace.slices
    start, end = slices.start[row : row + 1], slices.end[row : row + 1]
    covered = union(slices.start[parts], slices.end[parts]).covered(start, end)
    return float(covered[0]) / max(int(slices.dur[row]), 1)
