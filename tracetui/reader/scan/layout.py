"""The layout of an event's text: which of its bytes are always the same, and where its values stand.

A layout is learned from one event and then compared with many: those that have the same text around
their values have the same members in the same order. Every byte of such an event is accounted for: equal to
the learned one's, between the quotes of a string, or of a number that is looked at. Knows JSON; which
members matter, and what for, is told to it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.reader.decode import strict
from tracetui.reader.scan.words import FIRST, Words

MOST_QUOTES = 400  #: of an event: what has more is read otherwise
_FIRST_LOOK = 4  # words that are compared before all others are
_NUMBER = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*(-?[0-9][0-9.eE+-]*)(?=[ \t\r\n]*[,}])")
_COLON = re.compile(rb"[ \t\r\n]*:")
_LIST = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*(\[[-0-9., \t\r\n\[\]]*\])(?=[ \t\r\n]*[,}])")

Key = tuple[str, ...]  #: a member by the keys that lead to it: ("args", "Task Type")


@dataclass(frozen=True)
class Place:
    """A byte of an event, by its distance from one of the event's quotes."""

    anchor: int  #: 0 ..: the event's quotes; then the event's end
    offset: int


@dataclass(frozen=True)
class Hole:
    """Where a value stands: a string without its quotes, a number, or a list of numbers."""

    key: Key | None  #: None for a string inside a list
    what: str  #: "string", "number" or "list"
    start: Place
    end: Place


class Places:
    """Bytes of an event, each by its distance from one of the event's quotes, or from its end."""

    def __init__(self, places: list[Place], quotes: int) -> None:
        column = (len(places), 1)
        anchors = np.array([place.anchor for place in places], np.int64).reshape(column)
        self.ends: Bools = anchors[:, 0] == quotes
        self.anchors: Int64s = np.minimum(anchors, quotes - 1)
        self.offsets: Int64s = np.array([place.offset for place in places], np.int64).reshape(column)


@dataclass(frozen=True)
class Events:
    """Events of a text with equally many quotes."""

    quotes: Int64s  #: the places of all of the text's quotes
    start: Int64s  #: n places
    end: Int64s
    first: Int64s  #: of the first quote of each, its index in `quotes`

    def __len__(self) -> int:
        return len(self.start)

    def some(self, rows: Int64s | Bools | slice) -> Events:
        """The events with these indices."""
        return Events(self.quotes, self.start[rows], self.end[rows], self.first[rows])

    def places(self, of: Places, which: slice = slice(None)) -> Int64s:
        """Bytes of each event, (places, n)."""
        offsets = of.offsets[which]
        places = self.quotes.take(self.first + of.anchors[which])
        places += offsets
        for row in of.ends[which].nonzero()[0].tolist():
            np.add(self.end, offsets[row], out=places[row])
        return places


class Layout:
    """What an event's text looks like."""

    def __init__(
        self, quotes: int, holes: list[Hole], runs: list[tuple[bytes, Place]], event: dict[str, Any]
    ) -> None:
        self.quotes = quotes
        self.holes = holes
        self.event = event  #: the one it was learned from
        self.hits = 0  #: events that had it
        checks = [
            (Place(at.anchor, at.offset + offset), run[offset : offset + 8])
            for run, at in runs
            for offset in range(0, len(run), 8)
        ]
        self._checks = Places([place for place, _ in checks], quotes)
        self._masks = np.array([[FIRST[len(part)]] for _, part in checks])
        self._values = np.array([[int.from_bytes(part, "little")] for _, part in checks], np.uint64)
        self._holes = Places([*(hole.start for hole in holes), *(hole.end for hole in holes)], quotes)
        self._lead = runs[0][1].offset  # of the event's start from its first quote
        run, at = runs[-1]
        self._tail = at.offset + len(run) if at.anchor < quotes else None  # of its end from a quote
        self._last = at.anchor

    def matching(self, words: Words, events: Events) -> Int64s:
        """The indices of the events with this text around their values."""
        same = self._same(words, events, slice(0, _FIRST_LOOK))
        same &= events.quotes.take(events.first) + self._lead == events.start
        if self._tail is not None:
            same &= events.quotes.take(events.first + self._last) + self._tail == events.end
        rows = same.nonzero()[0]
        if not len(rows):
            return rows
        own = events if len(rows) == len(events) else events.some(rows)
        same = self._same(words, own, slice(_FIRST_LOOK, None))
        return rows if same.all() else rows[same]

    def _same(self, words: Words, events: Events, checks: slice) -> Bools:
        differing = words.at(events.places(self._checks, checks))
        differing ^= self._values[checks]
        differing &= self._masks[checks]
        same: Bools = np.bitwise_or.reduce(differing, axis=0) == 0
        return same

    def spans(self, events: Events) -> tuple[Int64s, Int64s]:
        """Where the values of events begin, and where they end, each (holes, n)."""
        places = events.places(self._holes)
        return places[: len(self.holes)], places[len(self.holes) :]


