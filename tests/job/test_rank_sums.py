"""What the ranks of a job did, held and were advised, all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.job.planted import job
from tracetui.analysis.health.facts import Doubt, HealthFacts
from tracetui.job.digest import Digest
from tracetui.job.digest_run import run_of_digest
from tracetui.job.health import health_notes
from tracetui.job.idle_lines import job_lines
from tracetui.job.job import Job, job_of
from tracetui.job.rank_sums import (
    causes_by_step,
    job_advice,
    job_doubts,
    job_holders,
    job_operators,
    job_peaks,
)
from tracetui.job.run_columns import SumColumns, SumTable
from tracetui.language import state


@pytest.mark.parametrize("name", ["loader", "stage"])
def test_causes_sum_to_those_of_the_lines_in_each_step(name: str) -> None:
    found = job(name)
    causes = causes_by_step(found)
    assert causes.steps == found.steps
    for column, step in enumerate(causes.steps):
        of_lines: dict[str, int] = {}
        for line in job_lines(found, step):
            for cause, ns in line.causes.items():
                of_lines[cause] = of_lines.get(cause, 0) + ns
        of_step = dict(zip(causes.causes, causes.ns[:, column].tolist()))
        assert {cause: ns for cause, ns in of_step.items() if ns} == of_lines
    recorded = sum(int(rank.digest.boundaries[-1] - rank.digest.boundaries[0]) for rank in found.ranks)
    assert causes.step_ns.sum() == recorded
    totals = causes.ns.sum(axis=1).tolist()
    assert totals == sorted(totals, reverse=True)


def test_the_late_loader_is_the_largest_cause_in_its_steps() -> None:
    causes = causes_by_step(job("loader"))
    assert causes.causes[0] == "host.dataloader"
    late, even = causes.ns[0, [0, 2]], causes.ns[0, 1]
    assert (late > 4 * even).all()


def test_advice_is_told_of_the_rank_that_it_costs_most() -> None:
    found = job("loader")
    of_ranks = {rank.number: run_of_digest(rank.digest, "").advice for rank in found.ranks}
    rows = job_advice(found)
    assert {row.kind for row in rows} == {kind for advice in of_ranks.values() for kind in advice}
    for row in rows:
        costs = {number: advice[row.kind].ns for number, advice in of_ranks.items() if row.kind in advice}
        assert (row.cost_ns, row.ranks) == (max(costs.values()), len(costs))
        assert costs[row.rank] == row.cost_ns
    assert [row.cost_ns for row in rows] == sorted((row.cost_ns for row in rows), reverse=True)
    (late,) = [row for row in rows if row.kind == "iteration_gap"]
    assert late.rank == 2, "the loader of this rank is late"


def test_operators_are_summed_over_the_ranks() -> None:
    found = job("loader")
    rows = job_operators(found)
    assert len({(row.type, row.activity) for row in rows}) == len(rows)
    for name in ("MatMulV3", "hcom_allReduce_"):
        (row,) = [row for row in rows if row.type == name]
        tables = [(rank.digest, rank.digest.operators) for rank in found.ranks]
        places = [
            (table, place)
            for digest, table in tables
            for place, text in enumerate(table.type.tolist())
            if digest.text(text) == name
        ]
        assert row.ns == sum(int(table.ns[place]) for table, place in places)
        assert row.count == sum(int(table.count[place]) for table, place in places)


def with_memory(digest: Digest, allocated: int, holder: int) -> Digest:
    """A digest whose rank held so many bytes, and so many of them by an operator of its first line."""
    component, operator = len(digest.texts), len(digest.texts) + 1
    rows = [
        (SumTable.ALLOCATED, component, -1, allocated, 1, 0, 0),
        (SumTable.RESERVED, component, -1, 2 * allocated, 1, 0, 0),
        (SumTable.ALIVE, operator, 0, holder, 3, 0, 0),
    ]
    texts = (*digest.texts, "PTA", "aten::empty")
    return replace(digest, texts=texts, sums=SumColumns(*np.array(rows, np.int64).T))


def changed(found: Job, digests: list[Digest]) -> Job:
    return job_of([replace(rank, digest=digest) for rank, digest in zip(found.ranks, digests)])


def test_memory_is_told_of_the_rank_that_held_most() -> None:
    found = job("loader")
    assert not job_peaks(found) and not job_holders(found)
    sizes = [(10, 7), (40, 5), (30, 6), (20, 4)]
    held = changed(found, [with_memory(rank.digest, *size) for rank, size in zip(found.ranks, sizes)])
    (peak,) = job_peaks(held)
    assert (peak.component, peak.allocated, peak.reserved, peak.rank) == ("PTA", 40, 80, 1)
    (holder,) = job_holders(held)
    assert (holder.operator, holder.bytes, holder.blocks, holder.rank) == ("aten::empty", 7, 3, 0)
    assert holder.line == found.ranks[0].digest.lines[0]


def test_a_finding_of_several_ranks_is_told_once_the_worst_first() -> None:
    found = job("loader")
    lost = Doubt("device.lost", 2, ("idle",), state("{count} tasks are lost", count=3))
    odd = Doubt("clock.leap", 1, ("steps", "idle"), state("the clock leaps"))
    doubts: list[tuple[Doubt, ...]] = [(odd,), (odd, lost), (), (odd,)]
    digests = []
    for rank, of_rank in zip(found.ranks, doubts):
        assert rank.digest.facts is not None
        facts = replace(rank.digest.facts, health=HealthFacts(doubts=of_rank))
        digests.append(replace(rank.digest, facts=facts))
    assert job_doubts(found) == ()
    assert [(row.doubt.id, row.ranks) for row in job_doubts(changed(found, digests))] == [
        ("device.lost", (1,)),
        ("clock.leap", (0, 1, 3)),
    ]


@pytest.mark.parametrize(
    ("doubted", "words"),
    [
        ([1], "rank 1"),
        ([0, 2], "ranks 0, 2"),
        (range(8), "ranks 0, 1, 2, 3, 4, 5, 6, 7"),
        (range(9), "ranks 0, 1, 2, 3, 4, 5, 6, 7, ..."),
    ],
)
def test_ranks_whose_steps_are_left_out_are_named(doubted: Sequence[int], words: str) -> None:
    rank = job("loader").ranks[0]
    assert rank.digest.facts is not None
    health = HealthFacts(steps=(int(rank.digest.steps.number[0]),))
    digest = replace(rank.digest, facts=replace(rank.digest.facts, health=health))
    ranks = [replace(rank, number=number) for number in range(9)]
    assert [*health_notes(job_of(ranks))] == []
    left_out = [replace(rank, digest=digest) if rank.number in doubted else rank for rank in ranks]
    (note,) = health_notes(job_of(left_out))
    assert note == f"means of {words} leave out steps that are not to be believed (--all-steps takes all)"
    (note,) = health_notes(job_of(left_out), has_means=False)
    assert note == f"steps of {words} that are not to be believed count here, too"


@pytest.mark.parametrize(
    ("count", "last"),
    [(4, "1 more finding puts numbers of a rank"), (5, "2 more findings put numbers of ranks")],
)
def test_three_findings_are_told_and_others_counted(count: int, last: str) -> None:
    rank = job("loader").ranks[0]
    assert rank.digest.facts is not None
    lost = HealthFacts(doubts=(Doubt("device.lost", 1, ("idle",), "tasks are lost"),))
    digest = replace(rank.digest, facts=replace(rank.digest.facts, health=lost))
    notes = [*health_notes(job_of([replace(rank, number=number, digest=digest) for number in range(count)]))]
    assert notes[2:] == [
        "rank 2: tasks are lost (idle: doubtful)",
        f"{last} in doubt: tracetui doctor tells of each rank",
    ]
