"""A simulated job is one that could be: clocks, collectives and files of its ranks fit together."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from simulator.job.directory import directory_name, write_job
from simulator.job.program import Extra
from simulator.job.scenarios import JOBS
from simulator.job.simulation import SimulatedOutcome, simulate
from simulator.job.truth import simulate_truth
from tests.job import planted
from tests.simulator.traces import processes, start
from tracetui.siblings.metadata import parallel_groups

SHORT = {name: replace(job, steps=1) for name, job in JOBS.items()}


@cache
def outcome(name: str) -> SimulatedOutcome:
    return simulate(SHORT[name])


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_collective_ends_for_all_when_the_last_has_come_and_the_data_have_moved(name: str) -> None:
    for meeting in outcome(name).meetings:
        moved = min(meeting.ends) - max(meeting.begins)
        assert moved > 4 * meeting.elements / len(meeting.ranks) / 18
        assert max(meeting.ends) - min(meeting.ends) <= 2_600


@pytest.mark.parametrize("name", ["both", "hosts", "stage"])
def test_each_rank_records_its_collectives_on_its_own_clock(name: str) -> None:
    job = outcome(name).job
    for rank, recording in enumerate(outcome(name).recordings):
        recorded = [(one.start, one.end, one.kind, one.skew) for one in recording.collectives]
        met = []
        for meeting in outcome(name).meetings:
            if rank in meeting.ranks:
                place, offset = meeting.ranks.index(rank), job.offset(rank)
                times = meeting.begins[place] + offset, meeting.ends[place] + offset
                met.append((*times, meeting.kinds[place], meeting.wait(rank)))
        assert sorted(recorded) == sorted(met)


def test_each_wait_of_a_plane_ends_when_its_peer_has_come() -> None:
    """The first handshake with each peer, on the clock of the one who waits."""
    for rank, recording in enumerate(outcome("hosts").recordings):
        offset = outcome("hosts").job.offset(rank)
        meetings = {
            (meeting.ranks, meeting.number): meeting
            for meeting in outcome("hosts").meetings
            if rank in meeting.ranks
        }
        for one in recording.collectives:
            meeting = meetings[one.group.ranks, one.index]
            for peer, begin in enumerate(meeting.begins):
                first = next(
                    (
                        move.task
                        for move in recording.transfers
                        if move.task.connection == one.connection
                        and move.type == "Notify_Wait"
                        and move.peer == peer
                    ),
                    None,
                )
                assert (first is None) == (peer == one.group.rank)
                if first and begin + offset > one.start + 20_000:
                    assert 10_000 < first.end - (begin + offset) < 14_000


def test_no_stream_runs_two_computing_tasks_at_once() -> None:
    for recording in outcome("late").recordings:
        tasks = sorted((one.start, one.end) for one in recording.tasks if one.stream == 2)
        assert all(end <= begin for (_, end), (begin, _) in zip(tasks, tasks[1:]))


def test_the_same_seed_is_the_same_job_and_another_one_is_not(tmp_path: Path) -> None:
    def written(seed: int, directory: str) -> list[str]:
        made = write_job(simulate(replace(SHORT["loader"], seed=seed)), tmp_path / directory)
        return [hashlib.sha1(next(rank.rglob("trace_view.json")).read_bytes()).hexdigest() for rank in made]

    first, again, other = written(1, "first"), written(1, "again"), written(2, "other")
    assert first == again
    assert not set(first) & set(other)
    assert len(set(first)) == len(first)


def test_what_is_written_are_the_directories_of_the_present_ranks(tmp_path: Path) -> None:
    job = SHORT["partial"]
    made = write_job(outcome("partial"), tmp_path, level=0)
    assert sorted(tmp_path.iterdir()) == sorted(made)
    assert [path.name for path in made] == [directory_name(job, rank) for rank in (1, 2, 4, 5, 7)]
    for rank, path in zip(job.present, made):
        assert json.loads((path / f"profiler_info_{rank}.json").read_text())["rank_id"] == rank
        arguments = json.loads((path / "profiler_metadata.json").read_text())["distributed_args"]
        assert (arguments["rank"], arguments["world_size"]) == (rank, 8)


@pytest.mark.parametrize("level", [0, 1])
def test_operations_carry_the_digits_of_their_groups_and_planes_are_below_them(
    tmp_path: Path, level: int
) -> None:
    rank = 5
    trace = write_job(outcome("stage"), tmp_path, level)[rank] / "ASCEND_PROFILER_OUTPUT/trace_view.json"
    groups = {group.key[-3:]: group for group in parallel_groups(trace)}
    assert sorted((group.name, group.global_ranks) for group in groups.values()) == [
        ("dp", (5, 7)),
        ("mp", (0, 1, 4, 5)),
        ("pp", (1, 5)),
        ("tp", (4, 5)),
    ]
    events = json.loads(trace.read_text())
    layer = next(pid for pid, name in processes(events).items() if name == "HCCL")
    slices = [event for event in events if event["pid"] == layer and event["ph"] == "X"]
    operations = [event for event in slices if event["name"].startswith("hcom_")]
    rows = {event["name"].split("__")[1][:3]: event["tid"] for event in operations}
    assert set(rows) == set(groups)
    planes = [event for event in slices if not event["name"].startswith("hcom_")]
    assert bool(planes) == bool(level)
    for plane in planes:
        around = [one for one in operations if start(one) <= start(plane) < start(one) + one["dur"] * 1000]
        assert any(one["tid"] < plane["tid"] <= one["tid"] + 4 for one in around)


def test_clocks_of_ranks_differ_and_those_of_hosts_by_milliseconds() -> None:
    job = JOBS["hosts"]
    assert [job.host(rank) for rank in range(8)] == [f"node0{rank // 2}" for rank in range(8)]
    offsets = [job.offset(rank) for rank in range(8)]
    assert len(set(offsets)) == 8
    assert all(abs(offsets[rank] - offsets[rank + 1]) <= 160_000 for rank in range(0, 8, 2))
    assert max(offsets) - min(offsets) > 1_000_000


def test_the_truth_is_what_the_planted_causes_change() -> None:
    both, balanced = (replace(planted.JOBS[name], steps=2) for name in ("both", "balanced"))
    planted_truth = simulate_truth(both)
    assert planted_truth.own_ns == simulate_truth(balanced).waits_ns
    assert [(root.ranks, root.kind) for root in planted_truth.roots] == [((1,), "computing"), ((2,), "idle")]
    for root in planted_truth.roots:
        alone = simulate_truth(replace(both, extra={rank: both.extra[rank] for rank in root.ranks}))
        assert alone.roots == (root,)
        assert root.lost_ns == pytest.approx(alone.waits_ns - alone.own_ns, rel=0.01)


def test_a_late_line_costs_each_other_rank_what_it_took() -> None:
    """In a group of all ranks, every one of them waits once for what the late one did longer."""
    planted_truth = simulate_truth(replace(SHORT["loader"], extra={2: Extra(loader_ms=5.0)}))
    assert planted_truth.waits_ns == pytest.approx(3 * 5_000_000, rel=0.02)
    (root,) = planted_truth.roots
    assert (root.ranks, root.kind, root.cause, root.line[2]) == ((2,), "idle", "host.dataloader", "train")
    assert root.lost_ns == pytest.approx(planted_truth.waits_ns, rel=0.01)
