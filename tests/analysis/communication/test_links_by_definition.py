"""Transfers, links and the producer's times, held against their definitions task by task, on small planes."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.communication.links import (
    CARRIERS,
    TOO_LARGE,
    Transfers,
    find_transfers,
    link_table,
    master_times,
)
from tracetui.analysis.communication.planes import PlaneOperations, PlaneTasks

TASKS = (
    "RDMASend",
    "RDMASend",
    "RDMASend",
    "Notify_Wait",
    "Notify_Wait",
    "Memcpy",
    "Reduce_Inline",
    "Notify_Record",
)
LINKS = {"HCCS": "HCCS", "ON_CHIP": "LOCAL", "PCIE": "PCIE", "RESERVED": "SDMA"}
OPERATIONS = ("hcom_Send__1", "hcom_allReduce__2", "hcom_Receive__3")
STRINGS = [*dict.fromkeys((*TASKS, *LINKS, *OPERATIONS, "SDMA", "RDMA", "LOCAL"))]
SIZES = (-1, 0, 1, 4, 4, TOO_LARGE - 1, TOO_LARGE)


_Key = tuple[int, int, int, str, str]  # group, source, destination, carrier, link type


class Planes:
    """Four planes of two groups, the second of which is the master plane, and tasks of three operations."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        rows: list[dict[str, int]] = []
        names: list[int] = []
        for plane in range(4):
            time, operation = source.randrange(3), source.randrange(-1, 3)
            for _ in range(source.randrange(15)):
                operation = source.choice([operation] * 20 + [-1, 0, 1, 2])
                name = source.choice(TASKS)
                carried = "RDMA" if name == "RDMASend" else source.choice(("SDMA", "SDMA", "LOCAL", "RDMA"))
                link = source.choice((*LINKS, None))
                dur = source.randrange(4)
                rows.append(
                    {
                        "row": 3 + len(rows),
                        "operation": operation,
                        "group": 4 + plane // 3,
                        "plane": plane,
                        "start": time,
                        "end": time + dur,
                        "src": source.randrange(-1, 2),
                        "dst": source.randrange(-1, 2),
                        "size": source.choice(SIZES),
                        "transport": STRINGS.index(carried),
                        "link": STRINGS.index(link) if link else -1,
                    }
                )
                names.append(STRINGS.index(name))
                time += dur + source.randrange(2)
        self.rows, self.names = rows, [STRINGS[name] for name in names]
        columns: dict[str, Any] = {
            key: np.array([row[key] for row in rows], np.int64) for key in PlaneTasks.__annotations__
        }
        self.tasks = PlaneTasks(**columns)
        empty_columns: Any = [np.zeros(3, np.int64)] * (len(PlaneOperations.__annotations__) - 1)
        self.collectives = PlaneOperations(np.arange(3), *empty_columns)
        operations = [STRINGS.index(name) for name in OPERATIONS]
        tracks = [SimpleNamespace(name=f"Plane {plane % 3}") for plane in range(4)]
        slices = SimpleNamespace(name=np.array([*operations, *names]))
        trace: Any = SimpleNamespace(
            strings=STRINGS,
            slices=slices,
            tracks=[*tracks, SimpleNamespace(name="group"), SimpleNamespace(name="group")],
            string=lambda number: STRINGS[number] if number >= 0 else None,
        )
        self.trace = trace
        self.found = find_transfers(trace, self.collectives, self.tasks)


def usable(size: int) -> int:
    return size if 0 <= size < TOO_LARGE else 0


