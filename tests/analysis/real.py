"""The real traces, read and analysed once for all tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.reader.source import TraceFile
from tracetui.trace.build import build_trace
from tracetui.trace.model import Trace

NPU = ("level0/rank1", "level2/rank0", "level2/rank1")
GPU = ("resnet_rank0.json.gz", "sampled_rank-0.json.gz", "sampled_rank-1.json.gz")


def npu_output(traces: Path, rank: str) -> Path:
    """The directory of a rank's results."""
    return traces / "npu" / f"{rank}_ascend_pt" / "ASCEND_PROFILER_OUTPUT"


def npu(traces: Path, rank: str) -> Analysis:
    """A rank of NPU, like "level2/rank0"."""
    return analysed(npu_output(traces, rank) / "trace_view.json")


def gpu(traces: Path, name: str) -> Analysis:
    """A file of a GPU."""
    return analysed(traces / "gpu" / name)


def read(path: Path) -> Trace:
    """The trace of a file, as the reader reads it, which `tests/trace/test_reader_agrees.py` checks."""
    with TraceFile(path) as file:
        return build_trace(file.read())


@cache
def analysed(path: Path) -> Analysis:
    """The analysis of a file."""
    return analyse(read(path))
