"""Who waited how long for whom: of each operation the last rank to arrive, and the waits of the others.

The planes of an operation name the peer that was late. Where that peer's own trace is here, the wait is the
difference of both arrivals on aligned clocks; where it is missing, what the planes say. Without planes the
last of the ranks that are here counts, and where some are missing the waits are lower bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.columns import ColumnTable
from tracetui.job.match import MatchedChannel

#: ns beyond the residual of the clocks by which planes and clocks may name different ranks without a word.
DISAGREE = 50_000
NOBODY = -1
INCOMPARABLE = -2  #: a late rank without a start to compare: not here, not aligned, or not matched


@dataclass(frozen=True, eq=False)
class JobWaits(ColumnTable):
    """Each rank's part in each operation, as columns of equal length, by channel, operation, rank."""

    channel: Int64s  #: place among the channels
    operation: Int64s  #: a number of its own for each operation of the job
    rank_place: Int64s  #: place in the job of the rank that waits
    collective: Int64s  #: its place among the collectives of the rank
    step: Int64s  #: number of the step that it starts in on this rank, -1 where none
    arrival: Int64s  #: aligned start
    end: Int64s  #: aligned end
    wait_ns: Int64s  #: ns until the late rank arrived, at most until `end`; 0 for that rank itself
    late_place: Int64s  #: place of the late rank; NOBODY where nobody was late; else INCOMPARABLE
    peer: Int64s  #: number in the group of the late rank, -1 where not known
    lower_bound: Int64s  #: 1: it may be longer, as nothing tells when ranks came that are not here
    exposed_ns: Int64s  #: of `wait_ns` what the rank did nothing else in (`Exposure.exposed_ns`); 0 before

    @property
    def matched(self) -> int:
        """How many operations two ranks at least take part in."""
        return int((np.unique(self.operation, return_counts=True)[1] > 1).sum())

    def at_step(self, step: int | None) -> JobWaits:
        """Return the waits in a step, or all."""
        return self if step is None else self.at(self.step == step)


@dataclass(frozen=True)
class WaitNotes:
    """What is to be said of the waits."""

    disagree: int = 0  #: operations in which planes and clocks name different ranks
    bounds: int = 0  #: operations without planes of which ranks are missing


def find_job_waits(
    ranks: tuple[Rank, ...], channels: Sequence[MatchedChannel], clocks: Clocks, all_here: bool = False
) -> tuple[JobWaits, WaitNotes]:
    """Return the waits in all operations of all channels. `all_here`: no rank of the job is missing."""
    parts, operations, disagree, bounds = [], 0, 0, 0
    for number, matched in enumerate(channels):
        part, disagreeing, lower_bounds = _channel_waits(ranks, matched, clocks, all_here)
        part[1] += operations
        operations += len(matched.places)
        disagree += disagreeing
        bounds += lower_bounds
        parts.append(np.concatenate((np.full((1, part.shape[1]), number, np.int64), part[1:])))
    columns = np.concatenate([np.empty((len(fields(JobWaits)), 0), np.int64), *parts], axis=1)
    return JobWaits(*columns), WaitNotes(disagree, bounds)


