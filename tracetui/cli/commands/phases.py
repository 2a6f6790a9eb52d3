"""`tracetui phases`: what the ranks of a job do in the ranges that people mark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.cli.job_parser import job_command
from tracetui.cli.parser import Request

if TYPE_CHECKING:
    from tracetui.job.job import Job

_DESCRIPTION = """Print what the ranks of a job do in the ranges that people mark in their
programs (msTX, NVTX, record_function), like the roles of reinforcement
learning: how often each is there, how long it takes, computing, exposed
communication, idle time, what is waited in it, and for which other range.
A range counts on the stream to which it enqueues most computing: there it
begins once all has ended that the host had enqueued before, and ends once all
has ended that was enqueued in it, but not later than the stream begins what
comes next. The spread is by how much the longest range is longer
than the shortest, as a share of the mean.

PATH is as of tracetui ranks; one trace will do."""


def _print_phases(request: Request, job: Job) -> None:
    from tracetui.cli.output import answer_report
    from tracetui.export.csv_table import write_small_table
    from tracetui.export.job.phases import phase_rows, phases_document, phases_report
    from tracetui.export.tables.phases import PHASES

    rows = phase_rows(job)
    answer_report(
        request,
        what="phases",
        csv=lambda stream: write_small_table(stream, PHASES, rows),
        document=lambda: phases_document(rows),
        report=lambda: phases_report(rows, request.top),
    )


COMMAND = job_command(
    "phases",
    "what ranks do in the ranges that a program marks",
    _DESCRIPTION,
    "phases that text and Markdown list (default 20), 0: all",
    _print_phases,
)
