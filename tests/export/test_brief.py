"""What is cut of a document for a small context, and that it is said."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tracetui.export.brief import (
    LONGEST_BRIEF,
    LONGEST_QUOTED,
    LONGEST_TEXT,
    brief_document,
    brief_json,
    quoted_json,
)


def rows(count: int, pieces: int) -> list[dict[str, Any]]:
    return [{"place": place, "pieces": [{"at": at} for at in range(pieces)]} for place in range(count)]


def test_what_is_small_is_whole() -> None:
    document = {"schema": 1, "gaps": rows(3, 2), "verdict": "x" * LONGEST_TEXT}
    assert brief_document(document) == {**document, "left_out": {}}


def test_first_rows_stay_and_the_rest_is_counted() -> None:
    brief = brief_document({"gaps": rows(500, 30), "totals": {"idle_ns": 5}})
    assert brief["totals"] == {"idle_ns": 5}
    kept = brief["gaps"]
    assert [row["place"] for row in kept] == [*range(len(kept))]
    assert brief["left_out"]["gaps"] == 500 - len(kept)
    inner = len(kept[0]["pieces"])
    assert brief["left_out"]["gaps[].pieces"] == len(kept) * (30 - inner)


def test_an_object_of_many_entries_is_a_table() -> None:
    brief = brief_document({"by_rank": {str(rank): 1.5 for rank in range(1024)}})
    assert len(brief["by_rank"]) + brief["left_out"]["by_rank"] == 1024
    assert "0" in brief["by_rank"]


def test_long_texts_are_cut() -> None:
    brief = brief_document({"verdict": "x" * 5000})
    assert brief["verdict"] == "x" * (LONGEST_TEXT - 1) + "…"


def test_long_keys_are_cut_and_stay_apart() -> None:
    ops = {f"{'x' * 5000}{number}": number for number in range(3)}
    brief = brief_document({"lines": [{"ops": ops}]})
    assert sorted(brief["lines"][0]["ops"].values()) == [0, 1, 2]
    assert max(map(len, brief["lines"][0]["ops"])) <= LONGEST_TEXT
    quoted = json.loads(quoted_json({"ops": ops, "name": "\u202e" * 5000, "rows": [*range(500)]}))
    assert len(quoted["ops"]) == 3 and len(quoted["rows"]) == 500
    assert quoted["name"] == "\u202e" * (LONGEST_QUOTED - 1) + "…"


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=30),
    max_leaves=50,
)


@given(st.dictionaries(st.sampled_from(["gaps", "steps", "devices", "lines"]), VALUES))
def test_a_brief_answer_fits(document: dict[str, Any]) -> None:
    text = brief_json(document)
    assert text.isascii() and len(text) <= LONGEST_BRIEF + 1
    brief = json.loads(text)
    assert set(brief) == {*document, "left_out"}
