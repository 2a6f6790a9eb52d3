"""Simulated jobs, their digests and their truth, for the tests of this package."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from simulator.job import scenarios
from simulator.job.directory import write_rank
from simulator.job.layout import Layout
from simulator.job.program import Extra
from simulator.job.simulation import SimulatedJob, SimulatedOutcome, simulate
from simulator.job.truth import JobTruth, simulate_truth
from tests.once import made_by_any, once
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest
from tracetui.job.digest_bytes import decode
from tracetui.job.digesting import digest_trace
from tracetui.job.job import Job, job_of

SQUARE = Layout(tp=2, dp=2)
PYTHON, BOTH = scenarios.JOBS["late"].extra[5], scenarios.JOBS["both"].extra
LATE_STAGES = {1: Extra(loader_ms=5.0), 2: Extra(computing=1.4)}
SLOWER = dict.fromkeys((2, 3), Extra(computing=1.6))


def _job(name: str, layout: Layout, extra: dict[int, Extra] | None = None) -> SimulatedJob:
    return replace(scenarios.JOBS[name], layout=layout, extra=extra or {})


def _late_stages(name: str) -> SimulatedJob:
    """Return a pipeline with two slow ranks, all ranks of which meet at the end of each step."""
    job = scenarios.JOBS[name]
    return replace(job, layout=replace(job.layout, joined=True), extra=LATE_STAGES)


#: the jobs of the samples, of four ranks each: to digest one takes long, however short it is; and whole
JOBS = {
    **{f"whole {name}": job for name, job in scenarios.JOBS.items()},
    "balanced": _job("balanced", SQUARE),
    "late": _job("late", SQUARE, {3: PYTHON}),
    "loader": scenarios.JOBS["loader"],
    "both": _job("both", SQUARE, {1: BOTH[1], 2: BOTH[6]}),
    "link": _job("link", SQUARE),
    "stage": _job("stage", Layout(tp=2, dp=1, pp=2), SLOWER),
    "sends": _job("sends", Layout(tp=1, dp=2, pp=2, joined=False), SLOWER),
    "partial": replace(_job("partial", SQUARE, {3: PYTHON}), missing=frozenset({0})),
    "absent": scenarios.JOBS["absent"],
    "roles": scenarios.JOBS["roles"],
    **{name: job for name, job in scenarios.JOBS.items() if name.startswith("pipeline")},
    **{
        f"late {name}": _late_stages(f"pipeline-{name}")
        for name in ("1f1b", "gpipe", "interleaved", "dualpipe")
    },
    **{name: job for name, job in scenarios.JOBS.items() if name.startswith("experts")},
    "hosts": replace(_job("hosts", SQUARE, {3: PYTHON}), hosts=2),
}


def whole(*names: str, levels: Sequence[int] = ()) -> list[ParameterSet]:
    """Parameters of a test for jobs as the samples have them, of eight ranks: tried where all is."""
    level_args: list[tuple[int, ...]] = [(level,) for level in levels] or [()]
    thorough = pytest.mark.thorough
    return [pytest.param(f"whole {name}", *level, marks=thorough) for name in names for level in level_args]


@cache
def truth(name: str) -> JobTruth:
    return simulate_truth(JOBS[name], _simulated)


def digests(name: str, level: int = 1, plain: bool = False) -> tuple[Digest, ...]:
    """The digests of the present ranks, in the order of their numbers; `plain`: with nothing planted."""
    simulated = truth(name)
    outcome = simulated.plain if plain else simulated.outcome
    return tuple(_digest(_all_of(outcome.job), rank, level) for rank in outcome.job.present)


@once
def job(name: str, level: int = 1, plain: bool = False) -> Job:
    return job_of([Rank(digest.identity.rank, digest, "") for digest in digests(name, level, plain)])


# Jobs that differ in nothing but what is missing of them are made once.

_outcomes: dict[str, SimulatedOutcome] = {}


def _all_of(job: SimulatedJob) -> str:
    return repr(replace(job, missing=frozenset()))


def _simulated(job: SimulatedJob) -> SimulatedOutcome:
    key = _all_of(job)
    if key not in _outcomes:
        _outcomes[key] = simulate(job)
    return replace(_outcomes[key], job=job)


@cache
def _digest(key: str, rank: int, level: int) -> Digest:
    def make() -> bytes:
        with tempfile.TemporaryDirectory() as directory:
            return digest_trace(write_rank(_outcomes[key], rank, Path(directory), level), cache=False)

    return decode(made_by_any(f"rank {rank} of {key} at level {level}", make))
