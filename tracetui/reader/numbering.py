"""Numbers for what is met, in the order in which it is met first."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import count
from typing import Any

import orjson

from tracetui.reader.normalise import UNCONNECTED, flow_id

_UNCONNECTED = frozenset(map(str, UNCONNECTED))
_LARGE = re.compile(rb'(?:"[1-9][0-9]{19,399}")+')


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

    def of_json(self, texts: list[bytes]) -> list[int]:
        """Return the numbers of ids that are strings or integers, from their JSON."""
        # Nearly all of them: strings of too many digits for 63 bits, looked up in a tenth of the time.
        ids = b"".join(texts)
        if _LARGE.fullmatch(ids):
            digits = ids.decode("ascii")[1:-1].split('""')
            if _UNCONNECTED.isdisjoint(digits):
                big = self.big
                return [-2 - big[text] for text in digits]
        # orjson makes a float of an integer that is too large for it.
        return [self[orjson.loads(text) if text.startswith(b'"') else int(text)] for text in texts]
