"""Owners of time, operations of tasks, groups of planes, waits: held against their definitions."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tracetui.analysis.communication import waits as module
from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.communication.exposed import ExposedPieces, _pieces_by_operation, _split_at_waits
from tracetui.analysis.communication.planes import (
    LARGEST,
    PlaneOperations,
    PlaneTasks,
    _group_tracks,
    _operations_under_way,
    operations,
)
from tracetui.analysis.communication.waits import OperationWaits, find_operation_waits
from tracetui.analysis.idle.pieces import last_begun
from tracetui.analysis.intervals import union
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Layer

STRINGS = ["Notify_Wait", "Memcpy", "hcom_send_1", "hcom_Receive_1", "hcom_allReduce_1", "MESH", "RING-MESH"]
NAMES, ALGORITHMS = (2, 3, 4, 4, 4), (-1, 5, 6, 6)
SHORTEST = 3  #: ns from which a peer is late, here
GROUPS = (-1, 0, 5)
OF_PLANE = (0, 0, 0, 0, 5, -1)  #: the group of each plane
TIMES = range(-1, 46)


class Run:
    """Operations of two groups, and of none, that overlap; planes of both, whose tasks wait for peers."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        self.operations: list[dict[str, int]] = []
        for place in range(source.randrange(12)):
            start = source.randrange(30)
            self.operations.append(
                {
                    "row": place,
                    "group": source.choice((*GROUPS, 0, 0)),
                    "start": start,
                    "end": start + source.choice((0, 1, 4, 9, 15)),
                    "algorithm": source.choice(ALGORITHMS),
                    "name": source.choice(NAMES),
                }
            )
        if seed % 3 == 0:
            self.operations.sort(key=lambda operation: operation["start"])
        self.tasks: list[dict[str, int]] = []
        for plane in range(6):
            time = source.randrange(5)
            for _ in range(source.randrange(20)):
                dur = source.choice((0, 1, 2, SHORTEST - 1, SHORTEST, 5))
                self.tasks.append(
                    {
                        "row": 20 + len(self.tasks),
                        "group": OF_PLANE[plane],
                        "plane": plane,
                        "start": time,
                        "end": time + dur,
                        "src": source.randrange(2),
                        "dst": source.choice((-1, 0, 1, 1, 2, 3)),
                        "name": source.choice((0, 0, 0, 0, 1)),
                    }
                )
                time += source.choice((dur, dur + 2)) if dur else source.randrange(2)
        names = [0] * 20 + [task["name"] for task in self.tasks]
        for operation in self.operations:
            names[operation["row"]] = operation["name"]
        trace: Any = SimpleNamespace(strings=STRINGS, slices=SimpleNamespace(name=np.array(names, np.int32)))
        self.trace = trace
        self.collectives: PlaneOperations = columns(PlaneOperations, self.operations)
        self.found_tasks: PlaneTasks = columns(PlaneTasks, self.tasks)
        self.sizes = {group: size for group in GROUPS[1:] if (size := source.randrange(5))}
        self.source = source

    def running(self, group: int | None, time: int) -> int:
        """The operation, of a group or of any, that began last of those under way; -1 where none is."""
        candidates = [
            (operation["start"], i)
            for i, operation in enumerate(self.operations)
            if group in (None, operation["group"]) and operation["start"] <= time < operation["end"]
        ]
        return max(candidates, default=(0, -1))[1]


def columns(kind: Any, rows: list[dict[str, int]]) -> Any:
    keys = kind.__annotations__
    return kind(**{key: np.array([row.get(key, -1) for row in rows], np.int64) for key in keys})


def pieces(owners: dict[int, int]) -> list[tuple[int, int, int]]:
    """Owner, start and end of each stretch of time with one owner; those without any are left out."""
    found: list[tuple[int, int, int]] = []
    for time, owner in owners.items():
        if owner >= 0:
            if found and found[-1][0] == owner and found[-1][2] == time:
                found[-1] = (owner, found[-1][1], time + 1)
            else:
                found.append((owner, time, time + 1))
    return found


