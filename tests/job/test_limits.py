"""Limits on the ranks of a job, and what the time is that shares of waiting are of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.job.planted import job
from tests.job.simulated import Meeting, Work, simulate
from tracetui.analysis.health.facts import HealthFacts
from tracetui.analysis.limits import parse_limit
from tracetui.export.sentences.job import job_time
from tracetui.export.sentences.notes import job_notes
from tracetui.job.digest import StepColumns, TimeCells, TimeClass
from tracetui.job.job import Job, job_of
from tracetui.job.limits import find_job_breaches, unknown_measures
from tracetui.job.rank_table import rank_rows

MS = 1_000_000


def doubted(whole: Job) -> Job:
    """Return a job of whose ranks only the first step is to be believed."""
    ranks = []
    for rank in whole.ranks:
        assert rank.digest.facts is not None
        health = HealthFacts(steps=tuple(rank.digest.steps.number[1:].tolist()))
        ranks.append(
            replace(rank, digest=replace(rank.digest, facts=replace(rank.digest.facts, health=health)))
        )
    return job_of(ranks)


def test_waits_of_all_steps_are_a_share_of_the_time_of_all_steps() -> None:
    """What means leave out changes no wait, so neither the time they are of nor a limit on them."""
    whole = job("late")
    for one in (whole, doubted(whole)):
        rows = rank_rows(one)
        assert job_time(rows) == sum(int(rank.digest.steps.stage.sum()) for rank in whole.ranks)
        assert {row.all_steps for row in rows} == {len(whole.steps)}
        assert {row.steps for row in rows} == {len(whole.steps) if one is whole else 1}
        breaches = find_job_breaches(one, [parse_limit("wait", "0%")])
        for breach in breaches:
            steps = whole.ranks[breach.rank].digest.steps
            assert breach.whole_ns == int(steps.stage.sum()) > breach.measured_ns
        assert breaches


def test_means_are_of_the_steps_that_all_ranks_have() -> None:
    """Rank 0 goes on where rank 1 was not recorded any more, and computes less then."""
    whole = simulate([Meeting("all", (0, 1), {})], 2)
    ranks = []
    for rank, computing in zip(whole.ranks, ([8 * MS, 4 * MS], [8 * MS])):
        steps = rank.digest.steps.at(np.zeros(len(computing), np.int64))
        steps = replace(steps, number=np.arange(1, len(computing) + 1), computing=np.array(computing))
        ranks.append(replace(rank, digest=replace(rank.digest, steps=steps)))
    limits = [parse_limit("imbalance", "0%")]
    assert find_job_breaches(job_of(ranks), limits) == ()
    assert "means are of the steps that all ranks have (--all-steps takes all)." in [
        note.rstrip(".") + "." for note in job_notes(job_of(ranks))
    ]
    (breach,) = find_job_breaches(replace(job_of(ranks), all_steps=True), limits)
    assert (breach.rank, breach.measured_ns, breach.whole_ns) == (1, MS, 7 * MS)


def test_one_rank_tells_neither_imbalance_nor_unsplit_waiting() -> None:
    """What a rank waited is known by itself where planes split waiting from moving, else by another rank."""
    limits = [parse_limit(measure, "100%") for measure in ("wait", "imbalance")]
    whole = job("late")
    assert unknown_measures(whole, limits) == ()
    alone = whole.ranks[0]
    assert unknown_measures(job_of([alone]), limits) == ("imbalance",)
    steps = replace(alone.digest.steps, unsplit=alone.digest.steps.unsplit + MS)
    unsplit = replace(alone, digest=replace(alone.digest, steps=steps))
    assert unknown_measures(job_of([unsplit]), limits) == ("wait", "imbalance")
    assert unknown_measures(job_of([unsplit, whole.ranks[1]]), limits) == ()


@pytest.mark.parametrize("computing", [(3, 3, 3), (3, 3, 6)])
def test_a_rank_whose_device_did_nothing_lowers_no_mean(computing: tuple[int, ...]) -> None:
    """The mean computing that imbalance is of is that of ranks whose device works."""
    work = {rank: [Work(TimeClass.COMPUTING, ms * MS)] for rank, ms in enumerate(computing)}
    ranks = [*simulate([Meeting("all", (0, 1, 2), work)], 3, steps=False).ranks]
    silent = replace(
        ranks[0].digest,
        steps=StepColumns.empty(),
        boundaries=ranks[0].digest.boundaries[:0],
        collectives=ranks[0].digest.collectives.at(slice(0)),
        cells=TimeCells(*np.zeros((3, 0), np.int64)),
    )
    ranks.append(replace(ranks[0], number=3, digest=silent))
    breaches = find_job_breaches(job_of(ranks), [parse_limit("imbalance", "10%")])
    mean = sum(computing) * MS // 3
    expected = [(rank, ms * MS - mean, mean) for rank, ms in enumerate(computing) if ms * MS > 1.1 * mean]
    assert [(breach.rank, breach.measured_ns, breach.whole_ns) for breach in breaches] == expected
