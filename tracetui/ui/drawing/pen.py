"""What lines of styled text are written with: a palette and glyphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from string import Formatter
from typing import NamedTuple, Union

from rich.cells import cell_len
from rich.style import Style

from tracetui.language import needs_space, translate, wording
from tracetui.trace.clean import printable
from tracetui.trace.model import Activity
from tracetui.trace.stack import Frame, path_end
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText

Line = list[StyledText]
FieldText = Union[str, StyledText, Iterable[StyledText]]  #: what stands in a field of a sentence

LABEL = 10  #: cells of the label before a line
_LONGEST_NAME = 60  #: cells of a path or a function


class Pen(NamedTuple):
    """What lines are written with."""

    palette: Palette
    glyphs: Glyphs

    def label(self, text: str) -> tuple[str, Style]:
        """Return the dim word in front of a line."""
        word = f" {text}"
        return (word + " " * (LABEL - cell_len(word)), self.palette.style_of(Role.DIM))

    def text(self, text: str, what: Role | Activity = Role.TEXT) -> tuple[str, Style]:
        return (text, self.palette.style_of(what))

    def python_line(self, frame: Frame, backward: bool) -> Iterator[tuple[str, Style]]:
        """Yield "train.py(88) main", with a note where only the backward pass of the line ran."""
        function = printable(frame.function, _LONGEST_NAME)
        if frame.file:
            path = printable(path_end(frame.file, 2), _LONGEST_NAME)
            yield self.text(f"{path}({frame.line})", Role.USER_LINE)
            function = f" {function}"
        yield self.text(function)
        if backward:
            yield self.text(translate(" (backward of it)"), Role.DIM)

    def compose(self, english: str, what: Role | Activity = Role.TEXT, /, **values: FieldText) -> Line:
        """Return a sentence in the language chosen; a field is text of that look, or has its own."""
        return compose_sentence(english, self.palette.style_of(what), **values)


def compose_sentence(english: str, style: Style, /, **values: FieldText) -> Line:
    """Return a sentence in the language chosen; each of its fields is text of that style, or has its own."""
    sentence: Line = []
    for text, field, _, _ in Formatter().parse(wording(english)):
        value = "" if field is None else values[field]
        pieces = (
            [(value, style)] if isinstance(value, str) else [value] if isinstance(value, tuple) else [*value]
        )
        for part in ([(text, style)], pieces):
            if part and needs_space(sentence[-1][0] if sentence else "", part[0][0]):
                sentence.append((" ", style))
            sentence += [piece for piece in part if piece[0]]
    return sentence
