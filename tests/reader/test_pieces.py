"""Where a piece of a text ends: with the first event from its stop on, whatever way it is read."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from tracetui.compiled import COMPILED
from tracetui.reader.damage import Damage
from tracetui.reader.pieces import (
    PieceOptions,
    PieceReader,
    _damaged_block,
    _reads_as_events,
    guess_start,
    read_pieces,
    stop_of,
)


class Bytes:
    """A text that is there."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, offset: int, length: int) -> bytes:
        assert offset >= 0
        return self._content[offset : offset + length]


def _event(number: int) -> bytes:
    """One that the scanner takes, one that it leaves to the decoder, and one that looks like several."""
    args = [{}, {"a": "\t"}, {"list": [{"ph": "X"}, {"ph": "}, {"}], "long": "x" * 70}][number % 3]
    event = {"ph": "X", "name": f"e{number}", "pid": 1, "tid": 2, "ts": number, "dur": 1, "args": args}
    return json.dumps(event).replace("\\t", "\t").encode()


EVENTS = [_event(number) for number in range(12)]
KINDS = {
    "scanned": [event for event in EVENTS if b"\t" not in event and b"list" not in event] * 3,
    "tabs": [event for event in EVENTS if b"list" not in event],
    "all": EVENTS,
}


def _placed(events: list[bytes], between: bytes) -> tuple[bytes, list[int]]:
    """The text of an array, and where its events begin."""
    starts, text = [], b"["
    for event in events:
        starts.append(len(text))
        text += event + between
    return text[: len(text) - len(between)] + b"]", starts


@pytest.mark.skipif(not COMPILED, reason="the scanner is not compiled")
def test_the_last_event_of_a_piece_is_scanned_as_those_before_it() -> None:
    text, starts = _placed(KINDS["scanned"], b", ")
    for stop in range(starts[1] + 1, starts[-1]):
        piece = PieceReader(PieceOptions(False, 1000)).read(Bytes(text), 1, stop, False)
        assert (piece.part.scanned, piece.blocks.first[-1]) == (piece.part.events, piece.part.events)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("between", [b",", b" ,\r\n "])
