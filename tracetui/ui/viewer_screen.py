"""The base of all screens of the viewer: what the app asks of the one in front, each with a default.

Knows the app; no screen and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.style import Style
from textual.message_pump import MessagePump
from textual.screen import ScreenResultType

from tracetui.places import SharedPlace
from tracetui.trace.model import Activity
from tracetui.ui._textual import WholeScreen
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.session import Session
from tracetui.ui.viewer import Viewer

if TYPE_CHECKING:
    from tracetui.ui.ranks.rank_view import RankPlace


class InViewer(MessagePump):
    """A screen or a widget of the viewer."""

    @property
    def viewer(self) -> Viewer:
        """The app, which all screens and widgets share."""
        return cast(Viewer, self.app)

    @property
    def palette(self) -> Palette:
        """The colours of the viewer."""
        return self.viewer.palette

    @property
    def glyphs(self) -> Glyphs:
        """The characters that the viewer draws with."""
        return self.viewer.glyphs

    def style_of(self, what: Role | Activity) -> Style:
        """Return the style of a role or an activity in the colours of the viewer."""
        return self.palette.style_of(what)


class ViewerScreen(InViewer, WholeScreen[ScreenResultType]):
    """A screen that shows an open trace, or what is made of several."""

    def __init__(self, session: Session) -> None:
        """Show a session."""
        super().__init__()
        self.session = session

    def undo(self) -> None:
        """Look where one looked before."""
        if self.viewer.session.state.undo():
            self.viewer.selection_changed()
        else:
            self.viewer.show_status("There is no movement to undo.")

    def redo(self) -> None:
        """Look again where one looked before `undo`."""
        if self.viewer.session.state.redo():
            self.viewer.selection_changed()
        else:
            self.viewer.show_status("There is no movement to redo.")

    def open_editor(self) -> None:
        """Open an editor at the line of source that is shown."""
        self.viewer.show_status("No line of source is shown here.")

    def copy_text(self) -> str:
        """Return what `copy` copies; "" where there is nothing."""
        return ""

    def place_with(self, place: SharedPlace) -> SharedPlace:
        """Return a place that the session shows, with what only this screen knows of it."""
        return place

    def take_place(self, place: SharedPlace) -> None:
        """Show what of a place only this screen knows; the session looks there already."""

    def step_back(self) -> bool:
        """Drop the latest thing that was begun; return False where nothing was."""
        return False

    @property
    def pointed_at(self) -> RankPlace | None:
        """The rank of a job under the cursor, and the time to look at there; None elsewhere."""
        return None
