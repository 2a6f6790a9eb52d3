"""Where one event ends and the next begins in the text of a trace.

Knows JSON's grammar, not what an event means. Offsets are relative to the given bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from json import JSONDecodeError, JSONDecoder
from typing import Any

#: What looks like the end of one event and the start of the next.
BOUNDARY = re.compile(rb"\}[ \t\r\n]*,[ \t\r\n]*(?=\{)")
_SEPARATORS = re.compile(r"[ \t\r\n,]*")
_SPACE = re.compile(r"[ \t\r\n]*")
#: An object that begins like an event, and isn't the value of a member as in `"args": {"name": ...`.
_EVENT_START = re.compile(
    r'(?<!:)(?<!: )\{[ \t\r\n]*"(?:name|ph|pid|tid|ts|cat|dur|id|s|bp|args)"[ \t\r\n]*:'
)
_AFTER_ARRAY = re.compile(r'[ \t\r\n]*(?:,[ \t\r\n]*(?:"|$)|\}[ \t\r\n]*$|$)')
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[\[{]|[\]}]', re.DOTALL)
_BEHIND_ELEMENT = re.compile(r"[ \t\r\n]*(?:[,\]]|$)")
_NOT_JSON, _AFTER_END = "not readable as JSON", "text after the end of the array"
CUT_OFF = "cut off"  #: reason for what the end of the text cuts
_CUT = re.compile(r"[ \t\r\n,:]*[-+.0-9A-Za-z\\]*$")
_TELLING = 64  # characters after a bracket that show what it closes
_DEEP = 200  # brackets: what is deeper than this is charged as read when Python gives up
_WINDOW = 1 << 11  # bytes: an event's piece is copied, and JSONDecodeError counts its lines

#: Values are thrown away by the walk: numbers stay text, so that their length costs nothing.
_DECODER = JSONDecoder(strict=False, parse_int=str, parse_float=str)


def last_boundary(text: bytes) -> tuple[int, int] | None:
    """Return the last place that looks like the end of one event and the start of the next: (end, start).

    Only a candidate: it may lie in a string or in a list inside an event. If the text began at a true
    boundary and what is before `end` parses as array elements, it is a true one.
    """
    reach = 1 << 12
    while True:
        boundaries = list(BOUNDARY.finditer(text, max(0, len(text) - reach)))
        if boundaries:
            return boundaries[-1].start() + 1, boundaries[-1].end()
        if reach >= len(text):
            return None
        reach *= 16


@dataclass
class Walk:
    """Array elements found one by one."""

    spans: list[tuple[int, int]] = field(default_factory=list)  #: (start, end) of each whole element
    #: (start, end, reason); one that begins at `end` is of what follows the array, and holds no event.
    skips: list[tuple[int, int, str]] = field(default_factory=list)
    end: int = 0  #: everything before is dealt with: an element, a separator or skipped
    ended: bool = False  #: the array's `]` was met; `end` is after it
    wants: bool = False  #: an element goes on after the text
    #: `end` lies in something damaged: no event begins before the next plausible start.
    in_damage: bool = False


def walk(text: bytes, final: bool, wrapped: bool, in_damage: bool = False) -> Walk:
    """Find the whole elements of an array from its text, which begins at a boundary.

    `final`: no more text follows. `wrapped`: the array is a member of an object, so other members may follow
    it. `in_damage`: the text begins inside something damaged. Linear in time whatever the text holds, and
    never raises.
    """
    result = Walk()
    chars = text.decode("latin-1")  # one char per byte: offsets stay true
    size = len(chars)
    budget = size + (1 << 16)  # bytes that may be read twice to find an event after a damaged one
    damage = 0 if in_damage else -1  # where the damage being skipped begins
    reason = _NOT_JSON
    search = 0
    offset = 0
    while True:
        if damage >= 0:
            start = _EVENT_START.search(chars, search)
            if start is None:
                # A start may be cut by the end of the text: keep a little for the next piece.
                rest = size if final else max(search, size - 64)
                if final and not wrapped and reason != CUT_OFF and chars.rstrip(" \t\r\n").endswith("]"):
                    result.ended = True  # only the last event is damaged
                if rest > damage:
                    result.skips.append((damage, rest, reason))
                result.end = rest
                result.in_damage = not result.ended
                return result
            offset = start.start()
        else:
            separators = _SEPARATORS.match(chars, offset)
            offset = separators.end() if separators else offset
            if offset >= size:
                result.end = size
                return result
            if chars[offset] == "]":
                if not final and offset >= size - _TELLING:
                    result.end = offset
                    result.wants = True
                    return result
                array_end = _AFTER_ARRAY.match(chars, offset + 1) if wrapped else None
                if array_end or _blank(chars, offset + 1):
                    result.end = offset + 1
                    result.ended = True
                    return result
                if _EVENT_START.search(chars, offset) is None:
                    result.end = offset + final
                    result.ended, result.wants = final, not final
                    if final:
                        result.skips.append((offset + 1, size, _AFTER_END))
                    return result
                damage, search, reason = offset, offset, _AFTER_END
                continue
            if chars[offset] == "[" or (chars[offset] != "{" and not _whole_scalar(chars, offset)):
                # A bracket or a quote too many would swallow the events after it.
                if not final and offset >= size - _TELLING:
                    result.end = offset
                    result.wants = True
                    return result
                damage, search, reason = offset, offset, _NOT_JSON
                continue
        value, end, error_at, deep = _element(chars, offset)
        if end >= 0 and (end < size or final or chars[end - 1] in '}]"'):
            if damage >= 0:
                if not (type(value) is dict and "ph" in value):
                    search = offset + 1
                    if budget < 0:
                        search = end
                    budget -= end - offset
                    continue
                if offset > damage:
                    result.skips.append((damage, offset, reason))
                damage = -1
            result.spans.append((offset, end))
            offset = end
            result.end = end
            continue
        if error_at >= size - 16 or end >= 0:
            if not final:  # the text may end inside this element
                if damage >= 0 and offset > damage:
                    result.skips.append((damage, offset, reason))
                result.end = offset
                result.wants = True
                return result
            if damage < 0 and _CUT.match(chars, error_at):
                # The text is JSON to its very end: whatever looks like an event in it is part of this one.
                damage, search, reason = offset, size, CUT_OFF
                continue
        if damage < 0:
            damage, reason = offset, _NOT_JSON
        budget -= (error_at - offset) * (8 if deep else 1)
        search = offset + 1 if budget > 0 else error_at


def _blank(chars: str, offset: int) -> bool:
    space = _SPACE.match(chars, offset)
    return space is not None and space.end() == len(chars)


def _whole_scalar(chars: str, offset: int) -> bool:
    """Return whether a string, number, true, false or null stands alone at `offset`, as an element."""
    _, end, _, _ = _element(chars, offset)
    return end >= 0 and _BEHIND_ELEMENT.match(chars, end) is not None


def _element(chars: str, offset: int) -> tuple[Any, int, int, bool]:
    """Return the value at `offset`, its end (-1: none), where reading it failed and whether by its depth."""
    reach = _WINDOW
    while True:
        piece = chars[offset : offset + reach]
        whole = offset + reach >= len(chars)
        try:
            value, end = _DECODER.raw_decode(piece)
            if end < len(piece) or whole or piece[end - 1] in '}]"':
                return value, offset + end, -1, False
            error_at = len(piece)
        except JSONDecodeError as error:
            error_at = len(piece) if error.msg.startswith("Unterminated") else error.pos
        except RecursionError:
            return None, -1, offset + _deep(piece), True
        if whole or error_at < len(piece) - 16:
            return None, -1, offset + error_at, False
        reach *= 4


def _deep(piece: str) -> int:
    """Return where nesting gets too deep; a text that ends before counts as read to its last bytes."""
    depth = 0
    for token in _NESTING.finditer(piece):
        first = token.group()[0]
        if first in "[{":
            depth += 1
            if depth >= _DEEP:
                return min(token.start(), len(piece) - 32)
        elif first in "]}":
            depth -= 1
    return max(0, len(piece) - 32)
