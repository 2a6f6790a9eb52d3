"""Numbers for what is met, in the order in which it is met first."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import Any

import orjson

from tracetui.reader.normalise import UNCONNECTED, flow_id

_UNCONNECTED = frozenset(b"%d" % number for number in UNCONNECTED)


def numbers() -> defaultdict[Any, int]:
    """Return a dict that gives what it doesn't have the next number."""
    return defaultdict(count().__next__)


class FlowIds(dict[Any, int]):
    """The number of each flow id; of one that doesn't fit 63 bits -2 - its place in `big`.

    -1 of an id that means "not connected".
    """

    def __init__(self) -> None:
        super().__init__()
        self.big: defaultdict[str, int] = numbers()

    def __missing__(self, id_: Any) -> int:
        number = flow_id(id_)
        if isinstance(number, str):
            number = -2 - self.big[number]
        self[id_] = number
        return number

    def of_json(self, text: bytes) -> int:
        """Return the number of an id that is a string or an integer, from its JSON."""
        digits = text.strip(b'"')
        usual = 20 <= len(digits) < 400 and digits.isdigit() and digits[0] != ord("0")
        if usual and digits not in _UNCONNECTED:
            return -2 - self.big[digits.decode("ascii")]  # a tenth of the time, and nearly all of them
        # orjson makes a float of an integer that is too large for it.
        return self[orjson.loads(text) if text.startswith(b'"') else int(text)]
