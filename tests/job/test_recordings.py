"""Jobs know what the scheduler did to each rank: from recordings beside the traces, and from those given."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from simulator.job.directory import write_rank
from simulator.scheduler import OFFSET, SimulatedScheduler, text_of_host
from tests.job.planted import truth
from tests.simulator import traces
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.analysis.scheduler.states import State
from tracetui.api import opened
from tracetui.comparison.compared_run import run_of
from tracetui.job.cached_digest import digest_rank
from tracetui.job.digest import Digest, TimeClass
from tracetui.job.digest_bytes import decode
from tracetui.job.digesting import digest_trace
from tracetui.job.engines.digest_pool import digest_all


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


# -- recordings that are given --------------------------------------------------------------------------


class RecordedJob(NamedTuple):
    """A job of four ranks, and how its recordings are given."""

    ranks: dict[int, Path]  #: their traces
    schedulers: dict[int, SimulatedScheduler]  #: the truth
    truth: dict[int, dict[str, int]]  #: idle ns by cause, of each rank without its recording


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedJob:
    outcome = truth("loader").outcome
    top = tmp_path_factory.mktemp("job")
    traces_by_rank = {
        rank: write_rank(outcome, rank, top) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json" for rank in (0, 2)
    }
    schedulers = {
        rank: SimulatedScheduler(outcome.recordings[rank], rank, with_process=True, first_core=4 + 3 * rank)
        for rank in traces_by_rank
    }
    plain = {rank: idle_by_cause(made(trace)) for rank, trace in traces_by_rank.items()}
    return RecordedJob(traces_by_rank, schedulers, plain)


def made(trace: Path, given: Path | None = None) -> Digest:
    source = SchedulerSource(given, OFFSET if given else None)
    return decode(digest_trace(trace, cache=False, scheduler=source))


@pytest.fixture(scope="module")
def of_one_host(recorded: RecordedJob, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("host") / "anything.txt"
    path.write_text(text_of_host([*recorded.schedulers.values()]))
    return path


def directory_of(kind: str, recorded: RecordedJob, of_host: Path, top: Path) -> Path:
    """Write recordings as people leave them: by rank, by host, by the rank's directory, or one of a host."""
    if kind == "file":
        return of_host
    names = {
        "rank": "rank{}.txt",
        "short": "trace_{}.txt",
        "below": "rank_{}/trace.txt",
        "host": "at-node00.txt",
    }
    for rank, scheduler in recorded.schedulers.items():
        name = names.get(kind, f"{recorded.ranks[rank].parent.parent.name}/ftrace.txt").format(rank)
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(of_host.read_text() if kind == "host" else scheduler.text())
    (top / "at-node001.txt").write_text(recorded.schedulers[0].text())
    return top


@pytest.mark.parametrize("kind", ["file", "rank", "short", "below", "mirror", "host"])
def test_each_rank_has_the_recording_that_is_its_own(
    kind: str, recorded: RecordedJob, of_one_host: Path, tmp_path: Path
) -> None:
    given = directory_of(kind, recorded, of_one_host, tmp_path)
    for rank, trace in recorded.ranks.items():
        digest = made(trace, given)
        found, plain = idle_by_cause(digest), recorded.truth[rank]
        assert digest.warnings == ()
        assert found.get("host.preempted", 0) > 0
        assert sum(found.values()) == sum(plain.values())
        with opened(trace, cache=False, scheduler=SchedulerSource(given, OFFSET)) as (analysis, _):
            scheduler = analysis.scheduler
        assert scheduler is not None and scheduler.threads
        ready = {thread.tid: scheduler.states(thread).sums()[State.READY] for thread in scheduler.threads}
        assert ready == {
            tid: sum(
                int(np.diff(np.clip([one.start, one.end], *scheduler.window))[0])
                for one in recorded.schedulers[rank].planted
                if one.tid == tid and one.state == "preempted"
            )
            for tid in ready
        }


def test_a_directory_that_names_no_rank_is_told(recorded: RecordedJob, tmp_path: Path) -> None:
    """Recordings of others, and two that are as good: neither is this rank's."""
    (tmp_path / "rank7.txt").write_text(recorded.schedulers[0].text())
    digest = made(recorded.ranks[0], tmp_path)
    assert digest.warnings[0].startswith("The recording of the scheduler is not used: ")
    assert "no recording that is plainly of this rank" in digest.warnings[0]
    for name in ("one.txt", "two.txt"):
        (tmp_path / name).write_text(recorded.schedulers[0].text())
    assert made(recorded.ranks[0], tmp_path).warnings == digest.warnings


def test_a_digest_is_made_anew_for_other_clocks_and_numbers(recorded: RecordedJob, tmp_path: Path) -> None:
    """The clocks of the profiler, the numbers of a container, and the offset that is given, count too."""
    trace = tmp_path / "rank" / "trace_view.json"
    trace.parent.mkdir()
    trace.write_bytes(recorded.ranks[0].read_bytes())
    os.utime(trace, ns=(1_700_000_000_000_000_000,) * 2)
    given = tmp_path / "given" / "any.txt"
    given.parent.mkdir()
    given.write_text(recorded.schedulers[0].text())
    main_tid = recorded.schedulers[0].recording.main_tid
    start = {"clockMonotonicRaw": "5000000000", "collectionTimeBegin": str((OFFSET + 5_000_000_000) // 1000)}
    later = {**start, "collectionTimeBegin": str((OFFSET + 5_000_100_000) // 1000)}
    changes: tuple[tuple[str, object, int | None], ...] = (
        ("rank/start_info", start, None),
        ("rank/start_info", later, None),
        ("rank/none", {}, OFFSET),
        ("given/pid_mapping.json", {"7": {"NSpid": str(main_tid)}}, None),
    )
    seen = [digest_rank(trace, scheduler=SchedulerSource(given))]
    for name, document, offset in changes:
        (tmp_path / name).write_text(json.dumps(document))
        source = SchedulerSource(given, offset)
        seen.append(digest_rank(trace, scheduler=source))
        assert digest_rank(trace, scheduler=source) == seen[-1]
        assert seen[-1] == digest_trace(trace, cache=False, scheduler=source)
    assert all(one != other for one, other in zip(seen[1:], seen[2:]))


def test_processes_are_given_the_recording(
    recorded: RecordedJob, of_one_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracetui.job.engines.digest_pool.SMALLEST", 0)
    paths, source = [*recorded.ranks.values()], SchedulerSource(of_one_host, OFFSET)
    results = digest_all(paths, cache=False, jobs=2, scheduler=source)
    assert [idle_by_cause(decode(bytes(results[place]))) for place in range(2)] == [  # type: ignore[arg-type]
        idle_by_cause(made(path, of_one_host)) for path in paths
    ]
