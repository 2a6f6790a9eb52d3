"""`tracetui report`: one HTML page of a trace, of a job, or of two runs compared."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tracetui.cli.command import Command
from tracetui.cli.parser import JOBS, PATHS, Parser, Request

if TYPE_CHECKING:
    from tracetui.export.page.html import Section
    from tracetui.trace.source_files import SourceFiles

_DESCRIPTION = f"""Write one HTML page: what the devices did and why they were idle, as text,
tables and pictures. Of a directory of ranks it is the page of the job, of two
paths what changed from the first to the second. The page is one file that loads
nothing and runs nothing: it can be attached to a ticket, mailed and printed.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("path", metavar="PATH", help="a trace, a directory of ranks, or the run before")
    parser.add_argument("other", metavar="OTHER", nargs="?", help="the run that is compared with it")
    parser.add_argument(
        "-o", "--output", dest="page", metavar="FILE", required=True, help="the page to write; - for stdout"
    )
    parser.add_force()
    parser.add_reading(JOBS)
    parser.add_sources("quote the worst lines of source from below DIR; may be repeated")
    parser.add_all_steps()
    parser.add_language()
    parser.add_scheduler()
    parser.add_rules()


def _run(request: Request) -> None:
    from tracetui.cli.output import print_verbatim, write_file
    from tracetui.export.language import chosen_language
    from tracetui.export.page.html import page
    from tracetui.version import __version__

    sections = _sections(request)
    target = str(request.page)
    text = page(sections[0].title, chosen_language(), sections, f"tracetui {__version__}")
    if target == "-":
        print_verbatim(text)
        return

    def write(stream: BinaryIO) -> int:
        stream.write(text.encode("utf-8", "replace"))
        return len(sections)

    write_file(request, target, write, "sections")


def _sections(request: Request) -> list[Section]:
    """Return the parts of the page of what the paths hold."""
    from tracetui.cli.notes import fingerprint_of, fingerprint_of_run

    path = Path(request.path)
    if request.other is not None:
        from tracetui.cli.comparing import compare_whole
        from tracetui.export.page.comparison import comparison_sections

        request.path = request.other  # the side that is not written over, as of `compare`
        comparison = compare_whole(request, str(path), request.other)
        traces = dict.fromkeys(map(fingerprint_of_run, (str(path), request.other)))
        sections = comparison_sections(comparison, _source_files(request))
        return [*sections, *_gaps(request, Path(request.other), "OTHER"), *_notes(*traces)]
    if path.is_dir():
        from tracetui.cli.job_reading import open_job_below
        from tracetui.export.page.job import job_page_sections
        from tracetui.job.late_ranks import telling_rank
        from tracetui.language import translate

        job = open_job_below(request, path)
        if job is not None:
            sections = job_page_sections(job, str(path), _source_files(request))
            rank = telling_rank(job)
            gaps = _gaps(request, Path(rank.path), translate("rank {number}", number=rank.number))
            return [*sections, *gaps, *_notes(fingerprint_of(request.path))]
    from tracetui.cli.trace_reading import open_analysis
    from tracetui.export.page.trace import trace_sections

    analysis, _ = open_analysis(request)
    return [*trace_sections(analysis, _source_files(request)), *_notes(fingerprint_of(request.path))]


def _gaps(request: Request, path: Path, run: str) -> Iterator[Section]:
    """Yield the worst gaps of a run that is one trace of several; nothing of a job, or of a digest alone."""
    from tracetui.cli.reading_options import scheduler_source
    from tracetui.cli.trace_reading import opened_trace
    from tracetui.export.page.trace import gaps_part
    from tracetui.job.load import ranks_below
    from tracetui.reader.errors import UnreadableTrace

    with contextlib.suppress(UnreadableTrace):
        if ranks_below(path) is not None:
            return
        with opened_trace(request, str(path), scheduler_source(request)) as (analysis, _):
            if len(analysis.gaps):
                yield gaps_part(analysis, run)


def _source_files(request: Request) -> SourceFiles | None:
    """Return where the source of the run is looked for; None where none is asked for."""
    from tracetui.reader.errors import UnreadableTrace
    from tracetui.reader.locate import locate_trace
    from tracetui.trace.source_files import SourceFiles

    if not request.sources:
        return None
    try:
        return SourceFiles(locate_trace(request.path), request.sources)
    except UnreadableTrace:  # a directory of ranks, or a digest
        return SourceFiles(request.path, request.sources)


def _notes(*traces: str) -> list[Section]:
    """Return the notes on what has these fingerprints as a part of its page; nothing where there are none."""
    from tracetui.cli.notes import read_notebook
    from tracetui.export.page.html import notes_section

    notes = [note for trace in traces for note in read_notebook(trace)]
    return [notes_section(notes)] if notes else []


COMMAND = Command(
    "report",
    "PATH [OTHER]",
    "one HTML page to attach to a ticket",
    _DESCRIPTION,
    _add_arguments,
    _run,
    needs_stdout=False,
)
