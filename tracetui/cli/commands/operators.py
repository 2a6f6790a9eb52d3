"""`tracetui operators`: the time of kernels and of operators, by type, by name, by shape, or each kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request, UsageError, usage_error
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.export.tables.shown import TableSection

_DESCRIPTION = f"""Print what the time of the devices went to, most first: by type of operator,
by name, by type and the shapes of its inputs, or each kernel. --host prints the
operators of the host, in all and by their own time (self), which is without the
operators inside and adds up.

Shapes, cores, formats, blocks and the counters of the cores (PMU) are told by
kernel_details.csv beside the trace, hit rates by l2_cache.csv; --by kernel has
them, as JSON or CSV, beside start, time, step, operator and Python line. The
sums by type are those of op_statistic.csv.

--step leaves the work that starts in a step, --window that of a window of time,
cut to it; kernels and shapes are whole. --csv writes the rows.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_argument(
        "--by",
        choices=("type", "name", "shape", "kernel"),
        default="type",
        help="a row per type (default), per name, per type and shapes, or per kernel",
    )
    parser.add_argument("--host", action="store_true", help="the operators of the host")
    parser.add_outputs("list N rows; 0: all (default: 20 as text or Markdown, all as JSON or CSV)")
    parser.add_restrictions("only the work of step N", "only the work of this window of time")
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import answer, say
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.csv_table import write_table
    from tracetui.export.trace.operators import (
        NoKernels,
        list_operators,
        listing_document,
        listing_markdown,
        listing_text,
    )
    from tracetui.trace.clean import printable

    if request.host and request.by in ("shape", "kernel"):
        raise usage_error("--by {by} is of devices: --host has types and names", by=request.by)
    analysis, selection = open_analysis(request)
    if request.by in ("shape", "kernel") and analysis.kernels is not None:
        for problem in analysis.kernels.table.problems:
            say(printable(problem))

    def listed(default: int) -> TableSection:
        top = default if request.top is None else request.top
        try:
            return list_operators(analysis, selection, request.by, request.host, top)
        except NoKernels as nothing:
            raise UsageError(str(nothing)) from None

    def write(stream: Any) -> int:
        listing = listed(0)
        return write_table(stream, listing.table, listing.rows)

    answer(
        request,
        what="kernels" if request.by == "kernel" else "operators",
        csv=write,
        document=lambda: listing_document(listed(0)),
        markdown=lambda: listing_markdown(listed(TOP)),
        text=lambda: listing_text(listed(TOP), text_width()),
    )


TOP = 20  #: rows of text or Markdown where nothing else is asked for

COMMAND = Command(
    "operators",
    "PATH",
    "kernels and operators by time, shape, counter",
    _DESCRIPTION,
    _add_arguments,
    _run,
    has_kept_answer=True,
)
