"""Times are exact to the nanosecond in whatever spelling they come."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Context, Decimal
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.reader.timestamps import UNREADABLE, _fixed_width, durations, parse_duration, times

_PRECISE = Context(prec=100)
whole = st.integers(0, 9 * 10**14)
spellings = st.one_of(
    st.builds("{}.{:03}".format, whole, st.integers(0, 999)),
    st.builds("{}.{}".format, whole, st.integers(0, 10**9)),
    whole.map(str),
    st.builds("{}E-{}".format, whole, st.integers(0, 20)),
    st.decimals(-(10**12), 10**12, allow_nan=False, places=40).map(str),
    st.builds("-{}.{:03}".format, whole, st.integers(0, 999)),
)


def _expected(value: Any, rounding: str) -> int:
    return int(Decimal(str(value)).scaleb(3, _PRECISE).to_integral_value(rounding))


@given(st.lists(spellings, max_size=40))
def test_text_of_any_form_is_cut_to_nanoseconds(values: list[str]) -> None:
    assert times(values).tolist() == [_expected(value, ROUND_DOWN) for value in values]


@given(st.lists(st.one_of(spellings, whole), max_size=40))
def test_text_and_integers_mix(values: list[Any]) -> None:
    assert times(values).tolist() == [_expected(value, ROUND_DOWN) for value in values]


@given(
    st.lists(st.builds("{:016}.{:03}".format, st.integers(0, 10**16 - 1), st.integers(0, 999)), min_size=1)
)
def test_sixteen_digits_of_microseconds(values: list[str]) -> None:
    limit = 1 << 62
    expected = [_expected(value, ROUND_DOWN) for value in values]
    assert times(values).tolist() == [value if value < limit else UNREADABLE for value in expected]


def test_the_limit_is_exact() -> None:
    for values in (["4611686018427387.903"], ["4611686018427387.903", "4611686018427387.904"]):
        assert times(values).tolist() == [(1 << 62) - 1, UNREADABLE][: len(values)]
    last = 4_611_686_018_427_387
    for pair in ([last, last + 1], [-last, -last - 1]):
        assert times(pair).tolist() == [pair[0] * 1000, UNREADABLE] == times([*map(str, pair)]).tolist()
    assert times(["9" * 16 + ".000"] * 9).tolist() == [UNREADABLE] * 9


@pytest.mark.parametrize(
    "value",
    [
        "inf",
        "-inf",
        "nan",
        "",
        " ",
        "1.2.3",
        "1e",
        "0x10",
        "1_000",
        "९",
        "1e400",
        "9" * 30,
        "1" * 5000,
        ".",
        "-",
        "1\n2",
        "12\n.500",
        "5" * 18 + "\n",
        None,
        [],
        {},
        10**30,
        -(2**63),
        float("nan"),
        float("inf"),
    ],
)
@pytest.mark.parametrize("among", [0, 1, 9])
def test_what_is_no_time_spoils_no_other(value: Any, among: int) -> None:
    good = ["1736412474714258.990"] * among
    assert times([*good, value, *good]).tolist() == [
        *[1736412474714258990] * among,
        UNREADABLE,
        *[1736412474714258990] * among,
    ]


def test_what_producers_write_is_read_at_once() -> None:
    """Else nobody would notice but by the time it takes."""
    for value, ns in (("1736412482864716.747", 1736412482864716747), ("17364", 17364000)):
        found = _fixed_width(f"{value}\n" * 3, 3)
        assert found is not None
        assert found.tolist() == [ns] * 3
    for value in ("17364:4716.747", "17364/4716.747", "173644716/747", "173644716.7:7"):
        assert _fixed_width(f"{value}\n173644716.747\n", 2) is None


def test_equal_total_length_is_not_equal_length() -> None:
    assert times(["1.234", ".56", "7.890"] * 3).tolist() == [1234, 560, 7890] * 3
    # 32 characters with the newlines, and the last 8 of them would be another time.
    values = ["100.100", "10000.000", "100", "10000.100"]
    assert times(values).tolist() == [100100, 10000000, 100000, 10000100]
    # Five characters before the end of two lines is a dot, which isn't the one before three decimals.
    assert times(["5.", "6."]).tolist() == [5000, 6000]
    assert times(["1.234", "1.111\n2.222", "", "1234"]).tolist() == [1234, UNREADABLE, UNREADABLE, 1234000]


@given(
    st.lists(
        st.one_of(
            st.floats(-1e3, 1e12, allow_nan=False),
            st.integers(0, 10**13).map(lambda half: half / 2000),  # halves of a nanosecond
            st.integers(0, 10**12),
        ),
        max_size=40,
    )
)
def test_durations_are_rounded_half_to_even(values: list[Any]) -> None:
    expected = (_expected(value, ROUND_HALF_EVEN) for value in values)
    assert durations(values).tolist() == [UNREADABLE if ns < 0 else ns for ns in expected]


@given(st.lists(st.decimals(0, 10**6, places=30).map(str), max_size=20))
def test_durations_as_text(values: list[str]) -> None:
    assert durations(values).tolist() == [_expected(value, ROUND_HALF_EVEN) for value in values]


def test_halves_of_a_nanosecond_that_no_product_of_floats_tells() -> None:
    """0.5075 * 1000.0 is 507.49999999999994."""
    assert durations([0.5075, 32.0065, 2.0125]).tolist() == [508, 32_006, 2012]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 0.5075, 0.0], [1000, 508, 0]),
        ([1.0, 1e300, -0.001], [1000, UNREADABLE, UNREADABLE]),
        ([4303366441.8515, 1089639032.9525], [4303366441852, 1089639032952]),
        ([5.0, 4611686018427387.0, 4611686018427387.904], [5000, 4611686018427387000, UNREADABLE]),
    ],
)
def test_a_duration_is_what_it_is_whatever_stands_beside_it(values: list[Any], expected: list[int]) -> None:
    """Some need another way than most: near a half, of an hour, beyond what 64 bits hold."""
    assert durations(values).tolist() == durations(values[::-1]).tolist()[::-1] == expected


def test_durations_that_are_none_are_unreadable() -> None:
    odd: list[Any] = [
        None,
        "inf",
        float("nan"),
        float("inf"),
        1e300,
        -1.0,
        "1_0",
        "x",
        [],
        True,
        "2.24006249999999987",
    ]
    assert durations(odd).tolist() == [UNREADABLE] * 9 + [1000, 2240]
    assert durations(["6E-7", "1.0005", "1.0015"]).tolist() == [0, 1000, 1002]
    assert durations([float("nan"), 1.5]).tolist() == [UNREADABLE, 1500]


def test_nothing_times_any_power_is_nothing() -> None:
    assert times(["0e99", "0e-99", "-0e999"]).tolist() == [0, 0, 0]


def test_a_number_has_a_thousand_characters_at_most() -> None:
    longest = "7." + "0" * 998
    assert times([longest, longest + "0"]).tolist() == [7_000, UNREADABLE]


@pytest.mark.parametrize("kind", [float, repr])
def test_durations_are_those_of_their_values_one_by_one(kind: Callable[[float], Any]) -> None:
    """Whatever stands beside them."""
    durations_us = [
        0.0,
        1.5,
        0.0005,
        1.0005,
        2.0015,
        1e9,
        1e9 + 0.0005,
        4e12 + 0.0005,
        4.6e15,
        4.7e15,
        -5.0,
        -1e-9,
    ]
    alone = {value: parse_duration(kind(value)) for value in durations_us}
    assert [alone[value] for value in (1.5, 0.0005, 2.0015, -5.0, 4.7e15)] == [
        1500,
        0,
        2002,
        UNREADABLE,
        UNREADABLE,
    ]
    for values in permutations(durations_us, 2):
        found = durations([kind(value) for value in values])
        assert found.tolist() == [alone[value] for value in values]
