"""Links: the producer's communication.json and communication_matrix.json from the planes alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.analysis import real
from tests.analysis.communication.hccl import NONE, group, operation, plane_task
from tests.analysis.machine import npu
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.communication.analyse import Communication
from tracetui.analysis.communication.links import CARRIERS, Transfers, _usable

RANKS = pytest.mark.parametrize("rank", ["level2/rank0", "level2/rank1"])
TINY_MS = 1e-9


def communication(*events: dict[str, Any]) -> Communication:
    return analyse(trace_of([*npu(), *group(0), *events])).communication


def matrix_of(real_traces: Path, rank: str, name: str) -> dict[str, Any]:
    content = json.loads((real.npu_output(real_traces, rank) / name).read_bytes())
    collectives: dict[str, Any] = content["step50"]["collective"]
    return {key: value for key, value in collectives.items() if "@" in key and "total" not in key}


def written_ms(analysis: Analysis, path: Path) -> dict[int, float]:
    """ms of each slice as the file has it, with the digits behind the ns, by row."""
    events = json.loads(path.read_bytes())
    return {row: events[event].get("dur", 0) / 1000 for row, event in enumerate(analysis.trace.slices.event)}


def check(transfers: Transfers, ms: dict[int, float], told_mb: float, told_ms: float) -> None:
    """Bytes and times of transfers are the producer's: exactly, and in whole ns each."""
    assert transfers.size.sum() / 1e6 == pytest.approx(told_mb, rel=1e-12)
    assert sum(ms[row] for row in transfers.row.tolist()) == pytest.approx(told_ms, abs=TINY_MS)
    assert abs(int((transfers.end - transfers.start).sum()) - told_ms * 1e6) <= 0.5 * len(transfers) + 0.01


