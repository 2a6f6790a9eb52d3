"""Which rank is critical: whose operations the longest chain of a step consists of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.whatif.order import PARTS, STAND_IN, Order
from tracetui.operations.graph import ALONE, Times

_MOST_STEPS = 16  #: steps that are followed; of more, some of them
_MISSING = "missing"


@dataclass(frozen=True)
class CriticalRank:
    """The rank whose work is most of the chain of operations that steps take as long as."""

    rank: int | None  #: number in the job; None: a missing rank
    #: The part of its work that is most of that: "computing", "copy", "idle", "transfer"; "communication"
    #: where waiting may be in a transfer; of a missing rank "missing": until it came.
    reason: str
    share: float  #: of the whole chain
    delayed: float  #: delays of no known reason of ranks that are here, as a share of the whole chain
    missing: float  #: until missing ranks came, as a share of the whole chain


class CriticalChains:
    """The longest chains of operations of the steps of a replay."""

    def __init__(self, order: Order, times: Times, duration: Int64s) -> None:
        self._order, self._times, self._duration = order, times, duration
        self._befores = _Lists(order.graph.after, order.graph.before, len(order))
        grouped = np.flatnonzero(order.graph.group != ALONE)
        groups = int(order.graph.group.max(initial=-1)) + 1
        self._members = _Lists(order.graph.group[grouped], grouped, groups)

    def rank(self, step: int | None = None) -> CriticalRank | None:
        """Return the rank that is critical in a step (its place), or in all; None where nothing is."""
        order, times = self._order, self._times
        spent: Counter[tuple[int, str]] = Counter()
        delayed = 0
        some = np.unique(np.linspace(0, len(order.steps) - 1, _MOST_STEPS).round().astype(np.int64)).tolist()
        for number in some if step is None else [step]:
            of_step = order.longest_of_step(number, times.start, times.end)
            begin = int(times.start[of_step].min())
            at = int(of_step[times.end[of_step].argmax()])
            while at >= 0 and order.step[at] == number and times.end[at] > begin:
                is_alone = order.graph.group[at] == ALONE
                together = np.array([at]) if is_alone else self._members.of(int(order.graph.group[at]))
                last = int(together[times.start[together].argmax()])
                spent.update(_parts(order, together, at, last, self._duration))
                earlier = self._befores.of(last)
                at = int(earlier[times.end[earlier].argmax()]) if len(earlier) else -1
                ready = max(int(times.end[at]), begin) if at >= 0 else begin
                delay = max(int(times.start[last]) - ready, 0)
                if order.rank[last] == STAND_IN:
                    spent[STAND_IN, _MISSING] += delay
                else:
                    delayed += delay
        by_rank: Counter[int] = Counter()
        for (place, _), ns in spent.items():
            by_rank[place] += ns
        if not by_rank:
            return None
        place = max(by_rank, key=lambda rank: (by_rank[rank], -rank))
        reason = max((ns, name) for (rank, name), ns in spent.items() if rank == place)[1]
        rank_number = None if place == STAND_IN else order.job.ranks[place].number
        whole = sum(by_rank.values()) + delayed
        shares = (ns / max(whole, 1) for ns in (by_rank[place], delayed, spent[STAND_IN, _MISSING]))
        return CriticalRank(rank_number, reason, *shares)


def _parts(
    order: Order, together: Int64s, ended: int, last: int, duration: Int64s
) -> dict[tuple[int, str], int]:
    """Return the ns of an operation of the chain by rank and part; a transfer is of the last to come.

    `together`: the operations that transfer together with `ended`.
    """
    place = int(order.rank[last])
    if order.collective[ended] >= 0 or place == STAND_IN:
        return {(place, "communication" if _may_wait(order, together) else "transfer"): int(duration[ended])}
    parts = order.parts[last]
    whole = max(int(parts.sum()), 1)
    return {(place, name): int(parts[part]) * int(duration[last]) // whole for part, name in enumerate(PARTS)}


def _may_wait(order: Order, together: Int64s) -> bool:
    """Return whether what is taken for a transfer may be waiting: no planes, and not all ranks are here."""
    channel = order.job.channels[int(order.channel[together[0]])].channel
    if channel.complete and len(together) == len(channel.ranks):
        return False
    return not any(
        order.rank[member] == STAND_IN
        or order.job.ranks[int(order.rank[member])].collectives.known[int(order.collective[member])]
        for member in together.tolist()
    )


class _Lists:
    """Lists of values, one for each key."""

    def __init__(self, keys: Int64s, values: Int64s, count: int) -> None:
        order = np.argsort(keys, kind="stable")
        self._values = values[order]
        self._first = np.searchsorted(keys[order], np.arange(count + 1))

    def of(self, key: int) -> Int64s:
        """Return the values of a key."""
        return self._values[self._first[key] : self._first[key + 1]]
