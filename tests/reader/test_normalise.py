"""Values of events in usable types, one by one: what is taken for a number, a text, an id, or for none."""

from __future__ import annotations

from typing import Any

import pytest

from tracetui.reader.normalise import (
    Literal,
    category_of,
    correlation_of,
    flow_id,
    int32_of,
    name_in_scope,
    normalise_events,
    number_of,
    signed_below,
    text_of,
    whole_below,
    whole_of,
)
from tracetui.reader.numbering import FlowIds

_31, _63, _64 = 1 << 31, 1 << 63, 1 << 64
NO_ID = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *[(0, 0), (7, 7), (-3, -3), (True, 1), (_64, _64)],
        *[(2.0, 2), (2.5, -1), (float("nan"), -1), (float("inf"), -1)],
        *[("7", 7), ("", -1), ("-7", -1), ("7.0", -1), ("٣", -1), ("9" * 399, int("9" * 399))],
        ("9" * 400, -1),
        *[(Literal("7.0"), 7), (Literal("7.5"), -1), (Literal("1e3"), 1000), (Literal("x"), -1)],
        *[(None, -1), ([], -1), ({}, -1)],
    ],
)  # fmt: skip
def test_a_whole_number(value: Any, number: int) -> None:
    assert whole_of(value) == number


@pytest.mark.parametrize(("value", "below_8"), [(0, 0), (7, 7), (8, -1), (-1, -1), ("7", 7), ("8", -1)])
def test_a_whole_number_below_another(value: Any, below_8: int) -> None:
    assert whole_below(value, 8) == below_8


def test_numbers_that_mean_none_are_none() -> None:
    assert [whole_below(value, _64 + 1) for value in NO_ID] == [-1, -1]
    assert [whole_below(value - 1, _64 + 1) for value in NO_ID] == [value - 1 for value in NO_ID]


def test_numbers_of_31_bits() -> None:
    assert [int32_of(value) for value in (0, _31 - 1, _31, -1)] == [0, _31 - 1, -1, -1]


@pytest.mark.parametrize(
    ("value", "signed"),
    [(0, 0), (7, 7), (-7, -7), (8, 0), (-8, 0), (9, 0), (True, 0), ("7", 0), (7.0, 0), (None, 0)],
)
def test_a_signed_number_below_8(value: Any, signed: int) -> None:
    assert signed_below(value, 8) == signed


@pytest.mark.parametrize(
    ("args", "correlation"),
    [
        ({}, -1),
        ({"connection_id": 0}, 0),
        ({"connection_id": 5, "correlation_id": 6, "correlation": 7}, 5),
        ({"connection_id": NO_ID[0], "correlation_id": "6", "correlation": 7}, 6),
        ({"connection_id": _63, "correlation_id": -1, "correlation": 7}, 7),
        ({"connection_id": _63 - 1}, _63 - 1),
    ],
)
def test_the_first_id_that_is_one_links_a_task(args: dict[str, Any], correlation: int) -> None:
    assert correlation_of(args) == correlation


@pytest.mark.parametrize(
    ("value", "id_"),
    [
        *[(0, 0), ("0", 0), ("12", 12), (12.0, 12), ("9" * 18, int("9" * 18)), ("9" * 19, "9" * 19)],
        *[(_63 - 1, _63 - 1), (str(_63 - 1), _63 - 1), (_63, str(_63)), (str(_63), str(_63))],
        *[(_64 - 1, -1), (str(_64 - 1), -1), (_64 - (1 << 32), -1), (f"{_64 - (1 << 32)}", -1)],
        *[(_64, str(_64)), (_64 - 2, str(_64 - 2)), ("a1", "a1")],
        *[("-5", "-5"), (-5, "-5"), (1.5, "1.5"), ("٣", "٣")],
    ],
)  # fmt: skip
def test_an_id_of_a_flow(value: Any, id_: int | str) -> None:
    assert flow_id(value) == id_


