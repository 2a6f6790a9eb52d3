"""What lines of styled text are written with: a palette and glyphs."""

from __future__ import annotations

from typing import NamedTuple

from rich.style import Style

from tracetui.trace.model import Activity
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import Piece

Line = list[Piece]

LABEL = 10  #: cells of the label before a line


class Pen(NamedTuple):
    """What lines are written with."""

    palette: Palette
    glyphs: Glyphs

    def label(self, text: str) -> tuple[str, Style]:
        """The dim word in front of a line."""
        return (f" {text}".ljust(LABEL), self.palette.style_of(Role.DIM))

    def text(self, text: str, what: Role | Activity = Role.TEXT) -> tuple[str, Style]:
        return (text, self.palette.style_of(what))
