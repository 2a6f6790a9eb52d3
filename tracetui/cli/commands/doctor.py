"""`tracetui doctor`: whether a recording can be believed, and which of its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracetui.cli.command import Command
from tracetui.cli.exit_codes import ExitCode
from tracetui.cli.parser import PATHS, Parser, Request
from tracetui.cli.terminal import text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracetui.analysis.analyse import Analysis

_DESCRIPTION = f"""Print what is wrong or doubtful in a recording: tasks that were lost, graphs
without their kernels, calls that were never closed, clocks that disagree, work
that is not in the file, files of several runs, and what was not recorded. Where
the JSON and the database of a run lie beside each other, both are read. Each
finding says what was seen, which numbers and steps that puts in doubt, and how
to record it better, or how to read it. Notes leave all numbers good. Of a
directory with several recordings each one has its verdict, in one line; where
they are many or large, they are listed, to name one of them.

exit status:
  0 all numbers are good   4 some are doubtful or wrong
  3 a recording cannot be read, and all numbers of the others are good

{PATHS}"""


#: So many recordings of a directory, and bytes of them, are judged one after the other.
_MOST_RECORDINGS, _MOST_BYTES = 32, 300_000_000


def _add_arguments(parser: Parser) -> None:
    parser.add_trace()
    parser.add_json()
    parser.add_argument("--md", action="store_true", help="print Markdown")
    parser.add_ascii()
    parser.add_language()
    parser.add_rules()
    parser.add_scheduler()


def _run(request: Request) -> ExitCode:
    from tracetui.cli.trace_reading import open_analysis

    recordings = _recordings(request)
    if len(recordings) > 1:
        return _judge_each(request, recordings)
    analysis, _ = open_analysis(Request(**{**vars(request), "path": str(recordings[0])}))
    _add_export_findings(request, analysis)
    return _print_findings(request, analysis)


def _print_findings(request: Request, analysis: Analysis) -> ExitCode:
    """Print all findings of one recording."""
    from tracetui.cli.output import answer
    from tracetui.export.trace.health import health_document, health_markdown, health_text

    answer(
        request,
        document=lambda: health_document(analysis),
        markdown=lambda: health_markdown(analysis),
        text=lambda: health_text(analysis, text_width()),
    )
    return ExitCode.LIMIT if analysis.health.doubts else ExitCode.OK


def _recordings(request: Request) -> list[Path]:
    """Return the recordings of a directory that holds several, or the one trace that is meant.

    Raises what asks for one of too many.
    """
    from tracetui.reader.errors import UnreadableTrace
    from tracetui.reader.locate import choice_of_recordings, locate_trace, trace_or_recordings

    path = Path(request.path)
    recordings = trace_or_recordings(path, request.export) if path.is_dir() else [path]
    if len(recordings) > _MOST_RECORDINGS or (
        len(recordings) > 1 and sum(map(_size, recordings)) > _MOST_BYTES
    ):
        try:
            return [locate_trace(path, request.export)]
        except UnreadableTrace:
            raise choice_of_recordings(path, recordings) from None
    return recordings


def _size(recording: Path) -> int:
    """Return the bytes of a recording, of a directory all that lies below it."""
    files = recording.rglob("*") if recording.is_dir() else (recording,)
    return sum(file.stat().st_size for file in files if file.is_file())


def _judge_each(request: Request, recordings: Sequence[Path]) -> ExitCode:
    """Print the verdict on each of several recordings, or all findings of the only one that is a trace."""
    from tracetui.cli.output import answer, say
    from tracetui.cli.reading_options import scheduler_source
    from tracetui.cli.trace_reading import opened_trace
    from tracetui.export.trace.health import (
        RecordingRow,
        health_document,
        recording_row,
        recordings_document,
        recordings_markdown,
        recordings_text,
    )
    from tracetui.language import in_english
    from tracetui.reader.errors import Reason, UnreadableTrace
    from tracetui.reader.locate import no_trace_below
    from tracetui.trace.clean import printable

    rows: list[RecordingRow] = []
    documents: list[tuple[str, dict[str, Any]]] = []
    judged: Analysis | None = None
    good = ExitCode.OK
    for recording in recordings:
        name = str(recording.relative_to(request.path))
        try:
            with opened_trace(request, str(recording), scheduler_source(request)) as (analysis, _):
                if not len(analysis.trace.slices):
                    continue
                _add_export_findings(request, analysis)
                judged = analysis
                rows.append(recording_row(analysis, name))
                with in_english():
                    documents.append((name, health_document(analysis)))
        except UnreadableTrace as error:
            if error.reason is not Reason.NOT_A_TRACE:
                say(printable(str(error)))
                good = ExitCode.UNREADABLE
    if judged is None:
        if good is ExitCode.OK:
            raise no_trace_below(request.path)
        return good
    if len(rows) == 1:
        return _print_findings(request, judged) or good
    answer(
        request,
        document=lambda: recordings_document(documents),
        markdown=lambda: recordings_markdown(rows),
        text=lambda: recordings_text(request.path, rows, text_width()),
    )
    return ExitCode.LIMIT if any(row.verdict != "good" for row in rows) else good


def _add_export_findings(request: Request, analysis: Analysis) -> None:
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


COMMAND = Command("doctor", "PATH", "whether a recording can be believed", _DESCRIPTION, _add_arguments, _run)
