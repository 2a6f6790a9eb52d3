"""Notes of people for documents: as JSON, text and Markdown. Their texts are made harmless."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracetui.export import markdown
from tracetui.export.cells import encodable
from tracetui.language import translate
from tracetui.notebook.note import Note
from tracetui.notebook.notebook import Contents
from tracetui.trace.clean import printable


def notes_document(notes: Sequence[Note]) -> list[dict[str, Any]]:
    """Return an object for each note; `at` is the place that it is written at."""
    return [
        {
            "id": note.identity,
            "at": str(note.place),
            "text": encodable(note.text),
            "who": encodable(note.who),
            "when": note.when,
        }
        for note in notes
    ]


def note_words(note: Note) -> str:
    """Return "the loader is late (ada@host, 2026-11-24T15:00:00Z)", harmless to terminals."""
    return f"{printable(note.text, 2000)} ({printable(note.who, 120)}, {note.when})"


def notes_text(notes: Sequence[Note]) -> str:
    """Return the notes as text, each with the place that it is written at."""
    lines = [line for note in notes for line in (note_words(note), f"  {note.place}")]
    return "\n".join(lines or [translate("No notes.")]) + "\n"


def notes_markdown(notes: Sequence[Note]) -> str:
    """Return the notes as Markdown; "" where there are none."""
    if not notes:
        return ""
    lines = [f"- {markdown.escaped(note_words(note))} {markdown.code(str(note.place))}" for note in notes]
    return "\n".join([f"## {translate('Notes')}", "", *lines]) + "\n"


def problem_words(contents: Contents, path: str) -> str:
    """Return what is wrong with a file of notes, a sentence; "" where nothing is."""
    name = printable(path, 200)
    if contents.problem:
        return translate("{path}: {problem}.", path=name, problem=printable(contents.problem, 200))
    if contents.unread:
        template = "{path}: lines that are no notes: {count}; the file is kept aside when a note is written."
        return translate(template, path=name, count=contents.unread)
    return ""
