"""Directories of ranks, as profilers write them."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

from tests.analysis.machine import call, collective, npu, operator, task
from tests.conftest import ROOT
from tracetui.job.digesting import digest_trace

TRACE = ROOT / "samples" / "moba" / "trace_view.json"
#: all that a trace is to have, and no more, for tests to which it is nothing but a trace
TINY = json.dumps(
    [
        *npu(),
        operator(100, 400, stack=["train.py(1): train"]),
        call(200, 100, 1),
        task(600, 400, connection=1),
        collective(1200, 300),
    ]
).encode()


@cache
def real_digest(path: Path) -> bytes:
    """The digest of a real trace, made once for all tests."""
    return digest_trace(path, cache=False)


def rank_directory(
    top: Path,
    rank: int | None,
    time: str = "20250101120000000",
    host: str = "node1",
    world: int = 0,
    trace: bytes = b"",
) -> Path:
    """Write a directory of one rank below `top`, with its trace: the sample where none is given."""
    directory = top / f"{host}_{1000 + (rank or 0)}_{time}_ascend_pt"
    output = directory / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    (output / "trace_view.json").write_bytes(trace or TRACE.read_bytes())
    os.utime(output / "trace_view.json", (0, 0))
    if rank is not None:
        (directory / f"profiler_info_{rank}.json").write_text("{}")
    if world:
        metadata = {"distributed_args": {"world_size": world, "tensor_model_parallel_size": 2}}
        (directory / "profiler_metadata.json").write_text(json.dumps(metadata))
    return directory
