"""The rank test against its definition: all orders counted, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import erfc, sqrt
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.comparison.rank_test import compare_values

few = st.lists(st.integers(0, 9), min_size=1, max_size=5).map(tuple)


def exact_p(base: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The share of all choices of as many values whose ranks are as far from the mean."""
    every = (*base, *other)
    ranks = [sum(rank_sum < value for rank_sum in every) + (every.count(value) + 1) / 2 for value in every]
    mean = len(base) * (len(every) + 1) / 2
    away = abs(sum(ranks[: len(base)]) - mean)
    sums = [abs(sum(chosen) - mean) for chosen in combinations(ranks, len(base))]
    return sum(rank_sum >= away for rank_sum in sums) / len(sums)


@given(few, few)
def test_p_is_that_of_all_orders(base: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert compare_values(base, other).p == pytest.approx(exact_p(base, other))


@given(few, few, st.integers(1, 3), st.integers(1, 3))
def test_the_shift_is_the_median_of_all_differences(
    base: tuple[int, ...], other: tuple[int, ...], base_sign: int, other_sign: int
) -> None:
    differences = [Fraction(two, other_sign) - Fraction(one, base_sign) for one in base for two in other]
    test = compare_values(base, other, (base_sign, other_sign))
    assert test.shift_ns == median(differences)
    assert min(differences) <= test.low_ns <= test.shift_ns <= test.high_ns <= max(differences)
    middle = median(Fraction(value, base_sign) for value in base)
    assert test.slower == sum(Fraction(value, other_sign) > middle for value in other)
    assert test.faster == sum(Fraction(value, other_sign) < middle for value in other)
    assert test.separate == (min(differences) > 0 or max(differences) < 0)


@pytest.mark.parametrize(
    ("steps", "p", "is_change", "confidence"),
    [
        ((3, 3), 0.1, True, 0.9),
        ((3, 4), 2 / 35, True, 33 / 35),
        ((4, 4), 2 / 70, True, 0.95),
        ((2, 5), 2 / 21, True, 19 / 21),
        ((6, 6), 2 / 924, True, 0.95),
    ],
)
def test_steps_that_are_all_slower(
    steps: tuple[int, int], p: float, is_change: bool, confidence: float
) -> None:
    test = compare_values(tuple(range(steps[0])), tuple(range(100, 100 + steps[1])))
    assert test.p == pytest.approx(p)
    assert test.confidence == pytest.approx(confidence)
    assert test.is_change is is_change
    assert (test.slower, test.faster, test.steps) == (steps[1], 0, steps[1])


def test_the_interval_is_that_of_the_tables() -> None:
    """Of 6 and 6 values the sixth difference from either end: the critical U is 5."""
    base, other = (1, 12, 23, 34, 45, 56), (103, 111, 122, 133, 140, 155)
    differences = sorted(two - one for one in base for two in other)
    test = compare_values(base, other)
    assert [test.low_ns, test.high_ns] == [Fraction(differences[place]) for place in (5, -6)]


def test_many_steps_are_judged_alike() -> None:
    """Beyond those that are counted p is that of the normal distribution, close to the exact one."""
    generator = np.random.default_rng(5)
    base, other = (generator.normal(1000 + shift, 20, 30).astype(int) for shift in (0, 9))
    exact = compare_values(tuple(base.tolist()[:29]), tuple(other.tolist()[:30]))
    near = compare_values(tuple(base.tolist()[:29]) * 2, tuple(other.tolist()[:30]) * 2)
    assert near.p < exact.p
    assert near.shift_ns == exact.shift_ns
    assert exact.low_ns <= near.low_ns <= near.high_ns <= exact.high_ns


def test_equal_values_make_the_normal_distribution_narrower() -> None:
    """Its variance is n m / 12 ((N + 1) - sum(t**3 - t) / (N (N - 1))), t values being equal."""
    base, other = (0,) * 20 + (1,) * 10, (0,) * 10 + (1,) * 12 + (2,) * 8
    ranks = {0: 15.5, 1: 41.5, 2: 56.5}
    away = abs(sum(ranks[value] for value in base) - 30 * 61 / 2) - 0.5
    ties = sum(count**3 - count for count in (30, 22, 8)) / (60 * 59)
    p = erfc(away / sqrt(30 * 30 / 12 * (61 - ties)) / sqrt(2))
    assert compare_values(base, other).p == pytest.approx(p, rel=1e-12)


def test_long_steps_of_many_ranks_are_counted() -> None:
    """Steps of 60 and of 66 s, each the sum of 20,000 ranks: no product of them may overflow."""
    base, other = (
        tuple(20_000 * (seconds * 1_000_000_000 + step) for step in range(5)) for seconds in (60, 66)
    )
    found = compare_values(base, other, (20_000, 20_000))
    assert (found.slower, found.faster, int(found.shift_ns)) == (5, 0, 6_000_000_000)
    assert compare_values((30, 40, 50), (24, 30, 36), (10, 6)).shift_ns == 1
