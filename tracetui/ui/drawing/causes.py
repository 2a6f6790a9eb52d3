"""How causes of idle time look and what they are called: a letter, a short name and a style each.

A capital is what the host did before it launched a task, a small letter what came after that. Causes that are
alike share a colour; the letter tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rich.cells import cell_len
from rich.style import Style

from tracetui.analysis.idle.calls import Cause
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


def legend(by_cause: Mapping[Cause, int], palette: Palette, width: int) -> list[Piece]:
    """The causes with their shares, as many as fit: "P python 62.0 %  S sync 12.1 %"."""
    whole = sum(by_cause.values())
    entries = (
        (f"{cause_words(cause)} ", f"{format_percent(ns, whole)}  ", cause)
        for cause, ns in sorted(by_cause.items(), key=lambda item: -item[1])
    )
    return _fitting(entries, palette, width)


def short_legend(by_cause: Mapping[Cause, int], palette: Palette, width: int) -> list[Piece]:
    """The letters of the causes with their shares in whole per cent, as many as fit: "P 62 S 12 %"."""
    whole = max(sum(by_cause.values()), 1)
    entries = (
        (f"{cause_letter(cause)} ", f"{(200 * ns + whole) // (2 * whole)} ", cause)
        for cause, ns in sorted(by_cause.items(), key=lambda item: -item[1])
        if 200 * ns >= whole
    )
    pieces = _fitting(entries, palette, width - 1)
    return [*pieces, ("%", palette.style_of(Role.DIM))] if pieces else []


def _fitting(entries: Iterable[tuple[str, str, Cause]], palette: Palette, width: int) -> list[Piece]:
    pieces: list[Piece] = []
    for words, share, cause in entries:
        width -= cell_len(words) + cell_len(share)
        if width < 0:
            break
        pieces += [(words, cause_style(cause, palette)), (share, palette.style_of(Role.TEXT))]
    return pieces
