"""What is sent of a line that changes: enough to make the old line the new one, and not more than needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.ui.widgets.sparing import changed_cells

STYLES = (None, Style.null(), Style(bold=True), Style(reverse=True))
WIDTH = 12

#: characters, also one that is two cells wide, in runs that may have equal styles and be empty
lines = st.lists(st.tuples(st.text("a b漢", max_size=5), st.sampled_from(STYLES)), max_size=6)


def strip_of(runs: list[tuple[str, Style | None]]) -> Strip:
    return Strip([Segment(*run) for run in runs]).adjust_cell_length(WIDTH)


def cells(strip: Strip) -> list[tuple[str, Style | None]]:
    """Character and style of each cell; the second cell of a wide character is empty."""
    return [
        cell
        for text, style, _ in strip
        for character in text
        for cell in ((character, style or None), ("", style or None))[: 2 if character == "漢" else 1]
    ]


@given(lines, lines)
def test_what_is_sent_turns_the_old_line_into_the_new_one(
    old_runs: list[tuple[str, Style | None]], new_runs: list[tuple[str, Style | None]]
) -> None:
    old, new = strip_of(old_runs), strip_of(new_runs)
    stop = changed_cells(old, new)
    before, after = cells(old), cells(new)
    assert after[:stop] + before[stop:] == after
    if stop and "漢" not in old.text + new.text:
        assert before[stop - 1] != after[stop - 1]


@given(lines)
def test_a_line_that_was_not_drawn_or_had_another_width_is_sent_whole(
    runs: list[tuple[str, Style | None]],
) -> None:
    new = strip_of(runs)
    assert changed_cells(None, new) == changed_cells(Strip.blank(WIDTH + 1), new) == WIDTH
