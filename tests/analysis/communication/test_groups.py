"""Groups of the trace and of the job: found by name or number, never guessed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.communication.hccl import group, operation, plane_task
from tests.analysis.machine import GROUPS, npu
from tests.synthetic import thread, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.communication.groups import Group, _matching_group
from tracetui.siblings.metadata import NAME, ParallelGroup, group_hash

MEGATRON = "npu/pipeline_tables/metadata"


def groups_of(directory: Path, named_groups: dict[str, Any], *events: dict[str, Any]) -> list[Group]:
    """The groups of a trace in a rank's directory with this `parallel_group_info`."""
    (directory / NAME).write_text(json.dumps({"parallel_group_info": named_groups}))
    trace = trace_of([*npu(), *group(0), *events])
    path = directory / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    return list(analyse(replace(trace, path=str(path))).communication.groups.values())


def named(name: str, ranks: list[int], rank: int = 0) -> dict[str, Any]:
    return {"group_name": name, "group_rank": rank, "global_ranks": ranks}


def number_of(communicator: str) -> str:
    return group_hash(communicator)[-3:]


def test_a_group_is_found_by_the_number_of_its_operations(tmp_path: Path) -> None:
    named_groups = {"host_1": named("tp", [4, 6]), "host_2": named("dp", [4, 12])}
    name = f"hcom_allReduce__{number_of('host_2')}_0_1"
    (found,) = groups_of(tmp_path, named_groups, operation(0, 90_000, name), plane_task(0, 60_000))
    assert (found.name, found.number, found.rank) == ("dp", number_of("host_2"), 0)
    assert [found.global_rank(rank) for rank in (-1, 0, 1, 2)] == [None, 4, 12, None]


def test_a_late_peer_has_its_rank_in_the_job(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(json.dumps({"parallel_group_info": {"g": named("dp", [3, 7])}}))
    events = [operation(0, 90_000, f"hcom_allReduce__{number_of('g')}_0_1"), plane_task(0, 60_000)]
    trace = replace(trace_of([*npu(), *group(0), *events]), path=str(tmp_path / "trace_view.json"))
    (late,) = analyse(trace).communication.late_peers
    assert (late.peer, late.global_rank, late.operations, late.wait_ns) == (1, 7, 1, 60_000)


@pytest.mark.parametrize("called", ["communicator", "key"])
def test_a_thread_may_carry_the_whole_name(tmp_path: Path, called: str) -> None:
    title = "host%eth_1" if called == "communicator" else group_hash("host%eth_1")
    named_groups = {"host%eth_1": named("pp", [0, 8]), "host%eth_2": named("pp", [0, 8])}
    events = [*thread(GROUPS, 0, f"Group {title} Communication"), operation(0, 10, "Default/AllReduce-op5")]
    (found,) = groups_of(tmp_path, named_groups, *events)
    assert (found.name, found.number, found.global_ranks) == ("pp", "", (0, 8))


@pytest.mark.parametrize(
    "named_groups",
    [
        {},
        {"other": named("tp", [0, 1])},
        {"host": named("tp", [0])},  # too small for a peer 1
        {"host": named("tp", [1, 0], rank=1)},  # this is rank 0 of the group
    ],
)
def test_a_group_that_fits_none_is_not_guessed(tmp_path: Path, named_groups: dict[str, Any]) -> None:
    name = f"hcom_allReduce__{number_of('host')}_0_1"
    (found,) = groups_of(tmp_path, named_groups, operation(0, 90_000, name), plane_task(0, 60_000))
    assert (found.name, found.number, found.rank, found.global_ranks) == ("", number_of("host"), 0, ())


def test_of_two_groups_that_fit_none_is_guessed(tmp_path: Path) -> None:
    names = map("host_{}".format, range(30_000))
    alike = [*islice((name for name in names if number_of(name) == number_of("host_0")), 2)]
    assert len(alike) == 2
    named_groups = {name: named(name, [0, 1]) for name in alike}
    (found,) = groups_of(
        tmp_path, named_groups, operation(0, 9, f"hcom_allReduce__{number_of('host_0')}_0_1")
    )
    assert (found.name, found.global_ranks) == ("", ())


def test_a_ring_that_meets_all_of_a_known_group_sees_everyone(tmp_path: Path) -> None:
    number = number_of("g")
    events = [operation(0, 90_000, f"hcom_allReduce__{number}_0_1", alg_type="RING"), plane_task(0, 60_000)]
    for ranks, ring in (([5, 9], False), ([5, 9, 11], True)):
        (tmp_path / NAME).write_text(json.dumps({"parallel_group_info": {"g": named("dp", ranks)}}))
        trace = replace(trace_of([*npu(), *group(0), *events]), path=str(tmp_path / "trace_view.json"))
        assert analyse(trace).communication.waits.ring.tolist() == [ring]


@pytest.mark.parametrize(("highest", "fits"), [(0, True), (2, True), (3, False), (9, False)])
def test_a_group_has_room_for_every_rank_that_is_met_in_it(highest: int, fits: bool) -> None:
    group = ParallelGroup("host_1", "tp", 0, (4, 6, 8))
    assert (_matching_group("Group 0", number_of("host_1"), None, highest, [group]) == group) == fits
