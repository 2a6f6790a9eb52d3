"""Which ranks were late, how much that cost the others, and for each step its slowest rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.job import Job
from tracetui.job.waits import ABSENT, NOBODY, JobWaits, global_rank


@dataclass(frozen=True)
class LateRank:
    """A rank that others of a group waited for."""

    rank: int | None  #: number in the job; None: a missing rank whose number is not known
    missing: bool
    group: str  #: key of the group, as written in the trace: never print it unescaped
    name: str  #: what the group is for, "" where not known
    group_rank: int  #: number in the group, -1 where not known
    operations: int
    lost_by: Mapping[int, int]  #: ns that each rank lost by waiting, by its place in the job

    @property
    def lost_ns(self) -> int:
        """ns that all ranks that waited lost together."""
        return sum(self.lost_by.values())

    @property
    def waited(self) -> int:
        """How many ranks waited."""
        return len(self.lost_by)

    @property
    def longest_ns(self) -> int:
        """ns of the rank that waited longest, in all operations together."""
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
    """Return the ranks that were late, by group, most lost first; in all waits, or in some."""
    every = job.waits if waits is None else waits
    own = every.at((every.wait > 0) & (every.late != NOBODY))
    order = np.lexsort((own.operation, own.peer, own.late, own.channel))
    own = own.at(order)
    changes = (np.diff(column, prepend=-9) != 0 for column in (own.channel, own.late, own.peer))
    opens = np.logical_or.reduce(list(changes))
    (one,) = np.nonzero(opens | (np.diff(own.operation, prepend=-1) != 0))  # each operation of each
    (first,) = np.nonzero(opens)
    counts = np.diff(np.searchsorted(one, first), append=len(one))
    found = []
    here = {rank.number for rank in job.ranks}
    rows = (own.channel[first], own.late[first], own.peer[first], counts)
    losses = [_by_rank(own.at(part)) for part in np.split(np.arange(len(own)), first)[1:]]
    for (channel, place, peer, operations), lost_by in zip(
        zip(*(column.tolist() for column in rows)), losses
    ):
        matched = job.channels[channel]
        known = global_rank(matched, peer) if place == ABSENT else job.ranks[place].number
        group = matched.channel.group
        missing = place == ABSENT and known not in here
        found.append(LateRank(known, missing, group.key, group.name, peer, operations, lost_by))
    found.sort(key=lambda late: (-late.lost_ns, late.group, -1 if late.rank is None else late.rank))
    return tuple(found)


def _by_rank(waits: JobWaits) -> dict[int, int]:
    """Return the ns of the waits of each rank, by its place in the job."""
    ranks, place = np.unique(waits.rank, return_inverse=True)
    lost: Int64s = np.zeros(len(ranks), np.int64)
    np.add.at(lost, place, waits.wait)
    return dict(zip(ranks.tolist(), lost.tolist()))


def late_once(job: Job, waits: JobWaits) -> tuple[LateRank, ...]:
    """Return the ranks that were late, each once: of one in several groups all that it cost, most lost first.

    The group is that in which it cost most. A missing rank whose number is not known is one of its group.
    """
    joined: dict[tuple[object, ...], LateRank] = {}
    for late in late_ranks(job, waits):
        key = (late.rank, late.missing) if late.rank is not None else (None, late.group, late.group_rank)
        before = joined.get(key)
        if before is None:
            joined[key] = late
            continue
        lost_by = {
            rank: before.lost_by.get(rank, 0) + late.lost_by.get(rank, 0)
            for rank in {**before.lost_by, **late.lost_by}
        }
        joined[key] = replace(before, operations=before.operations + late.operations, lost_by=lost_by)
    return tuple(sorted(joined.values(), key=lambda late: -late.lost_ns))


def slow_steps(job: Job) -> tuple[SlowStep, ...]:
    """Return for each step of the job the rank that cost the others most in it."""
    found = []
    for number in job.steps:
        own = job.waits.at(job.waits.step == number)
        late = late_ranks(job, own)
        total = int(own.wait.sum())
        if not late:
            found.append(SlowStep(number, None, "", -1, 0, total))
            continue
        lost: dict[tuple[int | None, bool, int], int] = {}
        for each in late:
            key = (each.rank, each.missing, -1 if each.rank is not None else each.group_rank)
            lost[key] = lost.get(key, 0) + each.lost_ns
        most = max(lost, key=lambda key: (lost[key], -1 if key[0] is None else -key[0]))
        first = next(each for each in late if (each.rank, each.missing) == most[:2])
        found.append(SlowStep(number, most[0], first.group, first.group_rank, lost[most], total))
    return tuple(found)
