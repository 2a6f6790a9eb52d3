"""Directories of ranks, as profilers write them."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path

from tests.conftest import ROOT
from tracetui.job.digesting import digest_trace

TRACE = ROOT / "samples" / "moba" / "trace_view.json"


@cache
def real_digest(path: Path) -> bytes:
    """The digest of a real trace, made once for all tests."""
    return digest_trace(path, cache=False)


def rank_directory(
    top: Path, rank: int | None, time: str = "20250101120000000", host: str = "node1", world: int = 0
) -> Path:
    """Write a directory of one rank below `top`, with the sample as its trace."""
    directory = top / f"{host}_{1000 + (rank or 0)}_{time}_ascend_pt"
    output = directory / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    shutil.copy(TRACE, output / "trace_view.json")
    os.utime(output / "trace_view.json", (0, 0))
    if rank is not None:
        (directory / f"profiler_info_{rank}.json").write_text("{}")
    if world:
        metadata = {"distributed_args": {"world_size": world, "tensor_model_parallel_size": 2}}
        (directory / "profiler_metadata.json").write_text(json.dumps(metadata))
    return directory
