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
from tracetui.job.job import Job, job_of
from tracetui.job.members import Rank


@cache
def truth(name: str) -> JobTruth:
    return tell(JOBS[name])


def digests(name: str, level: int = 1, plain: bool = False) -> tuple[Digest, ...]:
    """The digests of the present ranks, in the order of their numbers; `plain`: with nothing planted."""
    return _digests(name, level, plain)


def job(name: str, level: int = 1, plain: bool = False) -> Job:
    return _job(name, level, plain)


# Of arguments that a call leaves out, a cache knows nothing: the same job would be made again.


@cache
def _digests(name: str, level: int, plain: bool) -> tuple[Digest, ...]:
    told = truth(name)
    with tempfile.TemporaryDirectory() as directory:
        made = write_job(told.plain if plain else told.outcome, Path(directory), level)
        return tuple(decode(digest_trace(rank, cache=False)) for rank in made)


@cache
def _job(name: str, level: int, plain: bool) -> Job:
    return job_of([Rank(digest.identity.rank, digest, "") for digest in _digests(name, level, plain)])
