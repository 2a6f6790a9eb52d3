"""The run that a trace is of, label by label, in styled lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracetui.language import heading, names
from tracetui.trace.clean import printable
from tracetui.ui.drawing.pen import LABEL, Line, Pen
from tracetui.ui.drawing.strips import flowing

_MAX_CHARACTERS = 120  #: characters of one fact


def run_lines(facts: Iterable[tuple[str, Sequence[str]]], pen: Pen, width: int) -> list[Line]:
    """Return the facts by their labels, as the producer wrote them, in lines of at most `width` cells."""
    lines: list[Line] = []
    for label, values in facts:
        text = names(printable(value, _MAX_CHARACTERS) for value in values)
        for index, line in enumerate(flowing([pen.text(text)], width - LABEL)):
            lines.append([pen.label(heading(label) if index == 0 else ""), *line])
    return lines
