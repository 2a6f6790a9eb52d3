"""Align the clocks of ranks by events that they saw at the same time.

Two ranks of a group that wait for the same peer in the same operation see it come at the same moment. Without
planes the ends of operations tell, which differ by some microseconds. A send tells no more than that it began
before it was received; where ranks send to each other, that is a bound on either side. Ranks are aligned
along a spanning tree of what tells best; those that share no operation stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank, are_symmetric
from tracetui.job.match import NONE, MatchedChannel, sort_by_time

#: ns: what does not end together by more is not the same operation. Rings of 910A end tens of µs apart.
LONGEST_APART = 1_000_000
#: ns by which bounds on the clocks of two ranks may let them be off; wider ones align nothing.
WIDEST_BOUNDS = 100_000
#: ns by which ends of one operation differ from their usual distance at most, by median.
_TOGETHER = 50_000
_MOST_PARTS = 8  # of one operation that is several: what is in none of them is taken apart whole
_SHARE = 95  # percent of what was seen that the residual holds for


class RankPair(NamedTuple):
    """Two ranks that saw the same events, and the offset between their clocks."""

    reference: int  #: place in the job
    rank: int  #: place in the job
    ahead_ns: int  #: clock of `rank` minus clock of `reference`
    spread_ns: int  #: how far 95 % of what both saw are from that, at most; 0, and no bound, of one event
    by_arrivals: bool
    events: int  #: how many arrivals or ends both saw


@dataclass(frozen=True, eq=False)
class Clocks:
    """The clocks of the ranks of a job."""

    offset: Int64s  #: ns by place of the rank: its clock minus that of the lowest rank it is aligned with
    family: Int64s  #: the lowest place of the ranks that each is aligned with
    spread_ns: int  #: the most that spreads of pairs add up to between two ranks
    sights: tuple[RankPair, ...]  #: what they are aligned by

    @property
    def residual_ns(self) -> int | None:
        """How far off two clocks may be, ns; None: not known, as where one event alone aligns a pair."""
        return self.spread_ns if self.sights and all(pair.events > 1 for pair in self.sights) else None

    @property
    def parts(self) -> int:
        """How many sets of ranks there are that are not aligned with each other."""
        return len(set(self.family.tolist()))

    def aligned(self, places: Sequence[int]) -> Int64s:
        """Return the offsets of some ranks."""
        return self.offset[np.array(places, np.int64)]


def find_clocks(ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel]) -> Clocks:
    """Return the offsets between the clocks of the ranks of a job."""
    pairs = [pair for matched in channels for pair in _channel_pairs(ranks, matched)]
    pairs.sort(key=lambda pair: (not pair.by_arrivals, pair.events == 1, pair.spread_ns, -pair.events, pair))
    pairs += sorted(_send_pairs(ranks, channels), key=lambda pair: (pair.spread_ns, pair[:2]))
    family = list(range(len(ranks)))

    def root(place: int) -> int:
        while family[place] != place:
            family[place] = family[family[place]]
            place = family[place]
        return place

    tree: list[RankPair] = []
    for pair in pairs:
        lower, higher = sorted((root(pair.reference), root(pair.rank)))
        if lower != higher:
            family[higher] = lower
            tree.append(pair)
    families = np.array([root(place) for place in range(len(ranks))], np.int64)
    neighbours: dict[int, list[tuple[int, int, int]]] = {}
    for pair in tree:
        neighbours.setdefault(pair.reference, []).append((pair.rank, pair.ahead_ns, pair.spread_ns))
        neighbours.setdefault(pair.rank, []).append((pair.reference, -pair.ahead_ns, pair.spread_ns))
    offset, spread_ns = np.zeros(len(ranks), np.int64), 0
    for lowest in np.unique(families).tolist():
        paths = _paths_from(lowest, neighbours)
        for place, (ahead_ns, _) in paths.items():
            offset[place] = ahead_ns
        # In a tree the longest path of all begins where the longest from anywhere ends.
        farthest = max(paths, key=lambda place: paths[place][1])
        spread_ns = max(spread_ns, *(path[1] for path in _paths_from(farthest, neighbours).values()))
    return Clocks(offset, families, spread_ns, tuple(tree))


def _paths_from(start: int, neighbours: dict[int, list[tuple[int, int, int]]]) -> dict[int, tuple[int, int]]:
    """Return how far each rank's clock is ahead of that of `start`, and how far off that may be, ns.

    Errors add up along the pairs between the two.
    """
    paths, pending = {start: (0, 0)}, [start]
    while pending:
        place = pending.pop()
        for neighbour, ahead_ns, spread_ns in neighbours.get(place, ()):
            if neighbour not in paths:
                paths[neighbour] = paths[place][0] + ahead_ns, paths[place][1] + spread_ns
                pending.append(neighbour)
    return paths


def _channel_pairs(ranks: tuple[Rank, ...], matched: MatchedChannel) -> Iterator[RankPair]:
    """Yield, for each rank of a channel, what it saw together with the rank that has most in common.

    Ranks that so saw nothing together with it may be those of another group: they are compared in turn.
    """
    if len(matched.channel.ranks) < 2:
        return
    arrivals = [_seen_arrivals(ranks, matched, member) for member in range(len(matched.channel.ranks))]
    starts = matched.column(ranks, "start")
    ends = matched.column(ranks, "end")
    ended = (matched.places >= 0) & ends_together(ranks, matched)[:, None]
    members = [*range(len(matched.channel.ranks))]
    for _ in range(_MOST_PARTS):
        reference = members[int(ended[:, members].sum(axis=0).argmax())]
        reference_rank, apart = matched.channel.ranks[reference], []
        for member in members:
            if member == reference:
                continue
            rank = matched.channel.ranks[member]
            _, reference_places, member_places = np.intersect1d(
                arrivals[reference][0], arrivals[member][0], assume_unique=True, return_indices=True
            )
            if len(reference_places):
                ahead = arrivals[member][1][member_places] - arrivals[reference][1][reference_places]
                yield _pair_of(reference_rank, rank, ahead, True)
                continue
            shared = ended[:, member] & ended[:, reference]
            ahead, started = (times[shared, member] - times[shared, reference] for times in (ends, starts))
            if len(ahead) and _is_together(ahead, started, is_group=matched.channel.size > 0):
                yield _pair_of(reference_rank, rank, ahead, False)
            else:
                apart.append(member)
        if len(apart) < 2:
            return
        members = apart


def _is_together(ended: Int64s, started: Int64s, is_group: bool) -> bool:
    """Tell whether two ranks ran the same operations, by how much later one ended and started each.

    Where nothing tells how many ranks a group has (`is_group`), as of a stream, they may be replicas that do
    the same apart: those start as regularly as they end. Of one operation the ends are together however
    apart the starts are.
    """
    pair = _pair_of(0, 0, ended, False)
    if pair.spread_ns > LONGEST_APART or is_group:
        return pair.spread_ns <= LONGEST_APART
    apart_ended, apart_started = (float(np.median(np.abs(ns - np.median(ns)))) for ns in (ended, started))
    is_close = abs(pair.ahead_ns) <= LONGEST_APART and apart_ended <= _TOGETHER
    return is_close or 2 * apart_ended < apart_started


def _send_pairs(ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel]) -> Iterator[RankPair]:
    """Yield the pairs of ranks that send to each other: neither saw the other come before it came.

    Each rank gives a bound of its own, and both together how far apart the clocks are, at most half of what
    is between the bounds off. Where one rank only ever waits for the other, nothing is known.
    """
    # By who saw whom: the clock of the first minus that of the other, and how often it did.
    bounds: dict[tuple[int, int], tuple[int, int]] = {}
    for matched in channels:
        if not matched.channel.pair or len(matched.channel.ranks) != 2:
            continue
        together = (matched.places >= 0).all(axis=1)
        start, met = matched.column(ranks, "start"), _peer_times(ranks, matched)
        for member, other in ((0, 1), (1, 0)):
            ahead = (met[:, member] - start[:, other])[together & (met[:, member] != _NEVER)]
            if len(ahead):
                pair = matched.channel.ranks[member], matched.channel.ranks[other]
                before = bounds.get(pair, (_NEVER, 0))
                bounds[pair] = min(before[0], int(ahead.min())), before[1] + len(ahead)
    for (one, other), (behind, first_events) in sorted(bounds.items()):
        if one < other and (other, one) in bounds:
            ahead_ns, second_events = bounds[other, one]
            apart = -(-(ahead_ns + behind) // 2)
            if 0 <= apart <= WIDEST_BOUNDS:
                yield RankPair(one, other, ahead_ns - apart, apart, False, first_events + second_events)


_NEVER = np.iinfo(np.int64).max


def _peer_times(ranks: tuple[Rank, ...], matched: MatchedChannel) -> Int64s:
    """Return int64[operations, 2]: when each end of a send knew that the other one had come, else _NEVER.

    The planes tell, else the end of a receive. A send may end before anybody receives it.
    """
    wait = matched.column(ranks, "wait")
    start, end = matched.column(ranks, "start"), matched.column(ranks, "end")
    met = np.where((matched.column(ranks, "known") == 1) & (wait > 0), start + wait, _NEVER)
    for member, rank in enumerate(matched.channel.ranks):
        texts = ranks[rank].digest.texts
        receives = np.array([text.lower().startswith("rec") for text in texts] or [False], np.bool_)
        kind = matched.column(ranks, "type", -1)[:, member]
        received = (kind >= 0) & receives[kind]
        met[:, member] = np.where(received, np.minimum(met[:, member], end[:, member]), met[:, member])
    return met


def _pair_of(reference: int, rank: int, ahead_ns: Int64s, by_arrivals: bool) -> RankPair:
    median = int(np.floor(np.median(ahead_ns)))
    distances = np.sort(np.abs(ahead_ns - median))
    place = -(-len(distances) * _SHARE // 100) - 1
    return RankPair(reference, rank, median, int(distances[place]), by_arrivals, len(ahead_ns))


def _seen_arrivals(ranks: tuple[Rank, ...], matched: MatchedChannel, member: int) -> tuple[Int64s, Int64s]:
    """Return what a rank saw arrive: numbers of operation and peer, ascending, and when that was, ns."""
    digest = ranks[matched.channel.ranks[member]].digest
    operation = np.full(len(digest.collectives) + 1, -1, np.int64)
    places = matched.places[:, member]
    (here,) = np.nonzero(places >= 0)
    operation[places[here]] = here
    arrival_operation = operation[digest.arrivals.collective]
    key = (arrival_operation << 24) + digest.arrivals.peer
    matched_arrivals = np.flatnonzero((arrival_operation >= 0) & (digest.arrivals.peer < 1 << 24))
    key, first = np.unique(key[matched_arrivals], return_index=True)
    return key, digest.arrivals.time[matched_arrivals][first]


def ends_together(ranks: tuple[Rank, ...], matched: MatchedChannel) -> Bools:
    """Return which operations of a channel end on all ranks at the same time."""
    if matched.channel.pair:
        return np.zeros(len(matched.places), np.bool_)
    first_member = (matched.places >= 0).argmax(axis=1)
    kinds = np.empty(len(first_member), np.bool_)
    for member in np.unique(first_member).tolist():
        rank, rows = ranks[matched.channel.ranks[member]], first_member == member
        is_symmetric = are_symmetric(list(rank.digest.texts))
        kinds[rows] = is_symmetric[rank.collectives.type[matched.places[rows, member]]]
    return kinds


def without_strangers(
    ranks: tuple[Rank, ...], matched: MatchedChannel, clocks: Clocks
) -> tuple[MatchedChannel, int]:
    """Return a channel in which only what ends together is one operation, and how many left a rank alone.

    What is strange to the others may be an operation of its own, of another group with the same name.
    """
    places, number = matched.places, np.arange(len(matched.places))
    is_strange = _find_strangers(ranks, matched, clocks)
    if not is_strange.any():
        return matched, 0
    parts, numbers = [], []
    for _ in range(_MOST_PARTS):
        parts.append(np.where(is_strange, NONE, places))
        numbers.append(number)
        has_strangers = is_strange.any(axis=1)
        places, number = np.where(is_strange, places, NONE)[has_strangers], number[has_strangers]
        is_strange = _find_strangers(ranks, replace(matched, places=places), clocks)
        if not is_strange.any():
            break
    operation, member = np.nonzero(is_strange)
    separated = np.full((len(operation), places.shape[1]), NONE, np.int64)
    separated[np.arange(len(operation)), member] = places[operation, member]
    table = np.concatenate([*parts, np.where(is_strange, NONE, places), separated])
    numbers += [number, number[operation]]
    members = (table >= 0).sum(axis=1)
    is_alone = (members == 1) & ((matched.places >= 0).sum(axis=1)[np.concatenate(numbers)] > 1)
    ordered = sort_by_time(ranks, matched.channel, table[members > 0])
    return replace(matched, places=ordered), len(np.unique(np.concatenate(numbers)[is_alone]))


def _find_strangers(ranks: tuple[Rank, ...], matched: MatchedChannel, clocks: Clocks) -> Bools:
    """Return which members of operations, bool[operations, ranks], do not end together with the others.

    Ranks that are not aligned with each other have none in common.
    """
    places, members = matched.places, np.array(matched.channel.ranks, np.int64)
    if len(members) < 2:
        return np.zeros(places.shape, np.bool_)
    is_here = places >= 0
    ends = matched.column(ranks, "end") - clocks.offset[members]
    family = np.broadcast_to(clocks.family[members], places.shape)
    middle = _middles(ends, is_here)
    spans = matched.column(ranks, "end") - matched.column(ranks, "start")
    limits = np.maximum(LONGEST_APART, np.where(is_here, spans, 0).max(axis=1) // 10)
    counts = is_here.sum(axis=1, keepdims=True)
    is_checked = is_here & ends_together(ranks, matched)[:, None] & (counts > 1)
    is_apart = is_checked & (np.abs(ends - middle[:, None]) > limits[:, None])
    # Where most of a rank's operations are strange to the others, the rest ends together by chance.
    strange_to = is_checked & (is_apart | ((counts == 2) & is_apart.any(axis=1, keepdims=True)))
    is_apart |= is_here & (2 * strange_to.sum(axis=0) > is_checked.sum(axis=0))
    lowest = np.where(is_here, family, np.iinfo(np.int64).max).min(axis=1)
    is_strange: Bools = is_apart | (is_here & (family != lowest[:, None]))
    is_strange &= is_here.sum(axis=1, keepdims=True) > 1
    return is_strange


def _middles(ends: Int64s, here: Bools) -> Int64s:
    """Return the median of each operation's ends; of two the earlier, so that one of them is kept."""
    ordered = np.sort(np.where(here, ends, np.iinfo(np.int64).max), axis=1)
    count = here.sum(axis=1)
    middle: Int64s = ordered[np.arange(len(ends)), np.maximum(count - 1, 0) // 2]
    return middle
