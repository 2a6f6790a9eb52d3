"""What costs a job most time: ranks that are late, links that are slow, stages that compute longer.

All of it is in ns of all ranks together, so that one can be held against the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union

from tracetui.job.channels import Rank
from tracetui.job.digest import TimeClass
from tracetui.job.job import Job
from tracetui.job.late_ranks import LateRank, late_once
from tracetui.job.network_links import JobLink
from tracetui.job.rank_table import DIFFERS, RankRow
from tracetui.job.stages import Stage
from tracetui.job.waits import JobWaits


@dataclass(frozen=True)
class SlowLinks:
    """The links that are slow beside others of their kind."""

    links: tuple[JobLink, ...]  #: the one that took longest beyond the usual first
    lost_ns: int  #: of the ranks whose groups hold both ends of the first one


@dataclass(frozen=True)
class UnevenStages:
    """A stage of a pipeline that computes longer than the others, which wait for it."""

    slowest: Stage
    stages: int
    lost_ns: int


Loss = Union[LateRank, SlowLinks, UnevenStages]


def find_job_losses(
    job: Job, rows: Sequence[RankRow], waits: JobWaits, links: Sequence[JobLink], stages: Sequence[Stage]
) -> list[Loss]:
    """Return what the ranks lose time by, most first: by late ranks as much as others only waited for them.

    Args:
        waits: all waits of the job, or those of a step.
        links: of the job; none where a step is asked for, as digests keep the sums of all steps.
    """
    losses: list[Loss] = [*late_once(job, waits)]
    slow_links = sorted((link for link in links if link.slow), key=lambda link: -link.slowness.excess_ns)
    if slow_links:
        losses.append(SlowLinks(tuple(slow_links), _lost_by_link(job, slow_links[0])))
    uneven = _uneven_stages(rows, stages)
    losses += [uneven] if uneven is not None else []
    return sorted(losses, key=lambda loss: -cost_ns(loss))


def cost_ns(loss: Loss) -> int:
    """Return the ns that a loss costs the ranks: waits behind which they do other work cost them nothing."""
    return loss.exposed_ns if isinstance(loss, LateRank) else loss.lost_ns


def _lost_by_link(job: Job, link: JobLink) -> int:
    """Return what moving took the ranks longer by a link, at most what each of them only moved data.

    A collective takes as long as its slowest link, and slow links that move at once do not add up.
    """
    excess = link.slowness.excess_ns
    return sum(min(excess, rank.digest.by_class()[TimeClass.TRANSFER]) for rank in _users_of(job, link))


def _users_of(job: Job, link: JobLink) -> list[Rank]:
    """Return the ranks of groups that hold both ends of a link; all where its ends are not known."""
    ends = {link.ends.src, link.ends.dst}
    users: set[int] = set()
    for matched in job.channels:
        channel = matched.channel
        members = {job.ranks[place].number for place in channel.ranks}
        members |= {number for group in channel.groups for number in group.global_ranks}
        if ends <= members:
            users.update(channel.ranks)
    return [job.ranks[place] for place in sorted(users)] or [*job.ranks]


def _uneven_stages(rows: Sequence[RankRow], stages: Sequence[Stage]) -> UnevenStages | None:
    """Return the stage that computes longest and what the ranks of the others wait for that; None if even."""
    if len(stages) < 2:
        return None
    slowest = max(stages, key=lambda stage: stage.computing_max_ns)
    if slowest.imbalance * 100 <= DIFFERS:
        return None
    steps = max((row.all_steps for row in rows), default=1) or 1
    lost = sum((slowest.computing_max_ns - stage.computing_max_ns) * len(stage.ranks) for stage in stages)
    return UnevenStages(slowest, len(stages), lost * steps)
