"""Late peers: on real traces to the nanosecond, on planted ones, and where nothing tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis import real
from tests.analysis.communication.hccl import NONE, group, operation, plane_task
from tests.analysis.machine import GROUPS, npu, task
from tests.simulator import traces
from tests.synthetic import piece, process, thread, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.analysis.communication.analyse import Communication
from tracetui.analysis.communication.waits import Handshakes, _distinct_peers


def communication(*events: dict[str, Any], planes: int = 3) -> Communication:
    return analyse(trace_of([*npu(), *group(0, planes), *events])).communication


def waited(found: Communication) -> list[tuple[int, int, bool, bool]]:
    """(wait, peer, known, ring) of each operation."""
    waits = found.waits
    columns = (waits.wait_ns, waits.peer, waits.has_handshake, waits.ring)
    return list(zip(*(column.tolist() for column in columns)))


@pytest.mark.parametrize(("rank", "late"), [(0, 1), (1, 0), (2, 0)])
def test_any_peer_may_be_late(rank: int, late: int) -> None:
    wait = plane_task(11_000, 99_000, peer=late, src_rank=rank)
    assert waited(communication(operation(10_000, 400_000), wait))[0][:3] == (100_000, late, True)


@pytest.mark.parametrize("rank", [0, 1])
def test_the_late_peers_of_a_real_job(real_traces: Path, rank: int) -> None:
    expected = json.loads((real_traces / "expected" / "late_peer_level2.json").read_bytes())
    analysis = real.npu(real_traces, f"level2/rank{rank}")
    found = analysis.communication
    waits, operations, handshakes = found.waits, found.operations, found.waits.handshakes
    assert len(operations) == 4
    for index in range(4):
        operation = expected["level2"]["ops"][analysis.trace.name(int(operations.row[index]))][f"rank{rank}"]
        start = int(operations.start[index])
        of_operation = handshakes.operation == index
        peers = {
            str(peer): {
                "arrival_ns": arrival,
                "after_start_ns": arrival - start,
                "wait_ns": arrival - begin,
            }
            for peer, begin, arrival in zip(
                handshakes.peer[of_operation].tolist(),
                handshakes.start[of_operation].tolist(),
                handshakes.arrival[of_operation].tolist(),
            )
        }
        assert {
            "start_ns": start,
            "dur_ns": int(operations.end[index]) - start,
            "peers": peers,
            "late_peer": None if waits.peer[index] < 0 else int(waits.peer[index]),
            "wait_ns": int(waits.wait_ns[index]),
        } == operation
    assert waits.has_handshake.all() and not waits.ring.any()


@pytest.mark.parametrize("scenario", ["balanced", "mixed", "moba", "stalls"])
def test_planted_late_peers_are_found(scenario: str) -> None:
    found = traces.analysed(scenario).communication
    recorded = traces.recording(scenario, True).collectives
    planted = sorted((collective.start, collective.skew) for collective in recorded)
    assert found.operations.start.tolist() == [start for start, _ in planted]
    for (_, skew), (wait, peer, known, ring) in zip(planted, waited(found)):
        assert known and not ring
        assert peer == (1 if skew > 55_000 else -1)
        assert wait == pytest.approx(skew if peer > 0 else 0, abs=2_000)


def test_the_last_peer_to_arrive_is_late() -> None:
    found = communication(
        operation(1000, 900_000),
        plane_task(2000, 300_000, peer=1, plane=0),
        plane_task(3000, 400_000, peer=2, plane=1),
        plane_task(500_000, 300_000, peer=2, plane=1),  # not the plane's first: another stage
        plane_task(2000, 1000, peer=3, plane=2),
    )
    assert waited(found) == [(402_000, 2, True, False)]
    assert found.waits.handshakes.peer.tolist() == [1, 2, 3]
    assert found.waits.row.tolist() == [int(found.waits.handshakes.row[1])]


@pytest.mark.parametrize(("dur", "late"), [(49_999, -1), (50_000, 1)])
def test_short_waits_are_nobodys_fault(dur: int, late: int) -> None:
    found = communication(operation(0, 900_000), plane_task(200_000, dur, peer=1))
    assert waited(found) == [((200_000 + dur) if late > 0 else 0, late, True, False)]


def test_a_wait_lasts_no_longer_than_its_operation() -> None:
    found = communication(operation(0, 100_000), plane_task(20_000, 900_000))
    assert waited(found) == [(100_000, 1, True, False)]


def test_only_waits_for_others_inside_the_operation_count() -> None:
    found = communication(
        operation(100_000, 500_000),
        plane_task(90_000, 400_000, peer=1),  # began before
        plane_task(150_000, 400_000, peer=NONE, plane=0),
        plane_task(150_000, 400_000, peer=0, plane=2),  # this rank itself
        plane_task(600_000, 400_000, peer=3, plane=0),  # begins when it has ended
    )
    assert waited(found) == [(0, -1, False, False)]


def test_a_plane_that_first_waits_for_its_own_rank_then_waits_for_a_peer() -> None:
    found = communication(
        operation(0, 900_000), plane_task(1000, 2000, peer=NONE), plane_task(5000, 95_000, peer=2)
    )
    assert waited(found) == [(100_000, 2, True, False)]


def test_planes_are_of_the_group_whose_thread_is_before_theirs() -> None:
    found = communication(
        *group(1),
        operation(0, 500_000),
        operation(0, 500_000, number=1),
        plane_task(1000, 99_000, peer=2),
        plane_task(1000, 199_000, peer=3, number=1),
    )
    assert waited(found) == [(100_000, 2, True, False), (200_000, 3, True, False)]


@pytest.mark.parametrize(("groups", "peer"), [((70,), 2), ((70, 80), -1)])
def test_planes_before_all_groups_are_of_the_only_one(groups: tuple[int, ...], peer: int) -> None:
    """As in traces of 2023; of several groups none is guessed, nor an operation that is of no group."""
    events = [*npu(), *thread(GROUPS, 1, "Plane 0"), *process(500, "python", "GPU 0", 9)]
    events.append(piece(500, 7, "ncclKernel_AllReduce", 0, 500, "kernel"))
    for tid in groups:
        events += thread(GROUPS, tid, "Communication Kernel")
        events.append(piece(GROUPS, tid, f"Default/AllReduce-op{tid}", 0, 500))
    found = analyse(trace_of([*events, plane_task(1000, 99_000, peer=2, plane=0)])).communication
    assert set(found.waits.peer.tolist()) == {-1, peer}
    assert (found.tasks.operation >= 0).tolist() == [peer >= 0]


@pytest.mark.parametrize(
    ("name", "algorithm", "ring"),
    [
        ("hcom_allReduce__271_0_1", "MESH-RING", False),
        ("hcom_allReduce__271_0_1", "FULLMESH-NHR", False),
        ("hcom_allReduce__271_0_1", "RING-MESH", True),
        ("hcom_allReduce__271_0_1", None, True),
        ("hcom_receive__271_0_1", "RING", False),
    ],
)
def test_rings_show_neighbours_only(name: str, algorithm: str | None, ring: bool) -> None:
    found = communication(operation(0, 900_000, name, alg_type=algorithm), plane_task(0, 90_000))
    assert waited(found) == [(90_000, 1, True, ring)]


def test_a_trace_without_planes_tells_nothing() -> None:
    found = communication(operation(0, 900_000), planes=0)
    assert waited(found) == [(0, -1, False, False)]
    assert len(found.tasks) == len(found.transfers) == 0
    times = found.master_times
    assert times.transit.tolist() == times.wait.tolist() == times.synchronization.tolist() == [-1]


def test_a_trace_without_communication_has_none() -> None:
    found = communication(task(0, 100), planes=0)
    assert (len(found.operations), len(found.exposed), found.late_peers, found.lines) == (0, 0, (), ())
    assert (found.link_table, found.groups) == ((), {})


def test_operations_say_how_much_they_are_about() -> None:
    cases = [
        ("FP32", 1024, 4096),
        ("bfp16", 3, 6),
        ("RESERVED", 7, -1),
        ("INT64", 1 << 62, -1),
        (None, 5, -1),
    ]
    found = communication(
        *[
            operation(100 * place, 50, data_type=dtype, count=count)
            for place, (dtype, count, _) in enumerate(cases)
        ]
    ).operations
    assert found.size.tolist() == [size for _, _, size in cases]
    assert found.count.tolist() == [count for _, count, _ in cases]


def test_a_peer_counts_once_of_each_operation_that_meets_it() -> None:
    met = [(0, 1), (0, 2), (0, 2), (1, 3), (2, 1), (2, 2), (2, 3), (2, 3)]
    operation, peer = np.array(met, np.int64).T
    time, number = np.zeros(len(met), np.int64), peer.astype(np.int32)
    handshakes = Handshakes(operation, number, number, time, time, time)
    assert _distinct_peers(handshakes, 4).tolist() == [2, 1, 3, 0]
