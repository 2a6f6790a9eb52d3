"""Text in so many cells, whatever the text: wide characters, no blanks, nothing at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tracetui.trace.clean import printable
from tracetui.ui.drawing.python_tokens import python_spans
from tracetui.ui.drawing.strips import first_clauses, fitted, tail, wrapped

texts = st.text(max_size=40).map(printable) | st.text("ab 漢…", max_size=40)


@given(st.lists(texts, max_size=4), st.integers(1, 60))
def test_a_line_has_exactly_the_width(pieces: list[str], width: int) -> None:
    strip = fitted([(text, Style(bold=bool(place % 2))) for place, text in enumerate(pieces)], width)
    assert cell_len(strip.text) == width == strip.cell_length
    if sum(map(cell_len, pieces)) <= width:
        assert strip.text.startswith("".join(pieces))


def test_a_sentence_that_is_too_long_ends_with_a_clause() -> None:
    sentence = "idle 9.21 ms of 21.7 ms; 6 lines hold 80 %, 1,234 gaps"
    assert first_clauses(sentence, len(sentence)) == sentence
    assert first_clauses(sentence, len(sentence) - 1) == "idle 9.21 ms of 21.7 ms; 6 lines hold 80 % …"
    assert first_clauses(sentence, 43) == "idle 9.21 ms of 21.7 ms …"
    assert first_clauses(sentence, 25) == "idle 9.21 ms of 21.7 ms …"
    assert first_clauses(sentence, 24) == sentence, "no clause fits: it is cut anywhere"
    assert first_clauses("a, and what is long after it", 20) == "a, and what is long after it", (
        "more is said so"
    )


@given(texts, st.integers(1, 60))
def test_the_tail_of_a_path_is_its_end(text: str, width: int) -> None:
    shown = tail(text, width)
    assert cell_len(shown) <= width
    assert text.endswith(shown.lstrip("…")) or shown == text


@given(texts, st.integers(2, 30))
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_number_and_its_unit_stay_in_one_line() -> None:
    assert wrapped("tensors hold 246 MB, 31 % of it for 9.2 ms", 17) == [
        "tensors hold",
        "246 MB, 31 % of",
        "it for 9.2 ms",
    ]


@given(st.lists(st.text("'\"\\#rdef class\tx漢", max_size=30), max_size=12))
def test_spans_of_python_are_in_order_and_in_their_line(lines: list[str]) -> None:
    for line, spans in zip(lines, python_spans(lines)):
        edges = [edge for span in spans for edge in (span.start, span.end)]
        assert edges == sorted(edges)
        assert all(0 <= span.start < span.end <= len(line) for span in spans)
