"""`tracetui gaps`: the AICore gaps, those first that lost most time."""

from __future__ import annotations

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request
from tracetui.cli.terminal import text_width

_DESCRIPTION = f"""Print the gaps of a trace, those first that lost most time. A gap is a stretch
in which no kernel of a device runs. Of each it tells how long the device was
idle or communicated, why and for whom, what ended it, and the Python line
behind its idle time, or behind its communication where that is longer or ranks
it. Lost is all time in which nothing is computed: idle, communication, copies.

--step picks the gaps that start in the device part of a step, --window those
that start in the window. --csv writes the columns of --json, one gap a row.

{PATHS}"""

_TOP = 20  #: rows as text or Markdown where nothing else is asked for


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_argument(
        "--by",
        choices=("lost", "idle", "communication"),
        default="lost",
        help="what ranks them: lost time (default), idle time, or exposed communication",
    )
    parser.add_outputs("list N gaps; 0: all (default: 20 as text or Markdown, all as JSON or CSV)")
    parser.add_restrictions()
    parser.add_scheduler()
    parser.add_rules()


def _run(request: Request) -> None:
    from dataclasses import replace

    from tracetui.analysis.gaps import Measure
    from tracetui.cli.output import answer
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.csv_table import write_table
    from tracetui.export.tables.gaps import GAPS, GapRows
    from tracetui.export.trace.documents import gaps_document
    from tracetui.export.trace.idle_text import gaps_text
    from tracetui.export.trace.markdown import gaps_markdown

    analysis, everything = open_analysis(request)
    selection = replace(everything, by=Measure(request.by))
    top = _TOP if request.top is None else request.top
    answer(
        request,
        what="gaps",
        csv=lambda stream: write_table(
            stream, GAPS, GapRows(analysis, selection.gaps(analysis, request.top or 0), selection.by)
        ),
        document=lambda: gaps_document(analysis, selection, request.top or 0),
        markdown=lambda: gaps_markdown(analysis, selection, top),
        text=lambda: gaps_text(analysis, selection, top, text_width()),
    )


COMMAND = Command(
    "gaps",
    "PATH",
    "the gaps between kernels, most lost first, with causes",
    _DESCRIPTION,
    _add_arguments,
    _run,
    has_kept_answer=True,
)
