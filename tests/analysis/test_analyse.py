"""Every trace is analysed, whatever is missing in it."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.analysis import gpu, real
from tests.analysis.machine import (
    PYTHON,
    call,
    collective,
    dequeue,
    enqueue,
    frame,
    npu,
    operator,
    step,
    task,
)
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import analyse
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace


@pytest.mark.parametrize("name", [*real.GPU, "cpu_only_with_stacks.pt.trace.json.gz"])
def test_gpu_and_cpu_traces(real_traces: Path, name: str) -> None:
    analysis = real.gpu(real_traces, name)
    assert len(analysis.devices) == (0 if "cpu" in name else 1)
    assert sum(line.idle_ns for line in analysis.lines) == analysis.stacks.idle_ns == analysis.idle_ns
    assert len(analysis.host_operators) > 0
    assert (len(analysis.device_operators) > 0) == bool(analysis.devices)


@pytest.mark.parametrize(
    "events",
    [
        [],
        npu(),
        [*npu(), task(10, 0)],
        [*npu(), task(10, 5)],
        [*npu(), task(10, 5, "PCIE_DMA_SQE")],
        [*npu(), task(10, 5, "EVENT_WAIT_SQE"), collective(20, 0)],
        [*npu(), collective(10, 5)],
        [*npu(), step(0, 0, 50)],
        [*npu(), step(0, 0, 0), task(0, 0)],
        [*npu(), operator(0, 5), enqueue(1, 1, 3), dequeue(2, 1, 3), frame(0, 9, "a.py(1): f")],
        [*npu(), call(0, 5, 3), task(5, 5, connection=4), task(15, 5)],
        [*npu(), task(-5, 5), task(-20, 3)],
        [piece(PYTHON, 1, "anything", "1", "2")],
        [
            *process(PYTHON, "Ascend Hardware"),
            piece(PYTHON, 1, "x", "1", "2"),
            piece(PYTHON, 1, "x", "9", "2"),
        ],
    ],
)
def test_what_is_missing_is_empty(events: list[dict[str, Any]]) -> None:
    analysis = analyse(trace_of(events))
    assert sum(line.idle_ns for line in analysis.lines) == analysis.stacks.idle_ns == analysis.idle_ns
    assert analysis.launch_chains.linked <= analysis.launch_chains.total
    assert len(analysis.gaps.ranked()) == len(analysis.gaps)
    for index in range(len(analysis.steps)):
        assert analysis.operators_in_step(index).by_name().total_ns.sum() >= 0
        analysis.operators_in_step(index, host=True).by_name()
    for host in (True, False):
        assert analysis.operators_in_window(0, 10**9, host).by_name().total_ns.sum() >= 0


@pytest.mark.parametrize("first_us", [7, 0, -1, -100, -5000, -(10**9)])
def test_where_a_clock_begins_changes_no_answer(tmp_path: Path, first_us: int) -> None:
    """Times below 0 are those of a clock that was set to 0 within the recording, or was corrected."""
    answers = []
    for shift_us in (1000, first_us):
        events: list[dict[str, Any]] = [*gpu.gpu()]
        for number, start in enumerate((0, 100_000, 200_000)):
            events += [gpu.step(number, start, 90_000), gpu.host(start + 5_000, 60_000)]
            events += [gpu.launch(start + 10_000, 3_000, number)]
            events += [gpu.kernel(start + 20_000, 40_000, number)]
        for event in events:
            if "ts" in event:
                event["ts"] = str(Decimal(event["ts"]) + shift_us)
        (tmp_path / "t.json").write_text(json.dumps(events))
        with TraceFile(tmp_path / "t.json") as trace_file:
            found = analyse(build_trace(trace_file.read()))
        (device,) = found.devices
        steps = [
            (
                row.host_start_ns - found.trace.start_ns,
                row.computing_ns,
                row.free_ns,
                row.preparing_ns,
                row.idle_ns,
            )
            for row in found.steps
        ]
        answers.append((steps, device.idle_ns))
    assert answers[0][0][1][1] == 40_000 and answers[0] == answers[1]
