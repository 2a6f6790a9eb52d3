"""Simulated jobs, their digests and their truth, for the tests of this package."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from samples.job.directory import write_job
from samples.job.scenarios import JOBS
from samples.job.truth import JobTruth, tell
from tracetui.job.coding import decode
from tracetui.job.digest import Digest
from tracetui.job.digesting import digest_trace


@cache
def truth(name: str) -> JobTruth:
    return tell(JOBS[name])


@cache
def digests(name: str, level: int = 1) -> tuple[Digest, ...]:
    """The digests of the present ranks, in the order of their numbers."""
    with tempfile.TemporaryDirectory() as directory:
        made = write_job(truth(name).outcome, Path(directory), level)
        return tuple(decode(digest_trace(rank, cache=False)) for rank in made)
