"""The phases of a job: ranges of a simulated one, and those of PyTorch's and other traces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis.machine import call, npu, operator, task
from tests.job.planted import job
from tracetui.analysis.limits import parse_phase_limit
from tracetui.export.job.phases import phase_rows, phases_report
from tracetui.job.channels import Rank
from tracetui.job.digest import RangeColumns, TimeClass
from tracetui.job.digest_bytes import decode, encode
from tracetui.job.digesting import MOST_RANGES, digest_trace
from tracetui.job.job import Job, job_of
from tracetui.job.limits import find_job_breaches, unmarked_phases
from tracetui.job.phases import job_phases, without_ranges


def marked(name: str, start: int, dur: int) -> dict[str, Any]:
    return {**operator(start, dur, name), "cat": "user_annotation"}


def roles() -> Job:
    return job("roles")


def test_every_role_is_there_on_every_rank_and_step() -> None:
    phases = {phase.name: phase for phase in job_phases(roles())}
    assert phases.keys() == {"generate", "log_prob", "reward", "update"}
    assert all(phase.count == 12 and phase.ranks == [0, 1, 2, 3] for phase in phases.values())


def test_the_time_of_a_phase_is_all_that_its_device_does() -> None:
    for phase in job_phases(roles()):
        assert phase.computing_ns + phase.exposed_ns + phase.copy_ns + phase.idle_ns == phase.time_ns
        assert sum(phase.causes.values()) == phase.idle_ns


def test_phases_that_follow_each_other_share_no_time() -> None:
    for rank in roles().ranks:
        ranges = rank.digest.ranges
        assert ranges is not None
        assert (ranges.start[1:] >= ranges.end[:-1]).all()


def test_scoring_waits_for_the_rank_that_generates_longer() -> None:
    phases = {phase.name: phase for phase in job_phases(roles())}
    assert phases["log_prob"].waits_for == "generate"
    assert phases["log_prob"].waits_ns == pytest.approx(sum(roles().waits.wait_ns), rel=0.02)
    assert phases["generate"].waits_for is None
    longest = phases["generate"].longest
    assert max(longest, key=lambda rank: longest[rank]) == 2
    assert phases["generate"].spread > 1 > phases["update"].spread


def test_a_job_without_marks_has_no_phases() -> None:
    assert job_phases(job("loader")) == ()
    assert without_ranges(job("loader")) == ()


def test_digests_of_before_say_that_they_know_none() -> None:
    first, *later_ranks = roles().ranks
    old = job_of([replace(first, digest=replace(first.digest, ranges=None)), *later_ranks])
    assert without_ranges(old) == (0,)
    assert all(phase.ranks == [1, 2, 3] for phase in job_phases(old))
    assert decode(encode(old.ranks[0].digest)).ranges is None


def test_ranges_are_kept_in_digests() -> None:
    digest = roles().ranks[0].digest
    again = decode(encode(digest))
    assert again.ranges is not None and digest.ranges is not None
    assert np.array_equal(again.ranges.end, digest.ranges.end)
    assert [again.text(name) for name in again.ranges.name[:4].tolist()] == [
        "generate",
        "log_prob",
        "reward",
        "update",
    ]
    assert TimeClass.COMPUTING in digest.by_class()


def test_limits_hold_the_longest_range_of_each_rank() -> None:
    (breach,) = find_job_breaches(roles(), [parse_phase_limit("generate=2ms")])
    assert breach.rank == 2
    assert find_job_breaches(roles(), [parse_phase_limit("generate=1s")]) == ()
    assert unmarked_phases(roles(), [parse_phase_limit("a=b=1s")]) == ("a=b",)
    with pytest.raises(ValueError, match="NAME=TIME"):
        parse_phase_limit("generate")


def test_all_ranges_of_a_name_are_kept_or_none(tmp_path: Path) -> None:
    """A name with more ranges than a digest keeps leaves room for the others, and that it is gone is said."""
    many = [marked("token", 100 + 2 * place, 1) for place in range(MOST_RANGES + 1)]
    events = [*npu(), call(50, 10, 1), task(60, 20_000, connection=1), *many]
    events += [marked("generate", 20, 70), marked("update", 20_000, 30)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    digest = decode(digest_trace(path, cache=False))
    assert digest.ranges is not None
    assert sorted(digest.text(name) for name in digest.ranges.name.tolist()) == ["generate", "update"]
    left_out = "4,001 marked ranges are left out, as a digest keeps 4,000: 'token'"
    assert left_out in digest.warnings
    rank = Rank(0, replace(digest, ranges=RangeColumns.empty()), str(path))
    report = phases_report(phase_rows(job_of([rank], [left_out])), None)
    assert report.sentences == ["No marked ranges (msTX, NVTX, record_function) are known."]
    assert left_out in report.notes


def test_what_is_waited_after_an_inner_range_is_in_the_outer_one() -> None:
    """Ranges of one name lie in each other where a marked function calls itself."""
    flat = roles()
    ranks = []
    for rank in flat.ranks:
        ranges = rank.digest.ranges
        assert ranges is not None
        inner = ranges.start + 1, ranges.start + 2
        order = np.argsort(np.concatenate((ranges.start, inner[0])), kind="stable")
        columns = zip((ranges.name, ranges.start, ranges.end), (ranges.name, *inner))
        nested = RangeColumns(*(np.concatenate(column)[order] for column in columns))
        ranks.append(replace(rank, digest=replace(rank.digest, ranges=nested)))
    expected = {phase.name: (phase.waits_ns, phase.waits_for) for phase in job_phases(flat)}
    found = {phase.name: (phase.waits_ns, phase.waits_for) for phase in job_phases(job_of(ranks))}
    assert found == expected
