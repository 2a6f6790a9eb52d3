"""`tracetui whatif`: what a step of a job gains by fixes, by replaying it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.job_parser import add_job
from tracetui.cli.parser import Collect, Parser, Request, UsageError, usage_error

if TYPE_CHECKING:
    from tracetui.job.job import Job
    from tracetui.job.whatif.fixes import Fix

_DESCRIPTION = """Replay a job of many ranks with something fixed, and print what a step takes
then: what others waited is not what a fix saves, as the next late rank takes
over. Single fixes are tried as well: lines, ranks, stages, phases and slow
links, of many the likeliest, ranked by what they really save. How far off the
replay of the job as it was is, stands beside every answer.

SPEC is one of
  train.py:88     what a rank is idle there beyond its peers; where no rank
                  stands out, all of it (train.py:88=peers, train.py:88=all)
  train.py:88@7   the same on rank 7 only
  rank=7          rank 7 works as long as its peers do (rank=7=computing: in that)
  phase=generate  no rank is in that phase for longer than its peers
  stage=3         stage 3 computes as long as the other stages do on average
  link=0-1=2x     the link between ranks 0 and 1 is twice as fast

PATH is as of tracetui ranks. --csv writes the single fixes."""


def _add_arguments(parser: Parser) -> None:
    add_job(parser)
    parser.add_argument(
        "--fix",
        metavar="SPEC",
        dest="fixes",
        action=Collect,
        help="what a step takes with SPEC fixed; several at once where it is repeated",
    )
    parser.add_argument(
        "--balance", choices=("experts",), help="let all experts compute as long, and move as much"
    )
    parser.add_argument(
        "--no-jitter",
        action="store_true",
        help="let each rank take its own mean for the same work, and nothing be delayed",
    )
    parser.add_outputs("fixes that text and Markdown list (default 10), 0: all")


def _run(request: Request) -> None:
    from tracetui.cli.job_reading import print_job

    print_job(request, request.paths, request.only, partial(_print_answer, request, _fixes(request)))


def _fixes(request: Request) -> list[Fix]:
    """Return the fixes that are asked for. Raises UsageError where a text names none."""
    from tracetui.job.whatif.fixes import BALANCED_EXPERTS, NO_JITTER, parse_fix

    try:
        fixes = [*map(parse_fix, request.fixes)]
    except ValueError as error:
        raise usage_error("--fix: {error}", error=error) from None
    fixes += [BALANCED_EXPERTS] if request.balance else []
    fixes += [NO_JITTER] if request.no_jitter else []
    return fixes


def _print_answer(request: Request, fixes: list[Fix], job: Job) -> None:
    from tracetui.cli.job_reading import replaying
    from tracetui.cli.output import answer_report
    from tracetui.export.csv_table import write_small_table
    from tracetui.export.job.whatif import whatif_document, whatif_report
    from tracetui.export.tables.whatif import TRIALS, TrialRows
    from tracetui.job.whatif.answer import what_if
    from tracetui.job.whatif.durations import UnknownFix

    try:
        with replaying():
            found = what_if(job, fixes)
    except UnknownFix as error:
        raise UsageError(str(error)) from None
    answer_report(
        request,
        what="fixes",
        csv=lambda stream: write_small_table(stream, TRIALS, TrialRows(0, found.trials)),
        document=lambda: whatif_document(found),
        report=lambda: whatif_report(found, request.top),
    )


COMMAND = Command(
    "whatif", "PATH...", "a job replayed: what fixing something saves", _DESCRIPTION, _add_arguments, _run
)
