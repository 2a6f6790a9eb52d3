"""`tracetui digest`: the digests of ranks as files, to be joined on another host."""

from __future__ import annotations

from pathlib import Path

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.job_parser import add_job
from tracetui.cli.parser import Parser, Request, add_force

_DESCRIPTION = """Write what a job needs to know of each rank into a small file, about 1 % of its
trace. Run it on each host that has traces of a job (srun, pdsh, ssh), copy the
files to one place, and look at them with `tracetui ranks`, which takes digests
and traces alike. So do `tracetui compare` and `tracetui check --baseline`: keep
the digest of a good run in place of its trace. Prints the names of the files."""


def _add_arguments(parser: Parser) -> None:
    add_job(parser)
    parser.add_argument(
        "-o", "--output", dest="output", metavar="DIR", required=True, help="the directory to write them to"
    )
    add_force(parser, "replace digests that exist")


def _run(request: Request) -> ExitCode:
    from tracetui.cli.job_reading import write_digests
    from tracetui.cli.output import say

    written, failed = write_digests(request, Path(request.output))
    say(f"{written} written, {failed} failed" if failed else f"{written} written")
    return ExitCode.OK if written else ExitCode.UNREADABLE


COMMAND = Command(
    "digest",
    "digest PATH...",
    "reduce ranks to small files, for hosts that share none",
    _DESCRIPTION,
    _add_arguments,
    _run,
    needs_stdout=False,
)
