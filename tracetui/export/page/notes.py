"""The part of the page that holds the notes of people."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.export.notes import note_words
from tracetui.export.page.html import Section, bullets
from tracetui.language import translate
from tracetui.notebook.note import Note


def notes_section(notes: Sequence[Note]) -> Section:
    """Return the notes as a part of the page."""
    return Section(translate("Notes"), [bullets([f"{note_words(note)}: {note.place}" for note in notes])])
