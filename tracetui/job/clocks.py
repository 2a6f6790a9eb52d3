"""How far apart the clocks of ranks are, by what they saw at the same time.

Two ranks of a group that wait for the same peer in the same operation see it come at the same moment. Without
planes the ends of operations tell, which differ by some microseconds. A send tells no more than that it began
before it was received; where ranks send to each other, that is a bound on either side. Ranks are aligned
along a spanning tree of what tells best; those that share no operation stay apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank, symmetric
from tracetui.job.match import MatchedChannel

#: ns: what does not end together by more is not the same operation. Rings of 910A end tens of µs apart.
LONGEST_APART = 1_000_000
#: ns by which bounds on the clocks of two ranks may let them be off; wider ones align nothing.
WIDEST = 100_000
_SHARE = 95  # percent of what was seen that the residual holds for


class ClockPair(NamedTuple):
    """By how much the clock of one rank is ahead of another one's, by what both saw."""

    one: int  #: place in the job
    other: int  #: place in the job
    ahead_ns: int  #: clock of `other` minus clock of `one`
    apart_ns: int  #: how much of what was seen differs from that, at most in 95 of 100
    by_arrivals: bool
    seen: int  #: arrivals or ends


@dataclass(frozen=True, eq=False)
class Clocks:
    """The clocks of the ranks of a job."""

    offset: Int64s  #: ns by place of the rank: its clock minus that of the lowest rank it is aligned with
    family: Int64s  #: the lowest place of the ranks that each is aligned with
    residual_ns: int  #: how far off the alignment may be; 0 where nothing is aligned
    sights: tuple[ClockPair, ...]  #: what they are aligned by

    @property
    def parts(self) -> int:
        """How many sets of ranks there are that are not aligned with each other."""
        return len(set(self.family.tolist()))

    def aligned(self, places: Sequence[int]) -> Int64s:
        """Return the offsets of some ranks."""
        return self.offset[np.array(places, np.int64)]


def find_clocks(ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel]) -> Clocks:
    """Return how far apart the clocks of the ranks of a job are."""
    sights = [sight for matched in channels for sight in _sights(ranks, matched)]
    sights.sort(key=lambda sight: (not sight.by_arrivals, sight.apart_ns, -sight.seen, sight[:2]))
    sights += sorted(_between(ranks, channels), key=lambda sight: (sight.apart_ns, sight[:2]))
    family = list(range(len(ranks)))

    def root(place: int) -> int:
        while family[place] != place:
            family[place] = family[family[place]]
            place = family[place]
        return place

    used: list[ClockPair] = []
    for sight in sights:
        one, other = sorted((root(sight.one), root(sight.other)))
        if one != other:
            family[other] = one
            used.append(sight)
    offset = _along(len(ranks), used)
    families = np.array([root(place) for place in range(len(ranks))], np.int64)
    return Clocks(offset, families, max((sight.apart_ns for sight in used), default=0), tuple(used))


def _along(count: int, tree: Sequence[ClockPair]) -> Int64s:
    """The clock of each rank against the lowest one that the tree leads to."""
    near: dict[int, list[tuple[int, int]]] = {}
    for sight in tree:
        near.setdefault(sight.one, []).append((sight.other, sight.ahead_ns))
        near.setdefault(sight.other, []).append((sight.one, -sight.ahead_ns))
    offset, seen = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    for lowest in range(count):
        if seen[lowest]:
            continue
        seen[lowest], left = True, [lowest]
        while left:
            place = left.pop()
            for other, ahead in near.get(place, ()):
                if not seen[other]:
                    seen[other] = True
                    offset[other] = offset[place] + ahead
                    left.append(other)
    return offset


def _sights(ranks: tuple[Rank, ...], matched: MatchedChannel) -> Iterator[ClockPair]:
    """What each rank of a channel saw together with the first of them that has most in common with it."""
    if len(matched.channel.ranks) < 2:
        return
    arrivals = [_arrivals(ranks, matched, member) for member in range(len(matched.channel.ranks))]
    ends, ended = _ends(ranks, matched)
    reference = int(ended.sum(axis=0).argmax())
    for member, rank in enumerate(matched.channel.ranks):
        if member == reference:
            continue
        one = matched.channel.ranks[reference]
        _, mine, others = np.intersect1d(
            arrivals[reference][0], arrivals[member][0], assume_unique=True, return_indices=True
        )
        if len(mine):
            yield _sight(one, rank, arrivals[member][1][others] - arrivals[reference][1][mine], True)
            continue
        both = ended[:, member] & ended[:, reference]
        apart = ends[both, member] - ends[both, reference]
        if len(apart):
            sight = _sight(one, rank, apart, False)
            if sight.apart_ns <= LONGEST_APART:
                yield sight


