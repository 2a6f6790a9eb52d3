"""Two runs to compare, traces, digests or jobs: read one after the other, so that one is in memory."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tracetui.cli.opening import opened_trace, selected
from tracetui.cli.output import refuse_early
from tracetui.cli.parser import Request, UsageError
from tracetui.comparison.comparison import Comparison, compare_runs
from tracetui.comparison.run import Run, run_of
from tracetui.comparison.walls import Choice
from tracetui.units import Window


class Side(NamedTuple):
    """A path, and which part of its run is compared."""

    path: str
    step: int | None = None
    window: Window | None = None

    @property
    def is_part(self) -> bool:
        return self.step is not None or self.window is not None


def compare_paths(request: Request, base: Side, other: Side) -> Comparison:
    """Return what changed from one run to another; where one is a job, of the ranks that both have.

    Raises UsageError where what is asked for is not in them, UnreadableTrace where there is no trace.
    """
    if any(_is_job(Path(side.path)) for side in (base, other)):
        return _compare_jobs(request, base, other)
    return compare_runs(open_run(request, base), open_run(request, other))


def open_run(request: Request, side: Side) -> Run:
    """Return what is compared of a trace or a digest; nothing else of it stays in memory."""
    from tracetui.job.find import digest_at

    digest = digest_at(Path(side.path))
    if digest is not None:
        from tracetui.job.load import run_at

        _refuse_parts(request, "a digest", side)
        refuse_early(request, str(digest))
        return run_at(digest)
    with opened_trace(request, side.path) as (analysis, file):
        selection = selected(analysis, side.step, side.window)
        choice = Choice(selection.step, selection.window, request.all_steps)
        return run_of(analysis, choice, file.args if request.shapes else None)


def _is_job(path: Path) -> bool:
    if not path.is_dir():
        return False
    from tracetui.job.load import ranks_below

    return ranks_below(path) is not None


def _refuse_parts(request: Request, what: str, *sides: Side) -> None:
    if request.shapes or any(side.is_part for side in sides):
        raise UsageError(f"{what} holds all steps together, and no shapes: these need traces, one by one")
    if request.all_steps:
        raise UsageError(f"{what} holds no outlier steps: --all-steps needs traces, one by one")


def _compare_jobs(request: Request, base: Side, other: Side) -> Comparison:
    from tracetui.cli.jobs import open_job
    from tracetui.job.compare import Incomparable, compare_jobs

    _refuse_parts(request, "what is kept of a job", base, other)
    refuse_early(request, other.path)
    mine, theirs = (open_job(request, [Path(side.path)]) for side in (base, other))
    try:
        return compare_jobs(mine, theirs, (base.path, other.path))
    except Incomparable as error:
        raise UsageError(str(error)) from None
