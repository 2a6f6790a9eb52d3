"""The ranks of a job, and what of their collectives can belong together: the channels they communicate in.

A channel is a communication group, or of a group the sends from one rank to another with their receives. What
ran in it on each rank, one after the other, are the same operations in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.digest import CollectiveColumns, Digest, RankGroup

_PAIR = {"send": True, "receive": False, "recv": False}  # whether its own rank is the sender


@dataclass(frozen=True, eq=False)
class Rank:
    """A rank of a job."""

    number: int
    digest: Digest
    path: str  #: where its trace lies, or its digest where that is all there is

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
    """What some ranks ran together; the ranks are told by their places in the job, ascending."""

    group: RankGroup  #: as its first rank sees it
    pair: bool  #: sends and their receives
    ranks: tuple[int, ...]
    groups: tuple[RankGroup, ...]  #: as each of the ranks sees it
    own: tuple[Int64s, ...]  #: of each rank the places of its collectives, by start

    @property
    def size(self) -> int:
        """How many ranks belong to it, as far as is known; 0: nothing is."""
        return 2 if self.pair else max(group.size for group in self.groups)

    @property
    def complete(self) -> bool:
        """Whether all of its ranks are known to be here."""
        return 0 < self.size <= len(self.ranks)


def channels(ranks: tuple[Rank, ...]) -> list[Channel]:
    """Return the channels of a job, those of the lowest ranks first."""
    found: dict[tuple[object, ...], list[tuple[int, RankGroup, Int64s]]] = {}
    known = _whole_names(ranks)
    for place, rank in enumerate(ranks):
        stream = _streams(rank)
        order = np.lexsort((np.arange(len(stream)), stream, rank.collectives.group))
        group, told = rank.collectives.group[order], stream[order]
        opens = np.flatnonzero(np.diff(group, prepend=-1) | np.diff(told, prepend=told[:1]))
        for own in np.split(order, opens[1:]) if len(order) else []:
            own_group = rank.digest.groups[int(rank.collectives.group[own[0]])]
            key = (*_identity(own_group, known), int(stream[own[0]]))
            found.setdefault(key, []).append((place, own_group, own))
    return [
        _channel(part, isinstance(key[-1], int) and key[-1] != -1)
        for key, members in found.items()
        for part in _apart(members)
    ]


def _channel(members: list[tuple[int, RankGroup, Int64s]], pair: bool) -> Channel:
    ranks, groups, own = zip(*members)
    return Channel(groups[0], pair, ranks, groups, own)


def _streams(rank: Rank) -> Int64s:
    """Of each collective -1, or of a send or receive a number of (sender, receiver) in its group."""
    own, digest = rank.collectives, rank.digest
    stream = np.full(len(own), -1, np.int64)
    for text in np.unique(own.type).tolist():
        sends = _PAIR.get(digest.text(text).lower())
        if sends is None:
            continue
        (places,) = np.nonzero(own.type == text)
        mine = np.array([group.rank for group in digest.groups], np.int64)[own.group[places]]
        sizes = np.array([group.size for group in digest.groups], np.int64)[own.group[places]]
        other = own.other[places]
        other = np.where((other < 0) & (sizes == 2) & (mine >= 0), 1 - mine, other)
        sender, receiver = (mine, other) if sends else (other, mine)
        told = (mine >= 0) & (other >= 0)
        stream[places] = np.where(told, sender * (1 << 20) + receiver, -2 - places)
    return stream


def _whole_names(ranks: tuple[Rank, ...]) -> dict[tuple[str, tuple[int, ...]], str]:
    """The whole names of groups by their keys and ranks, as far as some rank knows them."""
    return {
        (group.key, group.global_ranks): group.communicator
        for rank in ranks
        for group in rank.digest.groups
        if group.communicator
    }


def _identity(group: RankGroup, known: dict[tuple[str, tuple[int, ...]], str]) -> tuple[object, ...]:
    """What is the same of a group on all of its ranks, and of no other group."""
    name = group.communicator or known.get((group.key, group.global_ranks), "")
    return (name,) if name else (group.key, group.global_ranks)


def _apart(
    members: list[tuple[int, RankGroup, Int64s]],
) -> list[list[tuple[int, RankGroup, Int64s]]]:
    """The members of groups that are called alike: where two have one number, they are in different ones."""
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


def symmetric(types: list[str]) -> Bools:
    """Return which collectives end on all ranks at the same time: all of them send and receive."""
    return np.array([kind.lower().startswith(_SYMMETRIC) for kind in types], np.bool_)


_SYMMETRIC = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier", "sendrecv")
