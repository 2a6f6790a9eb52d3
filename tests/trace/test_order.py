"""Orders found the short way are those that numpy finds."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tracetui.trace.order import numbered, order_by_group, stable_order, ties

near = st.integers(-3, 3)
far = st.sampled_from([-(2**31), -40_000, -1, 0, 7, 25_535, 25_536, 2**31 - 1])


@example([65_535, 0], np.int64)
@example([65_536, 0], np.int64)
@example([70_001, 70_000, 135_535], np.int64)
@given(st.lists(near | far | st.integers(0, 70_000), max_size=30), st.sampled_from([np.int32, np.int64]))
def test_numbers_near_each_other_and_far_apart(numbers: list[int], kind: type[np.signedinteger]) -> None:
    column = np.array(numbers, kind)
    assert stable_order(column).tolist() == np.argsort(column, kind="stable").tolist()


def test_numbers_of_8_bits_further_apart_than_8_bits_tell() -> None:
    assert stable_order(np.array([127, -128, 0, 127, -128], np.int8)).tolist() == [1, 4, 2, 0, 3]


@given(st.lists(near | far, max_size=30), st.sampled_from([np.int32, np.int64]))
def test_values_each_once_and_the_place_of_each(numbers: list[int], kind: type[np.signedinteger]) -> None:
    values, places = numbered(np.array(numbers, kind))
    assert values.tolist() == sorted(set(numbers)) and values.dtype == kind
    assert values[places].tolist() == numbers


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=30), st.booleans())
def test_groups_in_order_of_time(samples: list[tuple[int, int]], in_order: bool) -> None:
    if in_order:
        samples.sort(key=lambda sample: sample[1])
    group, time = np.array(samples, np.int64).reshape(-1, 2).T
    assert order_by_group(group.astype(np.int32), time).tolist() == np.lexsort((time, group)).tolist()


@given(st.lists(st.integers(0, 9), max_size=20))
def test_ties_are_the_numbers_that_are_there_twice(numbers: list[int]) -> None:
    numbers.sort()
    expected = [place for place, number in enumerate(numbers) if numbers.count(number) > 1]
    assert ties(np.array(numbers, np.int64)).tolist() == expected
