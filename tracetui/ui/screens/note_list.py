"""The notes on what is shown, to go to the place of one."""

from __future__ import annotations

from collections.abc import Sequence

from tracetui.places import SharedPlace
from tracetui.trace.clean import printable
from tracetui.ui.messages import PlaceAsked
from tracetui.ui.screens.chooser import Choice, Chooser


class NoteList(Chooser[SharedPlace]):
    """Chooses a note by some of its letters; enter opens its place."""

    TITLE_OF = "Notes"
    PLACEHOLDER = "some letters of a note"

    def choices(self) -> Sequence[Choice[SharedPlace]]:
        return [
            Choice(
                printable(note.text, 200),
                f"{printable(note.who, 60)}  {note.when}  {printable(str(note.place), 120)}",
                note.place,
            )
            for note in self.viewer.notes
        ]

    def chosen(self, value: SharedPlace) -> None:
        if self.is_active:
            self.dismiss(None)
            self.app.post_message(PlaceAsked(value))
