"""The lines above the memory tables: the peak, what grows, and what else the peak is made of."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.export.sentences.memory import (
    NO_TIMES,
    alive_sentence,
    growth_sentence,
    peak_parts,
    peak_sentence,
)
from tracetui.language import alternatives, sentences, translate
from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.pen import Line
from tracetui.ui.drawing.strips import wrapped
from tracetui.ui.tables.memory_views import Shown

_PLACE_CELLS = 14  #: cells of "/text 123/1,234" at the end of the first line
_MAX_PROBLEMS = 2  #: problems of the recording shown at most


@dataclass(frozen=True)
class MemoryAnswer:
    """The lines of an answer under a heading, wrapped to a width in cells."""

    palette: Palette
    glyphs: Glyphs
    heading: str
    width: int

    def words(self, sentence: str, room: int = 0) -> list[Line]:
        """Return a sentence after the heading; `room` cells stay free at the end of its first line."""
        text = self.palette.style_of(Role.TEXT)
        first_line, *more_lines = wrapped(
            f"{self.heading}  {printable(sentence, 300)}", max(self.width - room, 20)
        )
        title = (self.heading, self.palette.style_of(Role.TITLE))
        return [[title, (first_line[len(self.heading) :], text)], *([(line, text)] for line in more_lines)]

    def lines(self, shown: Shown, tall: bool) -> list[Line]:
        """Return the peak and the growth, then what is missing in the recording.

        `tall` adds what the rest of the peak is made of, where the screen is tall.
        """
        text, dim, warning = map(self.palette.style_of, (Role.TEXT, Role.DIM, Role.WARNING))
        recorded, document = shown.memory.recorded, shown.document
        lines = self.words(peak_sentence(document, shown.origin_ns), _PLACE_CELLS)
        lines.append([(printable(growth_sentence(document, len(recorded.steps)), 300), text)])
        if not recorded.timed:
            lines.append([(translate(NO_TIMES), dim)])
        if tall:
            parts = alternatives(peak_parts(document["peak"]) if document["peak"] else ())
            peak_rest = [translate("{sentence}.", sentence=parts)] if parts else []
            rest_text = sentences([*peak_rest, alive_sentence(document)])
            lines += [[(line, dim)] for line in wrapped(rest_text, self.width)]
        mark = self.glyphs.warning
        return lines + [
            [(f"{mark} {printable(problem, 200)}", warning)] for problem in recorded.problems[:_MAX_PROBLEMS]
        ]