@pytest.mark.parametrize(
    ("value", "number"),
    [
        *[(2, 2.0), (True, 1.0), ("2.5", 2.5), ("x", None), (None, None), ([], None), (10**400, None)],
        *[("0" * 998 + "1", 1.0), ("0" * 999 + "1", None)],
    ],
)  # fmt: skip
def test_a_number_of_a_counter(value: Any, number: float | None) -> None:
    assert number_of(value) == number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[("a", "a"), (None, ""), (7, "7"), (7.0, "7"), (7.5, "7.5"), ([], "")],
        *[(Literal("7.50"), "7.5"), (Literal("1e2"), "100"), (Literal("x"), "")],
    ],
)  # fmt: skip
def test_a_text(value: Any, text: str) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("name", "whole", "called"),
    [
        ("MatMul-op9", "Default/fc1/MatMul-op9", "Default/fc1/MatMul-op9"),
        ("MatMul-op9", "Default/fc1/xMatMul-op9", "MatMul-op9"),
        ("MatMul-op9", None, "MatMul-op9"),
        ("MatMul-op9", 7, "MatMul-op9"),
        ("", "Default/", ""),
        (9, "Default/9", 9),
    ],
)
def test_an_operator_is_called_with_its_scope(name: Any, whole: Any, called: Any) -> None:
    assert name_in_scope(name, {} if whole is None else {"fullname": whole}) == called


@pytest.mark.parametrize(
    ("category", "kind", "expected"),
    [
        (None, "push/pop", "mstx"),
        ("", "marker", "mstx"),
        (None, "start/end", "mstx"),
        (None, "marker_ex", "mstx"),
        (None, "click", None),
        (None, [], None),
        (None, None, None),
        ("cpu_op", "marker", "cpu_op"),
        ([], "marker", []),
    ],
)
def test_a_range_of_mstx_is_told_by_its_args(category: Any, kind: Any, expected: Any) -> None:
    assert category_of(category, {"event_type": kind}) == expected


@pytest.mark.parametrize(
    "element",
    [
        *[None, [], "X", 7, {"ph": 7}],
        *[{"ph": phase} for phase in "XCstfiIBE"],
        *[{"ph": phase, "ts": 1} for phase in "stf"],
        {"ph": "s", "ts": 1, "id": []},
    ],
)
def test_what_is_no_event_is_counted(element: Any) -> None:
    event = {"ph": "i", "ts": 1}
    kept, ordinals, others_count = normalise_events([event, element, event], 10)
    assert (len(kept), ordinals, others_count) == (2, [10, 12], 1)


@pytest.mark.parametrize(("events", "first", "others"), [(1, 0, 0), (0, 9, 0), (0, 0, 1)])
def test_an_empty_object_that_ends_the_array_is_no_damage(events: int, first: int, others: int) -> None:
    elements = [*[{"ph": "i", "ts": 1}] * events, {}]
    assert normalise_events(elements, first)[2] == others


def test_an_event_has_the_fields_of_its_phase() -> None:
    args = {"text": "a", "number": 7, "list": [], "none": None, "digits": "8"}
    kept = {}
    for phase in "XCM":
        (event,), ordinals, others_count = normalise_events(
            [{"ph": phase, "ts": 5, "pid": [], "args": args}], 3
        )
        assert (ordinals, others_count) == ([3], 0)
        assert {key: event[key] for key in event if key != "args"} == {
            "ph": phase, "name": "", "pid": "", "tid": "", "cat": "", "ts": 5, "dur": 0,
        }  # fmt: skip
        kept[phase] = sorted(event["args"])
    assert kept == {"X": ["digits", "number", "text"], "C": ["digits", "number"], "M": sorted(args)}
    ((event,), _, _) = normalise_events([{"ph": "s", "ts": 5, "id": 0, "args": []}], 0)
    assert (event["id"], event["args"]) == (0, {})


@pytest.mark.parametrize(
    ("text", "same"),
    [
        *[(b'"%d"' % 10**24, b"%d" % 10**24), (b'"12"', b"12")],
        *[(zeros % 10**24, b'"%d"' % 10**24) for zeros in (b'"0%d"', b'"000%d"')],
    ],
)
def test_an_id_is_the_same_in_each_of_its_spellings(text: bytes, same: bytes) -> None:
    ids = FlowIds()
    assert ids.of_json([text]) == ids.of_json([same])
    assert ids.of_json([b'"%d"' % (10**24 + 1)]) != ids.of_json([text])
    assert ids.of_json([b"12"]) == [12] and ids.of_json([b'"%d"' % 10**24])[0] < -1


@pytest.mark.parametrize("other", [b'"12"', b"12", b'"%d"' % 0xFFFFFFFFFFFFFFFF, b'"0%d"' % 10**24, b'"a,b"'])
def test_ids_are_the_same_among_others(other: bytes) -> None:
    texts = [b'"%d"' % number for number in (10**24, 10**19, 10**24, 7 * 10**30)]
    for together in (texts, [other, *texts], [*texts, other]):
        ids, alone = FlowIds(), FlowIds()
        assert ids.of_json(together) == [alone.of_json([text])[0] for text in together]
        assert list(ids.big) == list(alone.big)
