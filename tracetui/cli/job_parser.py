"""The arguments of commands on many ranks, and the commands that answer one question about a job."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.parser import Parser, Request

if TYPE_CHECKING:
    from tracetui.job.job import Job


def add_job(parser: Parser) -> None:
    """Add the ranks, and how they are read."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a directory of ranks, a trace or a digest"
    )
    parser.add_argument(
        "--only", metavar="GLOB", default="*", help="only ranks whose path or name matches, like 'run2/*'"
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="have them digested by the workers of a Dask scheduler, like 'tcp://node00:8786', each of which "
        "sees other ranks below PATH on its own host",
    )
    parser.add_reading(
        "read with N processes, each a rank (default: one for each core that may be used, as far as memory "
        "allows)"
    )
    parser.add_scheduler()


def job_command(
    name: str, brief: str, description: str, top: str, print_answer: Callable[[Request, Job], None]
) -> Command:
    """Return the command that prints an answer about a job; `top` says what --top is."""

    def add_arguments(parser: Parser) -> None:
        add_job(parser)
        parser.add_outputs(top)

    def run(request: Request) -> None:
        from tracetui.cli.job_reading import print_job

        print_job(request, request.paths, request.only, partial(print_answer, request))

    return Command(name, "PATH...", brief, description, add_arguments, run)
