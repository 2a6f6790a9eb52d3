"""What is done to every line of every screen on its way to the terminal."""

from __future__ import annotations

from dataclasses import astuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from tracetui.export.text import to_ascii
from tracetui.ui.glyphs import ASCII, BLOCKS

_LIKENESS = {
    ord(character): like
    for glyphs, plain in (*zip(astuple(BLOCKS), astuple(ASCII)), ("←↑↓━≤", "<^v-<"))
    for character, like in zip(glyphs, plain)
    if not character.isascii()
}


class AsciiOnly(LineFilter):
    """Puts ASCII characters in place of all others, in as many cells."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            segment
            if segment.text.isascii()
            else Segment(in_ascii(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def in_ascii(text: str) -> str:
    """The text in ASCII, in as many cells: glyphs as those of the ASCII set, what has no likeness as "?"."""
    return set_cell_size(to_ascii(text.translate(_LIKENESS)), cell_len(text))
