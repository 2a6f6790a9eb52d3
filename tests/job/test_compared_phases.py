"""Phases of two runs compared: a role that takes longer on one rank, by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

import tracetui
from simulator.job.directory import write_rank
from tests.job.planted import job, truth
from tracetui.comparison.compared_run import run_of
from tracetui.comparison.comparison import compare_runs
from tracetui.job.compare_jobs import compare_jobs
from tracetui.job.digest_run import run_of_digest
from tracetui.job.phases import job_phases

SLOW = 2  #: the rank that generates three times as long, once it is planted


def test_the_phase_that_was_planted_has_changed_most() -> None:
    plain, slow = job("roles", plain=True), job("roles")
    compared = compare_jobs(plain, slow, ("plain", "slow"))
    rows = {row.name: row for row in compared.phases}
    assert set(rows) == {"generate", "log_prob", "reward", "update"}
    lengths = [{phase.name: phase.time_ns for phase in job_phases(run)} for run in (plain, slow)]
    assert compared.base.steps == compared.other.steps > 0
    assert rows["generate"].delta_ns > 0
    longer = lengths[1]["generate"] - lengths[0]["generate"]
    ranks, steps = len(slow.ranks), len(slow.steps)
    assert float(rows["generate"].delta_ns) == pytest.approx(longer / ranks / steps, rel=0.25)


def test_a_trace_and_its_digest_have_the_same_phases(tmp_path: Path) -> None:
    analysis = tracetui.load(write_rank(truth("roles").outcome, SLOW, tmp_path, 1), cache=False)
    run = run_of(analysis)
    assert run.phases["generate"].count == run.steps
    assert all(phase.row >= 0 for phase in run.phases.values())
    digest = run_of_digest(job("roles").ranks[SLOW].digest, "")
    assert {name: phase.ns for name, phase in digest.phases.items()} == {
        name: phase.ns for name, phase in run.phases.items()
    }
    same = compare_runs(run, run)
    assert [row.delta_ns for row in same.phases] == [0] * 4


def test_a_run_without_ranges_has_no_phases_to_compare() -> None:
    assert compare_jobs(job("loader"), job("loader"), ("one", "other")).phases == ()
