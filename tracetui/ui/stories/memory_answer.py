"""What the memory screen answers first: the peak, what grows, and what else the peak is made of. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.export.memory.words import (
    NO_TIMES,
    alive_sentence,
    growth_sentence,
    peak_parts,
    peak_sentence,
)
from tracetui.language import alternatives, sentences, tell
from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.tables.memory_views import Shown

_PLACE = 14  #: cells of "/text 123/1,234" at the end of the first line
_PROBLEMS = 2  #: told at most


@dataclass(frozen=True)
class MemoryAnswer:
    """Writes lines of a width, after a heading."""

    palette: Palette
    glyphs: Glyphs
    heading: str
    width: int

    def words(self, sentence: str, room: int = 0) -> list[Line]:
        """A sentence after the heading, with so much room after its first line."""
        text = self.palette.style_of(Role.TEXT)
        first, *more = wrapped(f"{self.heading}  {printable(sentence, 300)}", max(self.width - room, 20))
        title = (self.heading, self.palette.style_of(Role.TITLE))
        return [[title, (first[len(self.heading) :], text)], *([(line, text)] for line in more)]

    def lines(self, shown: Shown, tall: bool) -> list[Line]:
        """The peak and the growth, what the rest of the peak is where the screen is tall, and problems."""
        text, dim, warning = map(self.palette.style_of, (Role.TEXT, Role.DIM, Role.WARNING))
        recorded, document = shown.memory.recorded, shown.document
        lines = self.words(peak_sentence(document, shown.origin_ns), _PLACE)
        lines.append([(printable(growth_sentence(document, len(recorded.steps)), 300), text)])
        if not recorded.timed:
            lines.append([(tell(NO_TIMES), dim)])
        if tall:
            parts = alternatives(peak_parts(document["peak"]) if document["peak"] else ())
            told = [tell("{sentence}.", sentence=parts)] if parts else []
            rest = sentences([*told, alive_sentence(document)])
            lines += [[(line, dim)] for line in wrapped(rest, self.width)]
        mark = self.glyphs.warning
        return lines + [
            [(f"{mark} {printable(said, 200)}", warning)] for said in recorded.problems[:_PROBLEMS]
        ]
