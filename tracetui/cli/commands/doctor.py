"""`tracetui doctor`: whether a recording can be believed, and which of its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import PATHS, Parser, Request, add_ascii, add_json, add_rules, add_trace
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis

_DESCRIPTION = f"""Print what is wrong or doubtful in a recording: tasks that were lost, graphs
without their kernels, calls that were never closed, clocks that disagree, work
that is not in the file, files of several runs, and what was not recorded. Where
the JSON and the database of a run lie beside each other, both are read. Each
finding says what was seen, which numbers and steps that puts in doubt, and how
to record it better, or how to read it. Notes leave all numbers good.

exit status:
  0 all numbers are good   4 some are doubtful or wrong

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    add_trace(parser)
    add_json(parser)
    parser.add_argument("--md", action="store_true", help="print Markdown")
    add_ascii(parser)
    add_rules(parser)


def _run(request: Request) -> ExitCode:
    from tracetui.cli.output import print_json, print_text
    from tracetui.cli.trace_reading import open_trace
    from tracetui.export.trace.health import health_document, health_markdown, health_text
    from tracetui.language import in_english

    analysis, _ = open_trace(request)
    _compare_exports(request, analysis)
    if request.json:
        with in_english():
            document = health_document(analysis)
        print_json(document, request)
    elif request.md:
        print_text(health_markdown(analysis), request)
    else:
        print_text(health_text(analysis, text_width()), request)
    return ExitCode.LIMIT if analysis.health.doubts else ExitCode.OK


def _compare_exports(request: Request, analysis: Analysis) -> None:
    """Add what the other export of the run says differently, where there is a whole one."""
    from tracetui.cli.output import say
    from tracetui.cli.trace_reading import opened_trace
    from tracetui.comparison.exports import differing_exports, export_differences, export_measures
    from tracetui.databases.exports import export_of, other_export
    from tracetui.reader.errors import UnreadableTrace
    from tracetui.trace.clean import printable

    other = other_export(Path(analysis.trace.path))
    if other is None or not other.is_whole:
        return
    measures = export_measures(analysis)
    as_named = Request(**{**vars(request), "export": None})
    try:
        with opened_trace(as_named, str(other.path)) as (beside, _):
            measures_beside = export_measures(beside)
    except UnreadableTrace as error:
        say(printable(str(error)))
        return
    is_json = export_of(Path(analysis.trace.path)) == "json"
    pair = (measures, measures_beside) if is_json else (measures_beside, measures)
    finding = differing_exports(export_differences(*pair))
    if finding is not None:
        analysis.examination.add(finding)


COMMAND = Command(
    "doctor",
    "doctor PATH",
    "whether a recording can be believed",
    _DESCRIPTION,
    _add_arguments,
    _run,
)
