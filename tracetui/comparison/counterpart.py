"""The counterpart of a place of one run in another: the same step, and the operator matched there.

Steps and threads are counterparts as in the matching of operators (`operator_sequences`).
Between two operators that match, time is shared out evenly, and over the whole step where none does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.analyse import Analysis
from tracetui.arrays import Int64s
from tracetui.comparison.compared_run import Run
from tracetui.comparison.launched_work import operator_test, outermost_of
from tracetui.comparison.operator_sequences import common_names, pair_threads
from tracetui.comparison.sequence_diff import match_sequences
from tracetui.comparison.walls import counterpart_steps


class CounterpartSide(NamedTuple):
    """A run, and the analysis that it was made of."""

    analysis: Analysis
    run: Run


class Counterpart(NamedTuple):
    """A place of the other run."""

    time_ns: int  #: on its clock
    row: int  #: slice row of what matches the slice that was asked for; -1 where nothing does
    step: int  #: place among the steps of the host
    asked_step: int  #: of the step there that it is the counterpart of


class _StepPair(NamedTuple):
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
    operator = _level_1_operator(here.analysis, row) if row >= 0 else -1
    slices = there.analysis.trace.slices
    if operator >= 0:
        start = int(here.analysis.trace.slices.start[operator])
        steps = _match_steps(here.run, there.run, start, operator)
        (place,) = np.nonzero(steps.rows[0] == operator)
        if len(place):
            row_there = int(steps.rows[1][place[0]])
            if operator != row:
                row_there = _nth_task(here.analysis, there.analysis, row, operator, row_there)
            return Counterpart(int(slices.start[row_there]), row_there, steps.places[1], steps.places[0])
    steps = _match_steps(here.run, there.run, time_ns, -1)
    return Counterpart(_translate(steps, time_ns), -1, steps.places[1], steps.places[0])


def _level_1_operator(analysis: Analysis, row: int) -> int:
    """Return the operator of level 1 of a slice: itself, around it, or of its launch; -1 where unknown."""
    place = int(np.searchsorted(analysis.launch_chains.tasks, row))
    if place < len(analysis.launch_chains.tasks) and analysis.launch_chains.tasks[place] == row:
        row = int(analysis.launch_chains.operator[place])
    rows = np.array([row], np.int64)
    return int(outermost_of(analysis, rows, operator_test(analysis.trace))[0]) if row >= 0 else -1


def _nth_task(here: Analysis, there: Analysis, row: int, operator: int, matched: int) -> int:
    """Return the task that the matched operator launched as the n-th, as `row` is the n-th; else itself."""
    tasks_here, tasks_there = (
        _tasks_launched_by(analysis, launcher) for analysis, launcher in ((here, operator), (there, matched))
    )
    (place,) = np.nonzero(tasks_here == row)
    return (
        int(tasks_there[min(int(place[0]), len(tasks_there) - 1)])
        if len(place) and len(tasks_there)
        else matched
    )


def _tasks_launched_by(analysis: Analysis, operator: int) -> Int64s:
    """Return the tasks that an operator of level 1 and the operators inside it launched, by start."""
    chains, slices = analysis.launch_chains, analysis.trace.slices
    rows = analysis.work
    launched = chains.operator[chains.index(rows)]
    start, end = int(slices.start[operator]), int(slices.end[operator])
    inside = (launched >= 0) & (slices.start[launched] >= start) & (slices.start[launched] <= end)
    rows, launched = rows[inside], launched[inside]
    rows = rows[outermost_of(analysis, launched, operator_test(analysis.trace)) == operator]
    ordered: Int64s = rows[np.argsort(slices.start[rows], kind="stable")]
    return ordered


def _match_steps(here: Run, there: Run, time_ns: int, operator: int) -> _StepPair:
    """Match the step of a time with its counterpart, in an operator's thread, else the busiest one."""
    (starts_here, edges_here), (_, edges_there) = _step_edges(here), _step_edges(there)
    place = max(int(np.searchsorted(starts_here, time_ns, "right")) - 1, 0)
    places = place, int(counterpart_steps(here.walls, there.walls)[place])
    sides = [dict(run.operators.threads_of_step(step)) for run, step in zip((here, there), places)]
    thread = 0
    if operator >= 0:
        for candidate, places_here in sides[0].items():
            if (here.operators.row[places_here] == operator).any():
                thread = candidate
    names = common_names(here.operators, there.operators)
    thread_there = pair_threads((here.operators, there.operators), names).get(thread, thread)
    places_here, places_there = sides[0].get(thread, slice(0)), sides[1].get(thread_there, slice(0))
    pairs = match_sequences(names[0][places_here], names[1][places_there])
    rows = here.operators.row[places_here][pairs.base], there.operators.row[places_there][pairs.other]
    starts = here.operators.start[places_here][pairs.base], there.operators.start[places_there][pairs.other]
    (first, last), (begin, end) = edges_here[places[0]], edges_there[places[1]]
    inside = (starts[0] > first) & (starts[0] < last) & (starts[1] > begin) & (starts[1] < end)
    return _StepPair(
        places,
        np.concatenate(([first], starts[0][inside], [last])),
        np.concatenate(([begin], starts[1][inside], [end])),
        rows,
    )


def _step_edges(run: Run) -> tuple[Int64s, list[tuple[int, int]]]:
    """Return the starts of the steps of the host, and from when to when each lasts."""
    start, end = run.walls.start[run.walls.host_places], run.walls.end[run.walls.host_places]
    return start, [*zip(start.tolist(), end.tolist())]


def _translate(steps: _StepPair, time_ns: int) -> int:
    """Return a time of one step as the time in the other; before and after it as far away from it."""
    here, there = steps.here, steps.there
    if time_ns <= here[0]:
        return int(there[0]) + time_ns - int(here[0])
    if time_ns >= here[-1]:
        return int(there[-1]) + time_ns - int(here[-1])
    segment = int(np.searchsorted(here, time_ns, "right")) - 1
    span_here, span_there = int(here[segment + 1] - here[segment]), int(there[segment + 1] - there[segment])
    return int(there[segment]) + (time_ns - int(here[segment])) * span_there // span_here
