"""The searches that all analyses share, against plain lists: sorted or not, near each other or far apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.analysis.machine import npu, task
from tests.synthetic import process, trace_of
from tracetui.analysis.search import distinct, first_equal, grouped, ids_of_device, pick, ranges, runs
from tracetui.arrays import Int64s

near = st.lists(st.integers(-3, 6), max_size=20)
far = st.lists(st.sampled_from([-(2**62), -40_000, -1, 0, 7, 40_000, 2**40, 2**62]), max_size=20)


def column(values: Sequence[int]) -> Int64s:
    return np.array(values, np.int64)


@given(near | far, near | far)
def test_the_first_equal_key(keys: list[int], wanted: list[int]) -> None:
    expected = [keys.index(value) if value in keys else -1 for value in wanted]
    assert first_equal(column(keys), column(wanted)).tolist() == expected


def test_an_id_is_of_its_device_and_below_0_where_there_is_none() -> None:
    other = process(301, "Ascend Hardware", "NPU 1")
    tasks = [task(0, 5, connection=7), task(10, 5, connection=7), task(20, 5), task(30, 5, connection=8)]
    trace = trace_of([*npu(), *other, *tasks, {**task(40, 5, connection=7), "pid": 301}])
    first, again, none, second, elsewhere = ids_of_device(trace, np.argsort(trace.slices.start)).tolist()
    assert first == again and none == -1
    assert len({first, none, second, elsewhere}) == 4 and min(first, second, elsewhere) >= 0


def test_ids_of_32_bits_among_larger_ones() -> None:
    keys, wanted = column([2**40 + 1, 2**40]), np.array([5, -1], np.int32)
    assert first_equal(keys, wanted).tolist() == [-1, -1]
    assert first_equal(wanted, keys).tolist() == [-1, -1]


@given(near | far)
def test_groups_of_equal_keys_keep_their_order(keys: list[int]) -> None:
    expected = {key: [at for at, each in enumerate(keys) if each == key] for key in sorted(set(keys))}
    assert {key: places.tolist() for key, places in runs(column(keys))} == expected
    order, first = grouped(column(keys))
    assert column(keys)[order[first]].tolist() == distinct(column(keys)).tolist() == list(expected)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=8))
def test_ranges_one_after_the_other(spans: list[tuple[int, int]]) -> None:
    first, count = column([start for start, _ in spans]), column([length for _, length in spans])
    expected = [number for start, length in spans for number in range(start, start + length)]
    assert ranges(first, first + count).tolist() == expected


@pytest.mark.parametrize("values", [[], [5, 6, 7]])
def test_picking_nothing_from_anything(values: list[int]) -> None:
    found = pick(np.array(values, np.int8), column([-1, -1]))
    assert found.tolist() == [-1, -1]
    assert found.dtype == np.int64
