"""Labels of one line: each readable by itself, the first ones first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracetui.ui.drawing.ticks import apart


def test_the_worst_gaps_come_first_and_none_stands_beside_another() -> None:
    ranks = [(7, "1"), (8, "2"), (2, "3"), (4, "4"), (1, "5"), (9, "6")]
    assert apart(ranks, 12) == {7: "1", 2: "3", 4: "4", 9: "6"}


@given(
    st.lists(st.tuples(st.integers(-5, 50), st.text("0123456789", min_size=1, max_size=3))),
    st.integers(0, 40),
)
def test_labels_are_whole_within_the_line_and_apart(wanted: list[tuple[int, str]], columns: int) -> None:
    shown = apart(wanted, columns)
    line = [" "] * columns
    for column, label in shown.items():
        assert column >= 0 and column + len(label) <= columns
        line[column : column + len(label)] = label
    assert sorted("".join(line).split()) == sorted(shown.values())
    assert all((column, label) in wanted for column, label in shown.items())
    if wanted and wanted[0][0] >= 0 and wanted[0][0] + len(wanted[0][1]) <= columns:
        assert shown[wanted[0][0]] == wanted[0][1]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.text("0123456789", min_size=1, max_size=5))), st.integers(0, 30)
)
def test_a_mark_hides_no_letter_of_a_label_behind_its_first(wanted: list[tuple[int, str]], mark: int) -> None:
    shown = apart(wanted, 40, [mark])
    assert all(not column < mark < column + len(label) for column, label in shown.items())
    clear = [(at, label) for at, label in wanted if not at < mark < at + len(label)]
    assert shown == apart(clear, 40)
