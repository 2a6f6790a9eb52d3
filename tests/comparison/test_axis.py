"""One axis of two runs: steps begin at once, and no time is left out or shown twice."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.comparison.planted import run
from tracetui.comparison.axis import Axis, Bounds
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.walls import StepWalls

#: time before the first step, then the length of each step and of what follows it
lengths = st.tuples(st.integers(0, 9), st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), max_size=4))


def made(start: int, before: int, parts: list[tuple[int, int]], number: int = 0) -> tuple[Run, Bounds]:
    """A run with steps of these lengths, from `number` on; without any it counts as one step of 7 ns."""
    edges = np.cumsum([start + before, *(length for part in parts for length in part)])
    starts, ends = (edges[:-1:2], edges[1::2]) if parts else (edges, edges + 7)
    none = np.zeros(len(starts), np.int64)
    step_numbers = np.arange(number, number + len(starts)) if parts else none - 1
    walls = StepWalls(none, step_numbers, starts, starts, ends, starts, ends, starts, ends, ())
    numbers = tuple(range(len(parts)))
    run: Any = SimpleNamespace(walls=walls, numbers=numbers)
    return cast(Run, run), (start, int(edges[-1]) + 7)


@given(lengths, lengths, st.integers(-500, 500), st.integers(0, 4))
def test_every_time_of_both_runs_has_one_place_and_steps_begin_at_once(
    base: tuple[int, list[tuple[int, int]]], other: tuple[int, list[tuple[int, int]]], start: int, number: int
) -> None:
    (base_run, my_trace), (other_run, their_trace) = made(0, *base), made(start, *other, number)
    axis = Axis.of((base_run, other_run), (my_trace, their_trace))
    for side, (first, last) in enumerate((my_trace, their_trace)):
        places = [axis.place(side, moment) for moment in range(first, last + 1)]
        assert places[0] >= 0 and places[-1] <= axis.end and places == sorted(set(places))
        assert places[-1] - places[-2] == 1, "a run that ends earlier has its end where it is busy"
        assert axis.moments(side, np.array(places)).tolist() == [*range(first, last + 1)]
        times = np.arange(axis.end + 1)
        moments = axis.moments(side, times)
        assert (moments[0], moments[-1]) == (first, last), "all of the run is on the axis"
        steps = np.diff(moments)
        assert set(steps.tolist()) <= {0, 1}, "to one scale, and never back"
        assert int(steps.sum()) == last - first
    assert axis.end <= my_trace[1] - my_trace[0] + their_trace[1] - their_trace[0]
    if not base[1] or not other[1]:
        assert not len(axis.steps[0])
        assert axis.place(0, int(base_run.walls.start[0])) == axis.place(1, int(other_run.walls.start[0]))
    shift = number if number < len(base[1]) else 0  # no number is in both: the first has the first
    for step in range(len(axis.steps[0])):
        assert axis.step_at(axis.step_start(step)) == step
        for side, (run_, place) in enumerate(((base_run, step), (other_run, step - shift))):
            if 0 <= place < len(run_.walls):
                start, end = int(run_.walls.start[place]), int(run_.walls.end[place])
                assert axis.step_span(side, step) == (start, end)
                assert axis.place(side, start) == axis.step_start(step)
            else:
                assert axis.step_span(side, step) is None


def test_a_step_takes_as_much_of_the_axis_as_the_longer_one() -> None:
    (base, first), (other, second) = made(100, 5, [(10, 0), (30, 2)]), made(0, 8, [(25, 0), (20, 0), (4, 0)])
    axis = Axis.of((base, other), (first, second))
    assert axis.at.tolist() == [0, 8, 33, 33, 63, 72, 76, 83], "2 + 7 ns follow the last step of BASE"
    assert [side.tolist() for side in axis.steps] == [[0, 1, -1], [0, 1, 2]]
    assert [axis.moment(0, time) for time in (0, 3, 8, 18, 25, 33)] == [100, 100, 105, 115, 115, 115]
    assert [axis.moment(1, time) for time in (0, 33, 53, 60, 72)] == [0, 33, 53, 53, 53]
    assert axis.step_at(7) == -1 and axis.step_at(axis.end) == 2


def test_a_run_with_itself_stands_still_nowhere() -> None:
    analysis = run("mixed")
    trace, made_of = analysis.trace, run_of(analysis)
    axis = Axis.of((made_of, made_of), ((trace.start_ns, trace.end_ns),) * 2)
    assert axis.end == trace.end_ns - trace.start_ns
    assert axis.moments(0, axis.at).tolist() == axis.moments(1, axis.at).tolist()
    without = replace(made_of, numbers=())
    axis = Axis.of((made_of, without), ((trace.start_ns, trace.end_ns),) * 2)
    assert not len(axis.steps[0]) and axis.end == trace.end_ns - trace.start_ns
