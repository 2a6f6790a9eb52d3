"""Which of the calls of an operator at a line in a step allocated a block.

A call is an operator that allocates; where the operator is not in the trace, each block is of one.
"""

from __future__ import annotations

import numpy as np

from tracetui.analysis.memory.model import Blocks
from tracetui.arrays import Int64s


def distinct_calls(blocks: Blocks, places: Int64s) -> list[int]:
    """Return the calls that allocated some blocks (places, by time), in order of time, as numbers."""
    rows = blocks.row[places]
    return list(dict.fromkeys(np.where(rows >= 0, rows, -2 - places).tolist()))


def nth_call(blocks: Blocks, place: int) -> tuple[int, int]:
    """Return which call allocated the block at a place, from 1, and of how many.

    Counted are the calls of its operator at its line for its component, in its step; of a block that is of
    no step, those that are of none either.
    """
    places = np.flatnonzero(blocks.line == blocks.line[place])
    for column in (blocks.step, blocks.operator, blocks.component):
        places = places[column[places] == column[place]]
    calls = distinct_calls(blocks, places)
    (call,) = distinct_calls(blocks, np.array([place]))
    return calls.index(call) + 1, len(calls)