def _channel_waits(
    ranks: tuple[Rank, ...], matched: MatchedChannel, clocks: Clocks, all_here: bool
) -> tuple[Int64s, int, int]:
    """Return the columns of a channel, the first left free; the disagreements; and the lower bounds."""
    channel, here = matched.channel, matched.places >= 0
    members = np.array(channel.ranks, np.int64)
    offset, tolerance_ns = clocks.offset[members], clocks.spread_ns + DISAGREE
    arrival = matched.column(ranks, "start") - offset
    end = matched.column(ranks, "end") - offset
    known = (matched.column(ranks, "known") == 1) & here
    wait_by_planes = matched.column(ranks, "wait")
    peer = matched.column(ranks, "peer", -1)
    # The late rank itself waits for nobody: that nobody was late only the planes of all ranks here tell.
    known &= ((known | ~here).all(axis=1) | (known & (peer >= 0)).any(axis=1))[:, None]
    ring = matched.column(ranks, "ring") == 1
    number = np.array([group.rank for group in channel.groups], np.int64)
    rows, lowest = np.arange(len(here)), np.iinfo(np.int64).min
    last_arrival = np.where(here, arrival, lowest).argmax(axis=1)
    longest_wait = np.where(known, wait_by_planes, -1).argmax(axis=1)
    named_peer = peer[rows, longest_wait]
    member_of_peer = _members_by_number(number)[np.clip(named_peer, -1, _HIGHEST)]
    is_here = (member_of_peer >= 0) & here[rows, member_of_peer]
    is_whole = np.logical_and(here.all(axis=1), channel.complete)
    if all_here and not channel.size:  # a stream: the ranks of an operation are those that end together
        is_whole |= here.sum(axis=1) > 1
    behind_ns = arrival[rows, last_arrival] - np.where(
        is_here, arrival[rows, member_of_peer], arrival[rows, last_arrival]
    )
    is_doubted = behind_ns > tolerance_ns
    by_clock = ~known.any(axis=1) | ring[rows, longest_wait] | is_doubted | (is_whole & ~is_here)
    by_clock &= is_whole | ~known.any(axis=1) | is_here
    late = np.where(by_clock, last_arrival, np.where(is_here, member_of_peer, -1))
    late = np.where(known.any(axis=1) & (named_peer < 0), -1, late)
    seen_longer = wait_by_planes[rows, longest_wait] - (
        arrival[rows, last_arrival] - arrival[rows, longest_wait]
    )
    is_beyond = ring[rows, longest_wait] & ~is_whole & (seen_longer > tolerance_ns)
    late = np.where(is_beyond, -1, late)
    is_incomparable = (named_peer >= 0) & (late < 0)
    by_arrival = np.clip(arrival[rows, late][:, None] - arrival, 0, end - arrival)
    wait = np.where((late >= 0)[:, None] & here, by_arrival, 0)
    wait = np.where(is_incomparable[:, None] & known, np.clip(wait_by_planes, 0, end - arrival), wait)
    late_place = np.where(late >= 0, members[late], np.where(is_incomparable, INCOMPARABLE, NOBODY))
    late_place = np.where((wait > 0).any(axis=1), late_place, NOBODY)
    late_peer = np.where(
        late >= 0, number[late], np.where(is_incomparable & ~(is_beyond & is_here), named_peer, -1)
    )
    is_told = known | is_whole[:, None] | (known.any(axis=1) & (late >= 0))[:, None]
    operation, member = np.nonzero(here)
    columns = np.stack(
        (
            np.zeros(len(member), np.int64),
            operation,
            members[member],
            matched.places[operation, member],
            matched.column(ranks, "step", -1)[operation, member],
            arrival[operation, member],
            end[operation, member],
            wait[operation, member],
            late_place[operation],
            late_peer[operation],
            ~is_told[operation, member],
            np.zeros(len(member), np.int64),
        )
    )
    bounds = ~known.any(axis=1) & ~is_whole & (here.sum(axis=1) > 1)
    return columns, int((is_doubted & ~ring[rows, longest_wait]).sum()), int(bounds.sum())


_HIGHEST = (1 << 16) - 1  # number of a rank in its group


def _members_by_number(number: Int64s) -> Int64s:
    """Return int64[65537]: the member with each number in the group, -1 where not here; last, for -1, -1."""
    table = np.full(_HIGHEST + 2, -1, np.int64)
    is_valid = (number >= 0) & (number <= _HIGHEST)
    table[number[is_valid]] = np.flatnonzero(is_valid)
    return table


def global_rank(matched: MatchedChannel, number: int) -> int | None:
    """Return the rank in the job of a number in a group; None where not known: never guessed."""
    rank_lists = (group.global_ranks for group in matched.channel.groups)
    ranks = next((ranks for ranks in rank_lists if ranks), ())
    return ranks[number] if 0 <= number < len(ranks) else None


def waited_for(ranks: Sequence[Rank], channels: Sequence[MatchedChannel], waits: JobWaits) -> Int64s:
    """Return for each wait the place of the late rank, also of one here without a start to compare.

    NOBODY and INCOMPARABLE stay where nobody was late, and where the late rank is missing or not known.
    """
    places: Int64s = waits.late_place.copy()
    (incomparable,) = np.nonzero(places == INCOMPARABLE)
    place_by_number = {rank.number: place for place, rank in enumerate(ranks)}
    for channel, peer, wait_places in by_peer(waits, incomparable):
        number = global_rank(channels[channel], peer)
        if number is not None and number in place_by_number:
            places[wait_places] = place_by_number[number]
    return places


def by_peer(waits: JobWaits, wait_places: Int64s) -> Iterator[tuple[int, int, Int64s]]:
    """Yield the waits at `wait_places` by whom they are for: channel, peer (-1: not known), their places."""
    peer_keys = waits.channel[wait_places] * (1 << 32) + waits.peer[wait_places] + 1
    for peer_key in np.unique(peer_keys).tolist():
        yield peer_key >> 32, (peer_key & 0xFFFFFFFF) - 1, wait_places[peer_keys == peer_key]
