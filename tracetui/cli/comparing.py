"""Two runs to compare, traces, digests or jobs: read one after the other, so that one is in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tracetui.analysis.analyse import Analysis
from tracetui.analysis.idle.frames import FrameRules
from tracetui.analysis.scheduler.source import SchedulerSource
from tracetui.cli.job_reading import open_job
from tracetui.cli.output import refuse_early
from tracetui.cli.parser import Request, UsageError, usage_error
from tracetui.cli.reading_options import rules_of, scheduler_source
from tracetui.cli.trace_reading import opened_trace, selected
from tracetui.comparison.compared_run import Run, run_of
from tracetui.comparison.comparison import Comparison
from tracetui.comparison.walls import StepChoice
from tracetui.job.compare_jobs import Incomparable
from tracetui.job.job import Job
from tracetui.job.load import run_at
from tracetui.job.sides import compare_sides, side_at
from tracetui.job.sources import digest_at
from tracetui.language import state
from tracetui.units import Window

_WITHOUT_RULES = state("--user-frame and --skip-frame do not count: digests and jobs are made without them")


class RunPart(NamedTuple):
    """A path, and which part of its run is compared."""

    path: str
    step: int | None = None
    window: Window | None = None
    scheduler: SchedulerSource = SchedulerSource()  #: what its operating system did

    @property
    def is_whole(self) -> bool:
        return self.step is None and self.window is None


def compare_paths(
    request: Request, base: RunPart, other: RunPart, opened: Analysis | None = None
) -> Comparison:
    """Return what changed from one run to another; where one is a job, of the ranks that both have.

    `opened` is the analysis of all of OTHER, where its trace is open already. Beside a digest a trace is read
    as digests are made: without rules of whose code is whose.

    Raises UsageError where what is asked for is not in them, UnreadableTrace where there is no trace.
    """
    has_rules = rules_of(request) != FrameRules()
    has_digest = has_rules and any(digest_at(Path(part.path)) is not None for part in (base, other))
    if has_digest:
        request, opened = Request(**{**vars(request), "user_frames": (), "skip_frames": ()}), None

    def read_trace(part: RunPart) -> Run:
        if opened is not None and part is other:
            return run_of(opened, StepChoice(all_steps=request.all_steps))
        return _read_trace(request, part)

    def read_job(part: RunPart) -> Job:
        _refuse_parts(request, "what is kept of a job", base, other)
        refuse_early(request, other.path)
        return open_job(request, [Path(part.path)], scheduler=part.scheduler)

    sides = (
        side_at(
            Path(part.path),
            partial(read_trace, part),
            partial(read_job, part),
            partial(_read_digest, request, part),
            request.export,
        )
        for part in (base, other)
    )
    try:
        comparison = compare_sides(*sides)
    except Incomparable as error:
        raise UsageError(str(error)) from None
    if has_digest or (has_rules and comparison.job is not None):
        return replace(comparison, notes=(*comparison.notes, _WITHOUT_RULES))
    return comparison


def compare_whole(request: Request, base: str, other: str, opened: Analysis | None = None) -> Comparison:
    """Return what changed from one run to another; the recording of the scheduler given is of the latter.

    `opened` is as of `compare_paths`.
    """
    source = scheduler_source(request) or SchedulerSource()
    return compare_paths(request, RunPart(base), RunPart(other, scheduler=source), opened)


def _read_trace(request: Request, part: RunPart) -> Run:
    """Return what is compared of a trace; nothing else of it stays in memory."""
    with opened_trace(request, part.path, part.scheduler) as (analysis, file):
        selection = selected(analysis, part.step, part.window)
        choice = StepChoice(selection.step, selection.window, request.all_steps)
        return run_of(analysis, choice, file.args if request.shapes else None)


def _read_digest(request: Request, part: RunPart, digest: Path) -> Run:
    _refuse_parts(request, "a digest", part)
    refuse_early(request, str(digest))
    return run_at(digest)


def _refuse_parts(request: Request, what: str, *parts: RunPart) -> None:
    if request.shapes or not all(part.is_whole for part in parts):
        raise usage_error(
            "{what} holds all steps together, and no shapes: these need traces, one by one", what=what
        )
    if request.all_steps:
        raise usage_error("{what} holds no outlier steps: --all-steps needs traces, one by one", what=what)
