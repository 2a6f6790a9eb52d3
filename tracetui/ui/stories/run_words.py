"""The run that a trace is of, label by label. Pure: styled lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tracetui.trace.clean import printable
from tracetui.ui.drawing.pen import LABEL, Line, Pen
from tracetui.ui.drawing.strips import flowing

_LONGEST = 120  #: characters of one fact


def describe_run(facts: Iterable[tuple[str, Sequence[str]]], pen: Pen, width: int) -> list[Line]:
    """Return facts by their label, as written by the producer, in lines of at most `width` cells."""
    lines: list[Line] = []
    for label, told in facts:
        said = ", ".join(printable(fact, _LONGEST) for fact in told)
        for place, line in enumerate(flowing([pen.text(said)], max(width - LABEL, 20))):
            lines.append([pen.label(label if place == 0 else ""), *line])
    return lines
