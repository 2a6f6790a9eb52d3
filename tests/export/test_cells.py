"""Text of a trace as cells: nothing computes, nothing is obeyed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.export.training import FORMULAS
from tracetui.export.cells import encodable, text_cell

ANY_TEXT = st.text(st.characters(), max_size=30) | st.text(
    st.sampled_from(list("=+-@＝＋－＠ \t\r\n\x1b'a\ud800"))
)


@given(ANY_TEXT)
def test_no_cell_is_a_formula_or_breaks_its_row(text: str) -> None:
    cell = text_cell(text)
    assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠"))
    assert cell.isprintable()
    cell.encode()


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_keeps_its_text_behind_an_apostrophe(text: str) -> None:
    assert text_cell(text) == "'" + text


@pytest.mark.parametrize("text", ["aten::mm", "a=b", "matmul-1", "'quoted'", "矩阵", ""])
def test_other_text_is_as_it_was(text: str) -> None:
    assert text_cell(text) == text


@given(ANY_TEXT)
def test_encodable_text_is_as_written_but_for_lone_surrogates(text: str) -> None:
    expected = "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)
    assert encodable(text).encode().decode() == expected
    assert text_cell(encodable(text)) == text_cell(text)
