"""`tracetui check`: whether limits on shares of time are kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import (
    PATHS,
    Collect,
    Parser,
    Request,
    UsageError,
    add_ascii,
    add_json,
    add_rules,
    add_trace,
)

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.analysis.limits import Limit
    from tracetui.compare.comparison import Comparison
    from tracetui.compare.regressions import RegressionLimit

_DESCRIPTION = f"""Compare how the devices of a trace spend their time with limits, for scripts and
CI. A limit is a time (3ms) or a share (10%) of the time between the first and
the last work of a device; each device is held to it by itself, and with
--each-step each step on it too.

With --max-wait or --max-imbalance PATH is a job of many ranks, as for tracetui
ranks, and each of them is held to these limits; they go with no others.

Prints one line for each limit that is passed, and nothing else on stdout.
Causes are those of idle time, as in the summary, like host.python; "host" is
all of the host's together.

With --baseline the trace is compared with another, the run before (see tracetui
compare): --max-regression 5% is how much slower a step may be, and
--max-regression idle=2ms the same of a part of it (idle, computing,
communication, copy, preparing), a cause (host.sync) or a class (Matmul).

exit status:
  0 no limit is passed   4 one is   5 no work of a device in the trace to check

{PATHS}"""

_MEASURES = {
    "free": "time without computing or communication",
    "idle": "time without any work, copies included",
}

_MEASURES_OF_JOBS = {
    "wait": "what a rank of a job loses by waiting for others",
    "imbalance": "by how much longer than the mean of all a rank of a job computes in a step",
}


def _add_arguments(parser: Parser) -> None:
    add_trace(parser)
    for measure, meaning in _MEASURES.items():
        parser.add_argument(
            f"--max-{measure}",
            dest="limits",
            metavar="LIMIT",
            action=Collect,
            type=_limit_of(measure),
            help=f"{meaning}: at most LIMIT, like 10%% or 3ms",
        )
    parser.add_argument(
        "--max-cause",
        dest="limits_of_causes",
        metavar="CAUSE=LIMIT",
        action=Collect,
        type=_cause_limit,
        help="idle time of this cause: at most LIMIT; may be repeated",
    )
    for measure, meaning in _MEASURES_OF_JOBS.items():
        parser.add_argument(
            f"--max-{measure}",
            dest="limits_of_jobs",
            metavar="LIMIT",
            action=Collect,
            type=_limit_of(measure),
            help=f"{meaning}: at most LIMIT, like 10%% or 3ms",
        )
    parser.add_argument("--baseline", metavar="BASE", help="the run to compare with, a trace as PATH")
    parser.add_argument(
        "--max-regression",
        dest="regressions",
        metavar="LIMIT",
        action=Collect,
        type=_regression,
        help="how much longer than in BASE a step may be, or a part of it: 5%%, idle=2ms; may be repeated",
    )
    parser.add_argument("--each-step", action="store_true", help="hold each step to the limits too")
    add_json(parser)
    add_ascii(parser)
    add_rules(parser)


def _run(request: Request) -> ExitCode:
    limits = (*request.limits, *request.limits_of_causes)
    if request.limits_of_jobs:
        if limits or request.each_step or request.regressions:
            raise UsageError("--max-wait and --max-imbalance are of jobs, and go with no limits of a device")
        return _check_job(request)
    if (request.baseline is None) != (not request.regressions):
        raise UsageError("--baseline BASE and --max-regression LIMIT belong together")
    if not limits and not request.regressions:
        raise UsageError("no limit is given, like --max-free 10%; see tracetui check --help")
    from tracetui.analysis.limits import find_breaches
    from tracetui.cli.opening import open_trace
    from tracetui.cli.output import print_json, print_text, say
    from tracetui.compare.regressions import find_regressions
    from tracetui.compare.verdict import verdict
    from tracetui.export.compare_document import regressions_document
    from tracetui.export.compare_text import regressions_text
    from tracetui.export.documents import limits_document
    from tracetui.export.limits_text import breaches_text, doubts

    analysis, _ = open_trace(request)
    if not any(activity.window_ns > 0 for activity in analysis.devices):
        say("no device computes or communicates in this trace: there is nothing to check")
        return ExitCode.UNCHECKED
    found = find_breaches(analysis, limits)
    breaches = tuple(breach for breach in found if request.each_step or breach.step is None)
    comparison = None if request.baseline is None else _compare(request, analysis)
    if comparison is not None and not len(comparison.base.wall_ns):
        say("no device computes or communicates in BASE: there is nothing to compare with")
        return ExitCode.UNCHECKED
    regressions = () if comparison is None else find_regressions(comparison, request.regressions)
    if request.json:
        document = limits_document(limits, breaches)
        if comparison is not None:
            document |= regressions_document(comparison, request.regressions, regressions)
        print_json(document)
    else:
        print_text(breaches_text(breaches) + regressions_text(regressions), request)
    for doubt in (*doubts(analysis, limits), *(() if comparison is None else (verdict(comparison),))):
        say(doubt)
    return ExitCode.LIMIT if breaches or regressions else ExitCode.OK


def _compare(request: Request, analysis: Analysis) -> Comparison:
    from tracetui.cli.opening import open_run
    from tracetui.compare.comparison import compare_runs
    from tracetui.compare.run import run_of

    return compare_runs(open_run(request, request.baseline, None, None), run_of(analysis))


def _regression(text: str) -> RegressionLimit:
    from tracetui.compare.regressions import parse_regression

    return _parsed(lambda: parse_regression(text))


def _check_job(request: Request) -> ExitCode:
    from tracetui.cli.jobs import open_job
    from tracetui.cli.output import print_json, print_text, say
    from tracetui.export.job_limits import breaches_text, limits_document
    from tracetui.job.limits import find_breaches
    from tracetui.job.sayings import sayings
    from tracetui.trace.clean import printable

    job = open_job(request, [Path(request.path)])
    breaches = find_breaches(job, request.limits_of_jobs)
    if not any(rank.digest.end > rank.digest.start for rank in job.ranks):
        say("no device computes or communicates in these traces: there is nothing to check")
        return ExitCode.UNCHECKED
    if request.json:
        print_json(limits_document(request.limits_of_jobs, breaches))
    else:
        print_text(breaches_text(breaches), request)
    for saying in sayings(job):
        say(printable(saying))
    return ExitCode.LIMIT if breaches else ExitCode.OK


def _limit_of(measure: str) -> Callable[[str], Limit]:
    def limit(text: str) -> Limit:
        from tracetui.analysis.limits import parse_limit

        return _parsed(lambda: parse_limit(measure, text))

    return limit


def _cause_limit(text: str) -> Limit:
    from tracetui.analysis.limits import parse_cause_limit

    return _parsed(lambda: parse_cause_limit(text))


AnyLimit = TypeVar("AnyLimit")


def _parsed(parse: Callable[[], AnyLimit]) -> AnyLimit:
    try:
        return parse()
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


COMMAND = Command(
    "check",
    "check PATH",
    "compare shares of time with limits, for scripts and CI",
    _DESCRIPTION,
    _add_arguments,
    _run,
    needs_stdout=False,
)
