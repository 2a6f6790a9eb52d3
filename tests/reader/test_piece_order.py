"""The order of pieces: whoever brings them, and when, and whoever guesses wrong, the text is read once."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reader.test_pieces import Bytes
from tracetui.reader.piece_order import PieceOrder, PieceRange
from tracetui.reader.pieces import EventsPiece, PieceOptions, PieceReader, read_pieces

OPTIONS = PieceOptions(False, 200)
#: events of which some are longer than a piece, and some hold what looks like events
EVENTS = [
    {
        "ph": "X",
        "name": f"e{n}",
        "ts": n,
        "args": {"list": [{"ph": "X"}] * (n % 7), "long": "x" * (n % 5 * 90)},
    }
    for n in range(60)
]
TEXT = json.dumps(EVENTS).encode()


def _places(piece: EventsPiece) -> tuple[int, int, bool, int]:
    return piece.start, piece.end, piece.in_damage, piece.part.events


@given(
    piece_bytes=st.sampled_from([40, 300, 1000]),
    at_once=st.integers(0, 6),
    end=st.sampled_from([len(TEXT) * 9, 3000]),
    text_end_known=st.booleans(),
    damage=st.one_of(st.none(), st.integers(10, len(TEXT) - 40)),
    failing=st.sampled_from([0.0, 0.5]),
    seed=st.integers(0, 10**6),
)
def test_pieces_are_the_serial_ones_whoever_brings_them_when(
    piece_bytes: int,
    at_once: int,
    end: int,
    text_end_known: bool,
    damage: int | None,
    failing: float,
    seed: int,
) -> None:
    chars = TEXT if damage is None else TEXT[:damage] + b'?"}' + TEXT[damage + 30 :]
    text, chance, reader = Bytes(chars), random.Random(seed), PieceReader(OPTIONS)
    order = PieceOrder(1, piece_bytes, len(chars) if text_end_known else 10**9, end)
    tasks: list[PieceRange] = []
    pieces: list[EventsPiece] = []
    is_more = True
    while is_more:
        while (task := order.assign(at_once)) is not None:
            tasks.append(task)
        while order.awaits_next:
            task = tasks.pop(chance.randrange(len(tasks)))
            piece = reader.read_ahead(text, task.start, task.stop, task.start_known)
            order.bring(task.number, None if chance.random() < failing else piece)
        piece = order.take_next()
        if piece is None:
            piece = reader.read(text, order.next_start, order.next_stop, order.next_in_damage)
        is_more = order.advance(piece)
        pieces.append(piece)
    serial = read_pieces(text, 1, piece_bytes, OPTIONS, end)
    assert [_places(piece) for piece in pieces] == [_places(piece) for piece in serial]


def _piece(start: int, end: int, over: bool = False) -> EventsPiece:
    piece = PieceReader(OPTIONS).read(Bytes(b"[]"), 1, 2, False)
    return replace(piece, start=start, end=end, over=over)


def test_pieces_are_given_out_from_front_to_back_and_not_too_far_ahead() -> None:
    order = PieceOrder(3, 10, text_end=50)
    assert order.unassigned == 5
    given_out = [order.assign(3) for _ in range(4)]
    assert given_out == [
        PieceRange(0, 3, 13, True),
        PieceRange(1, 13, 23, False),
        PieceRange(2, 23, 33, False),
        None,
    ]
    assert order.unassigned == 2
    order.bring(0, _piece(3, 14))
    piece = order.take_next()
    assert piece is not None and order.advance(piece)
    assert (order.next_start, order.next_stop) == (14, 23)
    assert order.assign(3) == PieceRange(3, 33, 43, False)
    assert order.assign(9) == PieceRange(4, 43, 53, False)
    assert order.assign(9) is None, "the text ends there"


def test_a_piece_is_awaited_from_when_it_is_given_until_it_is_brought() -> None:
    order = PieceOrder(0, 10)
    assert not order.awaits_next
    order.assign(1)
    assert order.awaits_next
    order.bring(0, None)
    assert not order.awaits_next
    assert order.take_next() is None


@pytest.mark.parametrize(
    ("start", "in_damage", "counts"), [(12, False, True), (13, False, False), (12, True, False)]
)
def test_a_piece_counts_where_the_one_before_ended(start: int, in_damage: bool, counts: bool) -> None:
    order = PieceOrder(0, 10)
    order.bring(1, _piece(start, 21))
    order.advance(replace(_piece(0, 12), in_damage=in_damage))
    assert (order.take_next() is not None) == counts
    assert order.take_next() is None, "it is taken once"


def test_a_piece_that_spans_several_cuts_replaces_those_after_them() -> None:
    order = PieceOrder(0, 10)
    for _ in range(3):
        order.assign(9)
    order.bring(1, _piece(10, 20))
    order.advance(_piece(0, 45))
    order.bring(2, _piece(20, 30))
    assert order.assign(1) == PieceRange(4, 45, 50, True), "its start is known"
    assert order.awaits_next
    assert not order._read_ahead, "nobody will take the others"


def test_there_is_another_piece_up_to_the_end() -> None:
    order = PieceOrder(0, 10, end=25)
    assert order.advance(_piece(0, 24))
    assert not order.advance(_piece(24, 25))
    assert not PieceOrder(0, 10).advance(_piece(0, 9, over=True))


def test_the_next_piece_can_be_left_and_what_was_given_out_taken_back() -> None:
    order = PieceOrder(0, 10, text_end=30)
    order.keep_next()
    assert not order.awaits_next
    assert order.unassigned == 2
    order.assign(9)
    order.take_back()
    assert order.unassigned == 3
    assert order.assign(9) == PieceRange(0, 0, 10, True)
    empty = PieceOrder(5, 10, text_end=5)
    empty.keep_next()
    assert (empty.unassigned, empty.awaits_next) == (0, False)


def test_what_was_brought_is_not_taken_back() -> None:
    """What its reader could not read is."""
    order = PieceOrder(0, 10, text_end=40)
    while order.assign(9) is not None:
        pass
    read = _piece(10, 20)
    order.bring(1, read)
    order.bring(2, None)
    order.take_back()
    assert order.unassigned == 3
    assert [order.assign(9) for _ in range(4)] == [
        PieceRange(0, 0, 10, True),
        PieceRange(2, 20, 30, False),
        PieceRange(3, 30, 40, False),
        None,
    ]
    order.advance(_piece(0, 10))
    assert not order.awaits_next and order.take_next() is read
