"""Where an element of an array ends, one at a time: what is cut is not taken for what is whole."""

from __future__ import annotations

import pytest

from tracetui.reader.split import _WINDOW, CUT_OFF, _deep, _element, _whole_scalar, last_boundary, walk

UNREADABLE = "not readable as JSON"


@pytest.mark.parametrize("length", [1, _WINDOW - 1, _WINDOW, _WINDOW + 1, 3 * _WINDOW, 4 * _WINDOW])
@pytest.mark.parametrize("kind", ["number", "string", "object"])
def test_an_element_is_as_long_as_it_is(kind: str, length: int) -> None:
    text = {"number": "7" * length, "string": f'"{"a" * length}"', "object": f'{{"a":"{"b" * length}"}}'}[
        kind
    ]
    for behind in ("", ",1", " ]"):
        _, end, error_at, deep = _element(f"xx{text}{behind}", 2)
        assert (end, error_at, deep) == (2 + len(text), -1, False)


@pytest.mark.parametrize(
    ("text", "error_at"),
    [('{"a": x}', 6), ('{"a": "b', 8), ("x", 0), ("", 0), ('{"a" 1}', 5), ('{"a": [1, 2', 11)],
)
def test_what_is_no_element_fails_where_it_stops_to_be_one(text: str, error_at: int) -> None:
    assert _element(f"__{text}", 2)[1:] == (-1, 2 + error_at, False)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        *[("7", True), ("7 ,", True), ("null]", True), ('"a"\n', True)],
        *[('"a" x', False), ("x,", False), ("7x", False)],
    ],
)  # fmt: skip
def test_a_scalar_stands_alone(text: str, whole: bool) -> None:
    assert _whole_scalar(f" {text}", 1) == whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *[(b"{},{}", (2, 3)), (b"{} , \n{}", (2, 6)), (b"{},{},{", (5, 6)), (b"{}", None), (b"", None)],
        *[(b"{}, [", None), (b"{},{}" + b" " * 5000, (2, 3))],
    ],
)  # fmt: skip
def test_the_last_place_that_looks_like_a_boundary(text: bytes, found: tuple[int, int] | None) -> None:
    assert last_boundary(text) == found


def test_elements_are_found_one_by_one_and_what_is_damaged_between_them() -> None:
    event = b'{"ph":"X"}'
    found = walk(event + b", 7 ,x," + event + b"]", final=True, wrapped=False)
    assert found.spans == [(0, 10), (12, 13), (17, 27)]
    assert found.skips == [(15, 17, "not readable as JSON")]
    assert (found.end, found.ended, found.wants) == (28, True, False)


@pytest.mark.parametrize(("final", "skips"), [(True, [(11, 17, CUT_OFF)]), (False, [])])
def test_an_element_that_the_text_cuts(final: bool, skips: list[tuple[int, int, str]]) -> None:
    found = walk(b'{"ph":"X"},{"ph":', final=final, wrapped=False)
    assert (found.spans, found.skips, found.wants) == ([(0, 10)], skips, not final)


@pytest.mark.parametrize(
    ("text", "spans", "wants"),
    [
        (b'{"a":1}', [(0, 7)], False),
        (b'{"a":"\t"}', [(0, 9)], False),
        (b'{"a":1},12', [(0, 7)], True),
        (b"12", [], True),
        (b'"12"', [(0, 4)], False),
        (b"[7", [], True),
        (b"{},]", [(0, 2)], True),
        (b"{},x", [(0, 2)], True),
        (b'{},{"a":tru', [(0, 2)], True),
    ],
)
def test_more_is_wanted_where_an_element_may_go_on(
    text: bytes, spans: list[tuple[int, int]], wants: bool
) -> None:
    found = walk(text, final=False, wrapped=False)
    assert (found.spans, found.skips, found.wants) == (spans, [], wants)
    assert found.end == (text.rindex(b",") + 1 if len(spans) and wants else len(text) * (not wants))
    assert not (found.ended or found.in_damage)


