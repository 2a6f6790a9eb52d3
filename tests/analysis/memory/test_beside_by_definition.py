"""Memory of graphs and of MindSpore's tracker, neighbours and limits, held against their definitions."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.analysis.memory.test_by_definition import DEVICES, Run, samples, whole
from tests.analysis.memory.test_tables_by_definition import table
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.memory import tracker
from tracetui.analysis.memory.analyse import Memory
from tracetui.analysis.memory.limits import (
    GROWTH,
    MEMORY,
    MemoryBreach,
    MemoryLimit,
    find_memory_breaches,
    unrecorded_measures,
)
from tracetui.analysis.memory.model import NEVER, Curve
from tracetui.analysis.memory.neighbours import neighbours_of
from tracetui.analysis.memory.snapshot import repetitions
from tracetui.analysis.memory.static import static_memory
from tracetui.analysis.operator_types import ascend_task_type, gpu_kernel_type
from tracetui.trace.model import Activity, TraceKind


@pytest.mark.parametrize("seed", range(30))
def test_a_graph_has_the_most_that_its_operators_hold_at_any_node(seed: int) -> None:
    source = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for _ in range(source.randrange(1, 15)):
        first = source.randrange(6)
        rows.append(
            {
                "graph": source.choice((None, "0", "1")),
                "model": source.choice((None, "m", "n")),
                "first": -1 if seed % 5 == 0 and source.randrange(9) == 0 else first,
                "last": -1 if seed % 5 == 1 and source.randrange(9) == 0 else first + source.randrange(3),
                "bytes": source.randrange(9),
            }
        )
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["graph"], row["model"]), []).append(row)
    expected = []
    for (graph, model), graph_rows in groups.items():
        peak = max(
            sum(
                row["bytes"]
                for row in graph_rows
                if row["first"] <= node < max(row["last"], row["first"] + 1)
            )
            for node in range(9)
        )
        if any(min(row["first"], row["last"]) < 0 for row in graph_rows):
            peak = sum(row["bytes"] for row in graph_rows)
        expected.append((graph, model, len(graph_rows), peak))
    found = static_memory(table(rows, ("graph", "model")))
    places = [[None, *dict.fromkeys(row[key] for row in rows if row[key])] for key in ("graph", "model")]
    expected.sort(key=lambda graph_row: (places[0].index(graph_row[0]), places[1].index(graph_row[1])))
    expected.sort(key=lambda graph_row: (-graph_row[3], graph_row[0] or ""))
    assert [tuple(graph_row) for graph_row in found] == expected
    assert static_memory(None) == ()


@pytest.mark.parametrize("seed", range(30))
def test_what_the_tracker_saw(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(seed)
    rows: list[dict[str, Any]] = []
    for place in range(source.choice((1, 6, 30))):
        start = source.choice((source.randrange(40), 3 * place))
        rows.append(
            {
                "start": start,
                "end": source.choice((-1, start + source.randrange(-2, 12))),
                "bytes": source.randrange(1, 9),
                "stack": source.choice((None, "a.py:1 f", "a.py:2 f", "none")),
                "node": source.choice((None, "n", "t")),
                "task": source.choice((None, "t", "u")),
            }
        )
    asked: list[Any] = []
    monkeypatch.setattr(tracker, "read_beside", lambda *_: table(rows, ("stack", "node", "task")))

    def noted(*arguments: Any) -> Any:
        asked.append(arguments)
        return repetitions(*arguments)

    monkeypatch.setattr(tracker, "repetitions", noted)
    trace: Any = None
    found = tracker.recorded_by_tracker(trace, FrameRules())
    assert found is not None and not found.timed
    rows.sort(key=lambda row: row["start"])
    ends = [NEVER if row["end"] < 0 else max(row["start"] + 1, row["end"]) for row in rows]
    blocks = found.blocks
    assert blocks.start.tolist() == [row["start"] for row in rows]
    assert blocks.release.tolist() == ends
    assert blocks.bytes.tolist() == [row["bytes"] for row in rows]
    called = [found.operators[place] for place in blocks.operator.tolist()]
    assert called == [row["node"] or row["task"] or "" for row in rows]
    assert len({*found.operators}) == len(found.operators), "a node and a task of one name are one"
    lines = [str(found.lines[place]) if place >= 0 else "" for place in blocks.line.tolist()]
    line_of = {"a.py:1 f": "a.py(1): f", "a.py:2 f": "a.py(2): f"}
    assert lines == [line_of.get(row["stack"] or "", "") for row in rows]
    assert {*blocks.row.tolist()} == {-1} and (blocks.line >= -1).all()
    ((times, places, last),) = asked
    assert times.tolist() == blocks.start.tolist()
    assert last == max([row["start"] for row in rows] + [end for end in ends if end < NEVER]) + 1
    stacks = [row["stack"] for row in rows]
    assert len({*zip(places.tolist(), stacks)}) == len({*stacks}) == len({*places.tolist()})
    (curve,) = found.curves
    changes = sorted(curve.time.tolist())
    assert curve.time.tolist() == changes
    assert changes == sorted([row["start"] for row in rows] + [end for end in ends if end < NEVER])
    for time in {*changes}:
        held = sum(row["bytes"] for row, end in zip(rows, ends) if row["start"] <= time < end)
        assert curve.allocated_at(time) == held
    assert {*curve.reserved.tolist()} == {*curve.active.tolist()} == {-1}


@pytest.mark.parametrize("seed", range(40))
def test_neighbours_are_what_the_same_thread_issues_before_and_after(seed: int) -> None:
    """Two threads of three operators each, and six tasks; an operator may be unknown."""
    source = random.Random(seed)
    kind = source.choice((TraceKind.ASCEND, TraceKind.GPU))
    names = [f"aclnn{letter}_AiCore_{letter}" for letter in "abcdef"]
    type_of = gpu_kernel_type if kind is TraceKind.GPU else ascend_task_type
    activity = [source.choice((Activity.COMPUTE, Activity.COPY, Activity.WAIT)) for _ in names]
    spans = [(start, start + source.randrange(1, 8)) for start in (source.randrange(20) for _ in range(6))]
    issued = [source.choice((source.randrange(25), source.choice(spans)[0])) for _ in names]
    known = [time if source.randrange(8) else NEVER for time in issued]
    operator = [source.randrange(-1, 6) for _ in names]
    slices = SimpleNamespace(
        start=np.array([a for a, _ in spans] + [0] * 6),
        end=np.array([b for _, b in spans] + [0] * 6),
        activity=np.array([*[Activity.NONE] * 6, *activity]),
    )
    chains: Any = SimpleNamespace(
        trace=SimpleNamespace(
            slices=slices,
            lane_rows=np.array([0, 3, 6]),
            lane_track=np.array([0, 1, 2], np.int32),
            name=lambda row: names[row - 6],
            kind=kind,
        ),
        tasks=np.arange(6, 12),
        operator=np.array(operator),
        enqueued=lambda tasks: np.array(known)[tasks - 6],
    )
    asked = [source.randrange(-1, 6) for _ in range(8)]
    times = [source.randrange(25) if row < 0 else source.randint(*spans[row]) for row in asked]
    found = neighbours_of(chains, np.array(asked), np.array(times))
    for found_texts, row, time in zip(found, asked, times):
        thread_tasks = [
            (known[task], task)
            for task in range(6)
            if activity[task] is not Activity.WAIT
            and known[task] < NEVER
            and (row < 0 or (operator[task] >= 0 and operator[task] // 3 == row // 3))
        ]
        thread_tasks.sort()
        start, end = spans[row] if row >= 0 else (time, time)
        inside = [task for at, task in thread_tasks if start <= at < max(end, time)]
        late = [task for at, task in thread_tasks if max(start, time) <= at < max(end, time)]
        before = [task for at, task in thread_tasks if at < start][-1:]
        after = [task for at, task in thread_tasks if at >= max(end, time)][:1]
        # Without a task of its own: what the search for one ends at, the one before or none.
        task = (late or inside)[:1]
        texts = [type_of(names[neighbour[0]]) if neighbour else None for neighbour in (task, before, after)]
        assert list(found_texts) == texts


@pytest.mark.parametrize("seed", range(30))
def test_a_limit_is_passed_by_what_is_held_or_by_each_of_the_last_steps(seed: int) -> None:
    run = Run(seed, 1 + seed % 6, 0)
    known_devices = [device for device in DEVICES if whole(run.recorded, device) is not None]
    devices = [device for device in known_devices if device != "CPU"] or known_devices
    limits = tuple(MemoryLimit(measure, size) for measure in (MEMORY, GROWTH) for size in (-1, 0, 4, 5, 9))
    expected, known = [], {MEMORY: bool(devices), GROWTH: False}
    for limit in limits:
        for device in devices:
            curve = whole(run.recorded, device)
            assert curve is not None
            held, steps = max(value for *_, value in samples(curve)), tuple[int, ...]()
            if limit.measure == GROWTH:
                last_steps = [
                    step_growth for step_growth in run.memory.growth if step_growth.device == device
                ][-3:]
                grown = {
                    step_growth.step: step_growth.bytes
                    for step_growth in last_steps
                    if step_growth.bytes is not None
                }
                held, steps = min(grown.values(), default=0), tuple(grown)
                known[GROWTH] |= bool(grown)
            if held > limit.bytes:
                expected.append(MemoryBreach(limit, device, held, steps))
    assert [*find_memory_breaches(run.memory, limits)] == expected
    assert unrecorded_measures(run.memory, limits) == tuple(
        key for key, known_devices in known.items() if not known_devices
    )


def test_growth_is_known_where_it_is_of_any_device() -> None:
    run = Run(0, 2, 0)
    one, later = (step.start for step in run.steps)
    unknown = np.full(2, -1, np.int64)
    held = np.array([3, 4], np.int64)
    curves = tuple(
        Curve(device, "PTA", np.array(times, np.int64), held, unknown, unknown)
        for device, times in zip(DEVICES, ([one, later], [one + 1, one + 1]))
    )
    memory = Memory(replace(run.recorded, curves=curves))
    assert [step_growth.bytes for step_growth in memory.growth] == [1, None]
    assert unrecorded_measures(memory, (MemoryLimit(GROWTH, 0),)) == ()
