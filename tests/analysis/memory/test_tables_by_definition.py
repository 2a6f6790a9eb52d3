"""Blocks, curves and steps of tables beside a trace, held against their definitions row by row."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.analysis.machine import AUTOGRAD, MAIN, Events, dequeue, enqueue, npu, operator
from tests.synthetic import trace_of
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.launch_chains import link_tasks
from tracetui.analysis.memory import tables
from tracetui.analysis.memory.model import NEVER, MemoryStep
from tracetui.analysis.memory.tables import (
    MemoryTables,
    curves_of,
    join_tables,
    memory_steps,
    table_device_label,
)
from tracetui.siblings.tables import SiblingTable, StringColumn

NAMES = ("aten::mm", "aten::add", "aten::empty", "cann::MatMul", "cann::Add")
DEVICES = (None, "NPU:0", "0", "NPU:1")
LABELS = {None: "NPU", "NPU:0": "NPU 0", "0": "NPU 0", "NPU:1": "NPU 1"}


class Slice(NamedTuple):
    start: int
    end: int
    name: str
    number: int  #: of operators the line that they are called from, else what joins both ends of the queue


def table(rows: list[dict[str, Any]], texts: tuple[str, ...]) -> SiblingTable:
    """A table of some rows, of which it has each text once."""
    columns: Mapping[str, list[Any]] = {key: [row[key] for row in rows] for key in rows[0]}
    numbers = {key: np.array(column, np.int64) for key, column in columns.items() if key not in texts}
    different = {key: [*dict.fromkeys(text for text in columns[key] if text is not None)] for key in texts}
    places = {
        key: np.array([-1 if t is None else different[key].index(t) for t in columns[key]], np.int32)
        for key in texts
    }
    return SiblingTable(
        len(rows), numbers, {}, {key: StringColumn(places[key], different[key]) for key in texts}, ()
    )


class Run:
    """Nested operators on two threads, what they enqueue, two threads that dequeue it, and blocks."""

    def __init__(self, seed: int) -> None:
        self.source = source = random.Random(seed)
        self.operators: dict[int, list[Slice]] = {}
        self.enqueued: list[Slice] = []
        events: Events = [
            *npu(),
            *(operator(100 * n, 90, f"ProfilerStep#{n}", 109) for n in range(2)),
        ]
        for tid in (MAIN, AUTOGRAD):
            bounds = sorted(source.sample(range(2, 200), 24))
            operators = self.operators[tid] = []
            self._nest(bounds, operators, tid)
            events += [
                operator(
                    slice_.start,
                    slice_.end - slice_.start,
                    slice_.name,
                    tid,
                    stack=[f"a.py({slice_.number}): f"],
                )
                for slice_ in operators
            ]
        events += [
            enqueue(slice_.start, slice_.end - slice_.start, slice_.number) for slice_ in self.enqueued
        ]
        self.dequeued: dict[int, list[Slice]] = {}
        for tid in (98 + 3 * (seed % 2), 103):  # before all other threads, or between them
            self.dequeued[tid] = []
            cuts = sorted(source.sample(range(2, 200), 12))
            for start, end in zip(cuts[::2], cuts[1::2]):
                number = source.randrange(8)
                self.dequeued[tid].append(Slice(start, end, "", number))
                events.append(dequeue(start, end - start, number, tid))
        self.trace = trace_of(events)
        self.bounds = [
            time for operators in (*self.operators.values(), *self.dequeued.values()) for time in operators
        ]
        times = source.choices([t for slice_ in self.bounds for t in slice_[:2]], k=12) + [
            source.randrange(200) for _ in range(12)
        ]
        times[: seed % 2] = [0] * (seed % 2)
        if seed % 3 == 0:
            times.sort()
        self.rows = [self._block(time) for time in times]

    def _nest(self, bounds: list[int], operators: list[Slice], tid: int) -> None:
        while len(bounds) >= 2:
            size = 2 * self.source.randrange(1, len(bounds) // 2 + 1)
            start, *inner, end = bounds[:size]
            if size == 2 and tid == MAIN and operators and self.source.random() < 0.6:
                self.enqueued.append(Slice(start, end, "", len(self.enqueued)))
            else:
                line = 1 + len(operators) + 50 * (tid == MAIN)
                operators.append(Slice(start, end, self.source.choice(NAMES[:2]), line))
                self._nest(inner, operators, tid)
            bounds = bounds[size:]

    def _block(self, start: int) -> dict[str, Any]:
        source = self.source
        return {
            "start": start,
            "release": source.choice((-1, -1, 0, start + source.randrange(-2, 9))),
            "duration": source.choice((-1, 0, source.randrange(9))),
            "bytes": source.randrange(99),
            "name": source.choice(NAMES),
            "device": source.choice(DEVICES[self.source.choice((0, 1)) :]),
        }

    def operator_of(self, block: dict[str, Any]) -> Slice | None:
        time = block["start"]
        if not block["name"].startswith("cann::"):
            found = [
                [
                    operator
                    for operator in operators
                    if operator.start <= time <= operator.end and operator.name == block["name"]
                ]
                for operators in self.operators.values()
            ]
            if sum(map(bool, found)) != 1:
                return None
            return min(
                (operator for operators in found for operator in operators),
                key=lambda operator: operator.end - operator.start,
            )
        taken = [
            operator
            for operators in self.dequeued.values()
            for operator in operators
            if operator.start <= time <= operator.end
        ]
        queued = [
            operator for operator in self.enqueued if len(taken) == 1 and operator.number == taken[0].number
        ]
        if not queued:
            return None
        at = min(queued).start
        around = [operator for operator in self.operators[MAIN] if operator.start <= at < operator.end]
        return min(around, key=lambda operator: operator.end - operator.start, default=None)


@pytest.mark.parametrize("seed", range(15))
def test_blocks_lead_to_the_operator_that_allocates_them(seed: int) -> None:
    run = Run(seed)
    blocks = table(run.rows, ("name", "device"))
    chains = link_tasks(run.trace)
    found = join_tables(run.trace, chains, FrameRules(), MemoryTables(blocks, None, None))
    rows = sorted(run.rows, key=lambda row: row["start"])
    columns = found.blocks
    slices = run.trace.slices
    assert (columns.row >= -1).all()
    operators = []
    for row, line in zip(columns.row.tolist(), columns.line.tolist()):
        operator = None
        if row >= 0:
            operator = (
                int(slices.start[row]),
                int(slices.end[row]),
                run.trace.name(row),
                found.lines[line].line,
            )
        operators.append(operator)
    assert operators == [run.operator_of(row) for row in rows]
    assert columns.start.tolist() == [row["start"] for row in rows]
    assert columns.bytes.tolist() == [row["bytes"] for row in rows]
    ends = []
    for row in rows:
        end = row["start"] + row["duration"] if row["release"] < 0 <= row["duration"] else row["release"]
        ends.append(NEVER if end < 0 else max(end, row["start"]))
    assert columns.release.tolist() == ends
    assert [found.devices[place] for place in columns.device.tolist()] == [LABELS[r["device"]] for r in rows]
    assert {*found.devices} == {LABELS[row["device"]] for row in rows}
    assert [found.operators[place] for place in columns.operator.tolist()] == [row["name"] for row in rows]
    components = [found.components[place] for place in columns.component.tolist()]
    assert components == ["GE" if row["name"].startswith("cann::") else "PTA" for row in rows]
    steps = [(0, 90), (100, 190)]
    assert [step[1:] for step in found.steps] == steps
    of = [next((i for i, (a, b) in enumerate(steps) if a <= row["start"] < b), -1) for row in rows]
    assert columns.step.tolist() == of


def test_devices_are_those_of_curves_then_those_of_blocks() -> None:
    run = Run(0)
    for row in run.rows:
        row["device"] = "0"
    records = table([sample(1, 5, "NPU:1", "PTA")], ("device", "component"))
    every = MemoryTables(table(run.rows, ("name", "device")), records, None)
    assert join_tables(run.trace, link_tasks(run.trace), FrameRules(), every).devices == ("NPU 1", "NPU 0")
    alone = join_tables(run.trace, link_tasks(run.trace), FrameRules(), every._replace(blocks=None))
    assert (alone.devices, len(alone.blocks)) == (("NPU 1",), 0)


def sample(time: int, bytes_: int, device: str | None, component: str, **more: int) -> dict[str, Any]:
    return {"time": time, "allocated": bytes_, "device": device, "component": component, **more}


@pytest.mark.parametrize("seed", range(25))
def test_curves_are_those_of_each_component_that_holds_anything(seed: int) -> None:
    source = random.Random(seed)
    kinds = []
    expected: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    for names in (("PTA", "GE", "APP"), ("APP", "HCCL")):
        rows = [
            sample(
                source.randrange(9),
                source.choice((-1, 0, 0, 0, 1)),
                source.choice(DEVICES),
                source.choice(names),
                reserved=source.choice((-1, 0, 0, 0, 1)),
            )
            for _ in range(source.choice((1, 3, 12)))
        ]
        if seed % 4 == 0:
            rows.sort(key=lambda row: row["time"])
        kinds.append(table(rows, ("device", "component")))
        samples_of: dict[tuple[str, str | None], list[tuple[int, ...]]] = {}
        texts = [*dict.fromkeys(row["device"] for row in rows if row["device"] is not None)]
        components = [*dict.fromkeys(row["component"] for row in rows)]
        for component in components:
            for device in (None, *texts):
                samples: list[tuple[int, ...]] = [
                    (row["time"], row["allocated"], row["reserved"], -1)
                    for row in rows
                    if (row["component"], row["device"]) == (component, device)
                ]
                samples_of[component, device] = sorted(samples, key=lambda values_at: values_at[0])
        expected_samples: dict[tuple[str, str], list[tuple[int, ...]]] = {}
        for (component, device), samples in samples_of.items():
            if any(max(values[1:]) > 0 for values in samples):
                key = LABELS[device], component
                if names[0] == "PTA":
                    expected_samples[key] = (
                        samples  # "0" and "NPU:0" of one table do not stand beside each other
                    )
                else:
                    expected_samples.setdefault(key, samples)
        for key, samples in expected_samples.items():
            expected.setdefault(key, samples)
    found = curves_of(*kinds)
    assert [(curve.device, curve.component) for curve in found] == [*expected]
    for curve in found:
        columns = zip(*(c.tolist() for c in (curve.time, curve.allocated, curve.reserved, curve.active)))
        assert [*columns] == expected[curve.device, curve.component]
    assert curves_of(None, None) == ()


def test_a_mb_of_mindspore_is_1000_kib() -> None:
    rows = [sample(1, 5_242_880, "NPU:0", name, reserved=-1) for name in ("MindSpore", "GE")]
    curves = curves_of(table(rows, ("device", "component")), table(rows[1:], ("device", "component")))
    assert [curve.allocated.tolist() for curve in curves] == [[5_120_000], [5_120_000]]
    (of_module,) = curves_of(None, table(rows[1:], ("device", "component")))
    assert of_module.allocated.tolist() == [5_242_880]


@pytest.mark.parametrize(
    ("text", "label"),
    [(None, "NPU"), ("NPU:3", "NPU 3"), ("3", "NPU 3"), ("host", "host"), ("a:b:c", "a b:c")],
)
def test_labels_of_devices(text: str | None, label: str) -> None:
    assert table_device_label(text) == label


def test_steps_are_those_of_the_process_with_most(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(pids: str) -> list[int]:
        every = [SimpleNamespace(number=n, start=n, end=n + 5, pid=pid) for n, pid in enumerate(pids)]
        monkeypatch.setattr(tables, "host_steps", lambda _: every)
        trace: Any = None
        _, steps = memory_steps(trace)
        assert steps == tuple(MemoryStep(n, n, n + 5) for n, *_ in steps)
        return [step.number for step in steps]

    assert found("abb") == [1, 2] and found("aba") == [0, 2]
    assert found("ab") == [0] and found("") == []
