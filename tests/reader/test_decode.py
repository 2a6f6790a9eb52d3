"""The text of events to objects and arrays: exact numbers, and the same whichever way reads them."""

from __future__ import annotations

from typing import Any

import pytest

from tracetui.reader import decode
from tracetui.reader.decode import decode_again, decode_block, lenient
from tracetui.reader.document import read_head
from tracetui.reader.extract import correlations, floats, python_ids
from tracetui.reader.literals import restore_literals
from tracetui.reader.normalise import Literal
from tracetui.reader.split import last_boundary

BIG = 123456789012345678901234567890


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        *[(b"1.5", [1.5]), (b"%d" % BIG, [BIG]), (b'{"a":NaN}', [{"a": None}]), (b'"\t"', ["\t"])],
        *[(b"x", []), (b"", []), (b'"\xff"', ["\ufffd"]), (b'"\\ud800"', ["\ufffd"])],
        *[(b'{"\\uD800":["\\ud800"]}', [{"\ufffd": ["\ufffd"]}]), (b'"\\ud83d\\ude00"', ["\U0001f600"])],
        *[(b"9" * 399, [int("9" * 399)]), (b"9" * 400, ["9" * 400])],
    ],
)  # fmt: skip
def test_elements_are_read_again_as_they_are(text: bytes, elements: list[Any]) -> None:
    for again in (decode_again(text, ()), decode_again(b"x" + text, ((1, 1 + len(text)),) * bool(elements))):
        assert again == elements
        assert [type(element) for element in again] == [type(element) for element in elements]


def test_numbers_stay_text_where_a_float_would_round_them() -> None:
    (exact,) = lenient(b'{"ts":1736412482864716.747,"id":%d}' % BIG) or []
    assert exact == {"ts": "1736412482864716.747", "id": BIG} and type(exact["ts"]) is Literal


@pytest.mark.parametrize(
    ("text", "count", "end", "whole"),
    [
        *[(b'{"a":1}, {"a":2}, {', 2, 18, True), (b'{"a":[{"b":1},{', 0, 0, False), (b"", 0, 0, False)],
        *[(b'{"a":"\t"},{"a":2},{', 2, 18, True), (b'{"a":1},{"b":[{},{', 1, 8, True)],
    ],
)  # fmt: skip
def test_a_block_is_what_is_whole(text: bytes, count: int, end: int, whole: bool) -> None:
    block = decode_block(text, last_boundary(text), final=False, wrapped=False, in_damage=False)
    assert (len(block.elements), block.end, block.spans, block.skips) == (count, end, (), ())
    assert (block.wants, block.ended, block.in_damage) == (not whole and bool(text), False, False)
    assert decode_again(text[: block.length], block.spans) == block.elements


def test_the_array_ends_in_its_last_block() -> None:
    block = decode_block(b"{},{} ]", None, final=True, wrapped=False, in_damage=False)
    assert (block.elements, block.end, block.length, block.ended, block.spans) == ([{}, {}], 7, 5, True, ())


def test_an_element_longer_than_any_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "LONGEST", 2 << 20)
    for length, wants in ((decode.LONGEST - 1, True), (decode.LONGEST, False)):
        text = b'{"name":"' + b"x" * (length - 9)
        block = decode_block(text, None, final=False, wrapped=False, in_damage=False)
        assert (block.wants, block.in_damage, block.elements) == (wants, not wants, [])
        assert block.skips == (() if wants else ((0, length, "longer than 2 MB"),))
        assert block.end == (0 if wants else length)


def test_nothing_shorter_than_16_mb_is_too_long() -> None:
    assert decode.LONGEST == 16 << 20


def test_numbers_stay_text_in_damaged_text_as_well() -> None:
    """Of an event that orjson refuses, and that is found among damaged ones."""
    text = b'{"ts":1736412482864716.747,"a":NaN},{oops},{"ph":"i","ts":1736412482864716.749,"a":NaN},{'
    block = decode_block(text, last_boundary(text), final=False, wrapped=False, in_damage=False)
    assert [element["ts"] for element in block.elements] == [f"1736412482864716.74{n}" for n in (7, 9)]
    assert [reason for _, _, reason in block.skips] == ["not readable as JSON"]


