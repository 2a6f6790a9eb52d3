"""What opens over a screen and closes again; most are panels at the bottom, under a rule with their title.

The screen stays visible above a panel. Escape closes it without a result.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget

from tracetui.language import wording
from tracetui.ui._textual import SeeThrough
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText
from tracetui.ui.session import Session
from tracetui.ui.viewer_screen import ViewerScreen
from tracetui.ui.widgets.lines import Lines, key_pieces

Result = TypeVar("Result")


class Overlay(
    ModalScreen[Result], ViewerScreen[Result], SeeThrough[Result]
):  # Textual takes the style of the first base only
    """A screen over another one, which closes once: only while it is in front."""

    def __init__(self, session: Session) -> None:
        """Open over a screen that shows a session."""
        ViewerScreen.__init__(self, session)  # ModalScreen's own, which comes first, takes a name

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        # Keys that came in one packet, or a thread, may ask for it twice: the second time would close another
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def action_close(self) -> None:
        self.dismiss(None)


class Panel(Overlay[Result]):
    """A panel with a title, some widgets, and the keys that work in it."""

    DEFAULT_CSS = """
    Panel { background: transparent; align: center bottom; }
    Panel > Vertical { width: 100%; height: auto; background: ansi_default; }
    Panel Input { width: 1fr; height: 1; border: none; padding: 0; background: ansi_default; }
    Panel Input:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]
    TITLE_OF: ClassVar[str] = ""
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = ()  #: (key, what it does)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Lines(id="title")
            yield from self.body()

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """Yield the widgets under the title."""

    def set_title(self, sentence: str, role: Role = Role.DIM) -> None:
        """Draw the title, then what is to be said now, and the keys at the right end."""
        rule = self.glyphs.rule
        title: list[StyledText] = [
            (f"{rule * 2} ", self.style_of(Role.RULE)),
            (f"{wording(self.TITLE_OF)}  ", self.style_of(Role.TITLE)),
            (wording(sentence), self.style_of(role)),
        ]
        self.query_one("#title", Lines).show([title], key_pieces(self.KEYS, self.palette))
