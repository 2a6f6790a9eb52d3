"""The prompt for a note: one line at the bottom, written at what is selected or shown."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.widget import Widget
from textual.widgets import Input

from tracetui.language import translate
from tracetui.notebook.note import LONGEST_NOTE
from tracetui.ui.screens.panel import Panel


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
