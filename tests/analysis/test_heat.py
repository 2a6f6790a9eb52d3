"""Heat maps: what a cell stands for and what it opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.machine import collective, npu, operator, step, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.gaps import Gaps
from tracetui.analysis.heat import LENGTHS, PHASES, Heat, gap_lengths, step_phase, stream_busy


def check_shape(heat: Heat) -> None:
    columns = len(heat.columns) or len(heat.edges) - 1
    for grid in (heat.values, heat.ns, heat.start, heat.end):
        assert grid.shape == (len(heat.rows), columns)
    assert ((heat.values >= 0) & (heat.values <= 1)).all()
    assert (heat.start <= heat.end).all()


def test_streams_are_busy_where_they_work() -> None:
    tasks = [task(0, 10), task(20, 20), task(0, 40, "EVENT_WAIT_SQE", stream=2), collective(30, 5)]
    heat = stream_busy(trace_of([*npu(), *tasks]), 0, 40, 4)
    check_shape(heat)
    assert dict(zip(heat.rows, heat.ns.tolist())) == {
        "Stream 1": [10, 0, 10, 10],
        "Stream 2": [0, 0, 0, 0],
        "Group 0 Communication": [0, 0, 0, 5],
    }
    assert (heat.start[0, 1], heat.end[0, 1]) == (10, 20)


def test_gaps_lie_in_the_row_of_their_length_and_open_the_longest() -> None:
    times = [0, 5_000, 60_000, 100_000, 100_000 + 10_000_000 + 10]
    heat = gap_lengths(analyse(trace_of([*npu(), *(task(at, 10) for at in times)])).gaps, 0, 200_000, 2)
    check_shape(heat)
    assert heat.ns.tolist() == [[0, 99_990], [0, 0], [0, 0], [54_990 + 39_990, 0], [4_990, 0]]
    assert (heat.start[3, 0], heat.end[3, 0]) == (5_010, 60_000)
    assert (heat.start[0, 1], heat.end[0, 1]) == (100_010, 10_100_010)
    assert heat.start[1, 0] == heat.end[1, 0]


def test_a_gap_of_each_shortest_length_lies_in_its_row() -> None:
    for place, (_, shortest) in enumerate(LENGTHS):
        gaps: Gaps = analyse(trace_of([*npu(), task(0, 10), task(10 + shortest, 10)])).gaps
        assert (gap_lengths(gaps, 0, 20 + shortest, 1).ns[:, 0] > 0).tolist().index(True) == place


def test_steps_are_rows_and_phases_columns() -> None:
    events = [*npu(), step(7, 0, 100), operator(10, 10), task(30, 10), task(60, 10)]
    heat = step_phase(analyse(trace_of(events)).steps)
    check_shape(heat)
    assert (heat.rows, heat.columns) == (("step 7",), PHASES)
    assert not heat.ns.any()


@pytest.mark.parametrize("rank", real.NPU)
def test_real_traces(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    trace = analysis.trace
    maps = (
        stream_busy(trace, trace.start_ns, trace.end_ns, 80),
        gap_lengths(analysis.gaps, trace.start_ns, trace.end_ns, 80),
        step_phase(analysis.steps),
    )
    for heat in maps:
        check_shape(heat)
        assert heat.ns.any()
    assert maps[1].ns.sum() == (analysis.gaps.end - analysis.gaps.start).sum()


def test_maps_of_nothing() -> None:
    analysis = analyse(trace_of([]))
    for heat in (stream_busy(analysis.trace, 0, 10, 3), gap_lengths(analysis.gaps, 0, 0, 3), step_phase(())):
        check_shape(heat)
        assert not heat.ns.any()
