"""Why late ranks were late: the waits of a job by what the late did longer than those that waited.

For a wait of rank r for rank L in an operation k, let S be each rank's time from the last operation that both
took part in until its start of k. Both ends of S are seen on both clocks, so that

    wait = Σ over classes (class in S(L) − class in S(r)) + (start of S(L) − start of S(r))

holds to the nanosecond. Time in S that is itself a wait for others is passed on: to the reasons of that
wait, in proportion where only part of it is exposed. A wait counts with a weight, 1 at first; what passes
through it adds to its weight, and all is summed at the end, rounded to whole ns so that the sum is that of
the waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.digest import Line
from tracetui.job.exposure import Exposure, exposure
from tracetui.job.last_together import last_together
from tracetui.job.match import Matched
from tracetui.job.stretches import Stretches, since
from tracetui.job.wait_weights import weights
from tracetui.job.waits import ABSENT, Waits, global_rank
from tracetui.trace.order import numbered


@dataclass(frozen=True)
class Root:
    """What a rank did longer than those that waited for it."""

    rank: int | None  #: number in the job; None: a missing rank whose number is not known
    kind: str  #: computing, copy, idle, transfer; clock, step; absent, unaligned
    reason: str  #: of idle time its cause, of computing the type of operator; "" of others
    line: Line | None
    lost_ns: int  #: of all ranks that waited; below 0: it did less of it than they
    operations: int  #: in which it was late and did that before


@dataclass(frozen=True, eq=False)
class Roots:
    """The waits of a job by their reasons."""

    total_ns: int  #: of all waits that are asked for
    roots: tuple[Root, ...]  #: most lost first; their sum is the total
    weight: Floats  #: of each wait


CLOCK, STEP, MISSING, UNALIGNED = "clock", "step", "absent", "unaligned"


def find_roots(
    ranks: tuple[Rank, ...],
    channels: Sequence[Matched],
    clocks: Clocks,
    waits: Waits,
    asked: Bools | None = None,
) -> Roots:
    """Return the reasons of waits, of all or of those that are asked for."""
    wanted = np.ones(len(waits), np.bool_) if asked is None else asked
    exposed = exposure(ranks, waits)
    stretches = since(ranks, clocks, waits, *last_together(ranks, channels, clocks, waits))
    weight = weights(exposed, stretches, waits, wanted)
    sums = _Sums()
    _missing(ranks, channels, waits, weight, sums)
    _ends_of_chains(ranks, stretches, waits, weight, sums)
    late, waited = (_places_by_rank(ranks, column) for column in (stretches.late, stretches.rank))
    for place in range(len(ranks)):
        _of_rank(ranks, place, exposed, (late[place], waited[place]), stretches, waits, weight, sums)
    total = int(waits.wait[wanted].sum())
    return Roots(total, sums.rounded(total), weight)


def _places_by_rank(ranks: tuple[Rank, ...], column: Int64s) -> list[Int64s]:
    """Of each rank the places at which a column has it."""
    order = np.argsort(column, kind="stable")
    return np.split(order, np.searchsorted(column[order], np.arange(1, len(ranks))))


def _missing(
    ranks: tuple[Rank, ...], channels: Sequence[Matched], waits: Waits, weight: Floats, sums: _Sums
) -> None:
    """Add what was lost by waiting for ranks that are not here, or whose clocks are not aligned."""
    own = np.flatnonzero((waits.late == ABSENT) & (waits.wait > 0))
    told = waits.channel[own] * (1 << 32) + waits.peer[own] + 1
    missing, unaligned = (sums.key((kind, "", None)) for kind in (MISSING, UNALIGNED))
    here = {rank.number for rank in ranks}
    for each in np.unique(told).tolist():
        places = own[told == each]
        rank = global_rank(channels[each >> 32], (each & 0xFFFFFFFF) - 1)
        lost = float((weight[places] * waits.wait[places]).sum())
        key = unaligned if rank in here else missing
        sums.add(-1 if rank is None else rank, key, lost, len(np.unique(waits.operation[places])))


def _ends_of_chains(
    ranks: tuple[Rank, ...], stretches: Stretches, waits: Waits, weight: Floats, sums: _Sums
) -> None:
    """Add by how much the stretches began apart: the residual of the clocks, or when the step began."""
    apart = weight[stretches.wait] * stretches.apart
    for kind, those in ((CLOCK, stretches.together), (STEP, ~stretches.together)):
        late = waits.late[stretches.wait[those]]
        lost = np.bincount(late, apart[those], len(ranks))
        operation = waits.operation[stretches.wait[those]]
        key = sums.key((kind, "", None))
        for place in np.flatnonzero(lost).tolist():
            sums.add(ranks[place].number, key, lost[place], len(np.unique(operation[late == place])))


def _of_rank(
    ranks: tuple[Rank, ...],
    place: int,
    exposed: Exposure,
    own: tuple[Int64s, Int64s],
    stretches: Stretches,
    waits: Waits,
    weight: Floats,
    sums: _Sums,
) -> None:
    """Add what one rank did in its stretches: while others waited for it, and while it waited itself.

    `own`: the places of the stretches in which it was late, and of those in which it waited.
    """
    late, waited = own
    if not len(late) and not len(waited):
        return
    told, cells = exposed.cells(ranks, place)
    keys = np.array([sums.key(key) for key in told], np.int64)
    before = np.zeros((len(ranks[place].digest.boundaries), len(keys)), np.float64)
    np.add.at(before, (cells.segment + 1, cells.key), cells.ns)
    np.cumsum(before, axis=0, out=before)
    if len(late):
        did = before[stretches.late_stop[late]] - before[stretches.late_first[late]]
        lost = weight[stretches.wait[late]] @ did
        counts = _operations(waits.operation[stretches.wait[late]], did)
        (some,) = np.nonzero((lost != 0) | (counts > 0))
        sums.add(ranks[place].number, keys[some], lost[some], counts[some])
    if len(waited):
        did = before[stretches.first[waited]] - before[stretches.stop[waited]]
        did *= weight[stretches.wait[waited]][:, None]
        whom = stretches.late[waited]
        order = np.argsort(whom, kind="stable")
        opens = np.flatnonzero(np.diff(whom[order], prepend=-1))
        less = np.add.reduceat(did[order], opens, axis=0)
        row, key = np.nonzero(less)
        numbers = np.array([ranks[other].number for other in whom[order[opens]].tolist()], np.int64)
        sums.add(numbers[row], keys[key], less[row, key], 0)


def _operations(operation: Int64s, did: Floats) -> Int64s:
    """In how many operations each key has any time; their stretches may be several."""
    order = np.argsort(operation, kind="stable")
    opens = np.flatnonzero(np.diff(operation[order], prepend=-1))
    counts: Int64s = (np.maximum.reduceat(did[order], opens, axis=0) > 0).sum(axis=0)
    return counts


class _Sums:
    """What was lost, by rank (-1: not known) and key: kind, reason and line."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str, Line | None], int] = {}
        self._parts: list[tuple[Int64s, Floats, Int64s]] = []
        self._held = 0

    def key(self, key: tuple[str, str, Line | None]) -> int:
        """Return the number of a key."""
        return self._keys.setdefault(key, len(self._keys))

    def add(
        self, rank: int | Int64s, key: int | Int64s, lost: float | Floats, operations: int | Int64s
    ) -> None:
        """Add what was lost, in how many operations."""
        at = np.atleast_1d((np.asarray(rank, np.int64) + 1) * _MOST_KEYS + key)
        columns = np.broadcast_arrays(at, np.asarray(lost, np.float64), np.asarray(operations, np.int64))
        self._parts.append((columns[0], columns[1], columns[2]))
        self._held += len(at)
        if self._held > _MOST_HELD:
            self._parts = [self._summed()]
            self._held = len(self._parts[0][0])

    def rounded(self, total: int) -> tuple[Root, ...]:
        """Return the sums in whole ns, which sum to a total; the largest fractions make up for it."""
        at, exact, operations = self._summed()
        whole = np.floor(exact).astype(np.int64)
        left = total - int(whole.sum())
        if len(whole):
            whole += left // len(whole)
            whole[np.argsort(np.floor(exact) - exact, kind="stable")[: left % len(whole)]] += 1
        keys = list(self._keys)
        numbers = (at // _MOST_KEYS - 1).tolist()
        told = zip(numbers, (at % _MOST_KEYS).tolist(), whole.tolist(), operations.tolist())
        found = []
        for rank, place, ns, count in told:
            kind, reason, line = keys[place]
            if ns:
                found.append(Root(None if rank < 0 else rank, kind, reason, line, ns, count))
        return tuple(sorted(found, key=_order))

    def _summed(self) -> tuple[Int64s, Floats, Int64s]:
        none = (np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.int64))
        at, lost, operations = (np.concatenate(columns) for columns in zip(none, *self._parts))
        distinct, place = numbered(at)
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, place, operations)
        summed = np.bincount(place, lost, len(distinct))
        return distinct, summed.astype(np.float64, copy=False), counts


_MOST_KEYS = 1 << 32
_MOST_HELD = 2_000_000  # entries before equal ones are summed


def _order(root: Root) -> tuple[object, ...]:
    line = root.line or Line("", -1, "", False)
    named = (line.file, line.line, line.function, line.backward)
    return (-root.lost_ns, -1 if root.rank is None else root.rank, root.kind, root.reason, *named)
