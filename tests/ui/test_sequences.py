"""What is typed, in pieces: a sequence that was cut takes no key with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracetui.ui._textual import SequenceParser
from tracetui.ui.sending.sequences import HELD_S, PASTE_END, PASTE_START, KeySequences

MOUSE = "\x1b[<0;12;5M"
SEQUENCES = [MOUSE, "\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1b[5~", "\x1b[?2026;2$y", "\x1b[I", "\x1b[27;5;9~"]


@pytest.mark.parametrize("sequence", [*SEQUENCES, "\x1b]11;rgb:0/0/0\x1b\\", "\x1b[M !!", "\x1bP1$r\x1b\\"])
def test_a_sequence_is_whole_however_it_comes(sequence: str) -> None:
    for cut in range(1, len(sequence)):
        sequences = KeySequences()
        assert sequences.take("a" + sequence[:cut]) == ["a"]
        assert sequences.waits
        assert sequences.take(sequence[cut:] + "b") == [sequence, "b"]
        assert not sequences.waits


@pytest.mark.parametrize("cut", ["\x1b[<0;12", "\x1b[<", "\x1b[<35;7;", "\x1b[1;5", "\x1b[?20", "\x1b[>0;"])
def test_of_a_sequence_that_was_cut_nothing_is_a_key_and_all_that_follows_is(cut: str) -> None:
    assert KeySequences().take(cut + "qx") == ["qx"]
    assert KeySequences().take(cut + "\x1b[A") == ["\x1b[A"]
    sequences = KeySequences()
    assert (sequences.take(cut), sequences.rest(), sequences.take("q")) == ([], [], ["q"])


def test_what_may_be_cut_is_held_back_for_50_ms() -> None:
    assert HELD_S == 0.05


@pytest.mark.parametrize(
    ("typed", "pieces"),
    [
        ("\x1b", ["\x1b"]),
        ("\x1bq", ["\x1b", "q"]),
        ("\x1b\x1b\x1bqq\x03\x03", ["\x1b", "\x1b", "\x1b", "qq\x03\x03"]),
        ("\x1bO", ["\x1b", "O"]),
        ("\x1b\x1b[A", ["\x1b", "\x1b[A"]),
    ],
)
def test_escape_is_a_key_when_no_sequence_begins_with_it(typed: str, pieces: list[str]) -> None:
    sequences = KeySequences()
    assert sequences.take(typed) + sequences.rest() == pieces


def test_a_paste_ends_with_its_end_or_when_nothing_comes() -> None:
    sequences = KeySequences()
    assert sequences.take(f"{PASTE_START}a\x1b[Ab\x1b[20") == [PASTE_START, "a\x1b[Ab"]
    assert sequences.take("1~q") == [PASTE_END, "q"]
    assert sequences.take(f"{PASTE_START}qq") == [PASTE_START, "qq"]
    assert sequences.waits
    assert sequences.rest() == [PASTE_END]
    assert sequences.take("q") == ["q"]


@given(st.lists(st.sampled_from([*SEQUENCES, "q", "é", "\x03", "漢字"]), max_size=12), st.data())
def test_packets_do_not_matter(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    sequences = KeySequences()
    found = [piece for a, b in zip([0, *cuts], [*cuts, len(text)]) for piece in sequences.take(text[a:b])]
    assert "".join(found) == text
    assert [piece for piece in found if piece.startswith("\x1b")] == [p for p in pieces if p in SEQUENCES]


@given(st.text(st.sampled_from("\x1b[<0;5Mm~]O?PqaZ\x07\\\x032é"), max_size=40))
def test_whatever_comes_a_key_that_follows_arrives(noise: str) -> None:
    sequences, parser = KeySequences(), SequenceParser()
    pieces = [*sequences.take(noise), *sequences.rest(), *sequences.rest(), *sequences.take("q")]
    events = [event for piece in pieces for event in parser.read(piece)]
    assert getattr(events[-1], "key", "") == "q"