@pytest.mark.parametrize(
    ("text", "ts", "ids"),
    [
        ('{"ts":1.1,"id":1},{"ts":2.2}', ["1.1", "2.2"], [1, None]),
        (f'{{"ts":1,"id":{BIG}}},{{"ts":2}}', [1, 2], [BIG, None]),
        (f'{{"ts":1.10,"id":{BIG}}},{{"ts":2,"id":5}}', ["1.10", "2"], [BIG, 5]),
        ('7,{"ts":1.10},{"ts":"2.5"}', [None, "1.10", "2.5"], [None] * 3),
        ('{"a":{"ts":1.5},"ts":1.10},{"ts":2}', ["1.10", 2], [None] * 2),
        ('{"ts":1.10},{"a":{"ts":1.50},"\\u0074s":2.20}', ["1.10", "2.20"], [None] * 2),
        ('{"ts":1.50,"ts":1.10},{"ts":2.20}', ["1.10", "2.20"], [None] * 2),
        ('{"ts":1.10,"a":{"ts":9}},{"id":1}', ["1.10", None], [None, 1]),
    ],
)
def test_floats_become_their_text_again(text: str, ts: list[Any], ids: list[Any]) -> None:
    elements = decode.strict(text.encode())
    assert elements is not None
    restore_literals(elements, text.encode())
    found = [element if isinstance(element, dict) else {} for element in elements]
    assert [event.get("ts") for event in found] == ts
    assert [event.get("id") for event in found] == ids


@pytest.mark.parametrize("text", [b"x", b'{"id":1},{"id":2}', b""])
def test_events_stay_as_they_are_where_the_text_is_not_theirs(text: bytes) -> None:
    elements = [{"id": 1.5}]
    restore_literals(elements, text)
    assert elements == [{"id": 1.5}]


NO_ID = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        *[([5, 0], [5, 0]), ([5, -1], [5, -1]), ([5, -2], [5, -1]), ([5, NO_ID], [5, -1])],
        *[([NO_ID - 1, 7], [NO_ID - 1, 7]), ([NO_ID + 1, 7], [NO_ID + 1, 7]), (["8", 7], [8, 7])],
        *[([None, 7], [-1, 7]), ([1 << 63, 7], [-1, 7])],
    ],
)
def test_links_of_events_by_any_of_their_keys(values: list[Any], expected: list[int]) -> None:
    for key in ("connection_id", "correlation_id", "correlation"):
        args = [{key: value} for value in values]
        assert correlations([*args, {}], {key, "x"}).tolist() == [*expected, -1]
        no_links = {"connection_id": -1, "correlation_id": -1}
        several = [{**no_links, key: value} for value in values]
        assert correlations(several, {*no_links, key}).tolist() == expected
    assert correlations([{}, {}], {"x"}).tolist() == [-1, -1]


def test_numbers_of_31_bits_and_of_samples() -> None:
    last = (1 << 31) - 1
    for values, expected in (([0, last, -1], [0, last, -1]), ([last + 1, 5], [-1, 5]), ([-2, 5], [-1, 5])):
        assert python_ids(values).tolist() == expected
    assert floats([1, 2.5]).tolist() == floats(["1", 2.5]).tolist() == [1.0, 2.5]
    assert str(floats([None, 2.5]).tolist()) == "[nan, 2.5]"


def test_members_have_numbers_of_399_digits_at_most_and_any_character() -> None:
    digits = "9" * 399
    text = f'{{"a": {digits}, "b": {digits}9, "c": "\t", "d": NaN, "traceEvents": ['
    members = {"a": int(digits), "b": digits + "9", "c": "\t", "d": None}
    head = read_head(text.encode(), final=True)
    assert (head.members, head.start) == (members, len(text))
