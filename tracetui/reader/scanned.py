"""Blocks of well-formed events to columns, by the compiled scanner where there is one.

It reads a block in a fifth of the time that objects take, or refuses it. What it numbers gets the numbers
that the part has for the values, so that it doesn't matter which blocks are read by whom.
"""

from __future__ import annotations

import os
from itertools import chain
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from tracetui.arrays import EMPTY, Int64s
from tracetui.compiled import native
from tracetui.reader.numbering import FlowIds

_SECRETS = tuple(int.from_bytes(os.urandom(8), "little") for _ in range(2))


class BlockScanner:
    """Scans the blocks of one part."""

    def __init__(
        self, shapes: dict[Any, int], samples: dict[Any, int], strings: dict[Any, int], flow_ids: FlowIds
    ) -> None:
        """Take the numbers of the part, which grow with what is scanned.

        They number (pid, tid, name, category), (pid, tid, name, *keys), texts, and ids of flows.
        """
        self._scanner = native.Scanner(*_SECRETS)
        self._part = {"shapes": shapes, "samples": samples, "texts": strings}
        self._flow_ids = flow_ids
        #: By kind: the part's number of each number of the scanner's. That of no text is the last, for -1.
        self._numbers: dict[str, NDArray[Any]] = {
            "shapes": np.empty(0, np.int32),
            "samples": np.empty(0, np.int32),
            "texts": np.array([strings[None]], np.int32),
            "flow_ids": EMPTY,
        }

    def scan(self, text: bytes, length: int) -> int:
        """Add the events in `text[:length]`; return how many, 0 where they have to be decoded."""
        return self._scanner.scan(text, length)

    def take(self, first: int) -> dict[str, NDArray[Any]]:
        """Return the columns of all events added since the last time; `first`: ordinal of the first."""
        columns, added = self._scanner.take()
        for kind, values in added.items():
            if values:
                self._number(kind, values)
        return {name: self._column(name, content, first) for name, content in columns.items()}

    def _number(self, kind: str, added: list[list[bytes]]) -> None:
        """Find or make the part's numbers of JSON values."""
        if kind == "flow_ids":
            new = self._flow_ids.of_json([id_ for (id_,) in added])
        else:
            values = orjson.loads(b"[%b]" % b",".join([b"[%b]" % b",".join(pieces) for pieces in added]))
            number = self._part[kind]
            new = [number[value] for value in (chain(*values) if kind == "texts" else map(tuple, values))]
        numbers = self._numbers[kind]
        end = len(numbers) - (kind == "texts")
        self._numbers[kind] = np.concatenate([numbers[:end], np.array(new, numbers.dtype), numbers[end:]])

    def _column(self, name: str, content: bytes, first: int) -> NDArray[Any]:
        dtype, counts = native.COLUMNS[name]
        values: NDArray[Any] = np.frombuffer(content, dtype)
        if counts == "events":
            values = values + np.int32(first)  # a part has fewer events than bytes
        elif counts == "flow_ids":
            values = self._ids(values)
        elif counts:
            values = np.take(self._numbers[counts], values, mode="wrap")
        return values

    def _ids(self, ids: Int64s) -> Int64s:
        """Return the ids; -1 - number stands for one that is no integer of 63 bits."""
        is_text = ids < 0
        if is_text.any():
            ids = ids.copy()
            ids[is_text] = self._numbers["flow_ids"][-1 - ids[is_text]]
        return ids