@pytest.mark.parametrize(
    ("text", "in_damage", "spans", "skips"),
    [
        (b'{"ph":"X"}', True, [(0, 10)], []),
        (b'??{"ph":"X"}', True, [(2, 12)], [(0, 2, UNREADABLE)]),
        (b'??,{"ph":', False, [], [(0, 9, UNREADABLE)]),
        (b'??,{"ph":x},{"ph":"X"}', False, [(12, 22)], [(0, 12, UNREADABLE)]),
        (b'{"ph":x},{"ph":"X"}', False, [(9, 19)], [(0, 9, UNREADABLE)]),
        (b'{{"ph":"X"}', False, [(1, 11)], [(0, 1, UNREADABLE)]),
        (b'[{"ph":"X"}', False, [(1, 11)], [(0, 1, UNREADABLE)]),
        (b'"{"ph":"X"}', False, [(1, 11)], [(0, 1, UNREADABLE)]),
        (b'[7],{"ph":"X"}', False, [(4, 14)], [(0, 4, UNREADABLE)]),
        (b"{},7", False, [(0, 2), (3, 4)], []),
        (b'x{"ph":"X"}', False, [(1, 11)], [(0, 1, UNREADABLE)]),
        (b'{},]{"ph":"X"}', False, [(0, 2), (4, 14)], [(3, 4, "text after the end of the array")]),
        (b'??,{"name":1},{"ph":"X"}', False, [(14, 24)], [(0, 14, UNREADABLE)]),
    ],
)
def test_what_is_damaged_ends_where_an_event_begins(
    text: bytes, in_damage: bool, spans: list[tuple[int, int]], skips: list[tuple[int, int, str]]
) -> None:
    found = walk(text, final=True, wrapped=False, in_damage=in_damage)
    assert (found.spans, found.skips, found.end) == (spans, skips, len(text))
    assert found.in_damage == (found.spans == [] or found.spans[-1][1] < len(text))


def test_damage_is_skipped_as_in_a_short_text_behind_a_long_one() -> None:
    """However much was read before: what is read twice to find an event is limited, what is read is not."""
    for length in (0, 200_000):
        before = b'{"ph":"X","name":"' + b"a" * length + b'"},??'
        for odd in (b',{"name":"x","list":[{"ph":"X"}]}', b',{"name":"x","list":[{"ph":"X"}],x}'):
            found = walk(before + odd * 3, final=True, wrapped=False)
            assert len(found.spans) == 1 + 3


def test_damage_is_told_though_the_event_behind_it_is_cut() -> None:
    found = walk(b"?" * 99 + b',{"ph":', final=False, wrapped=False)
    assert (found.spans, found.skips, found.end, found.wants) == ([], [(0, 100, UNREADABLE)], 100, True)
    found = walk(b'{"ph":', final=False, wrapped=False, in_damage=True)
    assert (found.spans, found.skips, found.end, found.wants) == ([], [], 0, True)


def test_a_start_of_an_event_that_the_text_cuts_is_kept_for_the_next() -> None:
    for cut in (b"", b"{", b'{ "pi'):
        found = walk(b"?" * 100 + cut, final=False, wrapped=False)
        assert 0 < found.end <= 100 and found.in_damage
        assert found.skips == [(0, found.end, UNREADABLE)]


@pytest.mark.parametrize(
    ("behind", "belongs"),
    [(b"}", True), (b"", True), (b',"a":1}', True), (b" ,", True), (b"]", False), (b"x", False)],
)
def test_other_members_follow_the_array_of_an_object(behind: bytes, belongs: bool) -> None:
    found = walk(b"{}]" + behind, final=True, wrapped=True)
    after = [] if belongs else [(3, 4, "text after the end of the array")]
    assert (found.end, found.ended, found.skips) == (3, True, after)


@pytest.mark.parametrize("space", [b"", b" ", b"\n" * 5000])
@pytest.mark.parametrize(
    ("end", "wrapped", "final", "ended"),
    [
        *[(b"}]", False, True, True), (b"x]", False, True, True), (b"x", False, True, False)],
        *[(b"x]", True, True, False), (b"x]", False, False, False), (b"}]x]", False, True, True)],
    ],
)  # fmt: skip
def test_an_array_ends_with_its_bracket(
    end: bytes, wrapped: bool, final: bool, ended: bool, space: bytes
) -> None:
    """Also where its last event is damaged, if nothing but the array has brackets there."""
    found = walk(b'{"ph":"X"},{"ph":"X"' + end + space, final, wrapped)
    assert (found.spans[0], found.ended) == ((0, 10), ended)


def test_nesting_too_deep_fails_at_its_two_hundredth_bracket() -> None:
    """And where it is short of that, at the end: more text may close it."""
    deep = "[{" * 60 + "]}" * 30 + "[[" * 70
    assert [_deep(deep[:-1]), _deep(deep)] == [len(deep) - 1 - 32, len(deep) - 32]
    assert _deep(deep + " " * 90) == len(deep) - 1
    assert _deep('"[[[[[[[[[["' * 30) == 12 * 30 - 32
    assert _deep("[") == 0
    assert _element("xx" + "[" * 200_000, 2)[1:] == (-1, 2 + 199, True)
