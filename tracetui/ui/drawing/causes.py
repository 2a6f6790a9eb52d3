"""How causes of idle time look: the colour of each, beside its letter and name.

Causes that are alike share a colour; the letter tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from rich.style import Style

from tracetui.analysis.idle.cause import Cause
from tracetui.export.language import cause_facts
from tracetui.ui.drawing.lane import clip_cells
from tracetui.ui.drawing.palette import Paint, Palette, Role
from tracetui.ui.drawing.strips import Piece
from tracetui.units import format_percent

#: The colour of each cause, as a role of the palette.
ROLES: Mapping[Cause, Role] = {
    Cause.GC: Role.HOST_WAIT,
    Cause.SYNC: Role.HOST_WAIT,
    Cause.DATALOADER: Role.HOST_WAIT,
    Cause.COPY: Role.HOST_WAIT,
    Cause.COMMUNICATION: Role.HOST_OPERATOR,
    Cause.COMPILE: Role.HOST_OPERATOR,
    Cause.OPERATOR: Role.HOST_OPERATOR,
    Cause.PROFILER: Role.HOST_OPERATOR,
    Cause.PYTHON: Role.HOST_PYTHON,
    Cause.UNRECORDED: Role.HOST_OPERATOR,
    Cause.QUEUE_BUSY: Role.QUEUED,
    Cause.QUEUE_WAKEUP: Role.QUEUED,
    Cause.LAUNCH_COMPILE: Role.LAUNCHING,
    Cause.LAUNCH_DISPATCH: Role.LAUNCHING,
    Cause.STREAM_WAIT: Role.LAUNCHED,
    Cause.GRAPH: Role.LAUNCHED,
    Cause.LATENCY: Role.LAUNCHED,
    Cause.UNKNOWN: Role.LAUNCHED,
    Cause.UNLINKED: Role.UNLINKED,
}


def cause_letter(cause: Cause) -> str:
    """Return the letter of a cause, different for each."""
    return cause.facts.letter


def cause_words(cause: Cause) -> str:
    """Letter and short name: "P python"."""
    facts = cause_facts(cause)
    return f"{facts.letter} {facts.name}"


def cause_style(cause: Cause, palette: Palette) -> Style:
    """Return the style of text about a cause; those that are alike share it."""
    return palette.style_of(ROLES[cause])


def cause_paint(cause: Cause, palette: Palette) -> Paint:
    """Return how idle time of a cause is drawn on the timeline."""
    return palette.paint_of(ROLES[cause])


def main_legend(by_cause: Mapping[Cause, int], palette: Palette, width: int) -> list[Piece]:
    """The largest cause with its share, in as many words as fit: "D data loader 72.3 %", "D data loader"."""
    whole = sum(by_cause.values())
    if whole <= 0:
        return []
    cause, ns = max(by_cause.items(), key=lambda item: item[1])
    words, share = cause_words(cause), format_percent(ns, whole)
    rounded = f"{(200 * ns + whole) // (2 * whole)} %"
    fitting = (f" {tail}" for tail in (share, rounded) if cell_len(f"{words} {tail}") <= width)
    tail = next(fitting, "")
    return [
        (clip_cells(words, min(cell_len(words), width), ""), cause_style(cause, palette)),
        (tail, palette.style_of(Role.TEXT)),
    ]


def legend(by_cause: Mapping[Cause, int], palette: Palette, width: int) -> list[Piece]:
    """Return the causes with their shares, as many as fit: "P python 62.0 %  S sync 12.1 %"."""
    whole = sum(by_cause.values())
    pieces: list[Piece] = []
    for cause, ns in sorted(by_cause.items(), key=lambda item: -item[1]):
        words = f"{'  ' if pieces else ''}{cause_words(cause)} "
        share = format_percent(ns, whole)
        width -= cell_len(words) + cell_len(share)
        if width < 0:
            break
        pieces += [(words, cause_style(cause, palette)), (share, palette.style_of(Role.TEXT))]
    return pieces
