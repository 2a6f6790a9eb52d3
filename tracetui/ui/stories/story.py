"""The palette and glyphs that all stories are written with, and the line that they begin with.

Knows no widget, and nothing of what a story is about.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line
from tracetui.ui.drawing.strips import ruled, tail


class Story:
    """The base of all stories: a palette, glyphs, and the styles used most."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        self._palette, self._glyphs = palette, glyphs
        self._text, self._dim, self._bold = map(palette.style_of, (Role.TEXT, Role.DIM, Role.NUMBER))

    def _ruled(self, title: str, width: int) -> Line:
        """Return the title in a rule over the story."""
        return [(ruled(title, self._glyphs.rule, width), self._palette.style_of(Role.RULE))]

    def _ruled_name(self, name: str, choices: Sequence[str], width: int) -> Line:
        """Return a name of the trace, and in a rule beside it the first of some texts that has room.

        Where none has, the name loses its start beside the last.
        """
        name = printable(name)
        for choice in choices:
            beside = f" {self._glyphs.dot} {choice}"
            room = width - cell_len(ruled(beside, self._glyphs.rule, 0))
            if cell_len(name) <= room:
                break
        return self._ruled(tail(name, room, self._glyphs.ellipsis) + beside, width)
