"""The reader and the simple builder of the tests make the same trace of a real file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.synthetic import load_json
from tracetui.arrays import Int32s
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace

TEXTS = ("name", "category", "task_type", "direction", "stack")
NUMBERS = ("start", "end", "activity", "event", "correlation")


def texts(trace: Trace, column: Int32s) -> list[str | None]:
    return [trace.string(index) for index in column.tolist()]


@pytest.mark.parametrize(
    "name",
    [
        "npu/level2/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "npu/level0/rank1_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
        "gpu/cpu_only_with_stacks.pt.trace.json.gz",
        "gpu/sampled_rank-0.json.gz",
    ],
)
def test_traces_are_equal(real_traces: Path, name: str) -> None:
    path = real_traces / name
    with TraceFile(path) as file:
        read = build_trace(file.read())
    expected = build_trace(load_json(path))
    assert [(t.layer, t.family, t.process, t.name, t.rows, t.samples) for t in read.tracks] == [
        (t.layer, t.family, t.process, t.name, t.rows, t.samples) for t in expected.tracks
    ]
    assert read.lane_rows.tolist() == expected.lane_rows.tolist()
    for column in NUMBERS:
        assert np.array_equal(getattr(read.slices, column), getattr(expected.slices, column)), column
    for column in TEXTS:
        assert texts(read, getattr(read.slices, column)) == texts(expected, getattr(expected.slices, column))
    for column in ("event", "src", "dst", "group_size", "size", "count"):
        assert np.array_equal(getattr(read.hccl, column), getattr(expected.hccl, column)), column
    for column in ("transport", "link", "dtype", "algorithm", "collective", "process_group", "group_ranks"):
        assert texts(read, getattr(read.hccl, column)) == texts(expected, getattr(expected.hccl, column))
    for column in ("event", "task"):
        assert np.array_equal(getattr(read.numbered, column), getattr(expected.numbered, column)), column
    for column in ("event", "address", "size", "allocated", "reserved", "device"):
        assert np.array_equal(getattr(read.memory, column), getattr(expected.memory, column)), column
    assert np.array_equal(read.counters.value, expected.counters.value)
    arrows = [
        sorted(
            zip(texts(trace, trace.flows.category), trace.flows.source.tolist(), trace.flows.target.tolist())
        )
        for trace in (read, expected)
    ]
    assert arrows[0] == arrows[1]