@pytest.mark.parametrize("seed", range(40))
def test_time_is_of_what_began_last(seed: int) -> None:
    run = Run(seed)
    cuts = last_begun(run.collectives.start, run.collectives.end)
    found_pieces = zip(cuts.place.tolist(), cuts.start.tolist(), cuts.end.tolist())
    assert [*found_pieces] == pieces({time: run.running(None, time) for time in TIMES})
    group = np.repeat([*GROUPS, 9], len(TIMES))
    found = _operations_under_way(run.collectives, group, np.tile(TIMES, 4))
    expected = [
        run.running(wanted, time) if wanted in (0, 5) else -1 for wanted in (*GROUPS, 9) for time in TIMES
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize("seed", range(60))
def test_an_operation_waits_for_the_last_peer_to_come(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHORTEST", SHORTEST)
    run = Run(seed)
    found = find_operation_waits(run.trace, run.collectives, run.found_tasks, run.sizes)
    hands = found.handshakes
    expected = []
    for number, operation in enumerate(run.operations):
        met = []
        for plane in range(6):
            waits = [
                task
                for task in run.tasks
                if (task["plane"], task["group"], task["name"]) == (plane, operation["group"], 0)
                and task["group"] >= 0
                and operation["start"] <= task["start"] < operation["end"]
                and task["dst"] not in (-1, task["src"])
            ]
            met += waits[:1]
        expected += [(number, w["plane"], w["dst"], w["row"], w["start"], w["end"]) for w in met]
        late = min(met, key=lambda w: (-w["end"], w["start"], w["dst"]), default=None)
        found_wait = int(found.wait_ns[number]), int(found.peer[number]), int(found.row[number])
        if late is None or late["end"] - late["start"] < SHORTEST:
            assert found_wait == (0, -1, -1)
        else:
            until = min(late["end"], operation["end"])
            assert found_wait == (until - operation["start"], late["dst"], late["row"])
        peers = {wait["dst"] for wait in met}
        peers_of_group = run.sizes.get(operation["group"], 0) - 1
        all_met = (
            operation["algorithm"] == 5 or operation["name"] in (2, 3) or 0 < peers_of_group <= len(peers)
        )
        assert bool(found.has_handshake[number]) == bool(peers)
        assert bool(found.ring[number]) == (bool(peers) and not all_met)
    assert [*zip(*(column.tolist() for column in vars(hands).values()))] == expected


@pytest.mark.parametrize("seed", range(30))
def test_exposed_time_is_cut_by_owner_and_where_waits_end(seed: int) -> None:
    run = Run(seed)
    count = len(run.operations)
    kept = np.array([i for i in range(count) if run.source.random() < 0.8], np.int64)
    edges = sorted(run.source.sample(TIMES, 8))
    inside = {time for a, b in zip(edges[::2], edges[1::2]) for time in range(a, b)}
    every = [(piece["start"], piece["end"]) for piece in (run.operations[i] for i in kept.tolist())]
    inside = {time for time in inside if any(a <= time < b for a, b in every)}
    exposed = union(np.array([*inside], np.int64), np.array([*inside], np.int64) + 1)
    chosen = Run.__new__(Run)
    chosen.operations = [
        piece if i in kept else {**piece, "end": piece["start"]} for i, piece in enumerate(run.operations)
    ]
    owners = {time: chosen.running(None, time) if time in inside else -1 for time in TIMES}
    operation, start, end, interval = _pieces_by_operation(kept, run.collectives, exposed)
    expected = pieces(owners)
    assert [*zip(operation.tolist(), start.tolist(), end.tolist())] == expected
    assert interval.tolist() == [
        sum(begin <= a for begin in exposed.starts.tolist()) - 1 for _, a, _ in expected
    ]

    wait, known = [run.source.randrange(6) for _ in range(count)], [i % 2 == 0 for i in range(count)]
    nothing: Any = None
    late = OperationWaits(
        nothing, np.array(known, np.bool_), np.array(wait, np.int64), nothing, nothing, nothing
    )
    split = []
    for place, (i, a, b) in enumerate(expected):
        until = min(max(run.operations[i]["start"] + wait[i], a), b)
        split += [("WAIT", a, until, place), ("TRANSFER" if known[i] else "UNSPLIT", until, b, place)]
    cause, *columns = _split_at_waits(operation, start, end, run.collectives, late)
    names = [CommunicationCause(number).name for number in cause.tolist()]
    found_pieces = [*zip(names, *(column.tolist() for column in columns))]
    assert found_pieces == [piece for piece in split if piece[1] < piece[2]]


@pytest.mark.parametrize("seed", range(40))
def test_a_plane_is_of_the_group_before_it_or_the_only_one(seed: int) -> None:
    source = random.Random(seed)
    tracks: list[Any] = []
    for index in range(source.randrange(1, 9)):
        tid = source.choice(("1", "2", "3", "10", "x", "-4", "9" * 18, "9" * 19))
        family = source.choice((Family.GROUP, Family.PLANE, Family.PLANE))
        layer = source.choice((Layer.COMMUNICATION, Layer.COMMUNICATION, Layer.COMMUNICATION, Layer.PYTHON))
        fields = {"layer": layer, "family": family, "pid": source.choice("ab"), "tid": tid, "index": index}
        tracks.append(SimpleNamespace(**fields))

    def order(track: Any) -> tuple[int, int]:
        known = track.tid.isdecimal() and len(track.tid) <= 18
        return (int(track.tid) if known else -1, track.index)

    expected = []
    planes = [track for track in tracks if track.family == Family.PLANE]
    for plane in planes:
        groups = [
            track
            for track in tracks
            if (track.layer, track.family, track.pid) == (Layer.COMMUNICATION, Family.GROUP, plane.pid)
        ]
        before = [track for track in groups if order(track) <= order(plane)]
        chosen = max(before, key=order) if before else groups[0] if len(groups) == 1 else None
        expected.append(chosen.index if chosen else -1)
    trace: Any = SimpleNamespace(tracks=tracks)
    assert _group_tracks(trace, planes) == expected


@pytest.mark.parametrize("seed", range(30))
def test_operations_are_the_collectives_of_all_devices(seed: int) -> None:
    """On a stream and in two groups, four slices each."""
    source = random.Random(seed)
    texts = ["fp32", "INT8", "unknown"]
    every = [source.choice((Activity.COMMUNICATION, Activity.COMPUTE)) for _ in range(12)]
    collectives = []
    for event in source.sample(range(100, 112), 8):
        dtype = source.randrange(-1, 3)
        width = KNOWN.collectives.element_bytes[texts[dtype].upper()] if dtype in (0, 1) else 1
        count = source.choice((-1, 0, 1, 5, LARGEST // width, LARGEST // width + 1))
        collectives.append((event, count, dtype, source.randrange(-1, 3)))
    parts = [np.array(column, np.int64) for column in zip(*collectives)]
    dtypes = parts[2].astype(np.int32)
    trace: Any = SimpleNamespace(
        strings=texts,
        tracks=[SimpleNamespace(family=family) for family in (Family.TASKS, Family.GROUP, Family.GROUP)],
        lane_rows=np.array([0, 4, 8]),
        lane_track=np.array([0, 1, 2], np.int32),
        slices=SimpleNamespace(
            activity=np.array(every), event=np.arange(100, 112), start=np.arange(12), end=np.arange(12) + 3
        ),
        hccl=SimpleNamespace(
            event=parts[0], count=parts[1], dtype=dtypes, algorithm=parts[3], collective=np.full(8, -1)
        ),
    )
    order = source.sample(range(12), 12)
    devices: Any = tuple(SimpleNamespace(tasks=np.array(part)) for part in (order[:7], order[7:]))
    chains: Any = SimpleNamespace(operator=np.full(12, -1), index=lambda rows: rows)
    found = operations(trace, devices if seed else (), chains)
    expected = []
    for row in order if seed else ():
        if every[row] is Activity.COMMUNICATION:
            args = next((place for place, one in enumerate(collectives) if one[0] == 100 + row), -1)
            _, number, kind, algorithm_ = collectives[args] if args >= 0 else (0, -1, -1, -1)
            width = KNOWN.collectives.element_bytes[texts[kind].upper()] if kind in (0, 1) else 0
            size = number * width if width and 0 <= number * width <= LARGEST else -1
            group = row // 4 if row > 3 else -1
            device = int(order.index(row) >= 7)
            expected.append((row, device, group, row, row + 3, number, kind, algorithm_, size, args))
    assert [*zip(*(column.tolist() for column in vars(found).values()))] == expected


@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_found_by_gap_device_step_and_window(seed: int) -> None:
    source = random.Random(seed)
    rows, gap, start = [], 0, 0
    for place in range(source.randrange(12)):
        gap += source.randrange(2)
        start += source.randrange(4)
        end = start + source.randrange(1, 6)
        row = {"device": gap // 3, "gap": gap, "start": start, "end": end, "operation": place}
        rows.append({**row, "cause": source.choice([*CommunicationCause]), "step": source.randrange(-1, 3)})
    found: ExposedPieces = columns(ExposedPieces, rows)
    assert len(found) == len(rows) and found.ns.tolist() == [row["end"] - row["start"] for row in rows]

    def by_cause(pieces: list[dict[str, int]]) -> list[tuple[int, int]]:
        total: dict[int, int] = {}
        for row in pieces:
            total[row["cause"]] = total.get(row["cause"], 0) + row["end"] - row["start"]
        return sorted(total.items(), key=lambda item: (-item[1], item[0]))

    assert [*found.by_cause().items()] == by_cause(rows)
    for step in range(-1, 5):
        chosen = [row for row in rows if row["step"] == step]
        assert [*found.by_step(step).items()] == by_cause(chosen)
    for number in range(9):
        for key, places in (("gap", found.of_gap(number)), ("device", found.of_device(number))):
            chosen = [row for row in rows if row[key] == number]
            assert found.at(places).operation.tolist() == [row["operation"] for row in chosen]
            assert [*found.by_cause(places).items()] == by_cause(chosen)
    for a in range(0, 30, 3):
        for b in range(a + 1, 30, 4):
            inside = [row for row in rows if row["start"] < b and row["end"] > a]
            cut = found.window(a, b)
            found_pieces = zip(cut.operation.tolist(), cut.start.tolist(), cut.end.tolist())
            assert [*found_pieces] == [(r["operation"], max(r["start"], a), min(r["end"], b)) for r in inside]
