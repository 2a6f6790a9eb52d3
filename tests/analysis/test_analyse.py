"""Every trace is analysed, whatever is missing in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analysis import real
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
