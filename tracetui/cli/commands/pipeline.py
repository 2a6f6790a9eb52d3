"""`tracetui pipeline`: the stages of a pipeline, and what their bubbles consist of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.job_parser import add_job
from tracetui.cli.parser import Parser, Request, add_outputs

if TYPE_CHECKING:
    from tracetui.job.job import Job

_DESCRIPTION = """Print the pipeline of a job: which schedule its stages follow, a chart of a
step, how long each stage warms up, works steadily and drains, and what its
bubble consists of, by replay: the schedule's own, imbalance of the stages,
jitter (unequal lengths of the same block, and transfers), and a late host
(idle time and delays). The four parts sum to the bubble. Imbalance is below 0
where a stage works longer than the mean. Then, what stages of equal lengths
would save.

PATH is as of tracetui ranks."""


def _add_arguments(parser: Parser) -> None:
    add_job(parser)
    add_outputs(parser, "stages that are listed (default 32), 0: all")


def _run(request: Request) -> ExitCode:
    from tracetui.cli.job_reading import print_job

    print_job(request, request.paths, request.only, partial(_print_pipeline, request))
    return ExitCode.OK


def _print_pipeline(request: Request, job: Job) -> None:
    from tracetui.cli.job_reading import replaying
    from tracetui.cli.output import answer_report
    from tracetui.export.csv_table import write_small_table
    from tracetui.export.job.pipeline import pipeline_document, pipeline_report
    from tracetui.export.tables.job import JobRows
    from tracetui.export.tables.pipeline import PIPELINE_STAGES
    from tracetui.job.pipeline import find_pipeline

    with replaying():
        found = find_pipeline(job)
    rows = JobRows(job, () if found is None else found.stages)
    answer_report(
        request,
        what="stages",
        csv=lambda stream: write_small_table(stream, PIPELINE_STAGES, rows),
        document=lambda: pipeline_document(job, found),
        report=lambda: pipeline_report(job, found, request.top),
    )


COMMAND = Command(
    "pipeline",
    "pipeline PATH...",
    "stages of a pipeline, and what bubbles are of",
    _DESCRIPTION,
    _add_arguments,
    _run,
)
