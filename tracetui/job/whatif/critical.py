"""Which rank is critical: whose operations the longest chain of a step consists of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.whatif.order import PARTS, STAND_IN, Order
from tracetui.operations.graph import ALONE, Times

_MOST_STEPS = 16  #: steps that are followed; of more, some of them


@dataclass(frozen=True)
class CriticalRank:
    """The rank whose work is most of the chain of operations that steps take as long as."""

    rank: int | None  #: number in the job; None: a missing rank
    reason: str  #: the part of its work that is most of that: "computing", "copy", "idle" or "transfer"
    share: float  #: of the whole chain
    delayed: float  #: delays of no known reason between them, as a share of the whole chain


def critical_rank(order: Order, times: Times, duration: Int64s) -> CriticalRank | None:
    """Return the rank that is critical in a replay; None where there is nothing."""
    befores = _Lists(order.graph.after, order.graph.before, len(order))
    grouped = np.flatnonzero(order.graph.group != ALONE)
    members = _Lists(order.graph.group[grouped], grouped, int(order.graph.group.max(initial=-1)) + 1)
    spent: Counter[tuple[int, str]] = Counter()
    delayed = 0
    here = np.flatnonzero(order.rank != STAND_IN)
    chosen = np.unique(np.linspace(0, len(order.steps) - 1, _MOST_STEPS).round().astype(np.int64)).tolist()
    for step in chosen:
        of_step = here[order.step[here] == step]
        at = int(of_step[times.end[of_step].argmax()])
        while at >= 0 and order.step[at] == step:
            last = at
            if order.graph.group[at] != ALONE:
                together = members.of(int(order.graph.group[at]))
                last = int(together[times.start[together].argmax()])
            spent.update(_parts(order, at, last, duration))
            earlier = befores.of(last)
            at = int(earlier[times.end[earlier].argmax()]) if len(earlier) else -1
            delayed += max(int(times.start[last] - times.end[at]), 0) if at >= 0 else 0
    by_rank: Counter[int] = Counter()
    for (place, _), ns in spent.items():
        by_rank[place] += ns
    if not by_rank:
        return None
    place = max(by_rank, key=lambda rank: (by_rank[rank], -rank))
    reason = max((ns, name) for (rank, name), ns in spent.items() if rank == place)[1]
    number = None if place == STAND_IN else order.job.ranks[place].number
    whole = sum(by_rank.values()) + delayed
    return CriticalRank(number, reason, by_rank[place] / max(whole, 1), delayed / max(whole, 1))


def _parts(order: Order, ended: int, last: int, duration: Int64s) -> dict[tuple[int, str], int]:
    """Return the ns of an operation of the chain by rank and part; a transfer is of the last to come."""
    place = int(order.rank[last])
    if order.collective[ended] >= 0 or place == STAND_IN:
        return {(place, "transfer"): int(duration[ended])}
    parts = order.parts[last]
    whole = max(int(parts.sum()), 1)
    return {(place, name): int(parts[part]) * int(duration[last]) // whole for part, name in enumerate(PARTS)}


class _Lists:
    """Lists of values, one for each key."""

    def __init__(self, keys: Int64s, values: Int64s, count: int) -> None:
        order = np.argsort(keys, kind="stable")
        self._values = values[order]
        self._first = np.searchsorted(keys[order], np.arange(count + 1))

    def of(self, key: int) -> Int64s:
        """Return the values of a key."""
        values: Int64s = self._values[self._first[key] : self._first[key + 1]]
        return values
