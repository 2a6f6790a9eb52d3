"""What goes from a worker to the process that asked: pieces and answers, the same after the way."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pytest

from tests.reader.test_jobs import plain
from tests.reader.test_pieces import Bytes
from tracetui.reader.pieces import EventsPiece, PieceOptions, PieceReader
from tracetui.reader.text import Loan
from tracetui.reader.transport import pack_piece, unpack_piece
from tracetui.reader.worker import PieceAnswer, PieceTask


def without_columns(piece: EventsPiece) -> EventsPiece:
    return replace(piece, part=replace(piece.part, columns={}))


@pytest.mark.parametrize("count", range(10))
@pytest.mark.parametrize("damage", [b"", b"{oops}, ", b'{"ph": "?"}, '])
def test_a_piece_is_the_same_after_the_way(count: int, damage: bytes) -> None:
    """Of columns of one byte a value and of eight, that are padded to whole words."""
    at = {"pid": 1, "tid": "t", "ts": "5.25", "name": "a"}
    flows = [{"ph": "s", "id": 2**70 + n, **at} for n in range(count)]
    other_events = [{"ph": "C", "args": {"v": 0.5}, **at}, {"ph": "M", "args": {"name": "b"}, **at}]
    slices = [{"ph": "X", "dur": n, **at} for n in range(count // 2)]
    text = b"[" + damage + json.dumps([*flows, *other_events, *slices])[1:].encode()
    piece = PieceReader(PieceOptions(False, 10_000)).read(Bytes(text), 1, len(text), False)
    contents = pack_piece(piece)
    assert all(len(content) % 8 == 0 for content in contents)
    whole = b"".join(contents)
    again = unpack_piece(whole, len(contents[0]))
    assert plain(without_columns(again)) == plain(without_columns(piece))
    assert {*piece.part.columns} == {*again.part.columns}
    for name, values in piece.part.columns.items():
        assert values.dtype == again.part.columns[name].dtype
        assert np.array_equal(values, again.part.columns[name])
    with pytest.raises(ValueError, match="more bytes than columns"):
        unpack_piece(whole + b" " * 8, len(contents[0]))


def test_tasks_and_answers_are_the_same_after_the_way() -> None:
    task = PieceTask(5, 9, True, Loan(7, -5, 12, True), 8)
    assert PieceTask.parse(task.line()) == task
    for answer in (PieceAnswer(), PieceAnswer(9, 7, "a problem")):
        assert PieceAnswer.parse(answer.line()) == answer


@pytest.mark.parametrize("member", ["document", "length"])
@pytest.mark.parametrize("odd", [None, "5", 5.0, True])
def test_an_answer_of_anything_but_whole_numbers_is_nonsense(member: str, odd: Any) -> None:
    line = orjson.dumps({"document": 7, "length": 9, member: odd})
    with pytest.raises(TypeError):
        PieceAnswer.parse(line)
