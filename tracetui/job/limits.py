"""Limits on what the ranks of a job lose by waiting for each other, and on how uneven they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.limits import IMBALANCE, PHASE, WAIT, Limit
from tracetui.job.job import Job
from tracetui.job.phases import Phase, job_phases
from tracetui.job.rank_table import rank_rows


@dataclass(frozen=True)
class JobBreach:
    """A limit that a rank exceeded, over all of its steps together."""

    limit: Limit
    rank: int
    measured_ns: int
    whole_ns: int  #: what shares are of: its steps; of imbalance the mean computing, of a phase its mean


def find_job_breaches(job: Job, limits: Iterable[Limit]) -> tuple[JobBreach, ...]:
    """Return the limits that are exceeded, by rank.

    `wait`: what a rank only waited for others, of the time of its steps. `imbalance`: by how much longer
    than the mean of those whose device works a rank computes, of that mean. `phase NAME`: the longest range
    of a rank.
    """
    limits = tuple(limits)
    rows = rank_rows(job)
    computing = [ns for row in rows if (ns := row.mean("computing")) is not None]
    mean = sum(computing) // len(computing) if computing else 0
    only_waited = np.zeros(len(rows), np.int64)
    np.add.at(only_waited, job.waits.rank_place, job.waits.exposed_ns)
    measured = {
        WAIT: [(ns, row.time_ns) for ns, row in zip(only_waited.tolist(), rows)],
        IMBALANCE: [(max((row.mean("computing") or 0) - mean, 0), mean) for row in rows],
    }
    breaches = [breach for limit in limits for breach in _phase_breaches(job, limit)]
    for limit in limits:
        if limit.measure.startswith(PHASE):
            continue
        for row, (ns, total) in zip(rows, measured[limit.measure]):
            allowed = limit.ns if limit.share is None else limit.share * total
            if allowed is not None and ns > allowed:
                breaches.append(JobBreach(limit, row.rank.number, ns, total))
    return tuple(breaches)


def unknown_measures(job: Job, limits: Iterable[Limit]) -> tuple[str, ...]:
    """Return what limits are about and takes another rank to tell: imbalance, and waiting without planes."""
    rows = rank_rows(job)
    computing = [row for row in rows if row.mean("computing") is not None]
    unsplit = len(rows) == 1 and rows[0].mean("communication_unsplit")
    is_unknown = {IMBALANCE: len(computing) < 2, WAIT: bool(unsplit)}
    return tuple(dict.fromkeys(limit.measure for limit in limits if is_unknown.get(limit.measure)))


def unmarked_phases(job: Job, limits: Iterable[Limit]) -> tuple[str, ...]:
    """Return the names of phases that limits are about and no rank has."""
    wanted = [limit.measure[len(PHASE) :] for limit in limits if limit.measure.startswith(PHASE)]
    marked = {phase.name for phase in job_phases(job)} if wanted else set()
    return tuple(name for name in wanted if name not in marked)


def _phase_breaches(job: Job, limit: Limit) -> Iterator[JobBreach]:
    """Yield the ranks whose longest range is longer than a limit on a phase allows."""
    phases: tuple[Phase, ...] = job_phases(job) if limit.measure.startswith(PHASE) else ()
    for phase in phases:
        if limit.measure == f"{PHASE}{phase.name}":
            for rank, ns in phase.longest.items():
                if limit.ns is not None and ns > limit.ns:
                    yield JobBreach(limit, rank, ns, phase.mean_ns)
