"""Where results go: text and JSON to stdout, tables to files, sentences to stderr."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from tracetui.cli import streams
from tracetui.cli.parser import Request, usage_error
from tracetui.cli.terminal import speaks_unicode, text_width
from tracetui.export.atomic import refuse_to_overwrite, write_atomically
from tracetui.export.brief import brief_json
from tracetui.export.json_document import json_texts
from tracetui.export.text import to_ascii
from tracetui.language import in_english, state
from tracetui.reader.errors import UnreadableTrace
from tracetui.reader.locate import trace_files
from tracetui.trace.clean import printable
from tracetui.units import format_count

if TYPE_CHECKING:
    from tracetui.export.job.report import Report

Document = dict[str, Any]


def answer(
    request: Request,
    document: Callable[[], Document],
    markdown: Callable[[], str],
    text: Callable[[], str],
    what: str = "",
    csv: Callable[[BinaryIO], int] | None = None,
) -> None:
    """Write what was asked for: a csv file; on stdout JSON, Markdown, or text where nothing else was.

    `csv` writes the rows of a table, which are `what`; None for a command that has no --csv.
    """
    if csv is not None and request.csv is not None:
        write_csv(request, csv, what)
    if request.json:
        with in_english():
            content = document()
        print_json(content, request)
    elif request.md:
        print_text(markdown(), request)
    elif request.csv is None:
        print_text(text(), request)


def answer_report(
    request: Request,
    what: str,
    csv: Callable[[BinaryIO], int],
    document: Callable[[], Document],
    report: Callable[[], Report],
) -> None:
    """Write what was asked for, as `answer` does; Markdown and text are those of a report."""
    answer(
        request,
        document,
        lambda: report().markdown(),
        lambda: report().text(text_width()),
        what=what,
        csv=csv,
    )


def print_json(document: Document, request: Request) -> None:
    """Print a document as JSON, cut down where that is asked for."""
    for text in (brief_json(document),) if request.brief else json_texts(document):
        print_verbatim(text)


def print_verbatim(text: str) -> None:
    """Print what is made for programs, as it is."""
    streams.write(sys.stdout, text)


def print_text(text: str, request: Request) -> None:
    """Print text for people, in ASCII where that is asked for or all there is."""
    streams.write(sys.stdout, to_ascii(text) if wants_ascii(request) else text)


def say(sentence: str) -> None:
    """Print one line on stderr, where there is one that takes it."""
    streams.print_line(sentence if speaks_unicode(sys.stderr) else to_ascii(sentence))


def wants_ascii(request: Request) -> bool:
    """Return whether text is to be ASCII."""
    return request.ascii or not speaks_unicode(sys.stdout)


def write_csv(request: Request, write: Callable[[BinaryIO], int], what: str) -> None:
    """Write a csv file; `write` and `what` are as of `write_file`."""
    write_file(request, str(request.csv), write, what)


def write_file(request: Request, path: str, write: Callable[[BinaryIO], int], what: str) -> None:
    """Write a file, or stdout for "-"; `write` returns the number of what it wrote, which are `what`."""
    if path == "-":
        sys.stdout.flush()
        with in_english():
            write(sys.stdout.buffer)
        return
    rows = 0

    def fill(stream: BinaryIO) -> None:
        nonlocal rows
        with in_english():
            rows = write(stream)

    with _refusal(path, request.force):
        write_atomically(path, fill, request.force, _read_from(request.path, path))
    say(f"{what} written to {printable(path)}: {format_count(rows)}")


def refuse_early(request: Request, trace: str) -> None:
    """Raise UsageError where a file will not be written: now, not after a minute of reading the trace."""
    for path in (request.csv, request.xlsx, request.page):
        if path is not None and path != "-":
            with _refusal(path, request.force):
                refuse_to_overwrite(path, request.force, _read_from(trace, path))


def _read_from(trace: str, written: str) -> Path | None:
    """Return the file that is read, which is never written to: of several the one at a path, if any is.

    None of many ranks, and where there is none.
    """
    with contextlib.suppress(UnreadableTrace, OSError):
        files = trace_files(trace) if trace else ()
        same = (file for file in files if Path(written).exists() and file.samefile(written))
        return next(same, next(iter(files), None))
    return None


@contextlib.contextmanager
def _refusal(path: str, force: bool) -> Iterator[None]:
    """Say what stands in the way of a file as a matter of the arguments."""
    try:
        yield
    except shutil.SameFileError:
        raise usage_error("{path} is the trace itself, which stays as it is", path=printable(path)) from None
    except FileExistsError:
        advice = state("it is not a file") if force else state("--force replaces it")
        raise usage_error("{path} exists; {advice}", path=printable(path), advice=advice) from None
