"""Which numbers of a job can be believed: the health of its ranks, and of the job as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracetui.analysis.health.facts import Doubt, HealthFacts, worst_trust
from tracetui.analysis.health.finding import Severity
from tracetui.job.channels import Rank
from tracetui.job.digest import StepColumns
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.language import state

MISSING, UNALIGNED = "ranks.missing", "ranks.unaligned"
_MOST_SENTENCES = 3  #: sentences of one kind


def rank_health(rank: Rank) -> HealthFacts:
    """Return what a rank's digest keeps of its health; nothing of an older digest."""
    return HealthFacts() if rank.digest.facts is None else rank.digest.facts.health


def rank_verdict(rank: Rank) -> str:
    """Return "good", "doubtful" or "wrong": the worst of what is found in a rank."""
    return Severity(max((doubt.severity for doubt in rank_health(rank).doubts), default=0)).verdict


def job_health(job: Job) -> HealthFacts:
    """Return why whom ranks waited for is in doubt: their clocks, or ranks that may be missing untold."""
    reasons = (
        (job.clocks.parts > 1, UNALIGNED, state("clocks of ranks are not aligned")),
        (job.may_lack_late_rank, MISSING, state("ranks may be missing")),
    )
    return HealthFacts(
        tuple(Doubt(id_, Severity.DOUBTFUL, ("ranks",), words) for holds, id_, words in reasons if holds)
    )


def job_trust(job: Job) -> dict[str, str]:
    """Return the verdict on each number: the worst of the ranks, and of the job itself."""
    return worst_trust([*map(rank_health, job.ranks), job_health(job)])


def job_findings(job: Job) -> list[str]:
    """Return the ids of the findings of all ranks, and of the job itself, each once."""
    of_ranks = (identity for rank in job.ranks for identity in rank_health(rank).findings)
    is_missing = bool(job.missing) or (job.world is None and len(job.ranks) > 1)
    of_job = [MISSING] * is_missing + [UNALIGNED] * (job.clocks.parts > 1)
    return [*dict.fromkeys((*of_job, *of_ranks))]


def health_notes(job: Job, has_means: bool = True) -> Iterator[str]:
    """Yield, worst first, which numbers of which ranks cannot be believed: sentences without full stop.

    `has_means`: they stand beside means, which leave steps out; else beside what is of all steps.
    """
    doubts = [(doubt, rank.number) for rank in job.ranks for doubt in rank_health(rank).doubts]
    doubts.sort(key=lambda pair: -pair[0].severity)
    for doubt, number in doubts[:_MOST_SENTENCES]:
        finding = state(
            "{finding} ({numbers}: {verdict})",
            finding=doubt.sentence,
            numbers=tuple(map(state, doubt.affects)),
            verdict=state(Severity(doubt.severity).verdict),
        )
        yield state("{run}: {note}", run=f"rank {number}", note=finding)
    if len(doubts) > _MOST_SENTENCES:
        more = len(doubts) - _MOST_SENTENCES
        yield state(
            "1 more finding puts numbers of a rank in doubt: tracetui doctor tells of each rank"
            if more == 1
            else "{count} more findings put numbers of ranks in doubt: tracetui doctor tells of each rank",
            count=more,
        )
    if has_means and any(
        len(compared_steps(job, rank)) < len(believed_steps(job, rank)) for rank in job.ranks
    ):
        yield state("means are of the steps that all ranks have (--all-steps takes all)")
    left_out = [rank.number for rank in job.ranks if len(believed_steps(job, rank)) < len(rank.digest.steps)]
    if left_out:
        ranks = ranks_in_words(left_out, 0)
        template = "means of {ranks} leave out steps that are not to be believed (--all-steps takes all)"
        if not has_means:
            template = "steps of {ranks} that are not to be believed count here, too"
        yield state(template, ranks=ranks)


def believed_steps(job: Job, rank: Rank) -> StepColumns:
    """Return the steps of a rank without those not to be believed, all if none is left."""
    steps, doubted = rank.digest.steps, rank_health(rank).steps
    if job.all_steps or not doubted:
        return steps
    believed = ~np.isin(steps.number, np.array(doubted, np.int64))
    return steps.at(believed) if believed.any() else steps


def compared_steps(job: Job, rank: Rank) -> StepColumns:
    """Return the steps of a rank that means are of: those to be believed that all ranks have, if any are."""
    steps = believed_steps(job, rank)
    is_common = np.isin(steps.number, job.common_steps)
    return steps if job.all_steps or not is_common.any() else steps.at(is_common)
