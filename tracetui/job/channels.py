"""The ranks of a job, and the channels in which their collectives are matched.

A channel is a communication group, or of a group the sends from one rank to another with their receives. What
ran in it on each rank, one after the other, are the same operations in the same order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.digest import CollectiveColumns, Digest, RankGroup

IS_SENDER = {"send": True, "receive": False, "recv": False}  # whether its own rank is the sender
BATCHES = ("batchsendrecv", "sendrecv", "coalesced")  #: sends and receives, of which the name tells no peer
_BATCH = 1 << 20  # what numbers of batches have more than those of sends


@dataclass(frozen=True, eq=False)
class Rank:
    """A rank of a job."""

    number: int
    digest: Digest
    path: str  #: where its trace lies, or its digest where that is all there is

    @property
    def is_numbered(self) -> bool:
        """Whether its number is told, by its trace or its name; else it got a free one."""
        return self.number == self.digest.identity.rank

    @property
    def collectives(self) -> CollectiveColumns:
        """Its collectives."""
        return self.digest.collectives

    @cached_property
    def start_boundary(self) -> Int64s:
        """int64[collectives]: the place among the boundaries of the start of each."""
        return np.searchsorted(self.digest.boundaries, self.collectives.start)

    @cached_property
    def end_boundary(self) -> Int64s:
        """int64[collectives]: the place among the boundaries of the end of each."""
        return np.searchsorted(self.digest.boundaries, self.collectives.end)


@dataclass(frozen=True, eq=False)
class Channel:
    """Collectives that the same ranks run together; ranks are places in the job, ascending."""

    group: RankGroup  #: as its first rank sees it
    pair: bool  #: sends and their receives
    ranks: tuple[int, ...]
    groups: tuple[RankGroup, ...]  #: as each of the ranks sees it
    collectives: tuple[Int64s, ...]  #: places of the collectives of each rank, by start

    @property
    def size(self) -> int:
        """How many ranks belong to it, as far as is known; 0: nothing is."""
        return 2 if self.pair else max(group.size for group in self.groups)

    @property
    def complete(self) -> bool:
        """Whether all of its ranks are known to be here."""
        return 0 < self.size <= len(self.ranks)


def channels(ranks: tuple[Rank, ...]) -> list[Channel]:
    """Return the channels of a job, ordered by their lowest rank."""
    found: dict[tuple[object, ...], list[tuple[int, RankGroup, Int64s]]] = {}
    whole_names = _whole_names(ranks)
    names = Counter(whole_names.values())
    shared_names = {name for name, count in names.items() if count > 1}
    for place, rank in enumerate(ranks):
        pair_number = _pair_numbers(rank, place)
        order = np.lexsort((np.arange(len(pair_number)), pair_number, rank.collectives.group))
        group, sorted_number = rank.collectives.group[order], pair_number[order]
        firsts = np.flatnonzero(
            np.diff(group, prepend=-1) | np.diff(sorted_number, prepend=sorted_number[:1])
        )
        for places in np.split(order, firsts[1:]) if len(order) else []:
            rank_group = rank.digest.groups[int(rank.collectives.group[places[0]])]
            key = (*_group_identity(rank_group, whole_names, shared_names), int(pair_number[places[0]]))
            found.setdefault(key, []).append((place, rank_group, places))
    return [
        _channel(members_of_one, isinstance(key[-1], int) and key[-1] != -1)
        for key, members in found.items()
        for members_of_one in _split_alike(members)
    ]


def _channel(members: list[tuple[int, RankGroup, Int64s]], pair: bool) -> Channel:
    ranks, groups, collectives = zip(*members)
    return Channel(groups[0], pair, ranks, groups, collectives)


def _pair_numbers(rank: Rank, rank_place: int) -> Int64s:
    """Return, for each send and receive, a number of (sender, receiver) in its group; -1 for anything else.

    Where one of the two is not known the number is below -1, and no other rank has it. A batch may do both,
    so its number is that of two ranks; where a rank has batches of a group without one peer, none counts.
    """
    collectives, digest = rank.collectives, rank.digest
    pair_number = np.full(len(collectives), -1, np.int64)
    for text in np.unique(collectives.type).tolist():
        kind = digest.text(text).lower()
        sends, is_batch = IS_SENDER.get(kind), kind in BATCHES
        if sends is None and not is_batch:
            continue
        (places,) = np.nonzero(collectives.type == text)
        own_number = np.array([group.rank for group in digest.groups], np.int64)[collectives.group[places]]
        sizes = np.array([group.size for group in digest.groups], np.int64)[collectives.group[places]]
        other = collectives.other[places]
        other = np.where((other < 0) & (sizes == 2) & (own_number >= 0), 1 - own_number, other)
        sender, receiver = (own_number, other) if sends else (other, own_number)
        known = (own_number >= 0) & (other >= 0)
        if is_batch:
            sender, receiver = np.minimum(own_number, other) + _BATCH, np.maximum(own_number, other)
            known &= ~np.isin(collectives.group[places], collectives.group[places[~known]])
        pair_number[places] = np.where(known, sender * (1 << 20) + receiver, -2 - rank_place)
    return pair_number


def count_without_peer(rank: Rank) -> int:
    """Count the sends and receives of a rank of which neither planes nor the other end tell who waited."""
    return int(((_pair_numbers(rank, 0) < -1) & (rank.collectives.known == 0)).sum())


def _whole_names(ranks: tuple[Rank, ...]) -> dict[tuple[str, tuple[int, ...]], str]:
    """Return the whole names of groups by their keys and ranks, as far as any rank knows them."""
    return {
        (group.key, group.global_ranks): group.communicator
        for rank in ranks
        for group in rank.digest.groups
        if group.communicator
    }


def _group_identity(
    group: RankGroup, known: dict[tuple[str, tuple[int, ...]], str], shared: set[str]
) -> tuple[object, ...]:
    """Return a key that a group has on all of its ranks, and no other group has.

    `shared`: names that several groups have, as far as their ranks tell.
    """
    name = group.communicator or known.get((group.key, group.global_ranks), "")
    return (name,) if name and name not in shared else (name or group.key, group.global_ranks)


def _split_alike(
    members: list[tuple[int, RankGroup, Int64s]],
) -> list[list[tuple[int, RankGroup, Int64s]]]:
    """Split the members of groups with one name: where two have one number, they are in different groups."""
    parts: list[list[tuple[int, RankGroup, Int64s]]] = []
    taken: list[set[int]] = []
    for member in members:
        number = member[1].rank
        if not parts or (number >= 0 and number in taken[-1]):
            parts.append([])
            taken.append(set())
        parts[-1].append(member)
        taken[-1].add(number)
    return parts


def are_symmetric(types: list[str]) -> Bools:
    """Return which collectives end on all ranks at the same time: all of them send and receive."""
    return np.array([kind.lower().startswith(_SYMMETRIC) for kind in types], np.bool_)


_SYMMETRIC = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")
