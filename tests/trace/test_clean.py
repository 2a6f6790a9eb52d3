"""Nothing that a terminal obeys gets through."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.trace.clean import printable, shortened

any_text = st.text(st.characters())


@given(any_text)
def test_the_result_is_printable_and_clean_already(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Co", "Cn"}
    shown.encode()


@given(any_text, st.integers(0, 12))
def test_the_limit_holds_and_a_cut_shows(text: str, limit: int) -> None:
    shown = printable(text, limit)
    assert len(shown) <= limit
    if len(text) > limit > 0:
        assert shown.endswith("…")
    if len(text) <= limit:
        assert shown == printable(text)


def test_a_text_as_long_as_the_limit_is_not_cut() -> None:
    assert [printable("abc", limit) for limit in (4, 3, 2, 1, 0)] == ["abc", "abc", "a…", "…", ""]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("aten::linear", "aten::linear"),
        ("矩阵乘", "矩阵乘"),
        ("a\x1b[31mb", "a␛[31mb"),
        ("a\x00\x07\x7f", "a␀␇␡"),
        ("\x9b31m", "�31m"),
        ("a\r\nb\tc\nd", "a b c d"),
        ("abc\u202e\u2066x\u200b\ufeff", "abc��x��"),
        ("\ud800", "�"),
        ("a\u2028b", "a b"),
        ("x\ufe0f", "x�"),
        ("\U0001f1e9\U0001f1ea", "��"),
        ("\U0001f44d\U0001f3fd", "\U0001f44d�"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468�\U0001f469"),
    ],
)
def test_replacements(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_what_is_kept_beyond_a_trace_has_at_most_1000_characters_that_json_can_hold() -> None:
    assert [shortened("x" * length) for length in (999, 1000, 1001)] == ["x" * 999, "x" * 1000, "x" * 1000]
    assert shortened("a\ud800\x1b") == "a\ufffd\x1b"
