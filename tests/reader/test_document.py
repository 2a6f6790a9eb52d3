"""The members around the array of events: where it begins, and which of them are kept."""

from __future__ import annotations

import json

import pytest

from tracetui.reader import document
from tracetui.reader.document import read_head, read_tail

LARGEST = 65_536  # characters of a member


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        (b"", True),
        (b" \n", True),
        (b"{", True),
        (b'{"a": 1, "trac', True),
        (b"x", False),
        (b"<html>", False),
        (b'"[', False),
    ],
)
def test_more_is_read_only_of_what_may_become_a_trace(text: bytes, wants: bool) -> None:
    assert (read_head(text, final=False).start, read_head(text, final=False).wants) == (-1, wants)
    assert not read_head(text, final=True).wants


@pytest.mark.parametrize("space", ["", " ", "\r\n\t"])
def test_the_array_begins_after_its_bracket(space: str) -> None:
    for text, members in (
        (f"{space}[", {}),
        (f'{space}{{{space}"a":{space}1,{space}"traceEvents":{space}[', {"a": 1}),
    ):
        head = read_head(f"{text}{space}7]".encode(), final=False)
        assert (head.start, head.members, head.wrapped) == (len(text), members, bool(members))
    tail = read_tail(f'{space},{space}"b":{space}[2]{space},{space}"c":{space}null{space}}}'.encode())
    assert tail == {"b": [2], "c": None}


def test_a_member_of_64_kib_is_kept_and_a_longer_one_is_passed_over() -> None:
    members = {"kept": "x" * (LARGEST - 2), "left out": "x" * (LARGEST - 1), "after": "ü"}
    text = json.dumps({**members, "traceEvents": []}, ensure_ascii=False).encode()
    head = read_head(text, final=True)
    assert head.members == {name: value for name, value in members.items() if name != "left out"}
    assert head.start == text.index(b"[") + 1


@pytest.mark.parametrize(
    ("text", "start", "wrapped"),
    [(b'{"ph": "X", "ts": 1}', 0, False), (b' {"a": 1, "ph": "X"}', 0, False), (b'{"a": 1}', -1, True)],
)
def test_events_without_a_bracket_begin_where_the_text_does(text: bytes, start: int, wrapped: bool) -> None:
    head = read_head(text, final=True)
    assert (head.start, head.wrapped) == (start, wrapped)


@pytest.mark.parametrize(("members", "found"), [(2, True), (3, False)])
def test_members_are_read_up_to_a_number_of_them(
    monkeypatch: pytest.MonkeyPatch, members: int, found: bool
) -> None:
    monkeypatch.setattr(document, "_MOST_MEMBERS", 3)
    text = json.dumps({**{f"member {number}": 0 for number in range(members)}, "traceEvents": []}).encode()
    head = read_head(text, final=True)
    assert (head.start, len(head.members)) == (text.index(b"[") + 1 if found else -1, members)


@pytest.mark.parametrize(
    "text", [b"{7: 1}", b'{"a" 1}', b'{"a": 1; ', b'{"a": x', b'{"a": 1 "b": 2}', b"{[1]: 2}"]
)
def test_what_is_no_member_ends_the_search(text: bytes) -> None:
    assert read_head(text + b', "traceEvents": [', final=True).start == -1


def test_other_arrays_before_the_events_are_members() -> None:
    text = b'{"list": [1], "traceEvents": {"not": 1}, "empty": [], "traceEvents": ['
    head = read_head(text, final=True)
    assert (head.start, head.members) == (len(text), {"list": [1], "traceEvents": {"not": 1}, "empty": []})
