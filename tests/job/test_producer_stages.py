"""Stages of a pipeline, held against the tables that producers make of real jobs.

There are no traces beside them: each rank is given the numbers of its own row.
"""

from __future__ import annotations

import csv
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from tests.job.planted import job
from tracetui.job.rank_table import Measures, RankRow, Spread, _spread, differing, rank_rows
from tracetui.job.stages import job_stages

US, MS = 1_000, 1_000_000  # ns
EXPOSED, WITHOUT_RECEIVES = (
    "Communication(Not Overlapped)",
    "Communication(Not Overlapped and Exclude Receive)",
)


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def spread(ns: float) -> Spread:
    return Spread(round(ns), round(ns), round(ns))


def rank_row(number: int, stage_number: int, **measures: float) -> RankRow:
    """The row of a rank that has these measures, in ns, and no others."""
    row = rank_rows(job("stage"))[0]
    nothing = Measures(**{field.name: cast(Any, None) for field in fields(Measures)})
    known = replace(nothing, **{name: spread(ns) for name, ns in measures.items()})
    return replace(row, rank=replace(row.rank, number=number), stage_number=stage_number, measures=known)


@pytest.mark.parametrize(("longer", "measures"), [(50, ()), (51, ("idle",))])
def test_a_measure_differs_by_more_than_5_percent_of_the_mean_step(
    longer: int, measures: tuple[str, ...]
) -> None:
    rows = (rank_row(0, 0, stage=1000, idle=10, copy=100), rank_row(1, 0, stage=1000, idle=10 + longer))
    assert differing(rows) == measures


def test_a_measure_has_the_least_and_the_most_of_the_steps() -> None:
    ns = np.array([5, 1, 9])
    assert _spread(ns) == Spread(5, 1, 9)


def test_a_stage_is_the_largest_of_its_ranks_as_in_the_table_of_the_cluster(real_traces: Path) -> None:
    path = real_traces / "npu" / "pipeline_tables" / "cluster_analysis_output" / "cluster_step_trace_time.csv"
    table = read_table(path)
    producer = [row for row in table if row["Type"] == "stage"]
    members = [tuple(map(int, row["Index"].strip("()").split(","))) for row in producer]
    of_rank = {rank: number for number, ranks in enumerate(members) for rank in ranks}
    rows = []
    for row in (row for row in table if row["Type"] == "rank"):
        exposed, rest, bubble = (float(row[name]) for name in (EXPOSED, WITHOUT_RECEIVES, "Bubble"))
        assert exposed - rest == pytest.approx(bubble, abs=1e-6), "no receive of this job is overlapped"
        number = int(row["Index"])
        rows.append(
            rank_row(
                number,
                of_rank[number],
                computing=float(row["Computing"]) * US,
                bubble=bubble * US,
                stage=float(row["Stage"]) * US,
                receive_only=(exposed - rest) * US,
                communication_without_receive=rest * US,
            )
        )
    stages = job_stages(job("stage"), tuple(rows))
    assert [stage.ranks for stage in stages] == members
    for stage, producer_row in zip(stages, producer):
        assert stage.computing_max_ns == round(float(producer_row["Computing"]) * US)
        assert stage.bubble_ns == round(float(producer_row["Bubble"]) * US)
        assert stage.stage_ns == round(float(producer_row["Stage"]) * US)
        assert stage.exposed_ns == round(float(producer_row[WITHOUT_RECEIVES]) * US)
        assert stage.receive_ns == stage.bubble_ns
        assert stage.communicates, "more than 10 % of it"
    first, last = stages
    assert first.bubble_ns == 0 < last.bubble_ns, "only the second stage receives"


def test_stage_and_receives_are_all_computing_and_communication_in_mindinsight(real_traces: Path) -> None:
    directory = real_traces / "mindspore" / "cluster_tables"
    rows = []
    for number in range(4):
        step = read_table(directory / f"ascend_cluster_analyse_pipeline-parallel_2_4_{number}.csv")[1]
        computing, exposed, stage, receives, rest = (
            float(step[f"{name}_time"]) * MS
            for name in (
                "computation",
                "communication_alone",
                "stage",
                "receive_alone",
                "collective_communication_alone",
            )
        )
        assert stage == pytest.approx(computing + exposed - receives, abs=200)
        assert rest == pytest.approx(exposed - receives, abs=200)
        rows.append(
            rank_row(
                number,
                number // 2,
                computing=computing,
                bubble=receives,
                stage=stage,
                receive_only=receives,
                communication_without_receive=rest,
            )
        )
    first, last = job_stages(job("stage"), tuple(rows))
    assert first.bubble_ns == pytest.approx(56_579_800, abs=100) and last.bubble_ns < 4_000_000
    assert last.computing_max_ns > 8 * first.computing_max_ns and last.imbalance > 0.5
