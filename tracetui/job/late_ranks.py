"""Which ranks were late, how much that cost the others, and for each step its slowest rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.channels import Rank
from tracetui.job.job import Job
from tracetui.job.waits import INCOMPARABLE, NOBODY, JobWaits, global_rank, waited_for


@dataclass(frozen=True)
class LateRank:
    """A rank that others of a group waited for."""

    rank: int | None  #: number in the job; None: a missing rank whose number is not known
    missing: bool
    group: str  #: key of the group, as written in the trace: never print it unescaped
    name: str  #: what the group is for, "" where not known
    group_rank: int  #: number in the group, -1 where not known
    operations: int  #: in the group; of `late_once` in all groups
    lost_by: Mapping[int, int]  #: ns that each rank lost by waiting, by its place in the job
    exposed_ns: int  #: of all of it, what the ranks did nothing else in

    @property
    def lost_ns(self) -> int:
        """Return the ns that all ranks that waited lost together."""
        return sum(self.lost_by.values())

    @property
    def waiting_ranks(self) -> int:
        """Return how many ranks waited."""
        return len(self.lost_by)

    @property
    def longest_ns(self) -> int:
        """Return the ns of the rank that waited longest, in all operations together."""
        return max(self.lost_by.values())


@dataclass(frozen=True)
class SlowStep:
    """The rank that cost the others most in a step."""

    step: int
    rank: int | None  #: None: nobody was late, or a missing rank whose number is not known
    group: str  #: key of the group in which it cost most, "" where nobody was late
    group_rank: int
    lost_ns: int  #: by waiting for it
    total_ns: int  #: by waiting for anybody


def late_ranks(job: Job, waits: JobWaits | None = None) -> tuple[LateRank, ...]:
    """Return the ranks that were late, in all waits or in some: what they cost in each of their groups.

    The rank that cost most in all its groups is first, with its groups after each other, most lost first.
    """
    all_waits = job.waits if waits is None else waits
    real_waits = all_waits.at((all_waits.wait_ns > 0) & (all_waits.late_place != NOBODY))
    groups: dict[tuple[str, tuple[int, ...]], int] = {}
    of_group = [  # the first channel of the group of each channel
        groups.setdefault((matched.channel.group.key, matched.channel.group.global_ranks), place)
        for place, matched in enumerate(job.channels)
    ]
    real_waits = replace(
        real_waits,
        channel=np.array(of_group, np.int64)[real_waits.channel],
        late_place=waited_for(job.ranks, job.channels, real_waits),
    )
    real_waits = real_waits.at(np.lexsort((real_waits.peer, real_waits.late_place, real_waits.channel)))
    columns = np.stack((real_waits.channel, real_waits.late_place, real_waits.peer))
    first_of_rank = np.flatnonzero((np.diff(columns, axis=1, prepend=-9) != 0).any(axis=0))
    parts = (real_waits.at(part) for part in np.split(np.arange(len(real_waits)), first_of_rank)[1:])
    ranks = []
    for (channel, place, peer), part in zip(columns[:, first_of_rank].T.tolist(), parts):
        matched = job.channels[channel]
        group, missing = matched.channel.group, place == INCOMPARABLE
        number = global_rank(matched, peer) if missing else job.ranks[place].number
        lost_by, exposed_ns = _lost_by_rank(part), int(part.exposed_ns.sum())
        operations = len(np.unique(part.operation))
        ranks.append(LateRank(number, missing, group.key, group.name, peer, operations, lost_by, exposed_ns))
    cost: dict[_Identity, int] = {}
    for late in ranks:
        cost[_identity(late)] = cost.get(_identity(late), 0) + late.lost_ns
    ranks.sort(
        key=lambda late: (
            -cost[_identity(late)],
            -1 if late.rank is None else late.rank,
            *_identity(late)[1:],
            -late.lost_ns,
            late.group,
        )
    )
    return tuple(ranks)


def telling_rank(job: Job) -> Rank:
    """Return the rank whose trace tells most: the one here that cost most, else the most idle one."""
    ranks = {rank.number: rank for rank in job.ranks}
    late = (ranks[late.rank] for late in late_ranks(job) if late.rank in ranks)
    return next(late, max(job.ranks, key=lambda rank: int(rank.digest.steps.idle.sum())))


#: What is the same of a rank in all its groups; of a missing one without a number, its group as well.
_Identity = tuple[Optional[int], bool, str, int]


def _identity(late: LateRank) -> _Identity:
    return (late.rank, late.missing, *(("", -1) if late.rank is not None else (late.group, late.group_rank)))


def _lost_by_rank(waits: JobWaits) -> dict[int, int]:
    """Return the ns of the waits of each rank, by its place in the job."""
    ranks, place = np.unique(waits.rank_place, return_inverse=True)
    lost: Int64s = np.zeros(len(ranks), np.int64)
    np.add.at(lost, place, waits.wait_ns)
    return dict(zip(ranks.tolist(), lost.tolist()))


def late_once(job: Job, waits: JobWaits) -> tuple[LateRank, ...]:
    """Return the ranks that were late, each once: of one in several groups all that it cost, most lost first.

    The group is that in which it cost most. A missing rank whose number is not known is one of its group.
    """
    by_identity: dict[_Identity, LateRank] = {}
    for late in late_ranks(job, waits):
        earlier = by_identity.setdefault(_identity(late), late)
        if earlier is late:
            continue
        by_identity[_identity(late)] = replace(
            earlier,
            operations=earlier.operations + late.operations,
            lost_by=Counter(earlier.lost_by) + Counter(late.lost_by),
            exposed_ns=earlier.exposed_ns + late.exposed_ns,
        )
    return tuple(sorted(by_identity.values(), key=lambda late: -late.lost_ns))


def slow_steps(job: Job) -> tuple[SlowStep, ...]:
    """Return for each step of the job the rank that cost the others most in it."""
    slow_steps_found = []
    for number in job.steps:
        step_waits = job.waits.at_step(number)
        total = int(step_waits.wait_ns.sum())
        first = next(iter(late_once(job, step_waits)), None)
        slow_steps_found.append(
            SlowStep(number, None, "", -1, 0, total)
            if first is None
            else SlowStep(number, first.rank, first.group, first.group_rank, first.lost_ns, total)
        )
    return tuple(slow_steps_found)
