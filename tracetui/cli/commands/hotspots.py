"""`tracetui hotspots`: the idle time by line of Python, by nn.Module or by frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis
    from tracetui.export.trace.selection import Selection

_DESCRIPTION = f"""Print the idle time of all devices by line of Python: the line in your own code
that ran, or that launched what the device waited for. All idle time is in the
table; what no stack tells the line of has a row of its own, "(no stack)".

"saves at most" is not the idle time of a line, but the time that it held up the
whole run, through other gaps too; bounds of several lines do not add up.

--by module ranks the modules of the model instead (nn.Module, recorded with
with_stack=True), --by frame all frames of Python: each with its idle time,
which holds that of what is inside, and its own, which does not and adds up.
Where no Python is recorded, the operators of the host stand for frames.
--by scope ranks the scopes of a network of MindSpore (Default/network/...) by
what the device computes in them and the idle time before their tasks: in graph
mode no Python is recorded.

Below stand the calls that made the host wait for a device, with the line of
each, and the idle time that they expose: that began while the host waited, and
went on until it had launched the next work. It is charged above to what the
host did in it, so a line above may pay for a call of another line below.

--step and --window leave only the gaps that start there (see tracetui gaps):
the idle times are then those of these gaps, and add up to theirs. "saves at
most" is then of that step; of a window it is not known. Calls are listed that
start there, or expose idle time of these gaps. --csv writes the lines.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_argument(
        "--by",
        choices=("line", "module", "frame", "scope"),
        default="line",
        help="a row per line of your code (default), per nn.Module, per frame at any depth of the stacks, "
        "or per scope of MindSpore",
    )
    parser.add_outputs(
        "list N lines and, as text or Markdown, N synchronisations; 0: all "
        "(default: 20 and 5 as text or Markdown, all lines as JSON or CSV)"
    )
    parser.add_restrictions("only gaps of step N", "only gaps of this window of time")
    parser.add_scheduler()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import answer
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.csv_table import write_table
    from tracetui.export.tables.hotspots import LINES, LineRows
    from tracetui.export.trace.documents import hotspots_document
    from tracetui.export.trace.idle_text import hotspots_text
    from tracetui.export.trace.markdown import hotspots_markdown

    analysis, selection = open_analysis(request)
    if request.by != "line":
        _print_nested(request, analysis, selection)
        return
    answer(
        request,
        what="lines",
        csv=lambda stream: write_table(stream, LINES, LineRows(analysis, selection, request.top or 0)),
        document=lambda: hotspots_document(analysis, selection, request.top or 0),
        markdown=lambda: hotspots_markdown(analysis, selection, request.top),
        text=lambda: hotspots_text(analysis, selection, request.top, text_width()),
    )


def _print_nested(request: Request, analysis: Analysis, selection: Selection) -> None:
    """Print or write idle time by module, by frame or by scope."""
    from tracetui.cli.output import answer
    from tracetui.export.csv_table import write_table
    from tracetui.export.trace.nested_text import (
        FRAMES,
        MODULES,
        OPERATORS,
        SCOPES,
        nested_markdown,
        nested_text,
    )

    frames = FRAMES if analysis.has_python else OPERATORS
    ranking = {"module": MODULES, "frame": frames, "scope": SCOPES}[request.by]
    rows_of = (analysis, selection)
    answer(
        request,
        what=ranking.several,
        csv=lambda stream: write_table(stream, ranking.table, ranking.rows(*rows_of, request.top or 0)),
        document=lambda: ranking.document(*rows_of, request.top or 0),
        markdown=lambda: nested_markdown(ranking, *rows_of, request.top),
        text=lambda: nested_text(ranking, *rows_of, request.top, text_width()),
    )


COMMAND = Command(
    "hotspots",
    "PATH",
    "the idle time by line of Python",
    _DESCRIPTION,
    _add_arguments,
    _run,
    has_kept_answer=True,
)
