"""The way from a path to an analysis, for scripts and for all that prints. The viewer loads step by step."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cache.cached_reading import read_trace
from tracetui.databases.exports import Export
from tracetui.language import state
from tracetui.reader.errors import Reason, UnreadableTrace
from tracetui.reader.joined import open_trace
from tracetui.reader.locate import locate_trace
from tracetui.reader.source import Progress, TraceFile
from tracetui.siblings.beside import Refusal
from tracetui.trace.model import Trace

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.memory.analyse import Memory
    from tracetui.analysis.scheduler.scheduler import SchedulerRecording
    from tracetui.comparison.compared_run import Run
    from tracetui.comparison.comparison import Comparison
    from tracetui.job.engines.digest_pool import DigestProgress
    from tracetui.job.job import Job
    from tracetui.job.sides import Side

#: A run to compare: a path of a trace, of a digest or of a directory of ranks, a trace that was analysed, a
#: job, or what was taken of a trace before.
Compared = Union[str, "os.PathLike[str]", "Analysis", "Run", "Job"]


def compare(
    base: Compared,
    other: Compared,
    rules: FrameRules | None = None,
    cache: bool = True,
    jobs: int | None = None,
    shapes: bool = False,
    export: Export | None = None,
) -> Comparison:
    """Compare two runs, per step; `rules`, `cache`, `jobs` and `export` as of `load`.

    Digests and jobs are made without `rules`: beside a digest a trace is to be read without them, too.

    With `shapes` operators of traces that are given by their paths match where the shapes of their inputs do.

    Of a path no more is kept than what is compared: the traces are never in memory at once.

    Two jobs are compared by the ranks that both have; so is a job with a trace or digest of one of its ranks.

    Raises UnreadableTrace, with a sentence, where there is no trace, and Incomparable where jobs have no rank
    in common.
    """
    from tracetui.job.sides import compare_sides

    return compare_sides(*(_side(side, rules, cache, jobs, shapes, export) for side in (base, other)))


def _side(
    compared: Compared,
    rules: FrameRules | None,
    cache: bool,
    jobs: int | None,
    shapes: bool,
    export: Export | None,
) -> Side:
    """Return a run as a side of a comparison; the arguments are those of `compare`."""
    from tracetui.analysis.analyse import Analysis
    from tracetui.comparison.compared_run import Run, run_of
    from tracetui.job.job import Job
    from tracetui.job.sides import Side, side_at

    def refuse() -> Job:
        raise TypeError("a job is compared with a job, or with a path")

    if isinstance(compared, Job):
        job = compared
        return Side(f"{len(job.ranks)} ranks", lambda: job, None)
    if isinstance(compared, (Analysis, Run)):
        run = compared
        return Side("", refuse, lambda: run if isinstance(run, Run) else run_of(run))
    path = compared

    def read_trace() -> Run:
        with opened(path, None, rules, cache, jobs, export, SchedulerSource()) as (analysis, file):
            return run_of(analysis, None, file.args if shapes else None)

    return side_at(
        Path(path),
        read_trace,
        lambda: load_job(path, cache=cache, jobs=jobs, export=export),
        export=export,
    )


def load(
    path: str | os.PathLike[str],
    on_progress: Callable[[Progress], None] | None = None,
    rules: FrameRules | None = None,
    cache: bool = True,
    jobs: int | None = None,
    export: Export | None = None,
    sched: str | os.PathLike[str] | None = None,
    sched_offset: int | None = None,
) -> Analysis:
    """Read a whole trace and analyse it.

    Args:
        path: a trace file, plain or .gz, or a directory that holds one.
        on_progress: called every few MB of the file.
        rules: which frame of a stack is the user's own, and so the line that idle time is charged to.
        cache: take a trace that was read before from the user's cache, without any progress, and keep one
            there that is large and read anew.
        jobs: threads that read a large file, or worker processes where the scanner is not compiled; None for
            one for each core that may be used. The result doesn't depend on it.
        export: "json" or "db": which one is read of a run that was exported both ways; None: JSON that is
            whole, else the database.
        sched: a recording of the scheduler, of what the operating system did meanwhile; None: what lies
            beside the trace, where it is plain which.
        sched_offset: ns that are added to the times of that; None: what the profiler tells, or is fitted.

    Raises UnreadableTrace, with a sentence, where there is no trace. What of a damaged file could not be read
    is told in `analysis.trace.report.warnings`.
    """
    source = SchedulerSource(None if sched is None else Path(sched), sched_offset)
    with opened(path, on_progress, rules, cache, jobs, export, source) as (analysis, _):
        return analysis


@contextlib.contextmanager
def opened(
    path: str | os.PathLike[str],
    on_progress: Callable[[Progress], None] | None = None,
    rules: FrameRules | None = None,
    cache: bool = True,
    jobs: int | None = None,
    export: Export | None = None,
    scheduler: SchedulerSource | None = None,
    on_recording: Callable[[int, int], None] | None = None,
    at_once: bool = True,
) -> Iterator[tuple[Analysis, TraceFile]]:
    """Give the analysis of a trace as `load`, and its file: `args` can be looked up in it.

    Args:
        path: as of `load`, and so are the arguments after it.
        on_progress: called every few MB of the file.
        rules: which frame of a stack is the user's own.
        cache: take a trace that was read before.
        jobs: threads or worker processes.
        export: which one is read.
        scheduler: the recording of the scheduler, or how that beside the trace is read; None: none is read.
        on_recording: called every few MB of that, with bytes read and bytes in all.
        at_once: compute what most need of it; else all of it is computed at first use.
    """
    with open_trace(locate_trace(Path(path), export), jobs) as trace_file:
        trace = read_trace(trace_file, on_progress, cache)
        from tracetui.analysis.analyse import Analysis, analyse  # a thread may import it while that reads

        recording = _recording(trace, scheduler, on_recording, cache)
        make = analyse if at_once else Analysis.of
        yield make(trace, rules, recording), trace_file


def _recording(
    trace: Trace,
    source: SchedulerSource | None,
    on_progress: Callable[[int, int], None] | None,
    cache: bool,
) -> SchedulerRecording | None:
    if source is None:
        return None
    from tracetui.analysis.scheduler.scheduler import recording_of
    from tracetui.cache.recordings import recording_reader

    try:
        return recording_of(trace, source, on_progress, read=recording_reader(cache))
    except Refusal as refusal:
        raise UnreadableTrace(
            Reason.SCHEDULER, state("{source}: {refusal}", source=source.path, refusal=refusal)
        ) from None


def load_job(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    only: str = "*",
    on_progress: Callable[[DigestProgress], None] | None = None,
    cache: bool = True,
    jobs: int | None = None,
    export: Export | None = None,
    sched: str | os.PathLike[str] | None = None,
    sched_offset: int | None = None,
) -> Job:
    """Read the ranks of a job and join them.

    Args:
        paths: directories with ranks in them, traces, or digests that `tracetui digest` wrote.
        only: a pattern of file names that ranks, or directories above them, have to match.
        on_progress: called as traces are read.
        cache: as of `load`; digests are kept as well.
        jobs: processes that read at once, 1 for none, None for one for each core that may be used.
        export: as of `load`.
        sched: as of `load`, of the host of all ranks; or a directory with a recording for each rank, called
            rank0.txt, or of each host, called by its name.
        sched_offset: as of `load`.

    Raises UnreadableTrace, with a sentence, where there is no rank that can be read. What else is wrong is
    told by `tracetui.export.sentences.notes.job_notes`.
    """
    from tracetui.job.load import load_ranks  # one trace needs none of it

    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return load_ranks(
        [Path(path) for path in several],
        only,
        on_progress,
        cache=cache,
        jobs=jobs,
        export=export,
        scheduler=SchedulerSource(None if sched is None else Path(sched), sched_offset),
    )


def load_snapshot(path: str | os.PathLike[str], rules: FrameRules | None = None) -> Memory:
    """Read a snapshot of PyTorch's allocator, a pickle, without running anything in it.

    Raises UnreadableTrace, with a sentence, for anything else.
    """
    from tracetui.analysis.memory.analyse import memory_of_snapshot  # a trace needs none of it

    try:
        return memory_of_snapshot(Path(path), rules or FrameRules())
    except Refusal as refusal:
        raise UnreadableTrace(
            Reason.NOT_A_TRACE, state("{path}: {refusal}", path=os.fspath(path), refusal=refusal)
        ) from None
