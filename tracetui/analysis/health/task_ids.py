"""Findings about tasks whose numbers are left out on a stream that numbers its tasks one after the other.

An NPU counts the tasks of a stream, events and waits among them; parts of one task have its number. On all
clean traces each number is that before it or the next one. Only that tells of lost copies, and of lost tasks
whose launches are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.health.finding import LOST_TASKS, Finding, Severity
from tracetui.analysis.health.recording import HealthEvidence
from tracetui.analysis.search import rows_of
from tracetui.arrays import Int64s, first_equal
from tracetui.trace.model import Family, Layer

#: Numbers in a row that are left out, from which on tasks are missing.
LEAST_MISSING = 3
#: More than so many are none that were lost: numbers begin anew.
_MOST_MISSING = 32_768
#: Numbers of a stream that tell whether it counts one by one, and the share of steps that say so.
_LEAST_NUMBERS, _ONE_BY_ONE = 20, 0.9
#: So many gaps of which most are equally wide are tasks of a kind that is never recorded.
_LEAST_ALIKE = 3


class _Gap(NamedTuple):
    start: int  #: ns: the end of the task before
    end: int  #: ns: the start of the task after
    missing: int  #: numbers
    track: int


def unnumbered_tasks(recording: HealthEvidence, known: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yield a finding where numbers of tasks are left out, and the stream does nothing meanwhile.

    `known`: stretches, ns, in which tasks are known to be lost: gaps that overlap them are left out.
    """
    gaps = [
        gap
        for gap in _gaps(recording)
        if not any(start < gap.end and gap.start < end for start, end in known)
    ]
    if not gaps:
        return
    windows = tuple(sorted((gap.start, gap.end) for gap in gaps))
    missing = sum(gap.missing for gap in gaps)
    total = len(recording.trace.numbered.event) + missing
    yield Finding(
        id="device.dropped",
        severity=Severity.DOUBTFUL,
        affects=("idle", "causes"),
        sentence=(
            "the numbers of {count} tasks in a row are left out on a stream that counts one by one"
            if len(gaps) == 1
            else "the numbers of {count} tasks are left out, in {stretches} stretches, on streams that count "
            "one by one"
        ),
        remedy=LOST_TASKS,
        figures={"stretches": len(gaps)},
        count=missing,
        share=missing / total,
        steps=recording.steps_within(windows),
        windows=windows,
        tracks=tuple(sorted({gap.track for gap in gaps})),
    )


def _gaps(recording: HealthEvidence) -> Iterator[_Gap]:
    """Yield where numbers are left out on the streams of devices, by track, then start."""
    trace, slices = recording.trace, recording.trace.slices
    numbered = trace.numbered
    if len(numbered.event) < _LEAST_NUMBERS:
        return
    for track in trace.tracks:
        if track.layer != Layer.DEVICE or track.family != Family.TASKS:
            continue
        rows = rows_of([track])
        place = first_equal(numbered.event, slices.event[rows])
        rows, place = rows[place >= 0], place[place >= 0]
        order = np.argsort(slices.start[rows], kind="stable")
        rows, numbers = rows[order], numbered.task[place][order].astype(np.int64)
        steps = np.diff(numbers)
        found = np.flatnonzero((steps > LEAST_MISSING) & (steps <= _MOST_MISSING))
        one_by_one = np.count_nonzero((steps == 0) | (steps == 1))
        if len(rows) < _LEAST_NUMBERS or one_by_one < _ONE_BY_ONE * len(steps) or _are_alike(steps[found]):
            continue
        if not len(found):
            continue
        # Numbers that stand elsewhere on the stream are not left out: a clock leapt back.
        ordered = np.sort(numbers)
        found = found[
            np.searchsorted(ordered, numbers[found], "right") == np.searchsorted(ordered, numbers[found + 1])
        ]
        ends = np.maximum.accumulate(slices.end[rows])[found]
        for start, end, step in zip(ends.tolist(), slices.start[rows[found + 1]].tolist(), steps[found]):
            if start < end:
                yield _Gap(start, end, int(step) - 1, track.index)


def _are_alike(steps: Int64s) -> bool:
    """Return whether most of several steps are equally wide."""
    if len(steps) < _LEAST_ALIKE:
        return False
    _, counts = np.unique(steps, return_counts=True)
    return 2 * int(counts.max()) > len(steps)
