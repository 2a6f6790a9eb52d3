"""Why late ranks were late: what each did longer than the ranks that waited for it.

Rank r waits in an operation until the late rank L starts it. The reasons lie in two legs, one of r and
one of L: each from the last operation of both that had ended on both (without one, from the start of the
host's step that the operation of r is in, or else of the recording) until that rank starts this one. On
aligned clocks, to the nanosecond for each wait,

    wait = Σ over kinds of time (in the leg of L − in that of r) + (start of L's leg − start of r's)

Where the operation of r ended before L came, as a broadcast does on its root, the wait ends there, and each
term is multiplied by a share: the wait / how much later L came.
Where L or r only waited for a third rank during its leg, with no work to hide that, the time is no reason
itself: it is passed on to the reasons of that wait, so that a chain of waits leads to the rank that began it.
So each wait has a weight: at first 1 if it is chosen, else 0. It keeps that, and adds a share of it to the
weight of each wait in the leg of L, and takes such a share off that of each in the leg of r; a weight
may be below 0 (`wait_weights`). The weighted terms, in fractions of ns, are summed by rank, kind, reason and
line. What a rank did less made it no later: it is taken off what the same rank did longer, in proportion, and
what it did less beyond that off what all others did longer. So no root is below 0; they are rounded so that
they sum to the chosen waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s, first_equal
from tracetui.comparison.job_part import INCOMPARABLE_KINDS
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.digest import NO_LINE, DigestLine
from tracetui.job.exposure import KEPT_COMMUNICATION, UNSPLIT_COMMUNICATION, Exposure, RootKey
from tracetui.job.last_together import find_last_together
from tracetui.job.legs import Legs, find_legs
from tracetui.job.match import MatchedChannel
from tracetui.job.wait_weights import find_weights
from tracetui.job.waits import INCOMPARABLE, JobWaits, by_peer, global_rank
from tracetui.trace.order import numbered


@dataclass(frozen=True)
class Root:
    """Why a rank was late: what it did longer than those that waited for it, or why that is not known.

    `kind` is what it did: computing, copy, idle, transfer (`KEPT_COMMUNICATION`: also waits), unsplit
    (`UNSPLIT_COMMUNICATION`); why its legs began later: clock, step, recording (`_add_unequal_starts`);
    or why it cannot be compared: absent, unaligned, unmatched, of which the whole waits count. The JSON of a
    job says "class" for `kind`, and "collectives" for `operations`.
    """

    rank: int | None  #: number in the job; None: a missing rank whose number is not known
    kind: str
    reason: str  #: the cause of idle time, the type of operator of computing; "" where there is none
    line: DigestLine | None
    lost_ns: int  #: summed over all waiting ranks; above 0
    #: to how many operations it came late after doing any of this; waits of weight 0 do not count
    operations: int


@dataclass(frozen=True, eq=False)
class RootBreakdown:
    """What waits of a job sum up to, and what the late ranks did longer."""

    total_ns: int  #: sum of the chosen waits
    roots: tuple[Root, ...]  #: most lost first; their sum is the total


CLOCK, STEP, RECORDING = "clock", "step", "recording"
ABSENT, UNALIGNED, UNMATCHED = INCOMPARABLE_KINDS  #: of ranks that cannot be compared


def find_roots(
    ranks: tuple[Rank, ...],
    channels: Sequence[MatchedChannel],
    clocks: Clocks,
    waits: JobWaits,
    exposure: Exposure,
    chosen: Bools | None = None,
) -> RootBreakdown:
    """Return the roots of the `chosen` waits, bool[waits]; None: of all.

    Rows of `waits` in which a rank did not wait, as those of the late ranks, count for nothing. Waits that
    are not chosen count as far as chosen ones are passed on to them.
    """
    chosen = np.ones(len(waits), np.bool_) if chosen is None else chosen
    legs = find_legs(ranks, clocks, waits, *find_last_together(ranks, channels, clocks, waits))
    weight = find_weights(exposure, legs, waits, chosen)
    legs = legs.at(weight[legs.wait_place] != 0)
    leg_weight = weight[legs.wait_place] * legs.share
    losses = _Losses()
    _add_incomparable_waits(ranks, channels, clocks, waits, weight, losses)
    _add_unequal_starts(ranks, legs, waits, leg_weight, losses)
    late_legs = _group_by_rank(legs.late_place, len(ranks))
    waiting_legs = _group_by_rank(legs.rank_place, len(ranks))
    for rank_place, rank in enumerate(ranks):
        if not len(late_legs[rank_place]) and not len(waiting_legs[rank_place]):
            continue
        key_numbers, ns_before = _ns_before_boundaries(ranks, rank_place, exposure, losses)
        _add_late_legs(
            rank.number,
            late_legs[rank_place],
            key_numbers,
            ns_before,
            legs,
            waits,
            leg_weight,
            losses,
        )
        _subtract_waiting_legs(
            ranks, waiting_legs[rank_place], key_numbers, ns_before, legs, leg_weight, losses
        )
    total = int(waits.wait_ns[chosen].sum())
    return RootBreakdown(total, losses.roots(total))


def _group_by_rank(column: Int64s, count: int) -> list[Int64s]:
    """Group places by rank: element r lists where `column` equals r."""
    order = np.argsort(column, kind="stable")
    return np.split(order, np.searchsorted(column[order], np.arange(1, count)))


def _add_incomparable_waits(
    ranks: tuple[Rank, ...],
    channels: Sequence[MatchedChannel],
    clocks: Clocks,
    waits: JobWaits,
    weight: Floats,
    losses: _Losses,
) -> None:
    """Add the waits for ranks whose start in the operation is not known or cannot be compared.

    ABSENT: their traces are not here. UNALIGNED: their clocks are not aligned with those of all that waited.
    UNMATCHED: no collective of theirs is in the operation: it is not recorded, or not like the others.
    """
    incomparable = np.flatnonzero((waits.late_place == INCOMPARABLE) & (waits.wait_ns > 0) & (weight != 0))
    places_here = {rank.number: place for place, rank in enumerate(ranks)}
    for channel, peer, wait_places in by_peer(waits, incomparable):
        number = global_rank(channels[channel], peer)
        lost = float((weight[wait_places] * waits.wait_ns[wait_places]).sum())
        kind = ABSENT
        if number in places_here:
            are_aligned = clocks.family[waits.rank_place[wait_places]] == clocks.family[places_here[number]]
            kind = UNMATCHED if are_aligned.all() else UNALIGNED
        key_number = losses.key_number((kind, "", None))
        operations = len(np.unique(waits.operation[wait_places]))
        losses.add(-1 if number is None else number, key_number, lost, operations)


def _add_unequal_starts(
    ranks: tuple[Rank, ...], legs: Legs, waits: JobWaits, leg_weight: Floats, losses: _Losses
) -> None:
    """Add how much later the legs of late ranks began: the last term of the module's sum.

    CLOCK: the shared operation ended at different aligned times on the two. STEP: without a shared operation,
    the step started at different times. RECORDING: without such a step too, the recordings did.
    """
    weighted_delay = leg_weight * legs.start_delay_ns
    masks = {
        CLOCK: legs.from_shared_operation,
        STEP: legs.from_step,
        RECORDING: ~(legs.from_shared_operation | legs.from_step),
    }
    for kind, mask in masks.items():
        late_place, delay = legs.late_place[mask], weighted_delay[mask]
        lost = np.bincount(late_place, delay, len(ranks))
        operation = waits.operation[legs.wait_place[mask]]
        key_number = losses.key_number((kind, "", None))
        for rank_place in np.flatnonzero(lost).tolist():
            operations = len(np.unique(operation[(delay != 0) & (late_place == rank_place)]))
            losses.add(ranks[rank_place].number, key_number, lost[rank_place], operations)


def _ns_before_boundaries(
    ranks: tuple[Rank, ...], rank_place: int, exposure: Exposure, losses: _Losses
) -> tuple[Int64s, Floats]:
    """Return what a rank did itself before each boundary: int64[keys], and float64[boundaries, keys], ns.

    The keys are numbers of `losses`. Time that is passed on is left out.
    """
    root_keys, cells = exposure.own_time(ranks, rank_place)
    key_numbers = np.array([losses.key_number(root_key) for root_key in root_keys], np.int64)
    ns_before = np.zeros((len(ranks[rank_place].digest.boundaries), len(key_numbers)), np.float64)
    np.add.at(ns_before, (cells.segment + 1, cells.key), cells.ns)  # row b: before boundary b
    np.cumsum(ns_before, axis=0, out=ns_before)
    return key_numbers, ns_before


def _add_late_legs(
    number: int,
    leg_places: Int64s,
    key_numbers: Int64s,
    ns_before: Floats,
    legs: Legs,
    waits: JobWaits,
    leg_weight: Floats,
    losses: _Losses,
) -> None:
    """Add what a late rank did in its legs, at `leg_places`."""
    if not len(leg_places):
        return
    first, stop = legs.late_first[leg_places], legs.late_stop[leg_places]
    ns = ns_before[stop] - ns_before[first]
    wait_place = legs.wait_place[leg_places]
    lost = leg_weight[leg_places] @ ns
    counts = _count_operations(waits.operation[wait_place], ns)
    counted = np.flatnonzero(counts)  # also keys whose losses cancel out: their operations count
    losses.add(number, key_numbers[counted], lost[counted], counts[counted])


def _subtract_waiting_legs(
    ranks: tuple[Rank, ...],
    leg_places: Int64s,
    key_numbers: Int64s,
    ns_before: Floats,
    legs: Legs,
    leg_weight: Floats,
    losses: _Losses,
) -> None:
    """Subtract from late ranks what a rank that waited for them did in its legs."""
    if not len(leg_places):
        return
    first, stop = legs.waiting_first[leg_places], legs.waiting_stop[leg_places]
    negative_ns = ns_before[first] - ns_before[stop]
    negative_ns *= leg_weight[leg_places][:, None]
    late_place = legs.late_place[leg_places]
    order = np.argsort(late_place, kind="stable")
    group_starts = np.flatnonzero(np.diff(late_place[order], prepend=-1))
    by_late_rank = np.add.reduceat(negative_ns[order], group_starts, axis=0)
    row, key_place = np.nonzero(by_late_rank)
    late_numbers = [ranks[rank_place].number for rank_place in late_place[order[group_starts]].tolist()]
    # Operations are counted where the late rank's time is added.
    losses.add(np.array(late_numbers, np.int64)[row], key_numbers[key_place], by_late_rank[row, key_place], 0)


def _count_operations(operation: Int64s, ns: Floats) -> Int64s:
    """Count, for each key, the operations before which the rank spent any time on it; int64[keys].

    `operation`, int64[legs], is that of each row of `ns`, float64[legs, keys].
    """
    order = np.argsort(operation, kind="stable")
    group_starts = np.flatnonzero(np.diff(operation[order], prepend=-1))
    counts: Int64s = (np.maximum.reduceat(ns[order], group_starts, axis=0) > 0).sum(axis=0)
    return counts


class _Losses:
    """What was lost, by rank (-1: not known) and key: kind, reason and line.

    A rank and a key are packed into one number, an entry, which may be added many times.
    """

    def __init__(self) -> None:
        self._key_numbers: dict[RootKey, int] = {}
        self._blocks: list[tuple[Int64s, Floats, Int64s]] = []  # entries, ns lost, operations
        self._entry_count = 0

    def key_number(self, key: RootKey) -> int:
        """Return the number of a key; a new one is given the next."""
        return self._key_numbers.setdefault(key, len(self._key_numbers))

    def add(
        self, rank: int | Int64s, key_number: int | Int64s, lost: float | Floats, operations: int | Int64s
    ) -> None:
        """Add ns lost by ranks (numbers) and keys, and in how many operations; arrays are of equal length."""
        entries = np.atleast_1d((np.asarray(rank, np.int64) + 1) * _KEY_SPAN + key_number)
        columns = np.broadcast_arrays(entries, np.asarray(lost, np.float64), np.asarray(operations, np.int64))
        self._blocks.append((columns[0], columns[1], columns[2]))
        self._entry_count += len(entries)
        if self._entry_count > _MOST_ENTRIES:
            self._blocks = [self._sum_entries()]
            self._entry_count = len(self._blocks[0][0])

    def roots(self, total: int) -> tuple[Root, ...]:
        """Return the losses in whole ns, most first, without those of 0.

        The largest fractions are rounded up until the sum is `total`.
        """
        entries, lost, operations = self._sum_entries()
        self._cancel_unsplit(entries, lost)
        lost = _cancel_negative(entries // _KEY_SPAN, lost, total)
        whole = np.floor(lost).astype(np.int64)
        remainder = total - int(whole.sum())
        whole[np.argsort(np.floor(lost) - lost, kind="stable")[:remainder]] += 1
        keys = list(self._key_numbers)
        ranks = (entries // _KEY_SPAN - 1).tolist()
        keys_of_entries = [keys[number] for number in (entries % _KEY_SPAN).tolist()]
        roots = [
            Root(None if rank < 0 else rank, kind, reason, line, ns, count)
            for rank, (kind, reason, line), ns, count in zip(
                ranks, keys_of_entries, whole.tolist(), operations.tolist()
            )
            if ns
        ]
        return tuple(sorted(roots, key=_sort_key))

    def _cancel_unsplit(self, entries: Int64s, lost: Floats) -> None:
        """Set kept and unsplit communication of a rank off against each other, where their signs differ.

        Unsplit time of the one rank may be the same transfer as kept time of the other: nothing tells.
        """
        kept_key, unsplit_key = (
            self._key_numbers.get((kind, "", None), -1)
            for kind in (KEPT_COMMUNICATION, UNSPLIT_COMMUNICATION)
        )
        kept_places = np.flatnonzero(entries % _KEY_SPAN == kept_key)
        unsplit_places = first_equal(entries, entries[kept_places] - kept_key + unsplit_key)
        is_pair = unsplit_places >= 0
        kept_places, unsplit_places = kept_places[is_pair], unsplit_places[is_pair]
        kept_ns, unsplit_ns = lost[kept_places], lost[unsplit_places]
        common_ns = np.where(
            kept_ns * unsplit_ns < 0, np.minimum(np.abs(kept_ns), np.abs(unsplit_ns)) * np.sign(kept_ns), 0
        )
        lost[kept_places] -= common_ns
        lost[unsplit_places] += common_ns

    def _sum_entries(self) -> tuple[Int64s, Floats, Int64s]:
        """Return the distinct entries, ascending, and of each the ns lost and the operations."""
        empty = (np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.int64))
        entries, lost, operations = (np.concatenate(columns) for columns in zip(empty, *self._blocks))
        distinct, distinct_place = numbered(entries)
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, distinct_place, operations)
        summed = np.bincount(distinct_place, lost, len(distinct))
        return distinct, summed.astype(np.float64, copy=False), counts  # of no entries it is int64


def _cancel_negative(rank: Int64s, lost: Floats, total: int) -> Floats:
    """Return `lost` without entries below 0, each of which reduces the others of its rank in proportion.

    Ranks whose sum is below 0 so reduce all others. The sum is `total`.
    """
    _, rank_place = numbered(rank)
    longer = np.maximum(lost, 0)
    balance = np.maximum(np.bincount(rank_place, lost), 0)
    share = balance / np.maximum(np.bincount(rank_place, longer), 1e-9) * (total / max(balance.sum(), 1e-9))
    reduced: Floats = longer * share[rank_place]
    return reduced


_KEY_SPAN = 1 << 32  # an entry is (a rank's number + 1) times this, and a key's number
_MOST_ENTRIES = 2_000_000  # above this, equal ones are summed to save memory


def _sort_key(root: Root) -> tuple[object, ...]:
    number = -1 if root.rank is None else root.rank
    return (-root.lost_ns, number, root.kind, root.reason, root.line or NO_LINE)
