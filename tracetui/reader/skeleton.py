"""A sample of a whole trace: small chunks of its text, read long before all of it can be.

Knows text, blocks and parts. Chunks are spread evenly over the file; where the processes they show have no
name, more are read at the borders between unlike chunks: there producers write metadata.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from tracetui.arrays import Int64s
from tracetui.reader.columns import TableBuilder
from tracetui.reader.decode import decode_block, strict
from tracetui.reader.events import EventTable, ReadReport
from tracetui.reader.extract import ExtractedPart, PartReader
from tracetui.reader.split import BOUNDARY, last_boundary
from tracetui.reader.text import PlainText, Text

SMALLEST = 1 << 26  #: bytes of a file worth a sample: a smaller one is read as fast
CHUNK = 1 << 16  #: bytes of one chunk: some 250 events, decoded and taken in under 1 ms
CHUNKS = 128  #: spread over the file
FIRST = 40  #: of them, before names are looked for
PROBES = 64  #: more of them, at most, to find names
BUDGET = 0.4  #: seconds: from a slow disk, or of damaged text, as much as can be had
_TRIED = 4  # places that look like the start of an event: the first may lie in a string or in a nested list
_PLACE = 20  # bits of an ordinal that count the events of a chunk, and of all parts before its own


@dataclass(frozen=True)
class Skeleton:
    """The events of some chunks of a trace, and the part of its text that each chunk stands for."""

    table: EventTable  #: `event` of a row is the index of its chunk: its args can't be looked up
    start: Int64s  #: int64[chunks]: where the text begins that a chunk stands for; ascending
    end: Int64s  #: int64[chunks]: where that ends: the start of the next, at last the end of the file
    length: Int64s  #: int64[chunks]: bytes of the chunk itself
    empty_table: EventTable  #: what is read of the trace before its reading begins


def sample(
    text: Text,
    start: int,
    wrapped: bool,
    path: str,
    document: dict[str, Any],
    on_coarse: Callable[[Skeleton], object] | None = None,
) -> Skeleton | None:
    """Read a sample of the trace whose array of events begins at `start`: 0.1 s where the file is in memory.

    None where that is of no use: of a small file, of one that can only be inflated from its start, or where
    no chunk can be read. What is damaged is left out. `document`: the members before the array; `on_coarse`
    is called with what the first third of the chunks tells, once they and the names are read.
    """
    if text.size < SMALLEST or not isinstance(text, PlainText):
        return None
    chunks = _Chunks(text, start, wrapped)
    deadline = time.monotonic() + BUDGET
    for number, offset in enumerate(_spread_offsets(start, text.size - CHUNK, CHUNKS)):
        if number == FIRST:  # names decide on what is seen where, more than a finer picture does
            _find_names(chunks, deadline)
            coarse = chunks.skeleton(path, document) if on_coarse is not None else None
            if on_coarse is not None and coarse is not None:
                on_coarse(coarse)
        if number > 1 and time.monotonic() > deadline:
            break
        chunks.read(offset)
    _find_names(chunks, deadline)
    return chunks.skeleton(path, document)


def _find_names(chunks: _Chunks, deadline: float) -> None:
    for _ in range(PROBES):
        place = chunks.next_names()
        if place < 0 or time.monotonic() > deadline:
            break
        chunks.read(place)


def _spread_offsets(first: int, last: int, count: int) -> Iterator[int]:
    """Yield up to `count` offsets: both ends, then halves, quarters, ...: evenly spread wherever it stops."""
    yield first
    if last > first:
        yield last
        for number in range(1, count - 1):
            backwards = int(f"{number:b}"[::-1], 2)
            yield first + (last - first) * backwards // (1 << number.bit_length())


@dataclass(frozen=True)
class _SampledBlock:
    """What was read of a piece of the text."""

    start: int  # offset where its events begin
    end: int  # where the next event begins, or the piece ends
    elements: list[Any]
    text: bytes  # of the elements


@dataclass(frozen=True)
class _Chunk:
    """What was read at a place."""

    start: int
    end: int
    place: int  # in the order of reading
    readable: bool
    kinds: frozenset[tuple[str, str, str]]  # pid, category and phase of its events but metadata
    opens: bool  # begins with metadata: there may be more before
    closes: bool  # ends with metadata: there may be more after

    @property
    def pids(self) -> set[str]:
        return {pid for pid, _, _ in self.kinds}


class _Chunks:
    """The chunks that were read so far, in the order of the file."""

    def __init__(self, text: Text, start: int, wrapped: bool) -> None:
        self._text = text
        self._start = start
        self._wrapped = wrapped
        self._starts: list[int] = []
        self._chunks: list[_Chunk] = []
        self._reader = PartReader()
        self._parts: list[ExtractedPart] = []
        self._events: set[str] = set()  # pids that have events
        self._named: set[str] = set()  # pids whose process has a name

    def read(self, offset: int) -> None:
        """Read the chunk at `offset`, up to the next one; nothing where that was read already."""
        place = bisect_right(self._starts, offset)
        previous_end = self._chunks[place - 1].end if place else self._start
        next_start = self._starts[place] if place < len(self._starts) else self._text.size
        if not previous_end <= offset < next_start:
            return
        length = min(CHUNK, next_start - offset + 1)  # a boundary shows by what is after
        text = self._text.read(offset, length)
        chunk = self._take(self._decode(offset, text, offset == previous_end), next_start)
        self._starts.insert(place, chunk.start)
        self._chunks.insert(place, chunk)

    def _decode(self, offset: int, text: bytes, at_boundary: bool) -> _SampledBlock:
        """Return the whole events of a piece of the file."""
        final = offset + CHUNK >= self._text.size
        last = last_boundary(text)
        if last is not None and not final:
            begins = [0] if at_boundary else []
            begins += [boundary.end() for boundary in islice(BOUNDARY.finditer(text), _TRIED)]
            for begin in begins:
                whole = text[begin : last[0]]
                elements = strict(whole)
                if elements is not None:
                    return _SampledBlock(offset + begin, offset + last[1], elements, whole)
        block = decode_block(text, None, final, self._wrapped, in_damage=not at_boundary)
        whole = b",".join([text[begin:end] for begin, end in block.spans])
        return _SampledBlock(offset, offset + max(len(text), 1), block.elements, whole)

    def _take(self, sampled: _SampledBlock, next_start: int) -> _Chunk:
        elements = [element for element in sampled.elements if isinstance(element, dict) and "ph" in element]
        kinds = {
            (str(element.get("pid")), str(element.get("cat")), str(element["ph"])) for element in elements
        }
        kinds = {kind for kind in kinds if kind[2] != "M"}
        self._events |= {pid for pid, _, phase in kinds if phase in "XBC"}
        self._named |= {
            str(element.get("pid")) for element in elements if element.get("name") == "process_name"
        }
        place = len(self._chunks)
        if elements:
            self._reader.add(sampled.elements, place << _PLACE, lambda: sampled.text)
        ends = [element["ph"] == "M" for element in elements[:1] + elements[-1:]] or [False]
        end = min(sampled.end, next_start)
        return _Chunk(sampled.start, end, place, bool(elements), frozenset(kinds), ends[0], ends[-1])

    def next_names(self) -> int:
        """Return where to look for the names of processes and threads; -1 where nothing tells.

        Beside metadata, that may go on there. For processes without a name between two unlike chunks: of
        several such places the one with the least text between, so that one border is found before the
        next is looked for; where another process begins rather than other events of the same.
        """
        unnamed = self._events - self._named
        borders = []
        for previous, following in zip(self._chunks, self._chunks[1:]):
            room = following.start - previous.end
            if room <= 0:
                continue
            if previous.closes:
                return previous.end
            if following.opens:
                return max(previous.end, following.start - CHUNK)
            unlike = previous.kinds and following.kinds and not previous.kinds & following.kinds
            if unlike and unnamed & (previous.pids | following.pids):
                borders.append((bool(previous.pids & following.pids), room, previous.end))
        if not borders:
            return -1
        _, room, end = min(borders)
        return end + max((room - CHUNK) // 2, 0)

    def skeleton(self, path: str, document: dict[str, Any]) -> Skeleton | None:
        """Return all that is read so far, None if nothing could be."""
        readable = [chunk for chunk in self._chunks if chunk.readable]
        if not readable:
            return None
        builder = TableBuilder()
        empty_table = builder.build(path, {}, ReadReport(self._text.size, 0, 0, 0), last=False)
        self._parts.append(self._reader.finish())
        for part in self._parts:
            builder.add(part)
        start = np.array([chunk.start for chunk in readable], np.int64)
        length = np.array([chunk.end for chunk in readable], np.int64) - start
        report = ReadReport(self._text.size, int(length.sum()), builder.events, builder.skipped)
        table = builder.build(path, dict(document), report, last=True)
        rank = np.full(len(self._chunks), -1, np.int64)
        rank[[chunk.place for chunk in readable]] = np.arange(len(readable))
        slices = replace(table.slices, event=rank[table.slices.event >> _PLACE])
        instants = replace(table.instants, event=rank[table.instants.event >> _PLACE])
        end = np.append(start[1:], self._text.size)
        return Skeleton(replace(table, slices=slices, instants=instants), start, end, length, empty_table)
