"""Notes on what is shown: a line to write one at what is selected, and a list to go to the place of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from tracetui.language import translate
from tracetui.notebook.note import LONGEST_NOTE
from tracetui.places import SharedPlace
from tracetui.trace.clean import printable
from tracetui.ui.messages import PlaceAsked
from tracetui.ui.screens.chooser import Choice, Chooser
from tracetui.ui.screens.panel import Panel


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
            for note in self.viewer.session.notes
        ]

    def chosen(self, value: SharedPlace) -> None:
        if self.is_active:
            self.dismiss(None)
            self.app.post_message(PlaceAsked(value))


class NotePrompt(Panel[str]):
    """Closes with the text of the note, or None."""

    TITLE_OF = "Note"
    KEYS = (("enter", "write"), ("esc", "drop"))

    def body(self) -> Iterable[Widget]:
        yield Input(placeholder=translate("what you found here"), compact=True, max_length=LONGEST_NOTE)

    def on_mount(self) -> None:
        self.set_title("at what is selected: it is kept on this machine")

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        if message.value.strip():
            self.dismiss(message.value)
