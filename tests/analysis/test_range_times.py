"""What a device does in marked ranges of one trace: what the phases of a job of that rank are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tracetui
from simulator.job.directory import write_rank
from tests.job.planted import job, truth
from tracetui.cli import main
from tracetui.job.channels import Rank
from tracetui.job.digest import Digest
from tracetui.job.job import job_of
from tracetui.job.phases import Phase, job_phases

ROLES = {"generate", "log_prob", "reward", "update"}


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rank(truth("roles").outcome, 2, tmp_path_factory.mktemp("roles"), 1)


def phases_of(digest: Digest) -> dict[str, Phase]:
    return {phase.name: phase for phase in job_phases(job_of([Rank(digest.identity.rank, digest, "")]))}


def test_the_ranges_of_a_trace_are_the_phases_of_its_rank(trace: Path) -> None:
    (ranges,) = tracetui.load(trace, cache=False).range_times
    phases = phases_of(job("roles").ranks[2].digest)
    assert {times.name for times in ranges} == ROLES
    for times in ranges:
        phase = phases[times.name]
        assert (times.count, times.computing_ns) == (phase.count, phase.computing_ns)
        assert times.exposed_communication_ns == phase.exposed_ns
        outside = phase.time_ns - times.time_ns
        assert outside == phase.idle_ns - times.idle_ns >= 0, "a job counts what is outside the window, too"
        assert outside == 0 or times.name in ("generate", "update"), "the first one, and the last"
        assert times.mean_ns == times.time_ns // 3
    assert [times.time_ns for times in ranges] == sorted((times.time_ns for times in ranges), reverse=True)


def test_the_summary_has_them(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(trace), "--json"]) == 0
    (device,) = json.loads(capsys.readouterr().out)["devices"]
    assert {phase["name"] for phase in device["phases"]} == ROLES
    generate = next(phase for phase in device["phases"] if phase["name"] == "generate")
    assert main(["summary", str(trace), "--top", "1"]) == 0
    text = capsys.readouterr().out
    assert "Phases: marked ranges, and all that the device does meanwhile" in text and "3 more" in text
    assert device["phases"][0]["name"] in text
    assert main(["summary", str(trace), "--md"]) == 0
    assert "### Phases: marked ranges, and" in (marked := capsys.readouterr().out)
    assert "generate" in marked and generate["count"] == 3
