"""Decode the text of some events to Python objects, by the fastest way that can read it.

The ladder: orjson on the whole block; Python's json, which takes NaN, control characters and bytes that
aren't UTF-8; the walk, event by event. Knows JSON only. A `DecodedBlock` is decoded the same way each
time: the place of an element in it is what an event's ordinal counts.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any

import orjson

from tracetui.reader.normalise import Literal
from tracetui.reader.split import walk

ElementSpans = tuple[tuple[int, int], ...]  #: (start, end) of elements

LONGEST = 1 << 24  #: bytes of one element: real ones have some kB, a cut string may have all of the file


@dataclass
class DecodedBlock:
    """Consecutive elements of the array."""

    elements: list[Any]
    end: int  #: bytes dealt with from the start of the text, the separator after the block included
    length: int  #: bytes of the elements themselves
    spans: ElementSpans = ()  #: of each element, where the text between them isn't only separators
    skips: tuple[tuple[int, int, str], ...] = ()  #: (start, end, reason)
    ended: bool = False  #: the array's end was met
    in_damage: bool = False  #: the block ends inside something damaged
    wants: bool = False  #: not one whole element: needs a longer text


def decode_block(
    text: bytes, boundary: tuple[int, int] | None, final: bool, wrapped: bool, in_damage: bool
) -> DecodedBlock:
    """Decode what is whole in `text`, the text of an array from a boundary between elements on.

    `boundary`: `split.last_boundary(text)`; the other arguments as in `split.walk`. Numbers that orjson can't
    read exactly as a float stay text. Never raises.
    """
    if boundary is not None and not in_damage:
        whole = memoryview(text)[: boundary[0]]
        elements = strict(whole)
        if elements is not None:
            return DecodedBlock(elements, boundary[1], boundary[0])
        elements = lenient(whole)
        if elements is not None:
            return DecodedBlock(elements, boundary[1], boundary[0])
    walked = walk(text, final, wrapped, in_damage)
    wants = (walked.wants or walked.in_damage) and not walked.end and not final
    if wants and len(text) >= LONGEST:
        skip = (0, len(text), f"longer than {LONGEST >> 20} MB")
        return DecodedBlock([], len(text), len(text), skips=(skip,), in_damage=True)
    block = DecodedBlock(
        [],
        walked.end,
        walked.end,
        tuple(walked.spans),
        tuple(walked.skips),
        walked.ended,
        walked.in_damage,
        wants,
    )
    if walked.spans and not walked.skips and walked.spans[0][0] == 0:
        # Nothing is damaged: only the boundary was a false one, or it is the end of the array.
        length = walked.spans[-1][1]
        elements = strict(text[:length])
        if elements is not None:
            block.elements, block.length, block.spans = elements, length, ()
            return block
    block.elements = [_element(text[start:end], exact=True) for start, end in walked.spans]
    return block


def decode_again(text: bytes, spans: ElementSpans) -> list[Any]:
    """Return the elements of a block again, numbers as numbers; [] where the text isn't the same any more.

    By Python's json, which is exact where orjson makes a float of an integer beyond 64 bits.
    """
    if spans:
        return [_element(text[start:end], exact=False) for start, end in spans]
    return lenient(text, exact=False) or strict(text) or []


def strict(text: bytes | memoryview) -> list[Any] | None:
    """Return elements by orjson, or None."""
    try:
        elements: list[Any] = orjson.loads(b"".join((b"[", text, b"]")))
    except (ValueError, RecursionError):
        return None
    return elements


def lenient(text: bytes | memoryview, exact: bool = True) -> list[Any] | None:
    """Return elements by Python's json, or None. NaN and infinities are None; `exact`: floats stay text."""
    try:
        elements: list[Any] = _loads("[" + str(text, "utf-8", "replace") + "]", exact)
    except (ValueError, RecursionError):
        return None
    return elements


def _element(text: bytes, exact: bool) -> Any:
    if exact:
        with contextlib.suppress(ValueError, RecursionError):
            return orjson.loads(text)
    try:
        return _loads(text.decode("utf-8", "replace"), exact)
    except (ValueError, RecursionError):
        return None


def _loads(text: str, exact: bool) -> Any:
    value = json.loads(
        text,
        strict=False,
        parse_int=int_of,
        parse_float=Literal if exact else float,
        parse_constant=lambda _: None,
    )
    return _scrub(value) if "\\ud" in text or "\\uD" in text else value


def int_of(text: str) -> int | str:
    """Return a number of JSON, or its text where it has very many digits."""
    return int(text) if len(text) < 400 else text  # int() of many digits takes quadratic time


def _scrub(value: Any) -> Any:
    """Return `value` without lone surrogates, which can't be encoded again."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    if isinstance(value, dict):
        return {_scrub(key): _scrub(item) for key, item in value.items()}
    return value
