"""The way from a path to an analysis, for scripts and for all that prints. The viewer loads step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tracetui.analysis.analyse import Analysis, analyse
from tracetui.analysis.idle.frames import FrameRules
from tracetui.cache.reading import read_trace
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress, TraceFile
from tracetui.siblings.beside import Refusal

if TYPE_CHECKING:
    from tracetui.analysis.memory.analyse import Memory
    from tracetui.compare.comparison import Comparison
    from tracetui.compare.run import Run
    from tracetui.job.engines.pool import Ranks
    from tracetui.job.job import Job

#: A run to compare: a path of a trace, a trace that was analysed, or what was taken of one before.
Side = Union[str, "os.PathLike[str]", Analysis, "Run"]


def compare(
    base: Side, other: Side, rules: FrameRules | None = None, cache: bool = True, jobs: int | None = None
) -> Comparison:
    """Compare two runs, per step; `rules`, `cache` and `jobs` as of `load`.

    Of a path no more is kept than what is compared: the traces are never in memory at once.

    Raises UnreadableTrace, with a sentence, where there is no trace.
    """

    from tracetui.compare.comparison import compare_runs
    from tracetui.compare.run import Run, run_of

    def taken(side: Side) -> Run:
        if isinstance(side, Run):
            return side
        return run_of(side if isinstance(side, Analysis) else load(side, None, rules, cache, jobs))

    return compare_runs(taken(base), taken(other))


def load(
    path: str | os.PathLike[str],
    on_progress: Callable[[Progress], None] | None = None,
    rules: FrameRules | None = None,
    cache: bool = True,
    jobs: int | None = None,
) -> Analysis:
    """Read a whole trace and analyse it.

    Args:
        path: a trace file, plain or .gz, or a directory that holds one.
        on_progress: called every few MB of the file.
        rules: which frame of a stack is the user's own, and so the line that idle time is charged to.
        cache: take a trace that was read before from the user's cache, without any progress, and keep one
            there that is large and read anew.
        jobs: worker processes that decode a large file, 1 for none, None for one for each core that may be
            used. The result doesn't depend on it.

    Raises UnreadableTrace, with a sentence, where there is no trace. What of a damaged file could not be read
    is told in `analysis.trace.report.warnings`.
    """
    with TraceFile(locate_trace(Path(path)), jobs=jobs) as trace_file:
        trace = read_trace(trace_file, on_progress, cache)
    return analyse(trace, rules)


def load_job(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    only: str = "*",
    on_progress: Callable[[Ranks], None] | None = None,
    cache: bool = True,
    jobs: int | None = None,
) -> Job:
    """Read the ranks of a job and join them.

    Args:
        paths: directories with ranks in them, traces, or digests that `tracetui digest` wrote.
        only: a pattern of file names that ranks, or directories above them, have to match.
        on_progress: called as traces are read.
        cache: as of `load`; digests are kept as well.
        jobs: processes that read at once, 1 for none, None for one for each core that may be used.

    Raises UnreadableTrace, with a sentence, where there is no rank that can be read. What else is wrong is
    told by `tracetui.job.sayings`.
    """
    from tracetui.job.load import load_job as load_ranks  # one trace needs none of it

    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return load_ranks([Path(path) for path in several], only, on_progress, cache=cache, jobs=jobs)


def load_snapshot(path: str | os.PathLike[str], rules: FrameRules | None = None) -> Memory:
    """Read a snapshot of PyTorch's allocator, a pickle, without running anything in it.

    Raises UnreadableTrace, with a sentence, for anything else.
    """
    from tracetui.analysis.memory.analyse import memory_of_snapshot  # a trace needs none of it

    try:
        return memory_of_snapshot(Path(path), rules or FrameRules())
    except Refusal as refusal:
        raise UnreadableTrace(Reason.NOT_A_TRACE, f"{os.fspath(path)}: {refusal}") from None
