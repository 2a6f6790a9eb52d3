"""Sequences are matched as far as they are the same, short ones as far as can be."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.gpu import gpu, host, kernel, launch, step
from tests.synthetic import trace_of
from tracetui.analysis.analyse import analyse
from tracetui.arrays import Int64s
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.comparison import compare_runs
from tracetui.comparison.sequence_diff import match_sequences
from tracetui.comparison.walls import StepChoice


def longest_common(base: list[int], other: list[int]) -> int:
    """The length of a longest common subsequence, by the table that everybody knows."""
    row = [0] * (len(other) + 1)
    for base_name in base:
        before, row = row, [0]
        for place, other_name in enumerate(other):
            row.append(before[place] + 1 if base_name == other_name else max(before[place + 1], row[-1]))
    return row[-1]


def matched(base: Int64s, other: Int64s) -> int:
    """How many entries match, after a look at whether they do."""
    pairs = match_sequences(base, other)
    assert (base[pairs.base] == other[pairs.other]).all()
    assert (np.diff(pairs.base) > 0).all() and (np.diff(pairs.other) > 0).all()
    return len(pairs.base)


entries = st.lists(st.integers(0, 5), max_size=50)


@given(
    st.lists(st.integers(0, 3), max_size=12),
    st.lists(st.integers(0, 3), max_size=12),
)
def test_the_same_match_from_either_side(base: list[int], other: list[int]) -> None:
    sides = np.array(base, np.int64), np.array(other, np.int64)
    there, back = match_sequences(*sides), match_sequences(*sides[::-1])
    assert (there.base.tolist(), there.other.tolist()) == (back.other.tolist(), back.base.tolist())


@given(entries, entries)
def test_short_sequences_match_as_far_as_can_be(base: list[int], other: list[int]) -> None:
    found = matched(np.array(base, np.int64), np.array(other, np.int64))
    assert found == longest_common(base, other)


@given(st.integers(0, 2**32), st.integers(1, 9), st.integers(20, 60))
def test_what_was_taken_out_is_all_that_does_not_match(seed: int, percent: int, names: int) -> None:
    random = np.random.default_rng(seed)
    base = random.integers(0, names, 6000)
    kept = random.random(6000) >= percent / 100
    found = matched(base, base[kept])
    assert found >= 0.98 * kept.sum()
    assert matched(base, base) == 6000


def test_repeated_layers_match_though_each_has_one_operator_more() -> None:
    layer = np.random.default_rng(3).integers(0, 20, 60)
    fused = np.concatenate((layer[:20], [99], layer[20:]))
    assert matched(np.tile(layer, 300), np.tile(fused, 300)) == 60 * 300


def test_a_few_that_occur_as_often_do_not_keep_many_from_matching() -> None:
    """A run of 60 matches, although `7` before it and behind it on the other side occurs twice on both."""
    run = np.arange(100, 160)
    base = np.concatenate((np.full(80, 1), [7, 7], run))
    other = np.concatenate((run, [7, 7], np.full(20, 2)))
    assert matched(base, other) == 60


def threads(first: int, second: int) -> Run:
    """A step in which two threads of Python call so many operators each, of which one launches."""
    events = [*gpu(), step(1, 1000, 900), launch(1006, 1, 1), kernel(1010, 50, 1)]
    events += [host(1005 + 10 * place, 5) for place in range(first)]
    events += [{**host(1005 + 10 * place, 5, "aten::relu"), "tid": 5} for place in range(second)]
    return run_of(analyse(trace_of(events)))


def test_threads_match_by_what_they_run() -> None:
    """The busier thread of one run is not that of the other."""
    comparison = compare_runs(threads(4, 3), threads(3, 4))
    assert [(stretch.names, stretch.count) for stretch in comparison.gone] == [(("aten::mm",), 1)]
    assert [(stretch.names, stretch.count) for stretch in comparison.new] == [(("aten::relu",), 1)]


def accumulating(first: int) -> Run:
    """Steps up to the 7th, of which each with an even number ends with another operator."""
    events = gpu()
    for number in range(first, 8):
        start = 1000 * number
        events += [step(number, start, 999), launch(start + 6, 1, number), kernel(start + 10, 900, number)]
        events += [host(start + 5, 5), host(start + 20, 5, "aten::zero_" if number % 2 else "aten::add_")]
    return run_of(analyse(trace_of(events)), StepChoice(all_steps=True))


def test_steps_of_one_number_match_where_one_side_begins_later() -> None:
    for pair in ((accumulating(1), accumulating(2)), (accumulating(2), accumulating(1))):
        comparison = compare_runs(*pair)
        assert not comparison.gone and not comparison.new
