"""`tracetui show`: one row alone, named by its id: a gap, a line, a step, a wait."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.parser import JOBS, PATHS, Parser, Request, usage_error
from tracetui.cli.terminal import text_width
from tracetui.language import in_english

if TYPE_CHECKING:
    from tracetui.export.queries.named_rows import NamedRow
    from tracetui.export.queries.row_answer import RowAnswer
    from tracetui.job.job import Job

_DESCRIPTION = f"""Explain one row alone, in the words of the viewer: a gap, a line, a step, an
operator; of a directory of ranks a wait, a rank, a link; with --against a row
of the comparison with that run. ID is what --json calls it in the field "id",
like gap=NPU:0.019219293 or the name of a piece of advice. It names the same row
wherever the trace is opened.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a trace, a directory of ranks, or a snapshot of memory")
    parser.add_argument("row", metavar="ID", help="of the row, as --json shows it")
    parser.add_argument("--against", metavar="BASE", help="explain a row of what changed from BASE to PATH")
    parser.add_reading(JOBS)
    parser.add_json()
    parser.add_argument("--md", action="store_true", help="print Markdown, to be pasted into a ticket")
    parser.add_ascii()
    parser.add_language()
    parser.add_scheduler()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import print_json, print_text
    from tracetui.export.queries.row_answer import row_document, row_markdown, row_text

    if request.json:
        with in_english():
            document = row_document(_answer(request))
        print_json(document, request)
    else:
        answer = _answer(request)
        print_text(row_markdown(answer) if request.md else row_text(answer), request)


def _answer(request: Request) -> RowAnswer:
    """Return what there is to say of the row that is asked for."""
    from tracetui.cli.notes import fingerprint_of
    from tracetui.cli.output import wants_ascii
    from tracetui.export.queries.row_answer import RowAnswer
    from tracetui.siblings.snapshot import is_pickle

    path = Path(request.path)
    if request.against is not None:
        return _in_comparison(request)
    if is_pickle(path):
        return _in_snapshot(request)
    if (job := _job_at(request, path)) is not None:
        from tracetui.export.queries.named_rows import find_row, job_tables, kinds_of
        from tracetui.export.queries.row_screens import place_in_job

        found = find_row(job_tables(job), request.row) or _refuse(request, kinds_of(job_tables(job)))
        place = place_in_job(found.kind, request.row, fingerprint_of(request.path))
        return RowAnswer(request.row, found, (), str(place or ""))
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.queries.named_rows import find_in_trace, kinds_of_trace
    from tracetui.export.queries.row_screens import place_in_trace
    from tracetui.ui.stories.row_story import story_of

    analysis, _ = open_analysis(request)
    found = find_in_trace(analysis, request.row) or _refuse(request, kinds_of_trace(analysis))
    width = 200 if request.json or request.md else text_width()
    story = story_of(analysis, found.kind, found.rows, found.place, width, wants_ascii(request))
    place = place_in_trace(found.kind, request.row, fingerprint_of(request.path))
    return RowAnswer(request.row, found, tuple(story), str(place or ""))


def _in_snapshot(request: Request) -> RowAnswer:
    """Return what there is to say of a row of a snapshot of memory."""
    from tracetui.api import load_snapshot
    from tracetui.cli.reading_options import rules_of
    from tracetui.export.queries.named_rows import find_row, kinds_of, memory_tables
    from tracetui.export.queries.row_answer import RowAnswer
    from tracetui.export.queries.row_screens import place_in_trace
    from tracetui.places import trace_fingerprint

    memory = load_snapshot(request.path, rules_of(request))
    found = find_row(memory_tables(memory), request.row) or _refuse(request, kinds_of(memory_tables(memory)))
    place = place_in_trace(found.kind, request.row, trace_fingerprint([Path(request.path)]))
    return RowAnswer(request.row, found, (), str(place or ""))


def _in_comparison(request: Request) -> RowAnswer:
    """Return what there is to say of a row of the comparison with the run before."""
    from tracetui.cli.comparing import compare_whole
    from tracetui.cli.notes import fingerprint_of_pair
    from tracetui.export.queries.named_rows import comparison_tables, find_row, kinds_of
    from tracetui.export.queries.row_answer import RowAnswer
    from tracetui.export.queries.row_screens import place_in_comparison
    from tracetui.export.sentences.verdict import verdict
    from tracetui.export.tables.comparison import MEMORY
    from tracetui.ui.comparing.row_story import story

    comparison = compare_whole(request, request.against, request.path)
    found = find_row(comparison_tables(comparison), request.row) or _refuse(
        request, kinds_of(comparison_tables(comparison))
    )
    trace = fingerprint_of_pair(request.against, request.path)
    place = place_in_comparison(found.kind, request.row, trace)
    has_story = comparison.comparable or found.kind == MEMORY.by
    lines = story(found.rows.rows[found.place]) if has_story else [verdict(comparison)]
    return RowAnswer(request.row, found, tuple(lines), str(place), "BASE PATH")


def _job_at(request: Request, path: Path) -> Job | None:
    """Return the job of a directory of ranks; None where there is none."""
    if not path.is_dir():
        return None
    from tracetui.cli.job_reading import open_job_below

    return open_job_below(request, path)


def _refuse(request: Request, kinds: list[str]) -> NamedRow:
    """Raise UsageError: there is no such row."""
    from tracetui.places import is_row_id
    from tracetui.trace.clean import printable

    name = printable(request.row, 200)
    kind = request.row.partition("=")[0]
    if is_row_id(request.row) and kind not in kinds:
        raise usage_error(
            "no row is called {name} here: ids begin with {kinds}", name=name, kinds=", ".join(kinds)
        )
    raise usage_error(
        "no row is called {name} here: --json of the commands shows the ids that there are", name=name
    )


COMMAND = Command(
    "show", "PATH ID", "one gap, line, step or other row, explained alone", _DESCRIPTION, _add_arguments, _run
)
