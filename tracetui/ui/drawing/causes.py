"""How causes of idle time look and what they are called: a letter, a short name and a style each.

A capital is what the host did before it launched a task, a small letter what came after that. Causes that are
alike share a colour; the letter tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style

from tracetui.analysis.idle.calls import Cause
from tracetui.ui.drawing.lane import clip_cells
from tracetui.ui.drawing.palette import Paint, Palette, Role
from tracetui.ui.drawing.strips import Piece
from tracetui.units import format_percent


class Look(NamedTuple):
    """How one cause is shown."""

    letter: str
    name: str  #: one or two words
    role: Role
    meaning: str  #: a sentence for the glossary


LOOKS: Mapping[Cause, Look] = {
    Cause.PYTHON: Look("P", "python", Role.HOST_PYTHON, "Python ran between two operators."),
    Cause.OPERATOR: Look("O", "operator", Role.HOST_OPERATOR, "the framework was inside an operator."),
    Cause.COMMUNICATION: Look("C", "collective", Role.HOST_OPERATOR, "the host prepared a collective."),
    Cause.COMPILE: Look("K", "compile", Role.HOST_OPERATOR, "the host compiled an operator or a graph."),
    Cause.UNRECORDED: Look("U", "unrecorded", Role.HOST_OPERATOR, "the thread recorded nothing."),
    Cause.SYNC: Look("S", "sync", Role.HOST_WAIT, "the host waited for the device: .item(), synchronize()."),
    Cause.DATALOADER: Look("D", "data loader", Role.HOST_WAIT, "the host waited for data."),
    Cause.GC: Look("G", "gc", Role.HOST_WAIT, "Python collected garbage."),
    Cause.COPY: Look("H", "host copy", Role.HOST_WAIT, "the host copied to the device."),
    Cause.QUEUE_BUSY: Look(
        "b", "queue busy", Role.QUEUED, "in the task queue, while its thread launched others."
    ),
    Cause.QUEUE_WAKEUP: Look("q", "queue", Role.QUEUED, "in the task queue, its thread had nothing to do."),
    Cause.LAUNCH_COMPILE: Look("k", "op compile", Role.LAUNCHING, "being launched: compiled."),
    Cause.LAUNCH_DISPATCH: Look(
        "d", "dispatch", Role.LAUNCHING, "being launched: tiling, workspace, dispatch."
    ),
    Cause.STREAM_WAIT: Look("w", "stream wait", Role.LAUNCHED, "launched; its stream waited for an event."),
    Cause.LATENCY: Look("t", "latency", Role.LAUNCHED, "launched; the usual time until a task runs."),
    Cause.UNKNOWN: Look("u", "unknown", Role.LAUNCHED, "launched and not running; nothing says why."),
    Cause.UNLINKED: Look("?", "unlinked", Role.UNLINKED, "the trace does not tell what launched the task."),
}


def cause_letter(cause: Cause) -> str:
    """The letter of a cause, different for each."""
    return LOOKS[cause].letter


def cause_words(cause: Cause) -> str:
    """Letter and short name: "P python"."""
    return f"{LOOKS[cause].letter} {LOOKS[cause].name}"


def cause_style(cause: Cause, palette: Palette) -> Style:
    """The style of text about a cause; those that are alike share it."""
    return palette.style_of(LOOKS[cause].role)


def cause_paint(cause: Cause, palette: Palette) -> Paint:
    """How idle time of a cause is drawn on the timeline."""
    return palette.paint_of(LOOKS[cause].role)


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
    """The causes with their shares, as many as fit: "P python 62.0 %  S sync 12.1 %"."""
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
