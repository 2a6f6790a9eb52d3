"""The own time of what holds others: on one thread it adds up to the time in which anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis import real
from tests.analysis.machine import enqueue, operator, step
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.ancestors import Ancestors
from tracetui.analysis.intervals import union
from tracetui.analysis.operators import host_operators, self_times


def own_by_name(analysis: Analysis) -> dict[str, int]:
    table = analysis.host_operators
    return {table[at].name: table[at].self_ns for at in range(len(table))}


def test_an_operator_is_left_with_what_those_directly_inside_leave() -> None:
    events = [
        step(0, 0, 100),
        operator(10, 60, "linear"),
        operator(15, 20, "t"),
        operator(20, 5, "view"),
        operator(40, 20, "mm"),
        enqueue(45, 5, 1),
        operator(80, 10, "add"),
    ]
    analysis = analyse(trace_of(events))
    assert own_by_name(analysis) == {
        "ProfilerStep#0": 30,
        "linear": 20,
        "t": 15,
        "view": 5,
        "mm": 20,
        "add": 10,
    }
    assert analysis.host_operators.share.sum() == pytest.approx(1)
    inside = analysis.operators_in_window(18, 50, host=True).by_name()
    shares = {inside[at].name: inside[at].self_ns for at in range(len(inside))}
    assert shares == {"linear": 5, "t": 12, "view": 5, "mm": 10, "ProfilerStep#0": 0}
    in_step = analysis.operators_in_step(0, host=True) if analysis.steps else analysis.operators(host=True)
    assert in_step.self_ns.sum() == 100


def test_what_overlaps_inside_another_is_taken_off_once() -> None:
    trace = trace_of([operator(0, 20, "outer"), operator(2, 10, "one"), operator(6, 12, "other")])
    rows = np.arange(3)
    slices = trace.slices
    found = self_times(Ancestors(trace), rows, slices.start[rows], slices.end[rows])
    assert {trace.name(row): ns for row, ns in zip(rows.tolist(), found.tolist())} == {
        "outer": 4,
        "one": 10,
        "other": 12,
    }


@st.composite
def nested(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Operators of one thread that nest."""
    events: list[dict[str, Any]] = []
    time = 0

    def grow(depth: int) -> None:
        nonlocal time
        begin, place = time, len(events)
        events.append({})
        time += draw(st.integers(0, 5))
        for _ in range(draw(st.integers(0, 3)) if depth < 4 else 0):
            grow(depth + 1)
            time += draw(st.integers(0, 3))
        events[place] = operator(begin, time - begin, draw(st.sampled_from("abc")))

    for _ in range(draw(st.integers(1, 4))):
        grow(0)
        time += draw(st.integers(0, 4))
    return events


@given(nested(), st.integers(0, 60), st.integers(0, 60))
def test_own_times_add_up_to_the_time_in_which_any_runs(
    events: list[dict[str, Any]], start: int, length: int
) -> None:
    analysis = analyse(trace_of(events))
    slices, rows = analysis.trace.slices, host_operators(analysis.trace)
    ran = union(slices.start[rows], slices.end[rows])
    table = analysis.host_operators
    assert table.self_ns.sum() == ran.total
    assert (table.self_ns >= 0).all() and (table.self_ns <= table.total_ns).all()
    inside = analysis.operators_in_window(start, start + length, host=True).by_name()
    assert inside.self_ns.sum() == ran.clip(start, start + length).total


@pytest.mark.parametrize("rank", real.NPU)
def test_own_times_of_a_real_trace_are_the_time_of_its_threads(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    trace, rows = analysis.trace, host_operators(analysis.trace)
    ran = 0
    for track in trace.tracks:
        thread_rows = rows[(rows >= track.rows.start) & (rows < track.rows.stop)]
        ran += union(trace.slices.start[thread_rows], trace.slices.end[thread_rows]).total
    assert analysis.host_operators.self_ns.sum() == ran
    assert analysis.host_operators.total_ns.sum() > 3 * ran
