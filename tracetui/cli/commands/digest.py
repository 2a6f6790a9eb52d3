"""`tracetui digest`: the digests of ranks as files, to be joined on another host."""

from __future__ import annotations

from pathlib import Path

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.job_parser import add_job
from tracetui.cli.parser import Parser, Request
from tracetui.language import counted

_DESCRIPTION = """Write what a job needs to know of each rank into a small file, about 1 % of its
trace. Run it on each host that has traces of a job (srun, pdsh, ssh), copy the
files to one place, and look at them with `tracetui ranks`, which takes digests
and traces alike. So do `tracetui compare` and `tracetui check --baseline`: keep
the digest of a good run in place of its trace. Prints the names of the files.
The exit status is 3 where a trace cannot be read, 2 where a digest exists."""


def _add_arguments(parser: Parser) -> None:
    add_job(parser)
    parser.add_argument(
        "-o", "--output", dest="output", metavar="DIR", required=True, help="the directory to write them to"
    )
    parser.add_force("replace digests that exist")


def _run(request: Request) -> ExitCode:
    from tracetui.cli.job_reading import write_digests
    from tracetui.cli.output import say

    found = write_digests(request, Path(request.output))
    failed = found.unread + found.existing
    if found.digests:
        say(counted(found.digests, "1 is a digest already", "{count} are digests already"))
    say(f"{found.written} written, {failed} failed" if failed else f"{found.written} written")
    if found.unread:
        return ExitCode.UNREADABLE
    return ExitCode.USAGE if found.existing else ExitCode.OK


COMMAND = Command(
    "digest",
    "PATH...",
    "reduce ranks to small files, for hosts that share none",
    _DESCRIPTION,
    _add_arguments,
    _run,
    needs_stdout=False,
)
