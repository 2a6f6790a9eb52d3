"""The missing ranks that the ranks here waited for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.job import Job
from tracetui.job.late_ranks import LateRank, late_once
from tracetui.job.waits import INCOMPARABLE, by_peer, global_rank


@dataclass(frozen=True, eq=False)
class AbsentRank:
    """A rank that was late and whose trace is missing."""

    late: LateRank  #: what it cost in all groups
    waits: Int64s  #: places among the waits of the job of those for it


def absent_ranks(job: Job) -> tuple[AbsentRank, ...]:
    """Return the missing ranks that were late, most lost first, as `late_once` counts them."""
    waits = job.waits
    (places,) = np.nonzero((waits.late_place == INCOMPARABLE) & (waits.wait_ns > 0))
    waits_by_rank: dict[tuple[object, ...], list[Int64s]] = {}
    for channel, peer, wait_places in by_peer(waits, places):
        matched = job.channels[channel]
        key = _key(global_rank(matched, peer), matched.channel.group.key, peer)
        waits_by_rank.setdefault(key, []).append(wait_places)
    missing = [late for late in late_once(job, waits) if late.missing]
    keys = [_key(late.rank, late.group, late.group_rank) for late in missing]
    return tuple(AbsentRank(late, np.concatenate(waits_by_rank[key])) for late, key in zip(missing, keys))


def _key(rank: int | None, group: str, group_rank: int) -> tuple[object, ...]:
    return (rank,) if rank is not None else (group, group_rank)
