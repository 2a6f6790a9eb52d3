"""What the word before the cursor of a query may become."""

from __future__ import annotations

import pytest

from tracetui.ui.widgets.query_field import complete

TABLES = {"gaps": ["start_ns", "idle_ns"], "steps": ["step", "start_ns"], "events": ["name"]}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ("select",)),
        ("se", ("select",)),
        ("select * from ", ("events", "gaps", "steps")),
        ("select * from g", ("gaps",)),
        ("select * FROM steps join ", ("events", "gaps", "steps")),
        ("select id|", ("idle_ns",)),
        ("select s| from gaps", ("start_ns", "select", "sum(", "steps")),
        ("select s| from steps", ("step", "start_ns", "select", "sum(", "steps")),
        ("select STAR| from gaps", ("start_ns",)),
        ("select start_ns| from gaps", ()),
        ("select nothing| from gaps", ()),
        ("select * from gaps wh", ("where",)),
    ],
)
def test_names_that_may_stand_there(text: str, names: tuple[str, ...]) -> None:
    """The cursor is at the bar, else at the end."""
    before, _, after = text.partition("|")
    assert complete(before + after, len(before), TABLES).names == names


def test_the_word_is_replaced_and_what_follows_stays() -> None:
    text = "select id from gaps"
    cursor = len("select id")
    assert complete(text, cursor, TABLES).completed(text, cursor) == ("select idle_ns from gaps", 14)