def test_a_piece_ends_with_the_first_event_from_its_stop_on(kind: str, between: bytes) -> None:
    events = KINDS[kind]
    text, starts = _placed(events, between)
    places = [*starts, len(text)]
    for block in (len(EVENTS[0]) + 1, len(text) // 2, 10 * len(text)):
        reader = PieceReader(PieceOptions(False, block))
        for first in (0, 3):
            stops = {place + more for place in places[first + 1 :] for more in (-1, 0, 1)}
            for stop in sorted(stops):
                piece = reader.read(Bytes(text), starts[first], stop, False)
                behind = next((n for n, start in enumerate(starts) if start >= stop), len(starts))
                assert (piece.start, piece.part.events) == (starts[first], behind - first)
                assert not text[piece.end : places[behind]].strip(b" ,\r\n]")
                assert piece.end == places[behind] or block <= len(text) or behind == len(starts)
                assert piece.whole == starts[behind - 1] + len(events[behind - 1])
                over = piece.end == len(text)
                assert (piece.over, piece.ended, piece.in_damage, piece.cut) == (over, over, False, False)
                assert (piece.blocks.first[-1], piece.damage) == (behind - first, Damage())


def test_a_piece_that_stops_behind_a_long_list_ends_with_its_event() -> None:
    """However much in the list looks like a boundary."""
    event = EVENTS[0].replace(b"{}", b'{"list": [%b]}' % b",".join([b"{}"] * 60))
    text, starts = _placed([event] * 3, b",")
    for stop in range(starts[1] - 9, starts[1] + 1):
        piece = PieceReader(PieceOptions(False, 10_000)).read(Bytes(text), starts[0], stop, False)
        assert (piece.part.events, text[piece.end : starts[1]].strip(b",")) == (1, b"")


@pytest.mark.parametrize(("text", "cut"), [(b"[]", False), (b'[{"ph":', True)])
def test_a_piece_without_an_event(text: bytes, cut: bool) -> None:
    piece = PieceReader(PieceOptions(False, 100)).read(Bytes(text), 1, 99, False)
    assert (piece.part.events, piece.whole, piece.end, piece.over) == (0, -1, len(text), True)
    assert (piece.ended, piece.cut, piece.in_damage) == (not cut, cut, cut)
    assert (piece.blocks.first.tolist(), len(piece.blocks.offset)) == ([0], 0)


@pytest.mark.parametrize("odd", [b"??", b"{oops}", b'{"ph":x},{]'])
def test_pieces_of_any_size_hold_all_around_a_damage(odd: bytes) -> None:
    text, starts = _placed([*EVENTS[:5], odd, *EVENTS[5:]], b", ")
    for size in range(30, len(text), 97):
        pieces = [*read_pieces(Bytes(text), 1, size, PieceOptions(False, 150))]
        total = Damage()
        for piece in pieces:
            total.extend(piece.damage)
        assert sum(piece.part.events for piece in pieces) == len(EVENTS)
        assert [(skip.offset, skip.length) for skip in total.skips] == [(starts[5], starts[6] - starts[5])]
        assert [piece.end for piece in pieces[:-1]] == [piece.start for piece in pieces[1:]]
        assert [piece.over for piece in pieces] == [False] * (len(pieces) - 1) + [True]
        assert pieces[-1].ended and not pieces[-1].in_damage


def test_pieces_before_an_event_end_where_that_begins() -> None:
    text, starts = _placed(EVENTS, b", ")
    for count, end in enumerate(starts[1:], 1):
        pieces = [*islice(read_pieces(Bytes(text), 1, 300, PieceOptions(False, 10_000), end), 99)]
        assert (sum(piece.part.events for piece in pieces), pieces[-1].end) == (count, end)
        assert all(piece.part.events for piece in pieces)


def test_pieces_end_at_equal_distances() -> None:
    assert [stop_of(at, 3, 10, 99) for at in (3, 4, 12, 13, 14, 88, 92, 93, 98)] == [
        *[13, 13, 13, 23, 23, 93, 93, 99, 99]
    ]
    assert stop_of(3, 3, 10, 5) == 5


def test_a_start_is_guessed_where_an_event_begins() -> None:
    text, starts = _placed(KINDS["tabs"] * 40, b", ")
    for start, behind in zip(starts[2:70:4], starts[3::4]):
        for at, stop in (
            (start, len(text)),
            (start, start + 1),
            (start - 1, start + 1),
            (start - 70, behind),
        ):
            found = next(place for place in starts if place >= at)
            assert guess_start(Bytes(text), at, stop) == found
        assert guess_start(Bytes(text), start, start) is None
        assert guess_start(Bytes(text), start + 1, behind) is None


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        *[(b'{"ph":1},{', True), (b'{"a":1},{', False), (b'{"a":1},{"ph":1},{', False), (b"", False)],
        *[(b'{"ph":1},{"a":1},{', True), (b"7,{},{", False), (b'{"ph":1}', True), (b'{"ph":', False)],
        *[(b'{"ph":"\t"},{"ph":1},{', True), (b'{"ph":"\t"},{"ph":"' + b"x" * 99, True)],
        *[(b'{"ph":"\t"},?,{"ph":"' + b"x" * 99 + b'"},{', False), (b'{"ph":1}]' + b" " * 99, False)],
    ],
)
def test_what_reads_as_events(text: bytes, whether: bool) -> None:
    assert _reads_as_events(text) == whether


def test_a_damaged_block_ends_with_the_first_boundary_from_its_stop_on() -> None:
    text = b'{"aa":1},{' + b"o" * 80 + b'},{"ph":2}, {"ph":3},{"ph":4},'
    for stop, end, events in (
        (1, 9, 1),
        (9, 9, 1),
        (93, 102, 2),
        (102, 102, 2),
        (103, 111, 3),
        (111, 111, 3),
    ):
        block = _damaged_block(text, stop, wrapped=False)
        assert block is not None
        assert (block.end, len(block.elements), block.ended) == (end, events, False)
    assert _damaged_block(text, 112, wrapped=False) is None
    assert _damaged_block(b'{"name":"a","list":[{"a":1},{"b":2}', 20, wrapped=False) is None
