"""What a step went into sums to it, and the changes of the parts to that of the step, to the nanosecond."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import Events, collective, npu, operator, step, task
from tests.comparison.planted import run
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.step_parts import step_parts
from tracetui.comparison.walls import StepChoice
from tracetui.comparison.waterfall import TERMS, term_places

WORK = slice(TERMS.index("preparing.copy"), TERMS.index("copy") + 1)  # all but idle time
times = st.integers(0, 3000)
lengths = st.integers(1, 400)
works = st.lists(
    st.one_of(
        st.builds(lambda at, dur: task(at, dur), times, lengths),
        st.builds(lambda at, dur: task(at, dur, "AI_CPU", 2), times, lengths),
        st.builds(lambda at, dur: task(at, dur, "PCIE_DMA_SQE", 3), times, lengths),
        st.builds(lambda at, dur: collective(at, dur), times, lengths),
    ),
    max_size=20,
)
steps = st.lists(st.integers(1, 900), max_size=5)


@st.composite
def any_run(draw: st.DrawFn) -> Analysis:
    events: Events = npu()
    start = 100
    for number, length in enumerate(draw(steps)):
        events += [step(number, start, length), operator(start, length)]
        start += length
    return analyse(trace_of([*events, *draw(works)]))


def check(comparison: Comparison) -> None:
    for side in (comparison.base, comparison.other):
        assert side.terms_ns.sum(axis=1).tolist() == side.wall_ns.tolist()
        assert (side.terms_ns >= 0).all()
        assert side.device_terms_ns.sum(axis=1).tolist() == side.device_ns.tolist()
        assert (side.device_terms_ns >= 0).all()
        assert not side.device_terms_ns[:, term_places("preparing")].any()
        idle = side.terms_ns.sum() - side.terms_ns[:, WORK].sum()
        assert sum(found.ns for found in side.causes.values()) == idle
        assert sum(found.ns for found in side.lines.idle.values()) == idle
    assert sum((term.delta_ns for term in comparison.waterfall), Fraction(0)) == comparison.step.delta_ns
    preparing = [term for term in comparison.waterfall if term.name.startswith("preparing")]
    for side, of_side in ((comparison.base, "base_ns"), (comparison.other, "other_ns")):
        whole = int(side.terms_ns[:, term_places("preparing")].sum())
        assert sum(getattr(term, of_side) for term in preparing) == Fraction(whole, max(len(side.wall_ns), 1))
        if 100 * whole > int(side.wall_ns.sum()):
            assert len(preparing) > 1, "more than 1 % is cut by cause"


@settings(max_examples=settings().max_examples // 2)  # of two runs each
@given(any_run(), any_run())
def test_the_parts_of_any_step_sum_to_it(base: Analysis, other: Analysis) -> None:
    check(compare_runs(run_of(base), run_of(other)))


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.sampled_from((90, 100, 101, 102, 300)), min_size=4, max_size=9), st.booleans())
def test_the_parts_sum_to_the_steps_that_are_used(walls: list[int], all_steps: bool) -> None:
    """Whichever steps are outliers."""
    events: Events = npu()
    start = 1000
    for number, wall in enumerate(walls):
        events += [step(number, start, wall), operator(start, wall), task(start + 5, wall // 2)]
        start += wall
    analysis = analyse(trace_of(events))
    used, every = (
        run_of(analysis, StepChoice(all_steps=all_steps)),
        run_of(analysis, StepChoice(all_steps=True)),
    )
    check(compare_runs(used, every))
    assert len(used.wall_ns) + len(used.walls.left_out) == len(every.wall_ns) == len(walls)


@given(any_run(), times, lengths)
def test_the_parts_of_any_window_sum_to_it(analysis: Analysis, start: int, length: int) -> None:
    window = run_of(analysis, StepChoice(window=(start, start + length)))
    check(compare_runs(window, run_of(analysis)))


def check_preparing(analysis: Analysis) -> None:
    """The preparing of each wall is that of the table of steps, where it ends within the wall."""
    side = run_of(analysis, StepChoice(all_steps=True))
    found = side.terms_ns[:, term_places("preparing")].sum(axis=1).tolist()
    steps = {(step.device, step.host_start_ns): step for step in analysis.steps}
    for wall, ns in enumerate(found):
        device = analysis.devices[int(side.walls.device[wall])].device
        step = steps.get((device, int(side.walls.start[wall])))  # none where the trace has no steps
        if step is not None and step.prepared_ns <= int(side.walls.end[wall]):
            assert ns == step.preparing_ns
    parts = [part for part in step_parts(analysis) if part.wall]
    if steps:
        assert sorted(part.wall for part in parts) == sorted(side.wall_ns.tolist())
        assert sorted(part.preparing for part in parts) == sorted(found)
    assert all(min(part) >= 0 for part in parts)


@given(any_run())
def test_preparing_is_that_of_the_table_of_steps(analysis: Analysis) -> None:
    check_preparing(analysis)


@pytest.mark.parametrize("name", ["resnet_rank0.json.gz", "vllm_graph_execution.json.gz"])
def test_of_real_traces(real_traces: Path, name: str) -> None:
    analysis = real.gpu(real_traces, name)
    check_preparing(analysis) if analysis.steps else None
    side = run_of(analysis)
    check(compare_runs(side, side))


@pytest.mark.parametrize("scenario", ["mixed", "stalls"])
def test_device_time_is_charged_whole(scenario: str) -> None:
    """Classes, operators and kernels with communication and copies are all of the launched work."""
    analysis = run(scenario)
    side = run_of(analysis)
    other = compare_runs(side, run_of(run(scenario, collective=2.0)))
    launched = sum(found.ns for name, found in side.classes.items() if name.count("(") < 2)
    launched -= sum(
        found.ns for name, found in side.classes.items() if name in ("Matmul (Cube)", "Matmul (Vector)")
    )
    launched -= sum(found.ns for name, found in side.classes.items() if name.endswith("Trans)"))
    assert sum(row.base.ns for row in other.operators) == launched
    assert launched <= int(analysis.trace.slices.dur[analysis.work].sum())
