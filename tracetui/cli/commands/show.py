"""`tracetui show`: one row alone, named by its id: a gap, a line, a step, a wait."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import (
    JOBS,
    PATHS,
    Parser,
    Request,
    UsageError,
    add_ascii,
    add_json,
    add_language,
    add_reading,
    add_rules,
    add_scheduler,
)
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from tracetui.export.queries.named_rows import NamedRow

_DESCRIPTION = f"""Explain one row alone, in the words of the viewer: a gap, a line, a step, an
operator; of a directory of ranks a wait, a rank, a link. ID is what --json
calls it in the field "id", like gap=NPU:0.019219293 or the name of a piece of
advice. It names the same row wherever the trace is opened.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a trace, or a directory of ranks")
    parser.add_argument("row", metavar="ID", help="of the row, as --json shows it")
    add_reading(parser, JOBS)
    add_json(parser)
    parser.add_argument("--md", action="store_true", help="print Markdown, to be pasted into a ticket")
    add_ascii(parser)
    add_language(parser)
    add_scheduler(parser)
    add_rules(parser)


def _run(request: Request) -> ExitCode:
    from tracetui.cli.output import in_ascii, print_json, print_text
    from tracetui.export.queries.row_answer import RowAnswer, row_document, row_markdown, row_text
    from tracetui.places import fingerprint

    path, job = Path(request.path), None
    if path.is_dir():
        from tracetui.cli.job_reading import open_job_below

        job = open_job_below(request, path)
    if job is not None:
        from tracetui.export.queries.named_rows import find_in_job, kinds_of_job

        found = find_in_job(job, request.row) or _refuse(request, kinds_of_job(job))
        answer = RowAnswer(request.row, found, (), "")
    else:
        from tracetui.cli.trace_reading import open_trace
        from tracetui.export.queries.named_rows import find_in_trace, kinds_of_trace
        from tracetui.reader.locate import trace_files
        from tracetui.ui.stories.row_story import story_of

        analysis, _ = open_trace(request)
        found = find_in_trace(analysis, request.row) or _refuse(request, kinds_of_trace(analysis))
        plain = request.json or request.md
        width = 200 if plain else text_width()
        story = story_of(analysis, found.kind, found.rows, found.place, width, in_ascii(request))
        answer = RowAnswer(request.row, found, tuple(story), fingerprint(trace_files(path)))
    if request.json:
        print_json(row_document(answer), request)
    else:
        print_text(row_markdown(answer) if request.md else row_text(answer), request)
    return ExitCode.OK


def _refuse(request: Request, kinds: list[str]) -> NamedRow:
    """Raise UsageError: there is no such row."""
    from tracetui.places import is_row_id
    from tracetui.trace.clean import printable

    name = printable(request.row, 200)
    kind = request.row.partition("=")[0]
    if is_row_id(request.row) and kind not in kinds:
        raise UsageError(f"no row is called {name} here: ids begin with {', '.join(kinds)}")
    raise UsageError(f"no row is called {name} here: --json of the commands shows the ids that there are")


COMMAND = Command(
    "show",
    "show PATH ID",
    "one gap, line, step or other row, explained alone",
    _DESCRIPTION,
    _add_arguments,
    _run,
)
