"""Plain tables and bars: what fits, what is cut, what ASCII becomes of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.export.text import (
    ColumnLayout,
    _shrink,
    bar,
    cell_width,
    cut,
    keep_units_together,
    layout_table,
    to_ascii,
    words_of,
    wrap_sentence,
)

NAMES = st.text(st.sampled_from("ab中文é│ "), max_size=60)


@given(NAMES, st.integers(1, 40), st.booleans())
def test_cut_fits(text: str, width: int, keep_end: bool) -> None:
    shown = cut(text, width, keep_end)
    assert cell_width(shown) <= width
    if cell_width(text) <= width:
        assert shown == text
    else:
        assert text.endswith(shown[1:]) if keep_end else text.startswith(shown[:-1])


@given(st.lists(st.tuples(NAMES, st.integers(0, 10**6), NAMES), min_size=1, max_size=6), st.integers(50, 100))
def test_a_table_that_gives_way_fits_and_aligns(rows: list[tuple[str, int, str]], width: int) -> None:
    columns = [
        ColumnLayout("name", right=False, shrink_to=10),
        ColumnLayout("ns"),
        ColumnLayout("line", right=False, shrink_to=10, keep_end=True),
    ]
    lines = layout_table(columns, [[name, str(ns), line] for name, ns, line in rows], width)
    assert len(lines) == len(rows) + 2
    assert max(map(cell_width, lines)) <= width
    rule = cell_width(lines[1])
    assert all(cell_width(line) <= rule for line in lines)


def test_the_widest_column_gives_way_first() -> None:
    columns = [ColumnLayout("a", right=False, shrink_to=4), ColumnLayout("b", right=False, shrink_to=4)]
    lines = layout_table(columns, [["x" * 40, "y" * 8]], 24)
    assert lines[-1] == "  " + "x" * 11 + "…  " + "y" * 8


def test_a_rigid_column_is_never_cut() -> None:
    assert layout_table([ColumnLayout("n")], [["123456"]], 3)[-1] == "  123456"


@given(st.integers(-5, 10**6), st.integers(0, 10**6), st.integers(1, 40))
def test_bar(part: int, whole: int, cells: int) -> None:
    drawn = bar(part, whole, cells)
    assert cell_width(drawn) <= cells
    assert (drawn == "") == (part <= 0 or whole <= 0)
    assert (drawn == "█" * cells) == (part >= whole > 0 and part > 0)


@given(st.text(max_size=40))
def test_ascii_keeps_the_width(text: str) -> None:
    shown = to_ascii(text)
    assert shown.isascii()
    assert cell_width(shown) == cell_width(text)


def test_ascii_likenesses() -> None:
    assert to_ascii("1.24 µs … ██▌ 中") == "1.24 us ~ ### ??"


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    text = "it lost 9.21 ms (42.5 %) of 21.7 ms in 12 steps, and holds 2.64 GB more"
    for width in range(20, len(text) + 3):
        lines = wrap_sentence(text, width, "- ", "  ")
        assert " ".join(line[2:] for line in lines) == text
        assert max(map(len, lines)) <= width
        assert not any(line[2:].startswith(("ms", "%", "GB")) for line in lines)


@pytest.mark.parametrize(
    ("part", "whole", "drawn"),
    [
        *[(1, 10**6, "▏"), (1, 16, "▏"), (3, 32, "▏"), (2, 16, "▎"), (7, 16, "▉"), (8, 16, "█")],
        *[(9, 16, "█▏"), (15, 16, "█▉"), (999_999, 10**6, "█▉"), (16, 16, "██"), (17, 16, "██")],
        *[(0, 16, ""), (1, 0, "")],
    ],
)  # fmt: skip
def test_a_bar_of_two_cells(part: int, whole: int, drawn: str) -> None:
    assert bar(part, whole, 2) == drawn


def test_what_a_table_looks_like() -> None:
    columns = [
        ColumnLayout("name", right=False),
        ColumnLayout("long\ntitle"),
        ColumnLayout("path", right=False, keep_end=True),
    ]
    assert layout_table(columns, [["a", "12,345", "x"], ["bcdef", "1", ""]], 80, ["", "noted"]) == [
        "           long",
        "  name    title  path",
        "  ───────────────────",
        "  a      12,345  x",
        "  bcdef       1",
        "         noted",
    ]


def test_a_note_is_cut_where_the_page_ends() -> None:
    lines = layout_table([ColumnLayout("name", right=False)], [["abc"]], 20, ["0123456789abcdef"])
    assert lines[-1] == "        0123456789a…" and len(lines[-1]) == 20


@pytest.mark.parametrize(
    ("room", "widths"),
    [(33, [20, 9, 4]), (32, [19, 9, 4]), (22, [9, 9, 4]), (21, [8, 9, 4]), (20, [8, 8, 4]), (9, [4, 3, 4])],
)
def test_columns_give_way_from_the_widest_on_and_to_their_least(room: int, widths: list[int]) -> None:
    columns = [ColumnLayout("", shrink_to=4), ColumnLayout("", shrink_to=3), ColumnLayout("")]
    found = [20, 9, 4]
    _shrink(found, columns, room)
    assert found == widths


@pytest.mark.parametrize("seed", range(40))
def test_the_widest_column_gives_way_cell_by_cell(seed: int) -> None:
    """The first of those that are as wide."""
    chooser = random.Random(seed)
    count = chooser.randrange(1, 5)
    columns = [ColumnLayout("", shrink_to=chooser.choice([0, 1, 2, 6])) for _ in range(count)]
    widths = [chooser.randrange(1, 15) for _ in range(count)]
    for room in range(-1, sum(widths) + 2):
        expected, found = widths.copy(), widths.copy()
        while sum(expected) > room:
            giving = [
                n for n, layout in enumerate(columns) if layout.shrink_to and expected[n] > layout.shrink_to
            ]
            if not giving:
                break
            expected[max(giving, key=expected.__getitem__)] -= 1
        _shrink(found, columns, room)
        assert found == expected


def test_a_line_of_wide_characters_holds_what_fits() -> None:
    text = "第 3 步损失了 9.21 ms（其中 42.5 %）, and a host 慢于设备。因此"
    pairs = [(blank, word.replace("\xa0", " ")) for blank, word in words_of(keep_units_together(text))]
    for width in range(20, 70):
        left = pairs.copy()
        for number, line in enumerate(wrap_sentence(text, width, "一", "  ")):
            assert line.startswith("  " if number else "一") and cell_width(line) <= width
            expected = "  " if number else "一"
            while expected != line:
                blank, word = left.pop(0)
                expected += (blank if expected.strip("一 ") else "") + word
            assert not left or cell_width(line + "".join(left[0])) > width
        assert not left


def test_marks_take_no_cell_and_wide_characters_two() -> None:
    assert [cell_width(text) for text in ("a", "e\u0301", "\u200b", "中", "Ａ", "é中a")] == [1, 1, 0, 2, 2, 4]
