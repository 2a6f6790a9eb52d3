"""Why late ranks were late: the waits of a job by what the late ranks did longer than those that waited.

For a wait of rank r for the late rank L in an operation k, S(q), of q = r and of q = L, is the stretch from
the end of the last operation that both took part in until q starts k. On aligned clocks

    wait = Σ over classes (time of the class in S(L) − in S(r)) + (start of S(L) − start of S(r))

holds to the nanosecond for each wait. Where a rank was waiting for a third one during S, that time is
charged to the reasons of that earlier wait: of a wait that is partly hidden by work, the exposed share only.
So a chosen wait starts at weight 1, any other at 0. Each passes its weight to the late rank's own waits in
its stretch, and takes it from the waiting rank's; a weight may be below 0 (`wait_weights`). The weighted
terms are fractions of ns: they are summed by rank, kind, reason and line, and rounded so that they sum to the
waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.digest import DigestLine
from tracetui.job.exposure import Exposure, exposure
from tracetui.job.last_together import last_together
from tracetui.job.match import MatchedChannel
from tracetui.job.stretches import Stretches, stretches_of
from tracetui.job.wait_weights import weights
from tracetui.job.waits import ABSENT, JobWaits, global_rank
from tracetui.trace.order import numbered


@dataclass(frozen=True)
class Root:
    """What a rank did longer than those that waited for it."""

    rank: int | None  #: number in the job; None: a missing rank whose number is not known
    kind: str  #: computing, copy, idle, transfer; clock, step; absent, unaligned
    reason: str  #: the cause of idle time, the type of operator of computing; "" of other kinds
    line: DigestLine | None
    lost_ns: int  #: summed over all waiting ranks; negative where the late rank did less of it than they
    operations: int  #: how many it came late to after doing this, of those whose waits have a weight


@dataclass(frozen=True, eq=False)
class RootBreakdown:
    """What waits of a job sum up to, and what the late ranks did longer."""

    total_ns: int  #: sum of the chosen waits
    roots: tuple[Root, ...]  #: most lost first; their sum is the total


CLOCK, STEP, KIND_ABSENT, UNALIGNED = "clock", "step", "absent", "unaligned"


def find_roots(
    ranks: tuple[Rank, ...],
    channels: Sequence[MatchedChannel],
    clocks: Clocks,
    waits: JobWaits,
    marked: Bools | None = None,
) -> RootBreakdown:
    """Return the reasons of the waits that `marked` selects, bool[waits]; None: of all."""
    chosen = np.ones(len(waits), np.bool_) if marked is None else marked
    exposed = exposure(ranks, waits)
    stretches = stretches_of(ranks, clocks, waits, *last_together(ranks, channels, clocks, waits))
    weight = weights(exposed, stretches, waits, chosen)
    stretches = stretches.at(weight[stretches.wait_place] != 0)
    losses = _Losses()
    _add_missing_peers(ranks, channels, waits, weight, losses)
    _add_unequal_starts(ranks, stretches, waits, weight, losses)
    late_stretches = _group_by_rank(stretches.late_rank, len(ranks))
    waiting_stretches = _group_by_rank(stretches.waiting_rank, len(ranks))
    for rank_place, rank in enumerate(ranks):
        if not len(late_stretches[rank_place]) and not len(waiting_stretches[rank_place]):
            continue
        keys, spent_before = _time_before_boundaries(ranks, rank_place, exposed, losses)
        _add_late_rank(
            rank.number, late_stretches[rank_place], keys, spent_before, stretches, waits, weight, losses
        )
        _subtract_waiting_rank(
            ranks, waiting_stretches[rank_place], keys, spent_before, stretches, weight, losses
        )
    total = int(waits.wait_ns[chosen].sum())
    return RootBreakdown(total, losses.rounded(total))


def _group_by_rank(column: Int64s, count: int) -> list[Int64s]:
    """Group positions by rank: element r lists where `column` equals r."""
    order = np.argsort(column, kind="stable")
    return np.split(order, np.searchsorted(column[order], np.arange(1, count)))


def _add_missing_peers(
    ranks: tuple[Rank, ...],
    channels: Sequence[MatchedChannel],
    waits: JobWaits,
    weight: Floats,
    losses: _Losses,
) -> None:
    """Add what was lost by waiting for ranks that are not here, or whose clocks are not aligned."""
    missing = np.flatnonzero((waits.late_rank == ABSENT) & (waits.wait_ns > 0) & (weight != 0))
    peer_keys = waits.channel[missing] << 32 | waits.peer[missing] + 1
    absent_key, unaligned_key = (losses.key_number((kind, "", None)) for kind in (KIND_ABSENT, UNALIGNED))
    numbers_here = {rank.number for rank in ranks}
    for peer_key in np.unique(peer_keys).tolist():
        places = missing[peer_keys == peer_key]
        rank = global_rank(channels[peer_key >> 32], (peer_key & 0xFFFFFFFF) - 1)
        lost = float((weight[places] * waits.wait_ns[places]).sum())
        key = unaligned_key if rank in numbers_here else absent_key
        losses.add(-1 if rank is None else rank, key, lost, len(np.unique(waits.operation[places])))


def _add_unequal_starts(
    ranks: tuple[Rank, ...], stretches: Stretches, waits: JobWaits, weight: Floats, losses: _Losses
) -> None:
    """Add how much later the stretches of late ranks began: the last term of the module's sum.

    CLOCK: the shared operation ended at different aligned times on the two. STEP: there is no shared
    operation; the difference of the starts of their steps, or of their recordings.
    """
    weighted_delay = weight[stretches.wait_place] * stretches.start_delay
    for kind, of_kind in ((CLOCK, stretches.from_shared_operation), (STEP, ~stretches.from_shared_operation)):
        late = waits.late_rank[stretches.wait_place[of_kind]]
        lost = np.bincount(late, weighted_delay[of_kind], len(ranks))
        operation = waits.operation[stretches.wait_place[of_kind]]
        key = losses.key_number((kind, "", None))
        for place in np.flatnonzero(lost).tolist():
            losses.add(ranks[place].number, key, lost[place], len(np.unique(operation[late == place])))


def _time_before_boundaries(
    ranks: tuple[Rank, ...], rank_place: int, exposed: Exposure, losses: _Losses
) -> tuple[Int64s, Floats]:
    """Return the keys of what a rank did, int64[k], and the ns spent on each before each boundary.

    The latter is float64[boundaries, k].
    """
    reasons, cells = exposed.cells(ranks, rank_place)
    keys = np.array([losses.key_number(reason) for reason in reasons], np.int64)
    spent_before = np.zeros((len(ranks[rank_place].digest.boundaries), len(keys)), np.float64)
    np.add.at(spent_before, (cells.segment + 1, cells.key), cells.ns)
    np.cumsum(spent_before, axis=0, out=spent_before)
    return keys, spent_before


def _add_late_rank(
    number: int,
    places: Int64s,
    keys: Int64s,
    spent_before: Floats,
    stretches: Stretches,
    waits: JobWaits,
    weight: Floats,
    losses: _Losses,
) -> None:
    """Add what a late rank did in its stretches, at `places`."""
    if not len(places):
        return
    spent = spent_before[stretches.late_stop[places]] - spent_before[stretches.late_first[places]]
    lost = weight[stretches.wait_place[places]] @ spent
    counts = _count_operations(waits.operation[stretches.wait_place[places]], spent)
    (nonzero,) = np.nonzero((lost != 0) | (counts > 0))
    losses.add(number, keys[nonzero], lost[nonzero], counts[nonzero])


def _subtract_waiting_rank(
    ranks: tuple[Rank, ...],
    places: Int64s,
    keys: Int64s,
    spent_before: Floats,
    stretches: Stretches,
    weight: Floats,
    losses: _Losses,
) -> None:
    """Subtract what a waiting rank did in its stretches, at `places`: the excess of the late rank is left."""
    if not len(places):
        return
    negated = spent_before[stretches.waiting_first[places]] - spent_before[stretches.waiting_stop[places]]
    negated *= weight[stretches.wait_place[places]][:, None]
    late = stretches.late_rank[places]
    order = np.argsort(late, kind="stable")
    group_starts = np.flatnonzero(np.diff(late[order], prepend=-1))
    by_late_rank = np.add.reduceat(negated[order], group_starts, axis=0)
    row, key = np.nonzero(by_late_rank)
    numbers = np.array([ranks[place].number for place in late[order[group_starts]].tolist()], np.int64)
    losses.add(numbers[row], keys[key], by_late_rank[row, key], 0)


def _count_operations(operation: Int64s, spent: Floats) -> Int64s:
    """Count, for each key, the operations before which it took any time; int64[keys].

    `operation`, int64[stretches], is that of each row of `spent`, float64[stretches, keys].
    """
    order = np.argsort(operation, kind="stable")
    group_starts = np.flatnonzero(np.diff(operation[order], prepend=-1))
    counts: Int64s = (np.maximum.reduceat(spent[order], group_starts, axis=0) > 0).sum(axis=0)
    return counts


class _Losses:
    """What was lost, by rank (-1: not known) and key: kind, reason and line."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str, DigestLine | None], int] = {}
        self._parts: list[tuple[Int64s, Floats, Int64s]] = []
        self._entries = 0

    def key_number(self, key: tuple[str, str, DigestLine | None]) -> int:
        """Return the number of a key."""
        return self._keys.setdefault(key, len(self._keys))

    def add(
        self, rank: int | Int64s, key: int | Int64s, lost: float | Floats, operations: int | Int64s
    ) -> None:
        """Add ns lost by ranks and keys, and in how many operations; arrays are of equal length."""
        entry = np.atleast_1d((np.asarray(rank, np.int64) + 1) * _KEY_SPAN + key)
        columns = np.broadcast_arrays(entry, np.asarray(lost, np.float64), np.asarray(operations, np.int64))
        self._parts.append((columns[0], columns[1], columns[2]))
        self._entries += len(entry)
        if self._entries > _MOST_ENTRIES:
            self._parts = [self._summed()]
            self._entries = len(self._parts[0][0])

    def rounded(self, total: int) -> tuple[Root, ...]:
        """Return the losses in whole ns; the largest fractions are rounded up until the sum is `total`."""
        entries, exact, operations = self._summed()
        whole = np.floor(exact).astype(np.int64)
        remainder = total - int(whole.sum())
        if len(whole):
            # Float errors may make the remainder larger than the number of entries, or negative.
            whole += remainder // len(whole)
            whole[np.argsort(np.floor(exact) - exact, kind="stable")[: remainder % len(whole)]] += 1
        keys = list(self._keys)
        numbers, key_numbers = entries // _KEY_SPAN - 1, entries % _KEY_SPAN
        roots = []
        for rank, key_number, ns, count in zip(
            numbers.tolist(), key_numbers.tolist(), whole.tolist(), operations.tolist()
        ):
            kind, reason, line = keys[key_number]
            if ns:
                roots.append(Root(None if rank < 0 else rank, kind, reason, line, ns, count))
        return tuple(sorted(roots, key=_sort_key))

    def _summed(self) -> tuple[Int64s, Floats, Int64s]:
        """Return the distinct entries, ascending, and of each the ns lost and the operations."""
        empty = (np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.int64))
        entries, lost, operations = (np.concatenate(columns) for columns in zip(empty, *self._parts))
        distinct, place = numbered(entries)
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, place, operations)
        summed = np.bincount(place, lost, len(distinct))
        return distinct, summed.astype(np.float64, copy=False), counts


_KEY_SPAN = 1 << 32  # an entry is a rank, times this, and a key
_MOST_ENTRIES = 2_000_000  # above this, equal ones are summed to save memory


def _sort_key(root: Root) -> tuple[object, ...]:
    line = root.line or DigestLine("", -1, "", False)
    where = (line.file, line.line, line.function, line.backward)
    return (-root.lost_ns, -1 if root.rank is None else root.rank, root.kind, root.reason, *where)
