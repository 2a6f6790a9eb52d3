"""Sums by key: the distinct keys, the order of most, and the one with the most of each owner."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tracetui.analysis.sums import most_first, most_of_each, sums

ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 3), st.integers(0, 5)))


def totals(rows: list[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
    """ns by owner and key."""
    found: dict[tuple[int, int], int] = {}
    for owner, key, ns in rows:
        found[owner, key] = found.get((owner, key), 0) + ns
    return found


@given(ROWS)
def test_sums_and_their_order_are_those_of_a_plain_loop(rows: list[tuple[int, int, int]]) -> None:
    keys, ns = np.array([row[1:] for row in rows], np.int64).reshape(-1, 2).T
    plain = {key: total for (_, key), total in totals([(0, *row[1:]) for row in rows]).items()}
    assert list(zip(*(column.tolist() for column in sums(keys, ns)))) == sorted(plain.items())
    by_most = sorted(plain.items(), key=lambda item: (-item[1], item[0]))
    assert list(zip(*(column.tolist() for column in most_first(keys, ns)))) == by_most


@given(ROWS)
def test_each_owner_has_the_lowest_of_its_keys_with_the_most(rows: list[tuple[int, int, int]]) -> None:
    owner, key, ns = np.array(rows, np.int64).reshape(-1, 3).T
    expected = [-1] * 5
    for (owner_number, key_number), _ in sorted(
        totals(rows).items(), key=lambda item: (item[1], -item[0][1])
    ):
        expected[owner_number] = key_number
    assert most_of_each(owner, key, ns, 5).tolist() == expected
