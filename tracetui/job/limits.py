"""Limits on what the ranks of a job lose by waiting for each other, and on how uneven they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tracetui.analysis.limits import IMBALANCE, WAIT, Limit
from tracetui.job.job import Job
from tracetui.job.rank_table import rank_rows


@dataclass(frozen=True)
class JobBreach:
    """A limit that a rank passed, over all of its steps together."""

    limit: Limit
    rank: int
    measured_ns: int
    whole_ns: int  #: what shares are of: its steps; of imbalance, the mean computing of a step


def find_breaches(job: Job, limits: Iterable[Limit]) -> tuple[JobBreach, ...]:
    """Return the limits that are passed, by rank.

    `wait`: what a rank lost by waiting for others, of the time of its steps. `imbalance`: by how much longer
    than the mean of all ranks it computes, of that mean.
    """
    rows = rank_rows(job)
    computing = [row.mean("computing") or 0 for row in rows]
    mean = sum(computing) // len(computing) if computing else 0
    measured = {
        WAIT: [(row.lost_ns, (row.mean("stage") or 0) * max(row.steps, 1)) for row in rows],
        IMBALANCE: [(max(ns_computing - mean, 0), mean) for ns_computing in computing],
    }
    breaches = []
    for limit in limits:
        for row, (ns, whole) in zip(rows, measured[limit.measure]):
            allowed = limit.ns if limit.share is None else limit.share * whole
            if allowed is not None and ns > allowed:
                breaches.append(JobBreach(limit, row.rank.number, ns, whole))
    return tuple(breaches)
