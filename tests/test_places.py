"""Places: what is written is what is read, whatever names hold; what is no place is one clear sentence."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.places import (
    LONGEST_NAME,
    NotAPlace,
    SharedPlace,
    format_seconds,
    is_row_id,
    parse_place,
    parse_seconds,
    quote,
    row_id,
    trace_fingerprint,
    unquote,
)

_TEXTS = st.text(max_size=12)
_TIMES = st.integers(-(10**18), 10**18)
_SPANS = st.tuples(_TIMES, _TIMES).filter(lambda span: span[0] < span[1])
_KEYS = st.lists(_TEXTS, min_size=1, max_size=3).map(tuple)
_ROWS = st.builds(
    lambda kind, parts: row_id(kind, *parts),
    st.sampled_from(["gap", "line", "slice", "step", "operator"]),
    st.lists(_TEXTS, min_size=1, max_size=3),
)
_PLACES = st.builds(
    SharedPlace,
    screen=st.sampled_from(["timeline", "gaps", "compare"]),
    rank=st.none() | st.integers(0, 10**6),
    span=st.none() | _SPANS,
    rows=st.lists(_ROWS, max_size=3).map(tuple),
    view=_TEXTS,
    window=st.none() | _SPANS,
    filter=_TEXTS,
    step=st.none() | st.integers(0, 10**9),
    device=_TEXTS,
    moment=st.none() | _TIMES,
    cursor=st.just(()) | _KEYS,
    folds=st.lists(_KEYS, max_size=3).map(tuple),
    pins=st.lists(_KEYS, max_size=3).map(tuple),
    side=st.sampled_from(["", "base", "other"]),
    trace=st.sampled_from(["", "998e6af59621"]),
)


@given(_PLACES)
def test_a_place_is_read_as_it_was_written(place: SharedPlace) -> None:
    text = str(place)
    assert parse_place(text) == place
    assert text.isascii()
    assert not set(text) & set(" \t\n'\"\\$`&|;<>(){}[]*?!"), "a shell would take it as something else"


@given(st.text())
def test_any_text_is_a_place_or_one_sentence(text: str) -> None:
    try:
        parse_place(text)
    except NotAPlace as error:
        assert str(error)
        assert "\n" not in str(error)


@given(st.text(st.characters(codec=None)))
def test_every_text_survives_quoting(text: str) -> None:
    assert unquote(quote(text)) == text


@given(_TIMES)
def test_every_nanosecond_survives(ns: int) -> None:
    assert parse_seconds(format_seconds(ns)) == ns


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "begins with a screen"),
        ("Gaps", "begins with a screen"),
        ("gaps@3s", "START..END"),
        ("gaps@1..2s", "START..END"),
        ("gaps@2s..1s", "ends after it starts"),
        ("gaps@x:1s..2s", "number of a rank"),
        ("gaps@1s..x", "START..END"),
        ("gaps@1s..2.0000000001s", "seconds from the start"),
        ("gaps#nothing", "NAME=VALUE"),
        ("gaps#gap=[red]", "NAME=VALUE"),
        ("gaps#filter=a,filter=b", "filter stands twice"),
        ("gaps#filter=%FF", "UTF-8"),
        ("gaps#in-step=-1", "whole number"),
        ("gaps#side=left", "base or other"),
        ("gaps#trace=../../etc", "fingerprint"),
        ("gaps#filter=" + "a" * 5000, "at most 4,000"),
    ],
)
def test_what_is_wrong_is_said(text: str, sentence: str) -> None:
    with pytest.raises(NotAPlace, match=sentence):
        parse_place(text)


def test_a_row_has_one_id_and_a_long_name_has_a_hash() -> None:
    assert row_id("operator", "host", "aten::mm") == "operator=host:aten::mm"
    assert row_id("line", "a:b.py", "3", "f") == "line=a%3Ab.py:3:f"
    long = "x" * 10_000
    assert len(row_id("line", long)) <= len("line=") + LONGEST_NAME
    assert row_id("line", long) != row_id("line", long + "y")
    assert is_row_id("gap=NPU+0:1.5")
    assert not any(map(is_row_id, ("gap", "filter=a", "GAP=1", "gap=\x1b[2J")))


def test_a_fingerprint_is_of_what_a_file_holds(tmp_path: Path) -> None:
    here, there = tmp_path / "here.json", tmp_path / "elsewhere" / "copy.json"
    there.parent.mkdir()
    here.write_bytes(bytes(range(256)) * 2000)
    shutil.copy(here, there)
    assert trace_fingerprint([here]) == trace_fingerprint([there]) != ""
    there.write_bytes(here.read_bytes()[:-1] + b"x")
    assert trace_fingerprint([here]) != trace_fingerprint([there])
    there.write_bytes(here.read_bytes() + b"x")
    assert trace_fingerprint([here]) != trace_fingerprint([there])
    there.write_bytes(gzip.compress(b"more"))
    assert trace_fingerprint([here, there]) != trace_fingerprint([here])
    assert trace_fingerprint([tmp_path / "gone"]) == trace_fingerprint([]) == ""
