"""The text of timestamps that JSON gives as floats: a float64 can't hold them exactly."""

from __future__ import annotations

import re
from typing import Any

from tracetui.reader.decode import lenient

_TS = re.compile(rb'"ts"[ \t\r\n]*:[ \t\r\n]*(-?[0-9][0-9.eE+-]*)')


def exactly(elements: list[Any], text: bytes) -> None:
    """Replace each float `ts` of the `elements` by its literal in `text`, the JSON they were decoded from."""
    timed = [event for event in elements if type(event) is dict and type(event.get("ts")) in (float, int)]
    if not any(type(event["ts"]) is float for event in timed):
        return
    literals = [literal.decode("ascii") for literal in _TS.findall(text)]
    # Members named "ts" deeper in an event, or repeated ones, would put literals at the wrong events.
    if len(literals) == len(timed) and all(
        float(literal) == event["ts"] for literal, event in zip(literals, timed)
    ):
        for literal, event in zip(literals, timed):
            event["ts"] = literal
        return
    again = lenient(text)
    if again is not None and len(again) == len(elements):
        for event, exact in zip(elements, again):
            if type(event) is dict and type(event.get("ts")) is float:
                event["ts"] = exact["ts"]
