"""`tracetui sql`: a query over the tables of a trace, a job or a comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.parser import JOBS, PATHS, Parser, Request, UsageError, seconds_argument, usage_error
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.export.queries.relations import Relations

TOP = 100  #: rows that text and Markdown list where nothing else is asked for
_DESCRIPTION = f"""Answer a query over the tables of a trace: gaps, steps, hotspots, events and the
others, with the columns that csv and DataFrames have (docs/columns.md). Of a
directory of ranks they are those of the job; with --against, of the comparison
with that run. --tables lists them.

The query is one SELECT. DuckDB (pip install tracetui[sql]) runs it in memory
and reads nothing but these tables: no file, no network, no extension.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a trace, or a directory that holds one or several")
    parser.add_argument(
        "query", metavar="QUERY", nargs="?", help='like "select cause, sum(idle_ns) from gaps group by 1"'
    )
    parser.add_argument("--tables", action="store_true", help="list the tables and their columns")
    parser.add_argument("--against", metavar="BASE", help="query what changed from BASE to PATH")
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds_argument,
        default=60.0,
        help="give up after so long (default 60)",
    )
    parser.add_reading(JOBS)
    parser.add_outputs(f"rows that text and Markdown list (default {TOP}), 0: all")
    parser.add_scheduler()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import answer, print_json, print_text
    from tracetui.export.json_document import SCHEMA
    from tracetui.export.queries.answers import answer_document, answer_markdown, answer_text, write_answer
    from tracetui.export.queries.query import QueryError, is_installed, run_query, schema_lines

    if request.tables and request.csv is not None:
        raise usage_error("--tables lists names: as text, or with --json")
    if not request.tables and request.query is None:
        raise usage_error("a query is missing, like 'select count(*) from gaps'; --tables lists the tables")
    if not request.tables and not is_installed():
        raise usage_error("tracetui sql needs DuckDB: pip install tracetui[sql]")
    relations = _relations(request)
    if request.tables:
        if request.json:
            tables = {name: relation.columns for name, relation in sorted(relations.items())}
            print_json({"schema": SCHEMA, "tables": tables}, request)
        else:
            print_text("".join(f"{line}\n" for line in schema_lines(relations)), request)
        return
    try:
        found = run_query(relations, request.query, request.timeout)
    except QueryError as error:
        raise UsageError(str(error)) from None
    top = TOP if request.top is None else request.top

    answer(
        request,
        what="rows",
        csv=lambda stream: write_answer(stream, found),
        document=lambda: answer_document(found),
        markdown=lambda: answer_markdown(found, top),
        text=lambda: answer_text(found, top, text_width()),
    )


def _relations(request: Request) -> Relations:
    """Return the tables of what the paths hold."""
    from tracetui.export.queries.query_tables import query_words
    from tracetui.export.queries.relations import comparison_relations, job_relations, trace_relations

    path = Path(request.path)
    if request.against is not None:
        from tracetui.cli.comparing import compare_whole

        return comparison_relations(compare_whole(request, request.against, request.path))
    if path.is_dir():
        from tracetui.cli.job_reading import open_job_below

        job = open_job_below(request, path)
        if job is not None:
            return job_relations(job)
    from tracetui.cli.trace_reading import open_whole_trace

    words = None if request.tables else query_words(request.query)
    return trace_relations(open_whole_trace(request, at_once=False), words)


COMMAND = Command(
    "sql", "PATH QUERY", "a query over the tables of a trace", _DESCRIPTION, _add_arguments, _run
)