def _between(ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel]) -> Iterator[ClockPair]:
    """What two ranks that send to each other know: neither saw the other come before it came.

    Each rank gives a bound of its own, and both together how far apart the clocks are, at most half of what
    is between the bounds off. Where one rank only ever waits for the other, nothing is known.
    """
    most: dict[tuple[int, int], tuple[int, int]] = {}  # by who saw whom: clock of the first minus the other's
    for matched in channels:
        if not matched.channel.pair or len(matched.channel.ranks) != 2:
            continue
        both = (matched.places >= 0).all(axis=1)
        start, seen = matched.column(ranks, "start"), _met(ranks, matched)
        for mine, other in ((0, 1), (1, 0)):
            ahead = (seen[:, mine] - start[:, other])[both & (seen[:, mine] != _NEVER)]
            if len(ahead):
                pair = matched.channel.ranks[mine], matched.channel.ranks[other]
                before = most.get(pair, (_NEVER, 0))
                most[pair] = min(before[0], int(ahead.min())), before[1] + len(ahead)
    for (one, other), (behind, seen_by_one) in sorted(most.items()):
        if one < other and (other, one) in most:
            ahead_ns, seen_by_other = most[other, one]
            apart = -(-(ahead_ns + behind) // 2)
            if 0 <= apart <= WIDEST:
                yield ClockPair(one, other, ahead_ns - apart, apart, False, seen_by_one + seen_by_other)


_NEVER = np.iinfo(np.int64).max


def _met(ranks: tuple[Rank, ...], matched: MatchedChannel) -> Int64s:
    """int64[operations, 2]: when each end of a send knew that the other one had come, _NEVER where it didn't.

    The planes tell, else the end of a receive. A send may end before anybody receives it.
    """
    told = matched.column(ranks, "wait")
    start, end = matched.column(ranks, "start"), matched.column(ranks, "end")
    seen = np.where((matched.column(ranks, "known") == 1) & (told > 0), start + told, _NEVER)
    for member, rank in enumerate(matched.channel.ranks):
        texts = ranks[rank].digest.texts
        receives = np.array([text.lower().startswith("rec") for text in texts] or [False], np.bool_)
        kind = matched.column(ranks, "type", -1)[:, member]
        received = (kind >= 0) & receives[kind]
        seen[:, member] = np.where(received, np.minimum(seen[:, member], end[:, member]), seen[:, member])
    return seen


def _sight(one: int, other: int, seen: Int64s, by_arrivals: bool) -> ClockPair:
    ahead = int(np.floor(np.median(seen)))
    apart = np.sort(np.abs(seen - ahead))
    place = -(-len(apart) * _SHARE // 100) - 1
    return ClockPair(one, other, ahead, int(apart[place]), by_arrivals, len(seen))


def _arrivals(ranks: tuple[Rank, ...], matched: MatchedChannel, member: int) -> tuple[Int64s, Int64s]:
    """The arrivals that a rank saw: a number of operation and peer, ascending, and when that was."""
    digest = ranks[matched.channel.ranks[member]].digest
    operation = np.full(len(digest.collectives) + 1, -1, np.int64)
    places = matched.places[:, member]
    (here,) = np.nonzero(places >= 0)
    operation[places[here]] = here
    own = operation[digest.arrivals.collective]
    key = (own << 24) + digest.arrivals.peer
    kept = np.flatnonzero((own >= 0) & (digest.arrivals.peer < 1 << 24))
    key, first = np.unique(key[kept], return_index=True)
    return key, digest.arrivals.time[kept][first]


def _ends(ranks: tuple[Rank, ...], matched: MatchedChannel) -> tuple[Int64s, Bools]:
    """The ends of operations, and which of them are at the same time on all ranks."""
    ends = matched.column(ranks, "end")
    here: Bools = matched.places >= 0
    return ends, here & ends_together(ranks, matched)[:, None]


def ends_together(ranks: tuple[Rank, ...], matched: MatchedChannel) -> Bools:
    """Return which operations of a channel end on all ranks at the same time."""
    if matched.channel.pair:
        return np.zeros(len(matched.places), np.bool_)
    first = (matched.places >= 0).argmax(axis=1)
    kinds = np.empty(len(first), np.bool_)
    for member in np.unique(first).tolist():
        rank, own = ranks[matched.channel.ranks[member]], first == member
        of_text = symmetric(list(rank.digest.texts))
        kinds[own] = of_text[rank.collectives.type[matched.places[own, member]]]
    return kinds


def without_strangers(
    ranks: tuple[Rank, ...], matched: MatchedChannel, clocks: Clocks
) -> tuple[MatchedChannel, int]:
    """Return a channel in which only what ends together is one operation, and how many were taken apart.

    Ranks that are not aligned with each other have none in common.
    """
    places, members = matched.places, np.array(matched.channel.ranks, np.int64)
    if len(members) < 2:
        return matched, 0
    here = places >= 0
    ends = matched.column(ranks, "end") - clocks.offset[members]
    family = np.broadcast_to(clocks.family[members], places.shape)
    middle = _middles(ends, here)
    spans = matched.column(ranks, "end") - matched.column(ranks, "start")
    allowed = np.maximum(LONGEST_APART, np.where(here, spans, 0).max(axis=1) // 10)
    counts = here.sum(axis=1, keepdims=True)
    told = here & ends_together(ranks, matched)[:, None] & (counts > 1)
    apart = told & (np.abs(ends - middle[:, None]) > allowed[:, None])
    # Where most of a rank's operations are strange to the others, the rest ends together by chance.
    strange_to = told & (apart | ((counts == 2) & apart.any(axis=1, keepdims=True)))
    apart |= here & (2 * strange_to.sum(axis=0) > told.sum(axis=0))
    lowest = np.where(here, family, np.iinfo(np.int64).max).min(axis=1)
    strange = apart | (here & (family != lowest[:, None]))
    strange &= here.sum(axis=1, keepdims=True) > 1
    if not strange.any():
        return matched, 0
    operation, member = np.nonzero(strange)
    alone = np.full((len(operation), places.shape[1]), -1, np.int64)
    alone[np.arange(len(operation)), member] = places[operation, member]
    kept = np.where(strange, -1, places)
    kept = kept[(kept >= 0).any(axis=1)]
    return MatchedChannel(matched.channel, np.concatenate((kept, alone)), matched.differences), int(
        strange.any(axis=1).sum()
    )


def _middles(ends: Int64s, here: Bools) -> Int64s:
    """The median of each operation's ends; of two the earlier, so that one of them is kept."""
    ordered = np.sort(np.where(here, ends, np.iinfo(np.int64).max), axis=1)
    count = here.sum(axis=1)
    middle: Int64s = ordered[np.arange(len(ends)), np.maximum(count - 1, 0) // 2]
    return middle
