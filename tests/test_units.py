"""Units: fixed rules of rounding, and what is printed reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.units import (
    OPEN_END,
    format_bytes,
    format_duration,
    format_exact,
    format_ms,
    format_percent,
    format_time,
    parse_time,
    parse_window,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (1240, "1.24 µs"),
        (1245, "1.25 µs"),
        (9_995, "10.0 µs"),
        (99_949, "99.9 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (96_000_000, "96.0 ms"),
        (999_999_999, "1.00 s"),
        (1_234_400_000_000, "1234 s"),
        (-1240, "-1.24 µs"),
    ],
)
def test_duration_has_three_digits(ns: int, text: str) -> None:
    assert format_duration(ns) == text


@given(st.integers(0, 10**15))
def test_duration_is_off_by_at_most_half_a_last_digit(ns: int) -> None:
    shown = parse_time(format_duration(ns))
    assert abs(shown - ns) <= ns / 199 + 0.5


@given(st.integers(0, OPEN_END - 1))
def test_exact_duration_reads_back(ns: int) -> None:
    assert parse_time(format_exact(ns)) == ns


@given(st.integers(0, 10**15), st.integers(0, 10**15))
def test_exact_window_reads_back(a: int, b: int) -> None:
    start, end = min(a, b), max(a, b) + 1
    assert parse_window(f"{format_exact(start)}..{format_exact(end)}") == (start, end)
    assert parse_window(f"{format_time(start, 1)}..{format_time(end, 1)}") == (start, end)


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.sampled_from([1, 10, 999, 1000, 10**6, 10**9]))
def test_times_a_step_apart_differ_and_keep_their_order(ns: int, more: int, step: int) -> None:
    first, second = format_time(ns, step), format_time(ns + step + more, step)
    assert parse_time(first) < parse_time(second)
    assert 0 <= ns - parse_time(first) <= step


def test_time_shows_the_decimals_its_step_needs() -> None:
    assert format_time(1_203_456_789) == "1.203456 s"
    assert format_time(1_203_456_789, 1) == "1.203456789 s"
    assert format_time(1_203_456_789, 10**9) == "1 s"
    assert format_time(-1_500) == "-0.000001 s"


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("1.2s..1.35s", (1_200_000_000, 1_350_000_000)),
        ("1.2..1.35s", (1_200_000_000, 1_350_000_000)),
        ("1ms..2", (1_000_000, 2_000_000)),
        (" 1 ms .. 2 ms ", (1_000_000, 2_000_000)),
        ("17us..18µs", (17_000, 18_000)),
        ("17μs..", (17_000, OPEN_END)),
        ("..900ns", (0, 900)),
        (".5s..1s", (500_000_000, 1_000_000_000)),
        ("0.0000000019s..", (1, OPEN_END)),
    ],
)
def test_window(text: str, window: tuple[int, int]) -> None:
    assert parse_window(text) == window


NOT_WINDOWS = (
    "", "..", "1s", "1s-2s", "1..2", "1..", "2s..1s", "1s..1s", "-1s..2s", "1h..2h", "1s..2s..3s", "1e3s..2s",
    "9" * 400 + "s..", "٣s..٤s", "nan s..inf s", "1s...2s..", "\x1b[31ms..",
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_WINDOWS)
def test_not_a_window(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a (window|time) "):
        parse_window(text)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0.0 %"),
        (10, 10, "100.0 %"),
        (1, 10**9, "<0.1 %"),
        (10**9 - 1, 10**9, ">99.9 %"),
        (312, 1000, "31.2 %"),
        (0, 0, "-"),
        (15, 10, "150.0 %"),
    ],
)
def test_only_all_is_hundred_percent(part: int, whole: int, text: str) -> None:
    assert format_percent(part, whole) == text


def test_sizes_and_columns() -> None:
    assert [format_bytes(n) for n in (0, 999, 1000, 1_234_567, 5_000_000_000)] == [
        "0 B",
        "999 B",
        "1.00 kB",
        "1.23 MB",
        "5.00 GB",
    ]
    assert [format_ms(n) for n in (0, 499, 500, 1_234_567_500, -1500)] == [
        "0.000",
        "0.000",
        "0.001",
        "1,234.568",
        "-0.002",
    ]
