"""The counterpart of a place of one run in another: the same step, and the operator matched there.

Steps are counterparts as in the matching of operators (`comparison.operators`): the first of the first.
Between two operators that match, time is shared out evenly, and over the whole step where none does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.arrays import Int64s
from tracetui.comparison.compared_run import Run
from tracetui.comparison.launched_work import outermost_of
from tracetui.comparison.sequence_diff import match


class CounterpartSide(NamedTuple):
    """A run, and the analysis that it was made of."""

    analysis: Analysis
    run: Run


class Counterpart(NamedTuple):
    """A place of the other run."""

    time_ns: int  #: on its clock
    row: int  #: slice row of what matches the slice that was asked for; -1 where nothing does
    step: int  #: place among the steps of the host
    of_step: int  #: of the step there that it is the counterpart of


class _Steps(NamedTuple):
    """Two steps and the operators of one thread in each that match; int64[n] each, by start."""

    places: tuple[int, int]
    here: Int64s  #: ns
    there: Int64s
    rows: tuple[Int64s, Int64s]  #: of the operators, without both edges of the step


def counterpart(
    here: CounterpartSide, there: CounterpartSide, time_ns: int, row: int = -1
) -> Counterpart | None:
    """Find the counterpart of a time of `here`, and of a slice there; None where a side has no steps.

    A slice stands for the operator of level 1 that it is, that is around it, or that launched it; of a task
    the counterpart is the task that the matched operator launched as its n-th.
    """
    if not here.run.steps or not there.run.steps:
        return None
    operator = _operator_of(here.analysis, row) if row >= 0 else -1
    slices = there.analysis.trace.slices
    if operator >= 0:
        start = int(here.analysis.trace.slices.start[operator])
        steps = _matched(here.run, there.run, start, operator)
        (found,) = np.nonzero(steps.rows[0] == operator)
        if len(found):
            matched = int(steps.rows[1][found[0]])
            if operator != row:
                matched = _nth_task(here.analysis, there.analysis, row, operator, matched)
            return Counterpart(int(slices.start[matched]), matched, steps.places[1], steps.places[0])
    steps = _matched(here.run, there.run, time_ns, -1)
    return Counterpart(_moved(steps, time_ns), -1, steps.places[1], steps.places[0])


def _operator_of(analysis: Analysis, row: int) -> int:
    """The operator of level 1 of a slice: itself, around it, or of its launch; -1 where none is known."""
    at = int(np.searchsorted(analysis.links.tasks, row))
    if at < len(analysis.links.tasks) and analysis.links.tasks[at] == row:
        row = int(analysis.links.operator[at])
    return int(outermost_of(analysis, np.array([row], np.int64))[0]) if row >= 0 else -1


def _nth_task(here: Analysis, there: Analysis, row: int, operator: int, matched: int) -> int:
    """The task that an operator launched as the one it is the counterpart of launched a task; else itself."""
    before, after = (_launched_by(analysis, of) for analysis, of in ((here, operator), (there, matched)))
    (at,) = np.nonzero(before == row)
    return int(after[min(int(at[0]), len(after) - 1)]) if len(at) and len(after) else matched


def _launched_by(analysis: Analysis, operator: int) -> Int64s:
    """The tasks that an operator of level 1 launched, by start: those of operators in its time and thread."""
    links, slices = analysis.links, analysis.trace.slices
    rows = analysis.work
    launched = links.operator[links.index(rows)]
    start, end = int(slices.start[operator]), int(slices.end[operator])
    inside = (launched >= 0) & (slices.start[launched] >= start) & (slices.start[launched] <= end)
    rows, launched = rows[inside], launched[inside]
    rows = rows[outermost_of(analysis, launched) == operator]
    ordered: Int64s = rows[np.argsort(slices.start[rows], kind="stable")]
    return ordered


def _matched(here: Run, there: Run, time_ns: int, operator: int) -> _Steps:
    """The step of a time and its counterpart; matched in the thread of an operator, else the busiest one."""
    (mine, my_edges), (_, their_edges) = _edges(here), _edges(there)
    place = max(int(np.searchsorted(mine, time_ns, "right")) - 1, 0)
    places = place, place % there.steps
    sides = [dict(run.operators.of(step)) for run, step in zip((here, there), places)]
    thread = 0
    if operator >= 0:
        for candidate, own in sides[0].items():
            if (here.operators.row[own] == operator).any():
                thread = candidate
    own, other = (side.get(thread, slice(0)) for side in sides)
    number = {name: at for at, name in enumerate(here.operators.names)}
    translated = np.array([number.setdefault(name, len(number)) for name in there.operators.names], np.int64)
    names = translated[there.operators.name[other]] if len(translated) else there.operators.name[other]
    pairs = match(here.operators.name[own], names)
    rows = here.operators.row[own][pairs.base], there.operators.row[other][pairs.other]
    starts = here.operators.start[own][pairs.base], there.operators.start[other][pairs.other]
    (first, last), (begin, end) = my_edges[places[0]], their_edges[places[1]]
    inside = (starts[0] > first) & (starts[0] < last) & (starts[1] > begin) & (starts[1] < end)
    return _Steps(
        places,
        np.concatenate(([first], starts[0][inside], [last])),
        np.concatenate(([begin], starts[1][inside], [end])),
        rows,
    )


def _edges(run: Run) -> tuple[Int64s, list[tuple[int, int]]]:
    """The starts of the steps of the host, and from when to when each lasts."""
    start, end = run.walls.start[run.walls.host], run.walls.end[run.walls.host]
    return start, [*zip(start.tolist(), end.tolist())]


def _moved(steps: _Steps, time_ns: int) -> int:
    """A time of one step in the other one; before and after them as far away from them."""
    here, there = steps.here, steps.there
    if time_ns <= here[0]:
        return int(there[0]) + time_ns - int(here[0])
    if time_ns >= here[-1]:
        return int(there[-1]) + time_ns - int(here[-1])
    at = int(np.searchsorted(here, time_ns, "right")) - 1
    span, other = int(here[at + 1] - here[at]), int(there[at + 1] - there[at])
    return int(there[at]) + (time_ns - int(here[at])) * other // span
