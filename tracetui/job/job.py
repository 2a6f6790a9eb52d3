"""A job: its ranks, who is missing, and all that follows from their digests, each part made at first use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank, channels, count_without_peer
from tracetui.job.clocks import Clocks, find_clocks, without_strangers
from tracetui.job.digest import MOST_RANKS
from tracetui.job.exposure import Exposure, find_exposure
from tracetui.job.match import MatchedChannel, Signatures, match
from tracetui.job.roots import RootBreakdown, find_roots
from tracetui.job.waits import JobWaits, WaitNotes, find_job_waits


@dataclass(frozen=True, eq=False)
class Job:
    """The ranks of one job that are here, by number."""

    ranks: tuple[Rank, ...]
    remarks: tuple[str, ...] = field(default=())  #: what was found beside it, in sentences without full stop
    all_steps: bool = False  #: means are of all steps, also of those not to be believed

    @cached_property
    def world(self) -> int | None:
        """How many ranks the job has; None where nothing tells."""
        worlds = [world for rank in self.ranks if (world := rank.digest.identity.world) <= MOST_RANKS]
        groups = [group for rank in self.ranks for group in rank.digest.groups]
        sizes = [group.size for group in groups if group.size <= MOST_RANKS]
        highest = max(self._numbers_in_groups, default=-1)
        world = max([0, *worlds]) or highest + 1 or max([0, *sizes])
        least_world = max((rank.number for rank in self.ranks), default=-1) + 1
        return max(world, least_world) if world else None

    @cached_property
    def _numbers_in_groups(self) -> set[int]:
        groups = [group for rank in self.ranks for group in rank.digest.groups]
        return {number for group in groups for number in group.global_ranks if number < MOST_RANKS}

    @cached_property
    def world_is_least(self) -> bool:
        """Whether the job may have more ranks than `world`: only rings tell, or groups of some ranks."""
        if self.world is None or any(rank.digest.identity.world == self.world for rank in self.ranks):
            return False
        if self._numbers_in_groups:
            return len(self._numbers_in_groups) < self.world
        return not any(_shows_all(rank, self.world) for rank in self.ranks)

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers of the ranks that are not here."""
        here = {rank.number for rank in self.ranks}
        return tuple(number for number in range(self.world or 0) if number not in here)

    @property
    def is_whole(self) -> bool:
        """Whether all ranks of the job are known to be here."""
        return self.world is not None and not self.world_is_least and not self.missing

    @cached_property
    def _matched(self) -> tuple[tuple[MatchedChannel, ...], Clocks, int]:
        signatures = Signatures()
        found = [match(self.ranks, channel, signatures) for channel in channels(self.ranks)]
        clocks = find_clocks(self.ranks, found)
        checked = [without_strangers(self.ranks, matched, clocks) for matched in found]
        return tuple(matched for matched, _ in checked), clocks, sum(count for _, count in checked)

    @property
    def channels(self) -> tuple[MatchedChannel, ...]:
        """The operations that ranks ran together."""
        return self._matched[0]

    @property
    def clocks(self) -> Clocks:
        """How far apart the clocks are."""
        return self._matched[1]

    @property
    def strangers(self) -> int:
        """How many operations of like sequence do not end together."""
        return self._matched[2]

    @cached_property
    def _waits(self) -> tuple[JobWaits, WaitNotes]:
        return find_job_waits(self.ranks, self.channels, self.clocks, self.is_whole)

    @cached_property
    def _exposure(self) -> Exposure:
        return find_exposure(self.ranks, self._waits[0])

    @cached_property
    def waits(self) -> JobWaits:
        """Who waited for whom."""
        return replace(self._waits[0], exposed_ns=self._exposure.exposed_ns(self._waits[0]))

    @property
    def wait_notes(self) -> WaitNotes:
        """What is to be said of the waits."""
        return self._waits[1]

    @property
    def may_lack_late_rank(self) -> bool:
        """Whether a rank may be late of which nothing tells that it is missing."""
        return self.world is None and self.wait_notes.bounds > 0

    @cached_property
    def root_breakdown(self) -> RootBreakdown:
        """Why the late ranks were late, of all waits."""
        return find_roots(self.ranks, self.channels, self.clocks, self.waits, self._exposure)

    def root_breakdown_of(self, chosen: Bools) -> RootBreakdown:
        """Return the roots of some of the waits, bool[waits]."""
        return find_roots(self.ranks, self.channels, self.clocks, self.waits, self._exposure, chosen)

    @cached_property
    def matched(self) -> int:
        """How many operations were found on two ranks at least."""
        return self._waits[0].matched

    @cached_property
    def unmatched(self) -> int:
        """How many operations were found on one rank only, though another rank of their group is here."""
        return sum(
            int(((matched.places >= 0).sum(axis=1) == 1).sum())
            for matched in self.channels
            if len(matched.channel.ranks) > 1
        )

    @cached_property
    def without_peer(self) -> int:
        """How many sends and receives are counted for nobody, as nothing tells whom they are with."""
        return sum(map(count_without_peer, self.ranks))

    @cached_property
    def common_steps(self) -> Int64s:
        """The numbers of the steps that all ranks with steps have."""
        numbers = [rank.digest.steps.number for rank in self.ranks if len(rank.digest.steps)]
        return reduce(np.intersect1d, numbers) if numbers else np.empty(0, np.int64)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The numbers of the steps of its ranks."""
        numbers = [rank.digest.steps.number for rank in self.ranks]
        return tuple(np.unique(np.concatenate([np.empty(0, np.int64), *numbers])).tolist())


def _shows_all(rank: Rank, size: int) -> bool:
    """Return whether a collective of a group of this size shook hands with all of it."""
    collectives = rank.collectives
    sizes = np.array([group.size for group in rank.digest.groups], np.int64)[collectives.group]
    return bool(((sizes == size) & (collectives.known == 1) & (collectives.ring == 0)).any())


def job_of(ranks: Sequence[Rank], remarks: Sequence[str] = ()) -> Job:
    """Return the job of some ranks; no two of them have one number."""
    return Job(tuple(sorted(ranks, key=lambda rank: rank.number)), tuple(remarks))
