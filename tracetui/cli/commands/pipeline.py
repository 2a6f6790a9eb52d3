"""`tracetui pipeline`: the stages of a pipeline, and what their bubbles consist of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.cli.job_parser import job_command
from tracetui.cli.parser import Request

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


COMMAND = job_command(
    "pipeline",
    "stages of a pipeline, and what bubbles are of",
    _DESCRIPTION,
    "stages that text and Markdown list (default 32), 0: all",
    _print_pipeline,
)
