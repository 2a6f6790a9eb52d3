"""Which ranks were late, how much that cost the others, and for each step its slowest rank."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracetui.job.job import Job
from tracetui.job.waits import ABSENT, NOBODY, Waits, global_rank


@dataclass(frozen=True)
class LateRank:
    """A rank that others of a group waited for."""

    rank: int | None  #: number in the job; None: a missing rank whose number is not known
    missing: bool
    group: str  #: key of the group, as written in the trace: never print it unescaped
    name: str  #: what the group is for, "" where not known
    group_rank: int  #: number in the group, -1 where not known
    lost_ns: int  #: of all ranks that waited
    operations: int
    waited: int  #: ranks that waited, the most of any operation


@dataclass(frozen=True)
class SlowStep:
    """The rank that cost the others most in a step."""

    step: int
    rank: int | None  #: None: nobody was late, or a missing rank whose number is not known
    group: str  #: key of the group in which it cost most, "" where nobody was late
    group_rank: int
    lost_ns: int  #: by waiting for it
    total_ns: int  #: by waiting for anybody


def late_ranks(job: Job, waits: Waits | None = None) -> tuple[LateRank, ...]:
    """Return the ranks that were late, by group, most lost first; in all waits, or in some."""
    every = job.waits if waits is None else waits
    own = every.at((every.wait > 0) & (every.late != NOBODY))
    order = np.lexsort((own.operation, own.peer, own.late, own.channel))
    own = own.at(order)
    changes = (np.diff(column, prepend=-9) != 0 for column in (own.channel, own.late, own.peer))
    opens = np.logical_or.reduce(list(changes))
    (one,) = np.nonzero(opens | (np.diff(own.operation, prepend=-1) != 0))  # each operation of each
    waited = np.diff(one, append=len(own))
    (first,) = np.nonzero(opens)
    lost = np.add.reduceat(own.wait, first) if len(first) else first
    at = np.searchsorted(one, first)
    most = np.maximum.reduceat(waited, at) if len(first) else first
    counts = np.diff(at, append=len(one))
    found = []
    here = {rank.number for rank in job.ranks}
    rows = (own.channel[first], own.late[first], own.peer[first], lost, counts, most)
    for channel, place, peer, *told in zip(*(column.tolist() for column in rows)):
        matched = job.channels[channel]
        known = global_rank(matched, peer) if place == ABSENT else job.ranks[place].number
        group = matched.channel.group
        missing = place == ABSENT and known not in here
        found.append(LateRank(known, missing, group.key, group.name, peer, *told))
    found.sort(key=lambda late: (-late.lost_ns, late.group, -1 if late.rank is None else late.rank))
    return tuple(found)


def late_once(job: Job, waits: Waits) -> tuple[LateRank, ...]:
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
        joined[key] = replace(
            before,
            lost_ns=before.lost_ns + late.lost_ns,
            operations=before.operations + late.operations,
            waited=max(before.waited, late.waited),
        )
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
