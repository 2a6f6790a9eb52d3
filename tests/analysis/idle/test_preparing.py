"""The preparing time of steps has causes that add up to it, copies apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis import real
from tests.analysis.machine import MAIN, call, dequeue, enqueue, npu, operator, step, task
from tests.synthetic import trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.notes import clocks_apart
from tracetui.export.trace.documents import summary_document
from tracetui.export.trace.frames import steps_frame
from tracetui.export.trace.markdown import summary_markdown
from tracetui.export.trace.selection import Selection
from tracetui.export.trace.summary import summary_text
from tracetui.units import format_duration


def check(analysis: Analysis) -> None:
    for index, analysed_step in enumerate(analysis.steps):
        assert sum(analysis.preparing.by_step(index).values()) == analysed_step.preparing_ns
    together = analysis.preparing.by_steps(range(len(analysis.steps)))
    assert sum(together.values()) == sum(analysed_step.preparing_ns for analysed_step in analysis.steps)


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
        "host.python": 400,
        "host.dataloader": 200,
        "host.operator": 50,
        "launch.dispatch": 40,
        "queue.wakeup": 10,
        "device.latency": 10,
        "copy": 100,
    }
    check(analysis)


def test_a_step_without_work_prepares_nothing() -> None:
    analysis = analyse(trace_of([*npu(), step(5, 1_000, 5_000), task(10_000, 10)]))
    assert [step_row.preparing_ns for step_row in analysis.steps] == [0]
    assert analysis.preparing.by_step(0) == {}


def test_work_before_its_step_on_the_hosts_clock_prepares_nothing_and_is_said() -> None:
    events = [*npu(), step(5, 1_000, 5_000), operator(1_100, 100), call(1_110, 10, 1, tid=MAIN)]
    analysis = analyse(trace_of([*events, task(960, 100, connection=1), task(3_000, 10)]))
    (only,) = analysis.steps
    assert (only.preparing_ns, clocks_apart(only)) == (0, 40)
    assert analysis.preparing.by_step(0) == {}
    (note,) = analysis.step_notes["NPU"]
    assert "1 of 1 steps" in note and "40 ns" in note and "clocks disagree" in note
    assert f"NPU: {note}." in summary_document(analysis, Selection())["trace"]["warnings"]
    assert note in summary_text(analysis, Selection(), None, 200)


@pytest.mark.parametrize("rank", real.NPU)
def test_preparing_is_the_whole_time_everywhere(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    (device,) = summary_document(analysis, Selection())["devices"]
    whole = sum(step["preparing_ns"] for step in device["steps"])
    copies = device["preparing_causes"]["copy"]
    assert device["preparing_ns"] == sum(device["preparing_causes"].values()) == whole
    assert 800_000 < copies < 900_000
    text = summary_text(analysis, Selection(), None, 200)
    words = f"Preparing steps took {format_duration(whole)}, of which copies {format_duration(copies)}\n"
    assert words in text
    assert f"Why preparing steps took {format_duration(whole)}\n" in summary_markdown(
        analysis, Selection(), None
    )
    (row,) = steps_frame(analysis)["preparing_ns"]
    assert row == whole


@pytest.mark.parametrize("rank", real.NPU)
def test_real_steps_load_data_first(real_traces: Path, rank: str) -> None:
    analysis = real.npu(real_traces, rank)
    check(analysis)
    assert analysis.preparing.by_step(0)["host.dataloader"] > 3_000_000
