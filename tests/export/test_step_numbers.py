"""The steps of a trace by number: their time, and what starts in them, with a device and without."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from tests.analysis import real
from tests.export.training import HCCL, NPU, PYTHON, START_US, training_events
from tests.synthetic import piece, process, trace_of
from tracetui.analysis.analyse import Analysis, analyse
from tracetui.export.trace.frames import events_frame
from tracetui.export.trace.step_numbers import StepNumbers


@pytest.fixture(scope="module")
def training() -> Analysis:
    """Two steps on the host, the device half a millisecond behind."""
    events = training_events()
    for event in events:
        if event["pid"] in (NPU, HCCL) and "ts" in event:
            event["ts"] = str(Decimal(event["ts"]) + 500)
    return analyse(trace_of(events))


def track_of(analysis: Analysis, pid: int) -> int:
    return next(track.index for track in analysis.trace.tracks if track.pid == str(pid))


def test_a_step_lasts_from_its_start_on_the_host_to_its_end_on_the_device(training: Analysis) -> None:
    numbers, second = StepNumbers(training), training.steps[1]
    assert numbers.known() == [5, 6]
    assert numbers.window(6) == (second.host_start_ns, second.end_ns)
    assert second.host_start_ns < second.start_ns < second.host_end_ns < second.end_ns


def test_a_device_has_its_own_windows(training: Analysis) -> None:
    numbers, (first, second) = StepNumbers(training), training.steps
    times = np.array([first.host_start_ns - 1, first.host_start_ns, second.host_start_ns, second.end_ns])
    on_host = np.full(4, track_of(training, PYTHON), np.int32)
    assert numbers.numbers_at(times, on_host).tolist() == [-1, 5, 6, -1]
    on_device = np.full(4, track_of(training, NPU), np.int32)
    assert numbers.numbers_at(times, on_device).tolist() == [-1, -1, 5, -1]
    ends = np.array([second.host_end_ns - 1, second.host_end_ns])
    assert numbers.numbers_at(ends, on_host[:2]).tolist() == [6, -1]
    mixed = np.array([on_host[0], on_device[0]] * 2, np.int32)
    assert numbers.numbers_at(times, mixed).tolist() == [-1, -1, 6, -1]


def test_without_a_device_the_steps_are_those_of_the_host() -> None:
    events = [event for event in training_events() if event["pid"] == PYTHON and event["ph"] != "s"]
    host = analyse(trace_of(events))
    assert host.steps == ()
    numbers = StepNumbers(host)
    assert numbers.known() == [5, 6]
    steps = events_frame(host).set_index("name").loc[["ProfilerStep#5", "ProfilerStep#6"]]
    for number, (_, step) in zip((5, 6), steps.iterrows()):
        assert numbers.window(number) == (step["start_ns"], step["start_ns"] + step["dur_ns"])
    assert set(events_frame(host)["step"]) == {5, 6}


def test_no_steps() -> None:
    host = analyse(trace_of([*process(1, "python", "CPU"), piece(1, 1, "aten::mm", START_US, 2, "cpu_op")]))
    assert StepNumbers(host).known() == []
    assert events_frame(host)["step"].isna().all()


def test_a_real_trace_without_a_device(real_traces: Path) -> None:
    host = real.gpu(real_traces, "cpu_only_with_stacks.pt.trace.json.gz")
    assert StepNumbers(host).known() == [2, 3, 4]
    table = events_frame(host)
    for number in (2, 3, 4):
        start, end = StepNumbers(host).window(number)
        inside = (table["start_ns"] >= start) & (table["start_ns"] < end)
        assert (table["step"][inside] == number).all()
        assert inside.sum() > 1