@RANKS
def test_transfers_and_times_are_those_of_communication_json(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    ms = written_ms(analysis, real.npu_output(real_traces, rank) / "trace_view.json")
    found, matrix = analysis.communication, matrix_of(real_traces, rank, "communication.json")
    assert len(matrix) == len(found.operations) == 4
    remote = found.transfers.at(found.transfers.transport != CARRIERS.index("LOCAL"))
    for index, row in enumerate(found.operations.row.tolist()):
        (told_of,) = (value for key, value in matrix.items() if key.split("@")[0] == analysis.trace.name(row))
        times, bandwidth = told_of["Communication Time Info"], told_of["Communication Bandwidth Info"]
        transfers = remote.at(remote.operation == index)
        for carrier in ("HCCS", "PCIE", "SIO", "RDMA"):
            carried = transfers.at(transfers.transport == CARRIERS.index(carrier))
            info = bandwidth[carrier]
            check(carried, ms, info["Transit Size(MB)"], info["Transit Time(ms)"])
            for mb, (count, taken) in info["Size Distribution"].items():
                alike = carried.at(carried.size == round(float(mb) * 1e6))
                assert len(alike) == count
                check(alike, ms, float(mb) * count, taken)
        plane = next(track.index for track in analysis.trace.tracks if track.name == "Plane 1")
        check(
            transfers.at(transfers.plane == plane),
            ms,
            float(transfers.size[transfers.plane == plane].sum()) / 1e6,
            times["Transit Time(ms)"],
        )
        master = found.master_times
        assert master.transit[index] == pytest.approx(times["Transit Time(ms)"] * 1e6, abs=1.1)
        assert master.wait[index] == pytest.approx(times["Wait Time(ms)"] * 1e6, abs=2.1)
        assert master.synchronization[index] == pytest.approx(
            times["Synchronization Time(ms)"] * 1e6, abs=1.1
        )


@RANKS
def test_links_are_those_of_communication_matrix_json(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    ms = written_ms(analysis, real.npu_output(real_traces, rank) / "trace_view.json")
    found, matrix = analysis.communication, matrix_of(real_traces, rank, "communication_matrix.json")
    compared = 0
    for links in matrix.values():
        for ends, link in links.items():
            src, dst = map(int, ends.split("-"))
            names = [analysis.trace.name(row) for row in found.operations.row.tolist()]
            if link["Op Name"] not in names:
                continue
            transfers = found.transfers.at(
                (found.transfers.operation == names.index(link["Op Name"]))
                & (found.transfers.src == src)
                & (found.transfers.dst == dst)
            )
            assert {CARRIERS[carrier] for carrier in transfers.transport.tolist()} == {link["Transport Type"]}
            check(transfers, ms, link["Transit Size(MB)"], link["Transit Time(ms)"])
            gb_per_s = transfers.size.sum() / (transfers.end - transfers.start).sum()
            assert gb_per_s == pytest.approx(link["Bandwidth(GB/s)"], rel=2e-3 if src == dst else 1e-5)
            compared += 1
    assert compared >= 32


@RANKS
def test_the_table_holds_every_byte_of_any_window(real_traces: Path, rank: str) -> None:
    found = real.npu(real_traces, rank).communication
    transfers = found.transfers
    middle = int(transfers.start[len(transfers) // 2])
    halves = [found.links_in_window(0, middle), found.links_in_window(middle, 1 << 62)]
    for links in (found.link_table, [link for half in halves for link in half]):
        assert sum(link.bytes for link in links) == transfers.size.sum()
        assert sum(link.ns for link in links) == (transfers.end - transfers.start).sum()
    for link in found.link_table:
        assert sum(size * count for size, (count, _) in link.sizes.items()) == link.bytes
        assert sum(ns for _, ns in link.sizes.values()) == link.ns
    assert len({(link.src, link.dst) for link in found.link_table}) == len(found.link_table) == 8


def rdma(start: int, dur: int, size: int) -> dict[str, Any]:
    fields: dict[str, Any] = {"transport type": "RDMA", "link type": "ROCE"}
    return plane_task(start, dur, "RDMASend", peer=8, size=size, **fields)


def test_rdma_lasts_from_its_first_payload_to_the_end_of_the_handshake_behind_it() -> None:
    """The example of the producer's own test."""
    found = communication(
        operation(0, 9_000_000),
        plane_task(0, 319_959, "Memcpy", peer=NONE, size=209_715_200, link_type="ON_CHIP"),
        rdma(1_915_640, 320, 4),
        plane_task(1_917_700, 20, peer=8),
        rdma(2_919_961, 320, 104_857_600),
        rdma(2_921_721, 320, 4),
        plane_task(2_923_481, 4_310_758, peer=8),
        rdma(7_234_799, 320, 4),
        plane_task(7_236_859, 20, peer=8),
    )
    here, there = found.link_table
    assert (here.dst, here.transport, here.bytes, here.ns) == (0, "LOCAL", 209_715_200, 319_959)
    assert (there.dst, there.transport, there.link_type, there.bytes) == (8, "RDMA", "ROCE", 104_857_600)
    assert there.ns == 7_236_879 - 2_919_961
    assert there.gb_per_s == pytest.approx(24.2899, abs=1e-4)
    assert there.sizes == {104_857_600: (1, there.ns)}
    times = found.master_times
    assert (times.transit.tolist(), times.synchronization.tolist()) == ([there.ns], [20])
    assert times.wait.tolist() == [20 + 4_310_758 + 20]


@pytest.mark.parametrize(
    ("name", "closing", "moved"),
    [
        ("hcom_send__271_0_1", 2, 3000),
        ("hcom_send__271_0_1", 1, 0),
        ("hcom_allReduce__271_0_1", 4, 3000),
        ("hcom_allReduce__271_0_1", 3, 0),
    ],
)
def test_payloads_in_a_row_are_one_transfer_if_their_handshake_is_whole(
    name: str, closing: int, moved: int
) -> None:
    handshake = [rdma(400, 10, 4), plane_task(500, 50, peer=8), rdma(600, 10, 4), plane_task(700, 80, peer=8)]
    found = communication(
        operation(0, 1000, name),
        *[rdma(100 * number, 10, 1000) for number in (1, 2, 3)],
        *handshake[:closing],
    )
    assert found.transfers.size.sum() == moved
    if moved:
        assert found.transfers.start.tolist() == [100]
        assert found.transfers.end.tolist() == [550 if closing == 2 else 780]


def test_transfers_by_an_unknown_link_or_without_a_rank() -> None:
    found = communication(
        operation(0, 1000),
        plane_task(10, 20, "Memcpy", size=64, link_type="RESERVED"),
        plane_task(40, 0, "Reduce_Inline", peer=2, size=8, link_type="HCCS_SW"),
        plane_task(50, 20, "Memcpy", size=64, src_rank=NONE),
    )
    links = [(link.dst, link.transport, link.bytes, link.gb_per_s) for link in found.link_table]
    assert links == [(1, "SDMA", 64, 3.2), (2, "HCCS", 8, None)]


def test_sizes_that_cannot_be_are_none() -> None:
    found = communication(
        operation(0, 1000),
        plane_task(10, 20, "Memcpy", size=(1 << 63) - 1),
        plane_task(40, 20, "Memcpy", size=7),
    )
    assert [link.bytes for link in found.link_table] == [7]


def test_sizes_below_a_tebibyte_are_told() -> None:
    sizes = [-1, 0, 1, (1 << 40) - 1, 1 << 40]
    assert _usable(np.array(sizes, np.int64)).tolist() == [0, 0, 1, (1 << 40) - 1, 0]


def test_an_operation_without_tasks_on_planes_has_no_times() -> None:
    found = communication(operation(0, 1000), plane_task(10, 20), operation(2000, 1000, "hcom_send__2_0_1"))
    times = found.master_times
    assert (times.wait.tolist(), times.transit.tolist(), times.synchronization.tolist()) == (
        [20, -1],
        [0, -1],
        [20, -1],
    )
