"""A piece of a trace's text to columns: from one boundary between events to the first at or after a place.

What a piece holds depends on where it starts, where it is to stop and on nothing before: pieces can be read
by several processes at once. Knows no file and no process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from tracetui.reader.chunks import BlockPlace, block_columns
from tracetui.reader.damage import Damage
from tracetui.reader.decode import LONGEST, DecodedBlock, decode_block, lenient, strict
from tracetui.reader.events import BlockColumns
from tracetui.reader.extract import ExtractedPart, PartReader
from tracetui.reader.split import BOUNDARY, CUT_OFF, last_boundary, walk

_TRIED = 40  # places that look like a boundary, until one of them has to be one
_CONFIRMED = 1 << 15  # bytes that have to read as events after a place that is only guessed
BEFORE = 64  #: bytes before a place that show whether an event begins there
AFTER = 1 << 20  #: bytes of inflated text that are read beyond a piece, so that its last event is whole


class Reads(Protocol):
    """Text by offset."""

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`: fewer only at the end of the text."""


@dataclass(frozen=True)
class PieceOptions:
    """What holds for all pieces of a text."""

    wrapped: bool  #: the array is a member of an object
    block_bytes: int  #: for one call of orjson


@dataclass
class EventsPiece:
    """Consecutive events; ordinals count from 0."""

    start: int  #: offset in the text
    end: int  #: everything before is dealt with
    in_damage: bool  #: `end` lies in something damaged
    ended: bool  #: the array's end was met
    over: bool  #: nothing of the array follows: it has ended, or the text has
    cut: bool  #: the text ends inside an event
    whole: int  #: after the last whole event; -1 where there is none
    part: ExtractedPart
    blocks: BlockColumns
    damage: Damage


class PieceReader:
    """Reads pieces in any order; what it keeps from one to the next makes it faster, and changes nothing."""

    def __init__(self, options: PieceOptions) -> None:
        self._options = options
        self._part = PartReader()

    def read(self, text: Reads, start: int, stop: int, in_damage: bool) -> EventsPiece:
        """Read from the boundary `start` to the first event that begins at `stop` or after.

        `in_damage`: the start is no boundary, it lies in something damaged: the piece before ended there.
        """
        try:
            return self._read(text, start, stop, in_damage)
        except BaseException:
            self._part = PartReader()  # that one holds half a piece
            raise

    def read_ahead(self, text: Reads, start: int, stop: int, start_known: bool) -> EventsPiece | None:
        """Read as `read` does, from the first place where an event seems to begin; None if none is in sight.

        `start_known`: one does at `start`.
        """
        found = start if start_known else guess_start(text, start, stop)
        return None if found is None else self.read(text, found, stop, False)

    def _read(self, text: Reads, start: int, stop: int, in_damage: bool) -> EventsPiece:
        part = self._part
        first = [0]  # ordinal of the first element of each block, and of the next one
        places: list[BlockPlace] = []
        damage = Damage()
        offset, whole = start, -1
        array_ended = over = cut = False
        wrapped, length = self._options.wrapped, self._options.block_bytes
        while offset < stop and not over:
            chars = text.read(offset, length)
            final = len(chars) < length
            boundary = None if in_damage else last_boundary(chars[: stop - offset + 1])
            block, count = None, 0
            if boundary is not None:
                count = part.scan(chars, boundary[0])
                block = DecodedBlock([], boundary[1], boundary[0]) if count else None
            if block is None and not in_damage and stop - offset < len(chars):
                block = _last_block(chars, boundary, stop - offset, wrapped)
                if block is not None and not block.spans:
                    # Where it is scanned, as what is before it was, no columns have to be joined.
                    count = part.scan(chars, block.length)
                    block.elements = [] if count else block.elements
            if block is None:
                block = decode_block(chars, boundary, final, wrapped, in_damage)
            if block.wants:
                length = min(length * 4, LONGEST)
                continue
            length = self._options.block_bytes
            for begin, end, reason in block.skips:
                if reason == CUT_OFF:
                    cut = True
                else:
                    damage.add(offset + begin, end - begin, reason)
            if block.elements:
                part.add(block.elements, part.events, lambda: _json_of(block, chars))  # noqa: B023 - used at once
                count = len(block.elements)
            if count:
                first.append(first[-1] + count)
                places.append((offset, block.length, block.spans))
                whole = offset + (block.spans[-1][1] if block.spans else block.length)
            offset += block.end
            in_damage, array_ended = block.in_damage, block.ended
            over = array_ended or (final and block.end >= len(chars))
        blocks = block_columns(first, places)
        return EventsPiece(
            start, offset, in_damage, array_ended, over, cut, whole, part.finish(), blocks, damage
        )


