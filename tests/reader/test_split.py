"""Where an element of an array ends, one at a time: what is cut is not taken for what is whole."""

from __future__ import annotations

import pytest

from tracetui.reader.split import _WINDOW, CUT_OFF, _element, _whole_scalar, last_boundary, walk


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
