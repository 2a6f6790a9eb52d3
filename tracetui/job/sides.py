"""The two sides of a comparison: whether each is a trace, a digest or a job, and how they are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tracetui.comparison.compared_run import Run
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.databases.exports import Export
from tracetui.job.compare_jobs import compare_jobs
from tracetui.job.job import Job
from tracetui.job.load import ranks_below, run_at
from tracetui.job.sources import digest_at


@dataclass(frozen=True)
class Side:
    """One of two runs to compare; nothing of it is read before it is asked for."""

    name: str  #: what the job is called in the comparison of two
    read_job: Callable[[], Job]  #: a trace or a digest is a job of one rank
    read_run: Callable[[], Run] | None  #: None: it is a job of several ranks


def side_at(
    path: Path,
    read_trace: Callable[[], Run],
    read_job: Callable[[], Job],
    read_digest: Callable[[Path], Run] = run_at,
    export: Export | None = None,
) -> Side:
    """Return what a path holds: a job where there are several ranks, else a trace or a digest.

    `export` is as of `locate_trace`.

    Raises UnreadableTrace where there are ranks and none can be read.
    """

    def read_run() -> Run:
        digest = digest_at(path)
        return read_trace() if digest is None else read_digest(digest)

    return Side(str(path), read_job, read_run if ranks_below(path, export) is None else None)


def compare_sides(base: Side, other: Side) -> Comparison:
    """Compare two runs, one read after the other; where a side is a job, the ranks that both have.

    Raises Incomparable where jobs have no rank in common, and what reading raises.
    """
    if base.read_run is None or other.read_run is None:
        return compare_jobs(base.read_job(), other.read_job(), (base.name, other.name))
    return compare_runs(base.read_run(), other.read_run())
