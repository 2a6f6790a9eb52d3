"""What stands around the events: where the array begins, and the other members of a wrapping object."""

from __future__ import annotations

import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any

from tracetui.reader.decode import int_of

_SPACE = re.compile(r"[ \t\r\n]*")
_MOST_MEMBERS = 10_000  # members: producers write some ten
_LARGEST = 1 << 16  # characters of a member's value that is kept


@dataclass
class Head:
    """The text before the first event."""

    start: int  #: offset after the `[` of the events' array; -1 where none was found
    wrapped: bool  #: the array is the `traceEvents` member of an object
    members: dict[str, Any]
    wants: bool = False  #: a longer text could still hold it


def read_head(text: bytes, final: bool) -> Head:
    """Find the array of events from the text's begin; `final`: no more text follows."""
    chars = text.decode("latin-1")
    place = _after_space(chars, 0)
    first = chars[place : place + 1]
    if first == "[":
        return Head(place + 1, False, {})
    if first != "{":
        return Head(-1, False, {}, not first and not final)
    members: dict[str, Any] = {}
    place = _after_space(chars, place + 1)
    events_at = read_members(text, chars, place, members)
    if events_at >= 0:
        return Head(events_at, True, members)
    if "ph" in members:  # an event: the array's `[` is missing, or there is one event to a line
        return Head(0, False, {})
    return Head(-1, True, members, not final)


def read_tail(text: bytes) -> dict[str, Any]:
    """Return the members after the events' array, as far as they can be read."""
    chars = text.decode("latin-1")
    members: dict[str, Any] = {}
    place = _after_space(chars, 0)
    if chars[place : place + 1] == ",":
        read_members(text, chars, _after_space(chars, place + 1), members)
    return members


def read_members(text: bytes, chars: str, place: int, members: dict[str, Any]) -> int:
    """Add the members from `place` on; returns where the elements of `traceEvents` begin, else -1.

    `chars`: `text` with one character per byte.
    """
    decoder = JSONDecoder(strict=False, parse_constant=lambda _: None, parse_int=int_of)
    try:
        for _ in range(_MOST_MEMBERS):
            key, end = decoder.raw_decode(chars, place)
            place = _after_space(chars, end)
            if not isinstance(key, str) or chars[place : place + 1] != ":":
                return -1
            place = _after_space(chars, place + 1)
            if key == "traceEvents" and chars[place : place + 1] == "[":
                return place + 1
            value, end = decoder.raw_decode(chars, place)
            if end - place <= _LARGEST:
                if not text[place:end].isascii():
                    value, _ = decoder.raw_decode(text[place:end].decode("utf-8", "replace"))
                members[key] = value
            place = _after_space(chars, end)
            if chars[place : place + 1] != ",":
                return -1
            place = _after_space(chars, place + 1)
    except (JSONDecodeError, RecursionError, ValueError):
        return -1
    return -1


def _after_space(chars: str, place: int) -> int:
    space = _SPACE.match(chars, place)
    return space.end() if space else place
