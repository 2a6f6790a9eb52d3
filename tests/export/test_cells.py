"""Text of a trace as cells: nothing computes, nothing is obeyed, numbers stay numbers."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.export.training import FORMULAS
from tracetui.export.cells import Cells, stack_cell, text_cell, write_rows
from tracetui.trace.stack import parse_call_stack

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


def test_a_stack_is_one_line_leaf_first() -> None:
    stack = parse_call_stack("=a.py(3): f;\n\x1b[2J.py(7): main;\r\n")
    assert stack_cell(stack) == "'=a.py(3): f < ␛[2J.py(7): main"
    assert stack_cell(()) == ""


def test_a_cell_is_made_once() -> None:
    made = []

    def make(index: int) -> str:
        made.append(index)
        return "ab"[index]

    cells = Cells(make)
    assert [cells[index] for index in (1, 0, -1, 1)] == ["b", "a", "", "b"]
    assert made == [1, 0]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), ANY_TEXT)))
def test_rows_read_back(rows: list[tuple[int, str]]) -> None:
    stream = io.BytesIO()
    count = write_rows(stream, ("ns", "name"), ((ns, text_cell(text)) for ns, text in rows))
    assert count == len(rows)
    read = list(csv.reader(io.StringIO(stream.getvalue().decode(), newline="")))
    assert read == [["ns", "name"], *([str(ns), text_cell(text)] for ns, text in rows)]
