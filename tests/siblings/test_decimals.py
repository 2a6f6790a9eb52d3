"""Decimal numbers as whole thousandths: exact to the last digit, and nothing else taken for one."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.siblings.cells import csv_cells, thousandths

numbers = st.decimals(0, 9 * 10**15 - 1, allow_nan=False, places=5).map(lambda value: f"{value:f}")


@given(st.lists(numbers, min_size=1, max_size=20))
def test_numbers_are_exact(cells: list[str]) -> None:
    for rounded, rule in ((False, ROUND_DOWN), (True, ROUND_HALF_UP)):
        expected = [int((Decimal(cell) * 1000).to_integral_value(rule)) for cell in cells]
        assert thousandths(csv_cells(cells), rounded).value.tolist() == expected


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1736412474720984.920\t", 1736412474720984920),
        ('"5"', 5000),
        (".5", 500),
        ("5.", 5000),
        ("0000000000000000000012.5", 12500),
    ],
)
def test_what_a_cell_may_look_like(cell: str, value: int) -> None:
    assert thousandths(csv_cells([cell])).value.tolist() == [value]


@pytest.mark.parametrize("cell", ["", " ", "\t", "N/A", "nan"])
def test_nothing_is_missing_not_damaged(cell: str) -> None:
    read = thousandths(csv_cells([cell]))
    assert (read.value[0], read.missing[0], read.damaged[0]) == (-1, True, False)


@pytest.mark.parametrize(
    "cell",
    ["1.69512E+15", "-3", "+3", "abc", "1.2.3", ".", "1_000", "9" * 16, "9" * 17, "1" * 60, "٣", "1 2"],
)
def test_what_is_no_number_is_damaged(cell: str) -> None:
    read = thousandths(csv_cells(["1", cell]))
    assert read.value.tolist() == [1000, -1]
    assert read.damaged.tolist() == [False, True]
