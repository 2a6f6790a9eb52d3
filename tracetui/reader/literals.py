"""The text of numbers that a float64 can't hold: timestamps with a fraction, ids of more than 64 bits."""

from __future__ import annotations

import re
from typing import Any

from tracetui.reader.decode import lenient

_TS = re.compile(rb'"ts"[ \t\r\n]*:[ \t\r\n]*(-?[0-9][0-9.eE+-]*)')


def restore_literals(elements: list[Any], text: bytes) -> None:
    """Replace each float `ts` and `id` of the `elements` by what `text`, their JSON, has there.

    A `ts` becomes its literal; an integer `id` that orjson made a float becomes an integer again.
    """
    events = [element for element in elements if type(element) is dict]
    _replace_times(events, text)
    if not any(type(event.get("ts")) is float or type(event.get("id")) is float for event in events):
        return
    exact_elements = lenient(text)
    if exact_elements is None or len(exact_elements) != len(elements):
        return
    for element, exact in zip(elements, exact_elements):
        if type(element) is dict:
            for key in ("ts", "id"):
                if type(element.get(key)) is float:
                    element[key] = exact[key]


def _replace_times(events: list[dict[str, Any]], text: bytes) -> None:
    """Take the literals in their order, ten times as fast as Python's json.

    Does nothing if they aren't plainly those of the events: members named "ts" deeper in an event, or
    repeated ones, would put literals at the wrong events.
    """
    timed = [event for event in events if type(event.get("ts")) in (float, int)]
    if not any(type(event["ts"]) is float for event in timed):
        return
    literals = [literal.decode("ascii") for literal in _TS.findall(text)]
    if len(literals) != len(timed):
        return
    if all(float(literal) == event["ts"] for literal, event in zip(literals, timed)):
        for literal, event in zip(literals, timed):
            event["ts"] = literal
