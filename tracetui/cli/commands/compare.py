"""`tracetui compare`: what changed from one run to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.parser import JOBS, Parser, Request, step_argument, usage_error, window_argument
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.cli.comparing import RunPart

_DESCRIPTION = """Compare two runs per step: how much slower or faster a step became, what of it
(idle time by cause, computing, communication, copies), and which operators,
kernels, modules, lines of Python and collectives that is.

BASE and OTHER are traces, plain or .gz, or directories that hold one, of any
producers: an NPU and a GPU too. Or digests, which tracetui digest makes of
them: kilobytes, to keep in place of a trace. Or jobs, directories of several
ranks or digests: those are compared rank by rank, with why ranks waited for
each other (--by rank, --by root).

Every time is the mean of the steps compared. A change counts where a rank test
of the steps tells it from chance (Mann-Whitney, exact, p < 0.05) and it is more
than 1 % of a step of BASE (of its peak, for memory); of fewer than three steps
on a side, where the ranges of both do not overlap. Such rows are marked with *.

A step lasts from its start on the host to the next one's, the last until the
device is done. Outlier steps, more than 3.5 median deviations from the others,
are named and left out, the first one more readily; --all-steps keeps them.
Device time is charged to the outermost operator that launched it,
so that aten::conv2d is one operator whatever a device makes of it.

--csv writes the table of --by (without it, the parts of a step), --xlsx all
tables (pip install tracetui[xlsx]). tracetui check --baseline fails a build."""

_TABLES = (
    "class",
    "operator",
    "module",
    "phase",
    "kernel",
    "line",
    "cause",
    "communication",
    "api",
    "advice",
    "memory",
    "rank",
    "root",
)


def _add_sides(parser: Parser) -> None:
    """Add the options that choose the steps of both sides."""
    parser.add_restrictions("compare only step N of both", "compare only this window of time of both")
    parser.add_argument(
        "--base-step", metavar="N", type=step_argument, help="the step of BASE, where another"
    )
    parser.add_argument(
        "--base-window", metavar="START..END", type=window_argument, help="of BASE compare this window"
    )


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("base", metavar="BASE", help="the run before, or the one to beat")
    parser.add_argument("path", metavar="OTHER", help="the run that is compared with it")
    parser.add_reading(JOBS)
    tables = f"{', '.join(_TABLES[:-1])} or {_TABLES[-1]}"
    parser.add_argument(
        "--by", metavar="TABLE", choices=_TABLES, help=f"only this table, and more rows of it: {tables}"
    )
    parser.add_outputs("list N rows of tables, JSON all; 0: all (default: 10, of the table of --by 20)")
    parser.add_argument("--xlsx", metavar="FILE", help="write all tables to a workbook and print nothing")
    _add_sides(parser)
    parser.add_all_steps()
    parser.add_argument(
        "--shapes",
        action="store_true",
        help="match operators by the shapes of their inputs, too (record_shapes=True)",
    )
    parser.add_scheduler()
    parser.add_argument(
        "--base-sched", metavar="FILE", type=Path, help="what the scheduler did meanwhile, of BASE"
    )
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.analysis.scheduler.source import SchedulerSource
    from tracetui.cli.comparing import RunPart
    from tracetui.cli.reading_options import scheduler_source

    if request.xlsx is not None:
        _refuse_without_writer()
    step = request.step if request.base_step is None else request.base_step
    window = request.window if request.base_window is None else request.base_window
    base = RunPart(request.base, step, window, SchedulerSource(request.base_sched))
    other = RunPart(
        request.path, request.step, request.window, scheduler_source(request) or SchedulerSource()
    )
    print_comparison(request, base, other, request.by)


def print_comparison(request: Request, base: RunPart, other: RunPart, by: str | None) -> None:
    """Print or write what changed between two runs: all tables, or the one that `by` names."""
    from tracetui.cli.comparing import compare_paths
    from tracetui.cli.output import print_json, print_text, print_verbatim, write_csv, write_file
    from tracetui.export.comparison.document import comparison_document, comparison_json
    from tracetui.export.comparison.text import comparison_markdown, comparison_text
    from tracetui.export.csv_table import write_small_table
    from tracetui.export.tables.comparison import BY, WATERFALL

    comparison = compare_paths(request, base, other)
    only = None if by is None else BY[by]
    if request.csv is not None:
        table = only or WATERFALL
        rows = table.judged(comparison, table.rows(comparison)[: request.top or None])
        write_csv(request, lambda stream: write_small_table(stream, table.table, rows), "rows")
    if request.xlsx is not None:
        from tracetui.export.comparison.xlsx import write_workbook

        write_file(request, request.xlsx, lambda stream: write_workbook(stream, comparison), "sheets")
    if request.brief:
        print_json(comparison_document(comparison), request)
    elif request.json:
        print_verbatim(comparison_json(comparison))
    elif request.md:
        print_text(comparison_markdown(comparison, only, request.top), request)
    elif request.csv is None and request.xlsx is None:
        print_text(comparison_text(comparison, only, request.top, text_width()), request)


def _refuse_without_writer() -> None:
    from importlib.util import find_spec

    if find_spec("xlsxwriter") is None:
        raise usage_error("--xlsx needs XlsxWriter: pip install tracetui[xlsx]")


COMMAND = Command(
    "compare", "A B", "what changed from run A to run B, per step", _DESCRIPTION, _add_arguments, _run
)
