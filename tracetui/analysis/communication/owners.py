"""Who owns the time of intervals that overlap: the one that began last. Knows intervals only."""

from __future__ import annotations

import numpy as np

from tracetui.analysis.idle.pieces import Cuts
from tracetui.arrays import Int64s


def last_begun(starts: Int64s, ends: Int64s) -> Cuts:
    """Return the union of `[start, end)` cut into disjoint pieces by start, each of the one that began last.

    Of those that begin in the same ns the later in the columns owns the time.
    `place`: the index of the owner.
    """
    order = np.argsort(starts, kind="stable")
    order = order[starts[order] < ends[order]]
    start, end = starts[order], ends[order]
    if not (start[1:] < end[:-1]).any():
        return Cuts(order, start, end)
    place, begin, stop = _sweep(start.tolist(), end.tolist())
    return Cuts(order[np.array(place, np.int64)], np.array(begin, np.int64), np.array(stop, np.int64))


def _sweep(starts: list[int], ends: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Place, start and end of the pieces. The stack holds those that began, the last one on top."""
    pieces: tuple[list[int], list[int], list[int]] = ([], [], [])
    stack: list[int] = []
    reached = 0

    def run(limit: int | None) -> None:
        nonlocal reached
        while stack and (limit is None or reached < limit):
            top = stack[-1]
            stop = ends[top] if limit is None else min(ends[top], limit)
            if stop > reached:
                for column, value in zip(pieces, (top, reached, stop)):
                    column.append(value)
                reached = stop
            if ends[top] <= reached:
                stack.pop()

    for place, start in enumerate(starts):
        run(start)
        reached = start
        stack.append(place)
    run(None)
    return pieces
