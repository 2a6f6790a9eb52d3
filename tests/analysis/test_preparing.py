"""The preparing time of steps has causes that add up to it, copies apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.machine import call, dequeue, enqueue, npu, operator, step, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse


def check(analysis: Analysis) -> None:
    for index, each in enumerate(analysis.steps):
        assert sum(analysis.preparing.by_step(index).values()) == max(0, each.preparing_ns)
    together = analysis.preparing.by_steps(range(len(analysis.steps)))
    assert sum(together.values()) == sum(max(0, each.preparing_ns) for each in analysis.steps)


def test_copies_are_taken_off_and_split_the_time() -> None:
    analysis = analyse(
        trace_of(
            [
                *npu(),
                step(5, 1_000, 5_000),
                operator(1_100, 200, "enumerate(DataLoader)#X.__next__"),
                operator(1_700, 100),
                enqueue(1_750, 5, 1),
                dequeue(1_760, 50, 1),
                call(1_770, 30, 1),
                task(1_400, 100, "PCIE_DMA_SQE"),
                task(1_810, 100, connection=1),
            ]
        )
    )
    (only,) = analysis.steps
    assert only.preparing_ns == 810
    assert analysis.preparing.by_step(0) == {
        "unlinked": 400,
        "host.python": 200,
        "host.operator": 50,
        "launch.dispatch": 40,
        "queue.wakeup": 10,
        "device.latency": 10,
        "copy": 100,
    }
    check(analysis)


def test_a_step_without_work_prepares_nothing() -> None:
    analysis = analyse(trace_of([*npu(), step(5, 1_000, 5_000), task(10_000, 10)]))
    assert [each.preparing_ns for each in analysis.steps] == [0]
    assert analysis.preparing.by_step(0) == {}


@pytest.mark.parametrize("rank", real.NPU)
def test_real_steps_load_data_first(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    check(analysis)
    assert analysis.preparing.by_step(0)["host.dataloader"] > 3_000_000