def read_pieces(
    text: Reads, start: int, piece_bytes: int, options: PieceOptions, end: int = sys.maxsize
) -> Iterator[EventsPiece]:
    """Yield all pieces from `start` to `end`, from front to back: what any other reading has to equal."""
    reader = PieceReader(options)
    offset, in_damage = start, False
    while True:
        piece = reader.read(text, offset, stop_of(offset, start, piece_bytes, end), in_damage)
        offset, in_damage = piece.end, piece.in_damage
        yield piece
        if piece.over or offset >= end:
            return


def stop_of(offset: int, start: int, piece_bytes: int, end: int) -> int:
    """Return where the piece that begins at `offset` is to stop; pieces are read from `start` to `end`."""
    return min(offset + piece_bytes - (offset - start) % piece_bytes, end)


def guess_start(text: Reads, offset: int, stop: int) -> int | None:
    """Return the first place from `offset` to `stop` where an event seems to begin; None if none is in sight.

    What follows there reads as events, but a list of such inside an event would do so too: only the end of
    the piece before tells.
    """
    margin = min(offset, BEFORE)
    chars = text.read(offset - margin, _CONFIRMED * 2)
    for boundary in islice(BOUNDARY.finditer(chars), _TRIED):
        start = boundary.end()
        if start < margin:
            continue
        if start - margin + offset >= stop:
            return None
        if _reads_as_events(chars[start : start + _CONFIRMED]):
            return start - margin + offset
    return None


def _reads_as_events(text: bytes) -> bool:
    boundary = last_boundary(text)
    elements = strict(text[: boundary[0]]) if boundary is not None else None
    if elements is not None:
        return type(elements[0]) is dict and "ph" in elements[0]
    walked = walk(text, final=False, wrapped=False)
    return bool(walked.spans) and not walked.skips and not walked.ended


def _last_block(
    chars: bytes, boundary: tuple[int, int] | None, stop: int, wrapped: bool
) -> DecodedBlock | None:
    """Return what of `chars` is before `stop`, or else the one event that goes on there; None if damaged.

    `boundary`: the last candidate up to `stop`, which may be a false one.
    """
    if boundary is not None:
        elements = _elements(chars[: boundary[0]])
        if elements is not None:
            return DecodedBlock(elements, boundary[1], boundary[0])
        walked = walk(chars[: stop + 1], final=False, wrapped=False)
        if walked.skips or walked.ended:
            return _damaged_block(chars, stop, wrapped)
        if walked.spans:
            length = walked.spans[-1][1]
            elements = _elements(chars[:length])
            return None if elements is None else DecodedBlock(elements, walked.end, length)
    for candidate in islice(BOUNDARY.finditer(chars, max(0, stop - BEFORE)), _TRIED):
        length = candidate.start() + 1
        if candidate.end() > stop:
            elements = _elements(chars[:length])
            if elements is not None:
                return DecodedBlock(elements, candidate.end(), length)
    return None


def _damaged_block(chars: bytes, stop: int, wrapped: bool) -> DecodedBlock | None:
    """Return what of `chars` is before the first candidate from `stop` on: the next piece begins there.

    To the end of `chars` it would be read twice. None where nothing can be read before the candidate.
    """
    for candidate in BOUNDARY.finditer(chars, max(0, stop - BEFORE)):
        if candidate.end() >= stop:
            block = decode_block(chars[: candidate.end()], None, False, wrapped, False)
            return None if block.wants else block
    return None


def _elements(text: bytes) -> list[Any] | None:
    elements = strict(text)
    return lenient(text) if elements is None else elements


def _json_of(block: DecodedBlock, chars: bytes) -> bytes:
    if block.spans:
        return b",".join([chars[start:end] for start, end in block.spans])
    return chars[: block.length]
