"""Find the last operation that two ranks took part in before another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from tracetui.analysis.search import pick
from tracetui.arrays import Int64s, first_equal
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.match import MatchedChannel
from tracetui.job.waits import DISAGREE, JobWaits

_BEFORE_ALL = np.iinfo(np.int64).min


def find_last_together(
    ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel], clocks: Clocks, waits: JobWaits
) -> tuple[Int64s, Int64s]:
    """Return the last operation, in any channel, that both ranks of each wait took part in before it.

    Two columns, int64[waits]: its place among the collectives of the rank that waited, and among those of the
    late rank. -1 where none had ended on both, and where the late rank is NOBODY or INCOMPARABLE.
    """
    last_place, late_last_place = np.full(len(waits), -1, np.int64), np.full(len(waits), -1, np.int64)
    latest = np.full(len(waits), _BEFORE_ALL, np.int64)
    late_collective = late_collectives(waits)
    waiting = np.flatnonzero(waits.late_place >= 0)
    bounds = np.searchsorted(waits.channel[waiting], np.arange(len(channels) + 1))
    starts = [rank.collectives.start for rank in ranks]
    timelines = [_Timeline(ranks, matched, clocks) for matched in channels]
    for channel, channels_in_common in _overlapping_channels(channels):
        waits_in_channel = waiting[bounds[channel] : bounds[channel + 1]]
        if not len(waits_in_channel):
            continue
        start = values_at(starts, waits.rank_place[waits_in_channel], waits.collective[waits_in_channel])
        late_start = values_at(starts, waits.late_place[waits_in_channel], late_collective[waits_in_channel])
        for other in channels_in_common:
            timeline = timelines[other]
            shared = np.flatnonzero(
                (timeline.member[waits.rank_place[waits_in_channel]] >= 0)
                & (timeline.member[waits.late_place[waits_in_channel]] >= 0)
            )
            if not len(shared):
                continue
            rows = waits_in_channel[shared]
            rank_reach = timeline.last_ended(waits.rank_place[rows], start[shared])
            late_reach = timeline.last_ended(waits.late_place[rows], late_start[shared])
            operation = timeline.last_common(
                np.minimum(rank_reach, late_reach), waits.rank_place[rows], waits.late_place[rows]
            )
            is_found = np.flatnonzero(operation >= 0)
            rows, operation = rows[is_found], operation[is_found]
            late_place = waits.late_place[rows]
            ended = timeline.ends[operation, timeline.member[late_place]] - clocks.offset[late_place]
            is_later = ended > latest[rows]
            rows, operation = rows[is_later], operation[is_later]
            latest[rows] = ended[is_later]
            last_place[rows] = timeline.places[operation, timeline.member[waits.rank_place[rows]]]
            late_last_place[rows] = timeline.places[operation, timeline.member[waits.late_place[rows]]]
    return last_place, late_last_place


def values_at(columns: Sequence[Int64s], rank: Int64s, place: Int64s) -> Int64s:
    """Return the values of collectives, each by its rank and its place there. `columns`: one of each rank."""
    first = np.concatenate(([0], np.cumsum([len(column) for column in columns])[:-1]))
    return np.concatenate([np.empty(0, np.int64), *columns])[first[rank] + place]


def late_collectives(waits: JobWaits) -> Int64s:
    """Return, for each wait, the place of its operation among the late rank's collectives; -1 without one."""
    is_late = waits.rank_place == waits.late_place
    return pick(waits.collective[is_late], first_equal(waits.operation[is_late], waits.operation))


def _overlapping_channels(channels: Sequence[MatchedChannel]) -> Iterator[tuple[int, list[int]]]:
    """Yield each channel with the channels that share two of its ranks at least, itself among them."""
    channels_of_rank: dict[int, list[int]] = {}
    for number, matched in enumerate(channels):
        for rank in matched.channel.ranks:
            channels_of_rank.setdefault(rank, []).append(number)
    for number, matched in enumerate(channels):
        counts = Counter(other for rank in matched.channel.ranks for other in channels_of_rank[rank])
        yield number, sorted(other for other, count in counts.items() if count > 1)


class _Timeline:
    """The operations of a channel in order, and when they ended on each of its ranks.

    Ranks were together in those only that ended on all at one time: a broadcast may end long before a late
    rank comes to it.
    """

    def __init__(self, ranks: tuple[Rank, ...], matched: MatchedChannel, clocks: Clocks) -> None:
        self.ends = matched.column(ranks, "end", _BEFORE_ALL)
        is_here = matched.places >= 0
        aligned = self.ends - clocks.aligned(matched.channel.ranks)
        first = np.where(is_here, aligned, np.iinfo(np.int64).max).min(axis=1)
        last = np.where(is_here, aligned, _BEFORE_ALL).max(axis=1)
        is_apart = last - first > clocks.spread_ns + DISAGREE
        self.places = matched.places
        self._together = np.maximum.accumulate(np.where(is_apart, -1, np.arange(len(is_apart))))
        self.member = np.full(len(ranks), -1, np.int64)
        self.member[list(matched.channel.ranks)] = np.arange(len(matched.channel.ranks))
        self._reach = np.maximum.accumulate(self.ends, axis=0)

    def last_ended(self, rank: Int64s, times: Int64s) -> Int64s:
        """Return the last operation up to which all had ended on each rank at its own time; else -1."""
        last = np.empty(len(rank), np.int64)
        order = np.argsort(rank, kind="stable")
        firsts = np.flatnonzero(np.diff(rank[order], prepend=-1))
        for rows in np.split(order, firsts[1:]):
            reach = self._reach[:, self.member[rank[rows[0]]]]
            last[rows] = np.searchsorted(reach, times[rows], "right") - 1
        return last

    def last_common(self, last: Int64s, rank: Int64s, other_rank: Int64s) -> Int64s:
        """Return the last operation up to `last` in which both ranks were together, -1 where none is."""
        operation = pick(self._together, last)
        pending = np.flatnonzero(operation >= 0)
        members, other_members = self.member[rank], self.member[other_rank]
        while len(pending):
            candidates = operation[pending]
            missing = (self.places[candidates, members[pending]] < 0) | (
                self.places[candidates, other_members[pending]] < 0
            )
            pending = pending[missing]
            operation[pending] = pick(self._together, operation[pending] - 1)
            pending = pending[operation[pending] >= 0]
        return operation
