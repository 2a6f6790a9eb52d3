"""`tracetui check`: whether limits on shares of time are kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

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
    from tracetui.analysis.limits import Limit
    from tracetui.analysis.memory.limits import MemoryLimit

_DESCRIPTION = f"""Compare how the devices of a trace spend their time with limits, for scripts and
CI. A limit is a time (3ms) or a share (10%) of the time between the first and
the last work of a device; each device is held to it by itself, and with
--each-step each step on it too.

Prints one line for each limit that is passed, and nothing else on stdout.
Causes are those of idle time, as in the summary, like host.python; "host" is
all of the host's together.

exit status:
  0 no limit is passed   4 one is   5 no work of a device in the trace to check,
  or nothing recorded of the memory that a limit is about

{PATHS}"""

_MEASURES = {
    "free": "time without computing or communication",
    "idle": "time without any work, copies included",
}

_SIZES = {
    "memory": "what tensors hold on a device: at most SIZE, like 60GB",
    "growth": "what they hold more from step to step, in each of the last three: at most SIZE, like 1MB",
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
    for measure, meaning in _SIZES.items():
        parser.add_argument(
            f"--max-{measure}",
            dest="limits_of_memory",
            metavar="SIZE",
            action=Collect,
            type=_memory_limit_of(measure),
            help=meaning,
        )
    parser.add_argument("--each-step", action="store_true", help="hold each step to the limits too")
    add_json(parser)
    add_ascii(parser)
    add_rules(parser)


def _run(request: Request) -> ExitCode:
    limits, of_memory = (*request.limits, *request.limits_of_causes), request.limits_of_memory
    if not (limits or of_memory):
        raise UsageError("no limit is given, like --max-free 10%; see tracetui check --help")
    from tracetui.analysis.limits import find_breaches
    from tracetui.analysis.memory.limits import find_memory_breaches, unknown_measures
    from tracetui.cli.opening import open_trace
    from tracetui.cli.output import print_json, print_text, say
    from tracetui.export.documents import limits_document
    from tracetui.export.limits_text import breaches_text, doubts
    from tracetui.export.memory.limits import memory_breaches_text, memory_limits_document

    analysis, _ = open_trace(request)
    if limits and not any(activity.window_ns > 0 for activity in analysis.devices):
        say("no device computes or communicates in this trace: there is nothing to check")
        return ExitCode.UNCHECKED
    memory = analysis.memory if of_memory else None
    unknown = unknown_measures(memory, of_memory)
    found = find_breaches(analysis, limits)
    breaches = tuple(breach for breach in found if request.each_step or breach.step is None)
    memory_breaches = () if memory is None else find_memory_breaches(memory, of_memory)
    if request.json:
        of_sizes = memory_limits_document(of_memory, memory_breaches) if of_memory else {}
        print_json({**limits_document(limits, breaches), **of_sizes})
    else:
        print_text(breaches_text(breaches) + memory_breaches_text(memory_breaches), request)
    for doubt in doubts(analysis, limits):
        say(doubt)
    for measure in unknown:
        say(f"nothing recorded tells of {measure}: there is nothing to check")
    if breaches or memory_breaches:
        return ExitCode.LIMIT
    return ExitCode.UNCHECKED if unknown else ExitCode.OK


def _limit_of(measure: str) -> Callable[[str], Limit]:
    def limit(text: str) -> Limit:
        from tracetui.analysis.limits import parse_limit

        return _parsed(lambda: parse_limit(measure, text))

    return limit


def _memory_limit_of(measure: str) -> Callable[[str], MemoryLimit]:
    def limit(text: str) -> MemoryLimit:
        from tracetui.analysis.memory.limits import MemoryLimit, parse_size

        try:
            return MemoryLimit(measure, parse_size(text))
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return limit


def _cause_limit(text: str) -> Limit:
    from tracetui.analysis.limits import parse_cause_limit

    return _parsed(lambda: parse_cause_limit(text))


def _parsed(parse: Callable[[], Limit]) -> Limit:
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
