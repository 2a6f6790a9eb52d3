"""`tracetui ranks`: a job of many ranks: who waited for whom, and which line of which rank it was."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.job_parser import add_job
from tracetui.cli.parser import Parser, Request, usage_error

if TYPE_CHECKING:
    from tracetui.job.job import Job

_DESCRIPTION = """Join the traces of the ranks of one job, and print what they lost by waiting
for each other: which rank was late, what it did longer than those that waited,
down to the Python line, and in which steps. Then the lines that ranks were idle
for (is it every rank's problem, or one's?), the ranks beside each other, the
links between them and the stages of the pipeline.

PATH is a directory with the directories of ranks in it (at any depth up to 6),
a trace, or a digest that tracetui digest wrote where the trace lies. Ranks may
be missing: what they did is not known then, and numbers are lower bounds.

Lost time is of all ranks that waited together. --csv writes the ranks."""


def _add_arguments(parser: Parser) -> None:
    add_job(parser)
    parser.add_argument(
        "--by",
        metavar="MEASURE",
        type=str,
        help="sort the ranks by MEASURE, like computing or idle; data-parallel, model-parallel and pipeline "
        "show the measures that tell ranks apart there",
    )
    parser.add_step("only step N; links stay those of all steps")
    parser.add_all_steps("means are of all steps, also of those not to be believed")
    parser.add_outputs("rows of each table in text and Markdown (default 10), 0: all")


def _run(request: Request) -> None:
    print_ranks(request, request.paths, request.only, request.by)


def print_ranks(request: Request, paths: Sequence[Path], only: str = "*", by: str | None = None) -> None:
    """Print or write the job that paths hold; `only` and `by` as on the command line."""
    from tracetui.cli.job_reading import print_job
    from tracetui.job.rank_table import MEASURES, VIEWS

    if by is not None and by not in (*MEASURES, *VIEWS):
        raise usage_error("--by is one of {names}", names=", ".join((*MEASURES, *VIEWS)))
    print_job(request, paths, only, partial(_print_ranks, request, by))


def _print_ranks(request: Request, by: str | None, job: Job) -> None:
    from tracetui.cli.output import answer_report
    from tracetui.cli.trace_reading import known_steps
    from tracetui.export.csv_table import write_small_table
    from tracetui.export.job.document import job_document, ranked_rows
    from tracetui.export.job.text import job_report
    from tracetui.export.tables.job import RANKS

    step = request.step
    if step is not None and step not in job.steps:
        known = known_steps(job.steps)
        raise usage_error("there is no step {step} in this job: {known}", step=step, known=known)
    answer_report(
        request,
        what="ranks",
        csv=lambda stream: write_small_table(stream, RANKS, ranked_rows(job, by, step)),
        document=lambda: job_document(job, by, step),
        report=lambda: job_report(job, by, step, request.top),
    )


COMMAND = Command(
    "ranks", "PATH...", "a job of many ranks: who was late, and why", _DESCRIPTION, _add_arguments, _run
)
