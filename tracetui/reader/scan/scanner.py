"""Events of a text to columns without decoding each: those of known layouts all at once.

Where the text is cut into events is a guess (`}, {` may stand in a string, or in a list inside an event) that
the result proves: each event either matches a layout, which accounts for its every byte, or is in a run of
others that orjson reads as whole elements. If all are, the cuts were right, and the elements are those that
orjson finds in the whole text. If not, there is no result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.reader.decode import strict
from tracetui.reader.scan.fields import Recipe, Rows, Table, recipe_of
from tracetui.reader.scan.known import Known
from tracetui.reader.scan.layout import MOST_QUOTES, Events, Layout, learned
from tracetui.reader.scan.words import BEFORE, FIRST, Words

_SEPARATOR = re.compile(rb"\}([ \t\r\n]*,[ \t\r\n]*)\{[ \t\r\n]*\"")
_QUOTE, _OPEN, _BACKSLASH = 34, 123, 92
#: Escapes of one more byte that isn't a quote or a backslash itself: the text's quotes stay those of strings.
_PLAIN_ESCAPE = np.isin(np.arange(256), list(b"nrt/bf"))
_NEW_LAYOUTS = 64  # learned in one text, at 0.1 ms each
_MOST_LAYOUTS = 24  # tried for events of as many quotes
_MOST_TEXTS = 1 << 16  # 10 MB
_PAUSE = 16  # texts that are not scanned after one where that was in vain, or half of its events were decoded


def _no_places() -> Int64s:
    return np.empty(0, np.int64)


@dataclass
class Scan:
    """The elements of a text."""

    elements: list[Any] = field(default_factory=list)  #: the decoded ones
    ordinals: list[Int64s] = field(default_factory=list)  #: their places among all
    texts: list[bytes] = field(default_factory=list)  #: their JSON, in pieces
    rows: list[tuple[str, Table]] = field(default_factory=list)  #: tables and columns of the others
    start: Int64s = field(default_factory=_no_places)  #: where some elements begin in the text,
    end: Int64s = field(default_factory=_no_places)  #: where the ones before the next of these end,
    first: Int64s = field(default_factory=_no_places)  #: and their places among all
    count: int = 0  #: of all

    def blocks(self, length: int) -> Iterator[tuple[int, int, int]]:
        """(start, end, elements) of consecutive pieces of the text of about this many bytes."""
        begins = np.flatnonzero(np.diff(self.start // length, prepend=-1))
        ends = np.append(begins[1:], len(self.start))
        firsts = np.append(self.first, self.count)
        yield from zip(
            self.start[begins].tolist(), self.end[ends - 1].tolist(), (firsts[ends] - firsts[begins]).tolist()
        )


@dataclass
class _Known:
    layout: Layout
    recipe: Recipe | None


class Scanner:
    """Scans one text after the other, and remembers what it has learned of their events."""

    def __init__(self) -> None:
        self.known = Known()
        self._layouts: dict[int, list[_Known]] = {}  # by number of quotes
        self._separator = b""
        self._pause = 0

    def forget(self) -> None:
        """Let go of what was numbered in `known` if that is much."""
        if len(self.known.texts) + len(self.known.flow_ids) > _MOST_TEXTS:
            self.known = Known()

    def wants(self) -> bool:
        """Whether to scan the next text: False for a while after one of events that have to be decoded."""
        self._pause = max(0, self._pause - 1)
        return not self._pause

    def scan(self, text: bytes) -> Scan | None:
        """The elements of a `text` that begins with one and ends with one; None where it needs decoding."""
        self._pause = _PAUSE
        result = self._scan(text)
        if result is not None and 2 * len(result.elements) <= result.count:
            self._pause = 0
        return result

    def _scan(self, text: bytes) -> Scan | None:
        words = Words(text)
        start, end = self._events(words)
        quotes = np.flatnonzero(words.bytes == _QUOTE)
        first = np.searchsorted(quotes, start)
        count = np.diff(np.append(first, len(quotes)))
        count[(count % 2 == 1) | (count > MOST_QUOTES)] = 0
        count[self._escaped(words, start)] = 0
        result = Scan()
        matched: Bools = np.zeros(len(start), np.bool_)
        rows_of = Rows(words, self.known)
        budget = _NEW_LAYOUTS
        order = np.argsort(count.astype(np.uint16), kind="stable")
        bounds = np.flatnonzero(np.diff(count[order])) + 1
        for rows in np.split(order, bounds):
            number = int(count[rows[0]])
            if not number:
                continue
            same = Events(quotes, start[rows], end[rows], first[rows])
            budget = self._match(words, rows, number, same, rows_of, budget)
        events: list[Int64s] = []
        for table, rows, columns in rows_of.tables():
            matched[rows] = True
            events.append(rows)
            result.rows.append((table, columns))
        return self._complete(text, start - BEFORE, end - BEFORE, matched, events, result)

    def _events(self, words: Words) -> tuple[Int64s, Int64s]:
        """Where events begin and end, by what stands between the first two."""
        first, last = BEFORE, BEFORE + words.size
        found = _SEPARATOR.search(words.buffer, first, last)
        separator = found.group(1) if found else b","
        braces = np.flatnonzero(words.bytes == _OPEN)
        before = b"}" + separator
        behind = before[-8:]
        mask = ~FIRST[8 - len(behind)]
        value = np.uint64(int.from_bytes(behind.rjust(8, b"\0"), "little"))
        starts = braces[(words.at(braces - 8) & mask) == value]
        starts = starts[starts > first]
        return np.append(first, starts), np.append(starts - len(separator), last)

    @staticmethod
    def _escaped(words: Words, start: Int64s) -> Int64s:
        """The events with escapes that hide quotes, or that need a look at what follows."""
        escapes = np.flatnonzero(words.bytes == _BACKSLASH)
        if not len(escapes):
            return escapes
        others = escapes[~_PLAIN_ESCAPE.take(words.bytes.take(escapes + 1))]
        return np.searchsorted(start, others, side="right") - 1

    def _match(
        self, words: Words, rows: Int64s, quotes: int, events: Events, rows_of: Rows, budget: int
    ) -> int:
        """Find the layouts of events with as many quotes; returns how many may still be learned."""
        layouts = self._layouts.setdefault(quotes, [])
        place = 0
        while len(rows):
            if place == len(layouts):
                if not budget or len(layouts) >= _MOST_LAYOUTS:
                    break
                budget -= 1
                start, first = int(events.start[0]), int(events.first[0])
                own = (events.quotes[first : first + quotes] - start).tolist()
                layout = learned(words.buffer[start : events.end[0]], own)
                if layout is None:  # no element by itself: there may be better ones behind it
                    rows, events = rows[1:], events.some(slice(1, None))
                    continue
                layouts.append(_Known(layout, recipe_of(layout)))
            known = layouts[place]
            place += 1
            same = known.layout.matching(words, events)
            if not len(same):
                continue
            known.layout.hits += len(same)
            alone = len(same) == len(rows)
            if known.recipe is not None:
                own_events = events if alone else events.some(same)
                rows_of.add(known.recipe, rows[same], *known.layout.spans(own_events))
            if alone:
                break
            others = np.ones(len(rows), np.bool_)
            others[same] = False
            rows, events = rows[others], events.some(others)
        layouts.sort(key=lambda known: -known.layout.hits)
        return budget

    @staticmethod
    def _complete(
        text: bytes, start: Int64s, end: Int64s, matched: Bools, events: list[Int64s], result: Scan
    ) -> Scan | None:
        """Decode the runs of events that match nothing, and count."""
        edges = np.flatnonzero(np.diff(np.concatenate([[True], matched, [True]]).astype(np.int8)))
        elements = matched.astype(np.int64)  # that begin at each of the guessed events
        for low, high in edges.reshape(-1, 2).tolist():
            piece = text[start[low] : end[high - 1]]
            decoded = strict(piece)
            if decoded is None:
                return None
            elements[low] = len(decoded)
            result.elements += decoded
            result.texts.append(piece)
            result.ordinals.append(np.arange(len(decoded)))
        ordinal = np.cumsum(elements) - elements
        for place, (low, _) in enumerate(edges.reshape(-1, 2).tolist()):
            result.ordinals[place] += ordinal[low]
        for own, (_, columns) in zip(events, result.rows):
            columns["event"] = ordinal[own]
        begins = np.flatnonzero(elements)
        result.start, result.first = start[begins], ordinal[begins]
        result.end = end[np.append(begins[1:], len(end)) - 1]
        result.count = int(elements.sum())
        return result
