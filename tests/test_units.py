"""Units: fixed rules of rounding, and what is printed reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.units import (
    OPEN_END,
    format_bytes,
    format_clock,
    format_duration,
    format_exact,
    format_ms,
    format_percent,
    format_time,
    parse_duration,
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
        (9_999_499_999_999, "9999 s"),
        (10_000_000_000_000, "2.78 h"),
        (-36_000_000_000_000, "-10.0 h"),
        (359_999_999_999_999, "100 h"),
        (360_000_000_000_000, "4.17 d"),
        (55_123_200_000_000_000, "638 d"),
        (100_000_000_000_000_000, "1157 d"),
    ],
)
def test_duration_has_three_digits(ns: int, text: str) -> None:
    assert format_duration(ns) == text


@given(st.integers(0, 10**13 - 1))
def test_duration_is_off_by_at_most_half_a_last_digit(ns: int) -> None:
    shown = parse_duration(format_duration(ns))
    assert abs(shown - ns) <= ns / 199 + 0.5


@given(st.integers(0, OPEN_END - 1))
def test_exact_duration_reads_back(ns: int) -> None:
    assert parse_duration(format_exact(ns)) == ns


@given(st.integers(0, 10**15), st.integers(0, 10**15))
def test_exact_window_reads_back(a: int, b: int) -> None:
    start, end = min(a, b), max(a, b) + 1
    for write in (format_exact, lambda ns: format_time(ns, 1)):
        assert parse_window(f"{write(start)}..{write(end)}").on_clock(7) == (7 + start, 7 + end)


@given(st.integers(0, 10**15), st.integers(0, 10**15), st.sampled_from([1, 10, 999, 1000, 10**6, 10**9]))
def test_times_a_step_apart_differ_and_keep_their_order(ns: int, more: int, step: int) -> None:
    first, second = format_time(ns, step), format_time(ns + step + more, step)
    assert parse_duration(first) < parse_duration(second)
    assert 0 <= ns - parse_duration(first) <= step


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
    assert parse_window(text).on_clock(5) == (5 + window[0], 5 + window[1])


CLOCK = 1736412474714258990  #: ns


@given(st.integers(10**12, OPEN_END - 1), st.integers(0, OPEN_END - 1))
def test_a_time_on_the_clock_of_the_trace_reads_back(ns: int, start: int) -> None:
    assert parse_time(format_clock(ns).removesuffix(" µs"), start) == ns
    if ns >= 10**18:
        for text in (format_clock(ns), format_exact(ns), f"{ns}ns"):
            assert parse_time(text, start) == ns


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1.5ms", 1_001_500_000),
        (" 1736412474714258.990 ", CLOCK),
        ("1736412474714258.990us", CLOCK),
        ("1736412474.71425899s", CLOCK),
        ("56635864664.91", 56_635_864_664_910),  # a clock that began when the host did
        ("56635864664.91us", 1_000_000_000 + 56_635_864_664_910),
    ],
)
def test_time(text: str, ns: int) -> None:
    assert parse_time(text, 1_000_000_000) == ns


@pytest.mark.parametrize("text", ["", "1.35", "999999999.999", "-1s", "99999999999999999999"])
def test_not_a_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"^a time "):
        parse_time(text, CLOCK)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("1736412474714258.990..1736412474714259", (CLOCK, CLOCK + 10)),
        ("1736412474714258.990..", (CLOCK, CLOCK - 90 + OPEN_END)),
        ("..1736412474714259us", (CLOCK - 90, CLOCK + 10)),
        ("1736412474.714258..1736412474.714259s", (CLOCK - 990, CLOCK + 10)),
        ("1736412474714258.990us..1.35s", (CLOCK, CLOCK - 90 + 1_350_000_000)),
        ("50ns..1736412474714259us", (CLOCK - 40, CLOCK + 10)),
        ("56635864664..56635864665", (56_635_864_664_000, 56_635_864_665_000)),
        # Only of the trace is it known whether these end after they start.
        ("1736412474714258us..10ns", (CLOCK - 990, CLOCK - 80)),
        ("1s..1736412474714258us", (CLOCK - 90 + 10**9, CLOCK - 990)),
    ],
)
def test_window_on_the_clock_of_the_trace(text: str, window: tuple[int, int]) -> None:
    assert parse_window(text).on_clock(CLOCK - 90) == window


def test_a_time_below_the_base_is_of_the_file() -> None:
    for text in ("1736412474.99", "1736412474714258.99"):
        assert parse_time(text, CLOCK, CLOCK - 1_736_412_474_990) == CLOCK


NOT_WINDOWS = (
    "", "..", "1s", "1s-2s", "1..2", "1..", "2s..1s", "1s..1s", "-1s..2s", "1h..2h", "1s..2s..3s", "1e3s..2s",
    "9" * 400 + "s..", "٣s..٤s", "nan s..inf s", "1s...2s..", "\x1b[31ms..", "0..1s..", "..5",
    "1736412474714258..1.35s", "1..1736412474714258",
    "1736412474714258..1736412474714258",
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
