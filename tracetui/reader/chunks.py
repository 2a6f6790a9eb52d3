"""Find the events of a trace in its text again, by number; the blocks that were used last stay decoded.

Knows blocks and ordinals; not what an event is.
"""

from __future__ import annotations

import contextlib
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from tracetui.reader.decode import ElementSpans, decode_again
from tracetui.reader.events import BlockColumns
from tracetui.reader.text import Text

_CACHED = 16  # decoded blocks, of some 3 MB each


BlockPlace = tuple[int, int, ElementSpans]  #: offset, length and spans of a block


def block_columns(first: Sequence[int], places: Sequence[BlockPlace]) -> BlockColumns:
    """Return where blocks are; `first`: ordinal of the first element of each, and after the last."""
    spans = np.array([span for _, _, of_block in places for span in of_block], np.int64).reshape(-1, 2)
    return BlockColumns(
        first=np.array(first, np.int64),
        offset=np.array([offset for offset, _, _ in places], np.int64),
        length=np.array([length for _, length, _ in places], np.int64),
        spans=np.array([len(of_block) for _, _, of_block in places], np.int64),
        span_start=spans[:, 0].copy(),
        span_end=spans[:, 1].copy(),
    )


class Chunks:
    """The place of each block in the text, and the last blocks that were decoded again."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._first: list[int] = []  # ordinal of the first element of each block
        self._places: list[BlockPlace] = []
        self._events = 0
        self._decoded: OrderedDict[int, list[Any]] = OrderedDict()
        self._lock = threading.Lock()

    @classmethod
    def from_columns(cls, text: Text, blocks: BlockColumns) -> Chunks:
        """Return the chunks of which `columns` returned `blocks`."""
        chunks = cls(text)
        chunks.add(blocks)
        return chunks

    def columns(self) -> BlockColumns:
        """Return where the blocks are."""
        return block_columns([*self._first, self._events], self._places)

    def add(self, blocks: BlockColumns, shift: int = 0) -> None:
        """Append blocks; their ordinals count from 0, their offsets from `shift`."""
        spans = list(zip(blocks.span_start.tolist(), blocks.span_end.tolist()))
        bounds = [0, *np.cumsum(blocks.spans).tolist()]
        block_spans = [tuple(spans[start:end]) for start, end in zip(bounds, bounds[1:])]
        first = (blocks.first + self._events).tolist()
        self._places += zip((blocks.offset + shift).tolist(), blocks.length.tolist(), block_spans)
        self._first += first[:-1]
        self._events = first[-1]

    def element(self, ordinal: int) -> Any:
        """Return the element with this ordinal, None where there is none or the file has changed."""
        if not 0 <= ordinal < self._events:
            return None
        with self._lock:
            index = bisect_right(self._first, ordinal) - 1
            elements = self._decoded.get(index)
            if elements is None:
                if self._text.changed():
                    return None
                offset, length, spans = self._places[index]
                with contextlib.suppress(MemoryError):
                    elements = decode_again(self._text.read(offset, length), spans)
                if elements is None:
                    return None
                self._decoded[index] = elements
                if len(self._decoded) > _CACHED:
                    self._decoded.popitem(last=False)
            else:
                self._decoded.move_to_end(index)
            place = ordinal - self._first[index]
            return elements[place] if place < len(elements) else None
