"""Since when two ranks go different ways: the last operation before another one in which both took part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.match import MatchedChannel
from tracetui.job.waits import JobWaits

_BEFORE_ALL = np.iinfo(np.int64).min


def last_together(
    ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel], clocks: Clocks, waits: JobWaits
) -> tuple[Int64s, Int64s]:
    """Return of each of `waits` the last operation before it, in any channel, of its rank and the late one.

    As places among the collectives of the rank and of the late rank; -1 where none had ended on both, where
    nobody was late, and where the late rank is missing.
    """
    mine, theirs = np.full(len(waits), -1, np.int64), np.full(len(waits), -1, np.int64)
    latest = np.full(len(waits), _BEFORE_ALL, np.int64)
    late_place = _places_of_late(waits)
    asked = np.flatnonzero((waits.late >= 0) & (waits.late != waits.rank) & (waits.wait > 0))
    bounds = np.searchsorted(waits.channel[asked], np.arange(len(channels) + 1))
    timelines = [_Timeline(ranks, matched) for matched in channels]
    for channel, others in _shared(channels):
        own = asked[bounds[channel] : bounds[channel + 1]]
        if not len(own):
            continue
        start = ranks_column(ranks, waits.rank[own], waits.place[own], "start")
        late_start = ranks_column(ranks, waits.late[own], late_place[own], "start")
        for other in others:
            timeline = timelines[other]
            both = np.flatnonzero(
                (timeline.member[waits.rank[own]] >= 0) & (timeline.member[waits.late[own]] >= 0)
            )
            if not len(both):
                continue
            at = own[both]
            one = timeline.ended(waits.rank[at], start[both])
            two = timeline.ended(waits.late[at], late_start[both])
            found = timeline.common(np.minimum(one, two), waits.rank[at], waits.late[at])
            held = np.flatnonzero(found >= 0)
            at, found = at[held], found[held]
            ended = timeline.ends[found, timeline.member[waits.late[at]]] - clocks.offset[waits.late[at]]
            later = ended > latest[at]
            at, found = at[later], found[later]
            latest[at] = ended[later]
            mine[at] = timeline.places[found, timeline.member[waits.rank[at]]]
            theirs[at] = timeline.places[found, timeline.member[waits.late[at]]]
    return mine, theirs


def ranks_column(ranks: tuple[Rank, ...], rank: Int64s, place: Int64s, name: str) -> Int64s:
    """Return a column of the collectives at (rank, place)."""
    columns = [getattr(each.collectives, name) for each in ranks]
    first = np.concatenate(([0], np.cumsum([len(column) for column in columns])[:-1]))
    every = np.concatenate([np.empty(0, np.int64), *columns])
    picked: Int64s = every[first[rank] + place]
    return picked


def _places_of_late(waits: JobWaits) -> Int64s:
    """Of each part the place among the late rank's collectives of the same operation, -1 without one."""
    found = np.full(int(waits.operation.max(initial=-1)) + 1, -1, np.int64)
    own = waits.rank == waits.late
    found[waits.operation[own]] = waits.place[own]
    return found[waits.operation]


def _shared(channels: Sequence[MatchedChannel]) -> Iterator[tuple[int, list[int]]]:
    """Each channel with those that two of its ranks at least are in, itself among them."""
    of_rank: dict[int, list[int]] = {}
    for number, matched in enumerate(channels):
        for rank in matched.channel.ranks:
            of_rank.setdefault(rank, []).append(number)
    for number, matched in enumerate(channels):
        counts = Counter(other for rank in matched.channel.ranks for other in of_rank[rank])
        yield number, sorted(other for other, count in counts.items() if count > 1)


class _Timeline:
    """The operations of a channel in order, and when they ended on each of its ranks."""

    def __init__(self, ranks: tuple[Rank, ...], matched: MatchedChannel) -> None:
        self.places = matched.places
        self.ends = matched.column(ranks, "end", _BEFORE_ALL)
        self.member = np.full(len(ranks), -1, np.int64)
        self.member[list(matched.channel.ranks)] = np.arange(len(matched.channel.ranks))
        self._reach = np.maximum.accumulate(self.ends, axis=0)

    def ended(self, rank: Int64s, times: Int64s) -> Int64s:
        """The last operation up to which all have ended on each rank at a time of its clock, -1 none."""
        found = np.empty(len(rank), np.int64)
        order = np.argsort(rank, kind="stable")
        opens = np.flatnonzero(np.diff(rank[order], prepend=-1))
        for own in np.split(order, opens[1:]):
            reach = self._reach[:, self.member[rank[own[0]]]]
            found[own] = np.searchsorted(reach, times[own], "right") - 1
        return found

    def common(self, last: Int64s, one: Int64s, other: Int64s) -> Int64s:
        """The last operation up to `last` in which both ranks took part, -1 where none is."""
        found: Int64s = last.copy()
        left = np.flatnonzero(found >= 0)
        mine, theirs = self.member[one], self.member[other]
        while len(left):
            at = found[left]
            missing = (self.places[at, mine[left]] < 0) | (self.places[at, theirs[left]] < 0)
            left = left[missing]
            found[left] -= 1
            left = left[found[left] >= 0]
        return found