def moved(planes: Planes) -> list[dict[str, Any]]:
    """What moved bytes, found task by task."""
    rows, names = planes.rows, planes.names
    found: list[dict[str, Any]] = []

    def together(one: int, other: int) -> bool:
        return other < len(rows) and all(rows[one][key] == rows[other][key] for key in ("plane", "operation"))

    def sends(place: int) -> bool:
        return names[place] == "RDMASend" and rows[place]["operation"] >= 0

    payload = [sends(i) and together(i, i + 1) and sends(i + 1) for i in range(len(rows))]
    for i, row in enumerate(rows):
        link = STRINGS[row["link"]] if row["link"] >= 0 else ""
        if STRINGS[row["transport"]] == "SDMA" and names[i] in ("Memcpy", "Reduce_Inline"):
            found.append({**row, "size": usable(row["size"]), "carrier": LINKS.get(link, "SDMA")})
        if payload[i] and not (i and payload[i - 1]):
            last = next(j for j in range(i, len(rows)) if not payload[j + 1])
            close = last + (4 if row["operation"] == 1 else 2)
            if together(i, close):
                size = sum(usable(piece["size"]) for piece in rows[i : last + 1])
                found.append({**row, "size": size, "carrier": "RDMA", "end": rows[close]["end"]})
    return [piece for piece in found if piece["src"] >= 0]


@pytest.mark.parametrize("seed", range(60))
def test_transfers_links_and_times(seed: int) -> None:
    planes = Planes(seed)
    found, expected = planes.found, moved(planes)
    for key in ("row", "operation", "group", "plane", "start", "end", "src", "size", "link"):
        assert getattr(found, key).tolist() == [transfer[key] for transfer in expected], key
    assert [CARRIERS[number] for number in found.transport.tolist()] == [
        transfer["carrier"] for transfer in expected
    ]
    ends = [transfer["src"] if transfer["dst"] < 0 else transfer["dst"] for transfer in expected]
    assert found.dst.tolist() == ends

    links: dict[_Key, list[tuple[int, int]]] = {}
    for transfer, dst in zip(expected, ends):
        link_type = STRINGS[transfer["link"]] if transfer["link"] >= 0 else ""
        of = transfer["group"], transfer["src"], dst, transfer["carrier"], link_type
        links.setdefault(of, []).append((transfer["size"], transfer["end"] - transfer["start"]))
    table = link_table(planes.trace, found)
    link_of_key = {(link.group, link.src, link.dst, link.transport, link.link_type): link for link in table}
    assert len(link_of_key) == len(table) and link_of_key.keys() == links.keys()
    for of, parts in links.items():
        sizes = {size: [ns for transfer, ns in parts if transfer == size] for size, _ in sorted(parts)}
        assert [*link_of_key[of].sizes.items()] == [(size, (len(ns), sum(ns))) for size, ns in sizes.items()]
        assert (link_of_key[of].bytes, link_of_key[of].ns) == tuple(map(sum, zip(*parts)))
    order = [(link.group, link.src, link.dst, -link.bytes) for link in table]
    assert order == sorted(order)

    times = master_times(planes.trace, planes.collectives, planes.tasks, found)
    for operation in range(3):
        plane_rows = [
            (row, name) for row, name in zip(planes.rows, planes.names) if row["operation"] == operation
        ]
        if not plane_rows:
            assert {int(column[operation]) for column in vars(times).values()} == {-1}
            continue
        used = {row["plane"] for row, _ in plane_rows}
        master = 1 if 1 in used else min(used)
        remote = [
            transfer
            for transfer in expected
            if (transfer["operation"], transfer["plane"]) == (operation, master)
            and transfer["carrier"] != "LOCAL"
        ]
        waits = [row for row, name in plane_rows if name == "Notify_Wait" and row["plane"] == master]
        first = min((transfer["start"] for transfer in remote), default=10**9)
        assert times.transit[operation] == sum(transfer["end"] - transfer["start"] for transfer in remote)
        assert times.wait[operation] == sum(row["end"] - row["start"] for row in waits)
        early = [row["end"] - row["start"] for row in waits if row["start"] < first]
        assert times.synchronization[operation] == sum(early)


def test_a_window_has_what_starts_in_it() -> None:
    found = max((Planes(seed).found for seed in range(20)), key=len)
    for start in range(12):
        transfers: Transfers = found.window(start, start + 3)
        expected = [row for row, time in zip(found.row, found.start) if start <= time < start + 3]
        assert transfers.row.tolist() == expected
