"""Jobs know what the scheduler did to each rank, where a recording lies beside its trace."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from simulator.scheduler import SimulatedScheduler
from tests.simulator import traces
from tracetui.analysis.scheduler.scheduler import SchedulerSource
from tracetui.api import opened
from tracetui.comparison.compared_run import run_of
from tracetui.job.cached_digest import digest_rank
from tracetui.job.digest import Digest, TimeClass
from tracetui.job.digest_bytes import decode
from tracetui.job.digesting import digest_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace_view.json"
    path.write_bytes(traces.written("mixed"))
    return path


def record(trace: Path) -> Path:
    """Write a recording of the scheduler beside a trace."""
    path = trace.with_name("trace.txt")
    path.write_text(SimulatedScheduler(traces.recording("mixed", True), with_process=True).text())
    return path


def idle_by_cause(digest: Digest) -> dict[str, int]:
    idle = np.flatnonzero((digest.keys.time_class == TimeClass.IDLE) & (digest.by_key > 0)).tolist()
    found: dict[str, int] = {}
    for key in idle:
        cause = digest.text(int(digest.keys.reason[key]))
        found[cause] = found.get(cause, 0) + int(digest.by_key[key])
    return found


def test_causes_of_a_digest_are_those_of_the_recording(trace: Path) -> None:
    """As a comparison has them: with the time before the first task of the device."""
    without = idle_by_cause(decode(digest_trace(trace, cache=False)))
    record(trace)
    found = idle_by_cause(decode(digest_trace(trace, cache=False)))
    with opened(trace, cache=False, scheduler=SchedulerSource()) as (analysis, _):
        expected = {cause: total.ns for cause, total in run_of(analysis).causes.items() if total.ns}
    assert found == expected
    assert sum(found.values()) == sum(without.values())
    assert "host.preempted" in found.keys() - without.keys()


def test_a_recording_that_is_of_no_use_is_told(trace: Path) -> None:
    trace.with_name("trace.txt").write_text("# entries-in-buffer/entries-written: 0/0   #P:2\n")
    (warning,) = decode(digest_trace(trace, cache=False)).warnings
    assert (
        warning == "The recording of the scheduler is not used: trace.txt holds no events of the scheduler."
    )


def test_a_digest_is_made_anew_for_another_recording(trace: Path) -> None:
    os.utime(trace, ns=(1_700_000_000_000_000_000,) * 2)
    alone = digest_rank(trace)
    assert digest_rank(trace) == alone
    recording = record(trace)
    first = digest_rank(trace)
    assert first != alone
    assert digest_rank(trace) == first
    recording.unlink()
    assert digest_rank(trace) == alone
