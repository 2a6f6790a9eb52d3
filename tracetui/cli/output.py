"""Where results go: text and JSON to stdout, tables to files, sentences to stderr."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tracetui.cli import streams
from tracetui.cli.parser import Request, UsageError
from tracetui.cli.terminal import speaks_unicode
from tracetui.export.atomic import refuse_to_overwrite, write_atomically
from tracetui.export.documents import dumps
from tracetui.export.text import to_ascii
from tracetui.reader.locate import locate_trace
from tracetui.trace.clean import printable
from tracetui.units import format_count

Document = dict[str, Any]


def answer(
    request: Request,
    what: str,
    csv: Callable[[BinaryIO], int],
    document: Callable[[], Document],
    markdown: Callable[[], str],
    text: Callable[[], str],
) -> None:
    """Write what was asked for: a csv file; on stdout JSON, Markdown, or text where nothing else was."""
    if request.csv is not None:
        write_csv(request, csv, what)
    if request.json:
        print_json(document())
    elif request.md:
        print_text(markdown(), request)
    elif request.csv is None:
        print_text(text(), request)


def print_json(document: Document) -> None:
    streams.write(sys.stdout, dumps(document))


def print_text(text: str, request: Request) -> None:
    """Print text for people, in ASCII where that is asked for or all there is."""
    streams.write(sys.stdout, to_ascii(text) if in_ascii(request) else text)


def say(sentence: str) -> None:
    """Print one line on stderr, where there is one that takes it."""
    streams.say(sentence if speaks_unicode(sys.stderr) else to_ascii(sentence))


def in_ascii(request: Request) -> bool:
    """Whether text is to be ASCII."""
    return request.ascii or not speaks_unicode(sys.stdout)


def write_csv(request: Request, write: Callable[[BinaryIO], int], what: str) -> None:
    """Write a csv file, or stdout for "-"; `write` returns the number of rows, which are `what`."""
    path = str(request.csv)
    if path == "-":
        sys.stdout.flush()
        write(sys.stdout.buffer)
        return
    rows = 0

    def fill(stream: BinaryIO) -> None:
        nonlocal rows
        rows = write(stream)

    with _refusal(request):
        write_atomically(path, fill, request.force, _read_from(request))
    say(f"{format_count(rows)} {what} written to {printable(path)}")


def refuse_early(request: Request) -> None:
    """Raise UsageError where a csv file will not be written: now, not after a minute of reading."""
    if request.csv not in (None, "-"):
        with _refusal(request):
            refuse_to_overwrite(str(request.csv), request.force, _read_from(request))


def _read_from(request: Request) -> Path | None:
    """The file that is read, which is never written to; None of many ranks."""
    return locate_trace(request.path) if request.path else None


@contextlib.contextmanager
def _refusal(request: Request) -> Iterator[None]:
    """Say what stands in the way of a file as a matter of the arguments."""
    try:
        yield
    except shutil.SameFileError:
        raise UsageError(f"{printable(str(request.csv))} is the trace itself, which stays as it is") from None
    except FileExistsError:
        advice = "it is not a file" if request.force else "--force replaces it"
        raise UsageError(f"{printable(str(request.csv))} exists; {advice}") from None
