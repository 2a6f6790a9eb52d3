"""`tracetui notes`: what people wrote down about a trace; to read, to add to, to hand on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tracetui.cli.command import Command
from tracetui.cli.parser import PATHS, Parser, Request, UsageError, usage_error

if TYPE_CHECKING:
    from tracetui.notebook.note import Note

_DESCRIPTION = f"""Print the notes on a trace, which the viewer writes with the key '. They are
kept in the user's data directory ($XDG_DATA_HOME, else ~/.local/share) by the
trace's fingerprint, so a copy of the trace elsewhere has the same notes.
--export writes them to a file, --import adds those of a file: none is lost or
written over, and each keeps who wrote it and when.

{PATHS}"""


def _add_arguments(parser: Parser) -> None:
    parser.add_argument("trace", metavar="PATH", help="a trace, or a directory of ranks")
    parser.add_argument("--add", dest="note", metavar="TEXT", help="write a note")
    parser.add_argument("--at", metavar="PLACE", help="where --add writes it: a place that u copied")
    parser.add_argument(
        "--export", dest="page", metavar="FILE", help="write the notes to FILE (- for stdout), a line each"
    )
    parser.add_argument("--import", dest="source", metavar="FILE", type=Path, help="add the notes of FILE")
    parser.add_force()
    parser.add_json()
    parser.add_argument("--md", action="store_true", help="print Markdown, to be pasted into a ticket")
    parser.add_ascii()
    parser.add_language()


def _run(request: Request) -> None:
    from tracetui.cli.notes import fingerprint_of, read_notebook
    from tracetui.cli.output import print_json, print_text, refuse_early, write_file
    from tracetui.export.json_document import SCHEMA
    from tracetui.export.notes import notes_document, notes_markdown, notes_text
    from tracetui.notebook.note import format_note
    from tracetui.notebook.notebook import Notebook, notes_path

    request.path = request.trace  # which is not read, so no option says how
    if request.at is not None and request.note is None:
        raise usage_error("--at goes with --add: it says where the note is")
    if request.page == "-" and (request.json or request.md):
        first = "json" if request.json else "md"
        raise usage_error(
            "--{first} and --{second} cannot both write to stdout", first=first, second="export -"
        )
    refuse_early(request, request.path)
    trace = fingerprint_of(request.path)
    changed = _written(request, trace) + _imported(request, trace)
    if request.note is not None or request.source is not None:
        try:
            _say_added(Notebook(notes_path(trace)).add(changed), len(changed))
        except OSError as error:
            raise usage_error("the note cannot be kept: {reason}", reason=error.strerror) from None
        if request.page is None and not request.json and not request.md:
            return
    notes = read_notebook(trace)
    if request.page is not None:

        def write(stream: BinaryIO) -> int:
            stream.writelines(map(format_note, notes))
            return len(notes)

        write_file(request, request.page, write, "notes")
    if request.json:
        print_json({"schema": SCHEMA, "notes": notes_document(notes)}, request)
    elif request.md or request.page is None:
        print_text(notes_markdown(notes) if request.md else notes_text(notes), request)


def _written(request: Request, trace: str) -> list[Note]:
    """Return the note that --add writes about the trace of a fingerprint."""
    from tracetui.notebook.note import NotANote, new_note
    from tracetui.places import NotAPlace, SharedPlace, parse_place

    if request.note is None:
        return []
    try:
        place = SharedPlace("timeline", trace=trace)
        return [new_note(parse_place(request.at) if request.at else place, request.note)]
    except (NotANote, NotAPlace) as error:
        raise UsageError(str(error)) from None


def _imported(request: Request, trace: str) -> list[Note]:
    """Return the notes of --import; says which are no notes, and which of another trace than `trace`."""
    from tracetui.cli.output import say
    from tracetui.notebook.notebook import read_notes
    from tracetui.trace.clean import printable

    if request.source is None:
        return []
    name = printable(str(request.source), 200)
    try:
        contents = read_notes(request.source)
    except OSError as error:
        raise usage_error("{name}: {reason}", name=name, reason=error.strerror) from None
    if contents.problem or (contents.unread and not contents.notes):
        raise usage_error("{name} is no file of notes", name=name)
    if contents.unread:
        say(f"{name}: lines that are no notes, and are left out: {contents.unread}")
    elsewhere = sum(note.place.trace not in ("", trace) for note in contents.notes)
    if elsewhere:
        say(f"{name}: notes of another trace: {elsewhere}")
    return [*contents.notes]


def _say_added(added: int, read: int) -> None:
    from tracetui.cli.output import say

    say(f"notes added: {added}" + (f", there before: {read - added}" if read > added else ""))


COMMAND = Command("notes", "PATH", "what people wrote down about a trace", _DESCRIPTION, _add_arguments, _run)
