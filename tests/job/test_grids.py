"""What ranks spent the time on, by step and by time: sums that are those of the digests and of the waits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.job.planted import job
from tests.job.simulated import Meeting, Work, simulate
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Int64s
from tracetui.job.absent_ranks import absent_ranks
from tracetui.job.digest import (
    ArrivalColumns,
    CollectiveColumns,
    Digest,
    LinkColumns,
    StepColumns,
    TimeCells,
    TimeClass,
)
from tracetui.job.grids import GridMeasure, classes_by_time, job_span, measure_by_step, measure_by_time
from tracetui.job.job import Job, job_of
from tracetui.job.late_ranks import late_once, late_ranks
from tracetui.job.rank_table import rank_rows


@pytest.fixture(scope="module")
def late() -> Job:
    """Rank 2 of 3 is idle for 400 µs longer than the others, whose clocks are 1 ms ahead and behind."""
    before = {
        0: [Work(TimeClass.COMPUTING, 100_000)],
        1: [Work(TimeClass.COMPUTING, 100_000)],
        2: [Work(TimeClass.IDLE, 400_000, "host.dataloader"), Work(TimeClass.COMPUTING, 100_000)],
    }
    meeting = Meeting("g", (0, 1, 2), before, transfer_ns=50_000)
    return simulate([meeting], 3, offsets=(0, 1_000_000, -1_000_000))


@pytest.mark.parametrize(
    ("measure", "ns", "of"),
    [
        (GridMeasure.COST, [0, 0, 800_000], [1_100_000] * 3),
        (GridMeasure.WAITED, [400_000, 400_000, 0], [550_000] * 3),
    ],
)
def test_waits_by_step(late: Job, measure: GridMeasure, ns: list[int], of: list[int]) -> None:
    grid, whole = measure_by_step(late, measure)
    assert grid[:, 0].tolist() == ns
    assert whole[:, 0].tolist() == of


@pytest.mark.parametrize(
    ("measure", "columns"),
    [
        (GridMeasure.COST, [[0] * 11, [0] * 11, [0, 0, *[100_000] * 8, 0]]),
        (GridMeasure.WAITED, [[0, 0, *[50_000] * 8, 0]] * 2 + [[0] * 11]),
        (GridMeasure.COMMUNICATION, [[0, 0, *[50_000] * 9]] * 2 + [[*[0] * 10, 50_000]]),
        (GridMeasure.COMPUTING, [[50_000, 50_000, *[0] * 9]] * 2 + [[10_000] * 10 + [0]]),
        (GridMeasure.IDLE, [[0] * 11, [0] * 11, [40_000] * 10 + [0]]),
    ],
)
def test_columns_of_time_are_aligned(late: Job, measure: GridMeasure, columns: list[list[int]]) -> None:
    start, end = job_span(late)
    assert end - start == 550_000
    ns, of = measure_by_time(late, measure, even_edges(start, end, 11))
    assert ns.tolist() == columns, "classes are spread evenly between the boundaries of a digest"
    assert set(of.ravel().tolist()) == {100_000 if measure is GridMeasure.COST else 50_000}


@pytest.mark.parametrize("name", ["late", "both", "stage"])
def test_grids_hold_what_the_job_does(name: str) -> None:
    simulated = job(name)
    waits = simulated.waits.wait_ns
    in_steps = np.isin(simulated.waits.step, simulated.steps)
    edges = even_edges(*job_span(simulated), 97)
    for measure in (GridMeasure.COST, GridMeasure.WAITED):
        assert measure_by_step(simulated, measure)[0].sum() == waits[in_steps].sum()
        assert measure_by_time(simulated, measure, edges)[0].sum() == waits.sum()
    for place, rank in enumerate(simulated.ranks):
        split = classes_by_time(rank, int(simulated.clocks.offset[place]), edges).sum(axis=1)
        assert np.allclose(split, [*rank.digest.by_class().values()], atol=1)
        for measure, column in (
            (GridMeasure.IDLE, rank.digest.steps.idle),
            (GridMeasure.COMPUTING, rank.digest.steps.computing),
        ):
            assert measure_by_step(simulated, measure)[0][place].sum() == column.sum()


def test_what_a_step_consists_of_is_all_of_it_with_its_bubble() -> None:
    pipeline = job("stage")
    assert sum(int(rank.digest.steps.bubble.sum()) for rank in pipeline.ranks) > 0
    parts = (GridMeasure.COMPUTING, GridMeasure.COMMUNICATION, GridMeasure.COPY, GridMeasure.IDLE)
    grids = [measure_by_step(pipeline, part) for part in parts]
    total: Int64s = sum((ns for ns, _ in grids), np.zeros_like(grids[0][0]))
    assert all(whole.tolist() == total.tolist() for _, whole in grids)
    assert [row.time_ns for row in rank_rows(pipeline)] == total.sum(axis=1).tolist()


def test_a_missing_rank_has_a_row_with_all_that_it_cost() -> None:
    late = job("loader", 1)
    without_rank = job_of([rank for rank in late.ranks if rank.number != 2])
    (absent,) = absent_ranks(without_rank)
    assert (absent.late.rank, absent.late.missing) == (2, True)
    assert (
        absent.late.lost_ns
        == without_rank.waits.wait_ns[absent.waits].sum()
        == late_ranks(without_rank)[0].lost_ns
    )
    ns, of = measure_by_step(without_rank, GridMeasure.COST, [absent.waits])
    before, _ = measure_by_step(without_rank, GridMeasure.COST)
    assert ns[:3].tolist() == before.tolist() and ns[3].sum() == absent.late.lost_ns
    assert of[3].tolist() == [
        sum(int(rank.digest.steps.stage[step]) for rank in without_rank.ranks) for step in range(3)
    ]
    over_time, _ = measure_by_time(
        without_rank, GridMeasure.COST, even_edges(*job_span(without_rank), 31), [absent.waits]
    )
    assert over_time[3].sum() == absent.late.lost_ns and over_time.sum() == without_rank.waits.wait_ns.sum()


def test_a_rank_that_lacks_its_device_part_costs_what_others_waited_for_it() -> None:
    """In its row of the map, and in the table of ranks; as a share of the time of all others."""
    late = job("loader", 1)
    ranks = [
        replace(rank, digest=without_device(rank.digest)) if rank.number == 2 else rank for rank in late.ranks
    ]
    damaged = job_of(ranks)
    (lost_ns,) = {late_rank.lost_ns for late_rank in late_once(damaged, damaged.waits) if late_rank.rank == 2}
    assert lost_ns > 0 and absent_ranks(damaged) == ()
    assert [row.cost_ns for row in rank_rows(damaged) if row.rank.number == 2] == [lost_ns]
    ns, of = measure_by_step(damaged, GridMeasure.COST)
    over_time, _ = measure_by_time(damaged, GridMeasure.COST, even_edges(*job_span(damaged), 31))
    assert ns[2].sum() == over_time[2].sum() == lost_ns
    stages = [
        sum(int(rank.digest.steps.stage[step]) for rank in ranks if rank.number != 2) for step in range(3)
    ]
    assert of[2].tolist() == [stage if cost else 0 for stage, cost in zip(stages, ns[2].tolist())]


def without_device(digest: Digest) -> Digest:
    """Return what is left of a digest whose file ends before what the device did."""
    nothing = np.zeros(0, np.int64)
    return replace(
        digest,
        groups=(),
        steps=StepColumns.empty(),
        collectives=CollectiveColumns.empty(),
        arrivals=ArrivalColumns.empty(),
        links=LinkColumns.empty(),
        boundaries=nothing,
        cells=TimeCells.empty(),
    )
