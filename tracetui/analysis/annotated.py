"""The phases of steps that the program itself tells: annotations like `## forward ##` on a step's thread.

They count where those not inside of each other cover most of a step on the host: what they leave out is then
little, and it is in no phase. Knows nothing of devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tracetui.analysis.search import of_category
from tracetui.analysis.steps import Step
from tracetui.arrays import Int64s
from tracetui.trace.dialects.known import KNOWN, compile_any
from tracetui.trace.model import Trace

LEAST_COVERED = 80  #: percent of a step

_PHASE = compile_any(KNOWN.operators.phases)


class AnnotatedPhase(NamedTuple):
    """A phase of a step on the host, all its parts together."""

    name: str  #: "forward": never print it unescaped
    ns: int


def annotated_phases(trace: Trace, steps: Sequence[Step]) -> list[tuple[AnnotatedPhase, ...]]:
    """Return the phases of each step in the order in which they begin; () where too little is annotated."""
    matches = ((index, _PHASE.fullmatch(text)) for index, text in enumerate(trace.strings))
    names = {index: match[match.lastindex or 0].strip() for index, match in matches if match is not None}
    if not names:
        return [()] * len(steps)
    phases: dict[int, tuple[AnnotatedPhase, ...]] = {}
    candidates: dict[int, Int64s] = {}
    for step in steps:
        if step.row not in phases:
            track = trace.track_of(step.row)
            if track.index not in candidates:
                candidates[track.index] = _annotations(trace, track.rows, names)
            phases[step.row] = _phases(trace, step, candidates[track.index], names)
    return [phases[step.row] for step in steps]


def _annotations(trace: Trace, rows: range, names: dict[int, str]) -> Int64s:
    """Return the annotated slices of a track by start, outer ones first."""
    span = slice(rows.start, rows.stop)
    is_phase = of_category(trace, trace.slices.category[span], KNOWN.categories.annotations)
    is_phase &= np.isin(trace.slices.name[span], np.array([*names], np.int32))
    annotated = rows.start + np.flatnonzero(is_phase)
    return annotated[np.lexsort((-trace.slices.dur[annotated], trace.slices.start[annotated]))]


def _phases(trace: Trace, step: Step, rows: Int64s, names: dict[int, str]) -> tuple[AnnotatedPhase, ...]:
    starts = trace.slices.start[rows]
    first, stop = np.searchsorted(starts, np.array([step.host_start_ns, step.host_end_ns])).tolist()
    reached, total = step.host_start_ns, 0
    sums: dict[str, int] = {}
    for row in rows[first:stop].tolist():
        start, end = int(trace.slices.start[row]), int(trace.slices.end[row])
        if start >= reached and end <= step.host_end_ns:
            name = names[int(trace.slices.name[row])]
            sums[name] = sums.get(name, 0) + end - start
            reached, total = end, total + end - start
    if total * 100 < LEAST_COVERED * (step.host_end_ns - step.host_start_ns) or not total:
        return ()
    return tuple(AnnotatedPhase(name, ns) for name, ns in sums.items())