def learned(text: bytes, quotes: list[int]) -> Layout | None:
    """The layout of an event from its text and where its quotes are; None where it isn't a plain object."""
    values = strict(text)
    if values is None or len(values) != 1 or type(values[0]) is not dict or len(quotes) % 2:
        return None
    spans: list[tuple[int, int, Key | None, str]] = []
    within: list[str | None] = []  # keys of the open objects and lists, None for an element of a list
    key: str | None = None
    ends = [*quotes[2::2], len(text)]
    _nest(text[: quotes[0]], within, None)
    for start, end, following in zip(quotes[::2], quotes[1::2], ends):
        behind = text[end + 1 : following]
        path = tuple(step for step in within[1:] if step is not None)
        if _COLON.match(behind):
            decoded = strict(text[start : end + 1])
            key = str(decoded[0]) if decoded else ""
            for pattern, what in ((_NUMBER, "number"), (_LIST, "list")):
                value = pattern.match(behind)
                if value:
                    spans.append((end + 1 + value.start(1), end + 1 + value.end(1), (*path, key), what))
                    behind = behind[value.end(1) :]
                    break
        elif (key, len(within)) != ("ph", 1):  # an event's phase is part of its layout
            spans.append((start + 1, end, None if key is None else (*path, key), "string"))
        key = _nest(behind, within, key)
    return _of_spans(text, quotes, spans, values[0])


def _nest(between: bytes, within: list[str | None], key: str | None) -> str | None:
    """Follow the brackets between two strings; the key whose value comes next, if any."""
    for byte in between:
        if byte in b"{[":
            within.append(key)
            key = None
        elif byte in b"}]":
            if within:
                within.pop()
            key = None
        elif byte in b",":
            key = None
    return key


def _of_spans(
    text: bytes, quotes: list[int], spans: list[tuple[int, int, Key | None, str]], event: dict[str, Any]
) -> Layout:
    anchors = [*quotes, len(text)]

    def place(low: int, high: int) -> Place:
        """`low` by an anchor of the text from there to `high`, which has a quote or ends the event."""
        if not low:
            return Place(0, -quotes[0])
        anchor = bisect_right(anchors, high if high == len(text) else high - 1) - 1
        return Place(anchor, low - anchors[anchor])

    runs: list[tuple[bytes, Place]] = []
    holes: list[Hole] = []
    low = 0
    before: Place | None = None
    for start, end in [*((start, end) for start, end, _, _ in spans), (len(text), len(text))]:
        beginning = place(low, start)
        if before is not None:
            _, _, last_key, last_what = spans[len(holes)]
            holes.append(Hole(last_key, last_what, before, beginning))
        runs.append((text[low:start], beginning))
        before = Place(beginning.anchor, beginning.offset + start - low)
        low = end
    return Layout(len(quotes), holes, runs, event)
