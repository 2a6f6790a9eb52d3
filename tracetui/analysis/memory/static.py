"""The memory that graphs are given before they run: static_op_mem.csv, a row per operator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tracetui.analysis.search import group_by
from tracetui.arrays import Int64s
from tracetui.siblings.tables import SiblingTable


class StaticMemory(NamedTuple):
    """What one graph is given."""

    graph: str | None  #: its number, as written by the producer: never print it unescaped
    model: str | None
    operators: int
    peak_bytes: int  #: at any of its nodes, at most


def static_memory(table: SiblingTable | None) -> tuple[StaticMemory, ...]:
    """Return the graphs of the table, those with most memory first.

    An operator holds its memory from its first node, and at that, until its last one begins; where nodes are
    not told, all operators of a graph hold theirs at once.
    """
    if table is None or not table.rows:
        return ()
    graph, model = table.texts["graph"], table.texts["model"]
    key = graph.place.astype(np.int64) * (len(model.texts) + 1) + model.place
    rows = [
        StaticMemory(
            table.text("graph", int(group[0])),
            table.text("model", int(group[0])),
            len(group),
            _peak_bytes(
                table.numbers["bytes"][group], table.numbers["first"][group], table.numbers["last"][group]
            ),
        )
        for _, group in group_by(key)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.peak_bytes, row.graph or "")))


def _peak_bytes(sizes: Int64s, first: Int64s, last: Int64s) -> int:
    """Return the most that is held at any node."""
    if (first < 0).any() or (last < 0).any():
        return int(sizes.sum())
    last = np.maximum(last, first + 1)
    node = np.concatenate((last, first))  # what ends at a node makes room for what begins there
    order = np.argsort(node, kind="stable")
    return int(np.cumsum(np.concatenate((-sizes, sizes))[order]).max(initial=0))
