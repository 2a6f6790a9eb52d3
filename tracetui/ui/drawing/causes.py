"""How causes of lost time look, idle or communicating: a colour for each, a letter or a glyph, a name.

Causes that are alike share a colour; the letter tells them apart. Waiting for another rank is as bright as
idle time; moving data is calm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Union

from rich.cells import cell_len
from rich.style import Style

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.export.language import cause_facts
from tracetui.language import translate
from tracetui.trace.model import Activity
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.lane import clip_cells
from tracetui.ui.drawing.palette import Paint, Palette, Role
from tracetui.ui.drawing.strips import StyledText
from tracetui.units import format_percent

if TYPE_CHECKING:
    from tracetui.analysis.analyse import Analysis

#: Why a device lost time: why it was idle, or why it did nothing but communicate.
LossCause = Union[Cause, CommunicationCause]

#: The colour of each cause, as a role or an activity of the palette.
ROLES: Mapping[LossCause, Role | Activity] = {
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
    Cause.PREEMPTED: Role.HOST_WAIT,
    Cause.INTERRUPTED: Role.HOST_WAIT,
    Cause.DISK: Role.HOST_WAIT,
    Cause.BLOCKED: Role.HOST_WAIT,
    Cause.QUEUE_BUSY: Role.QUEUED,
    Cause.QUEUE_WAKEUP: Role.QUEUED,
    Cause.LAUNCH_COMPILE: Role.LAUNCHING,
    Cause.LAUNCH_DISPATCH: Role.LAUNCHING,
    Cause.STREAM_WAIT: Role.LAUNCHED,
    Cause.GRAPH: Role.LAUNCHED,
    Cause.LATENCY: Role.LAUNCHED,
    Cause.UNKNOWN: Role.LAUNCHED,
    Cause.UNSEEN: Role.UNLINKED,
    Cause.UNLINKED: Role.UNLINKED,
    CommunicationCause.WAIT: Role.WAITING,
    CommunicationCause.TRANSFER: Activity.COMMUNICATION,
    CommunicationCause.UNSPLIT: Activity.COMMUNICATION,
}

_COMMUNICATION_NAMES = {
    CommunicationCause.WAIT: "waiting",
    CommunicationCause.TRANSFER: "moving",
    CommunicationCause.UNSPLIT: "comm",
}


def lost_by_cause(analysis: Analysis) -> list[tuple[LossCause, int]]:
    """Return each cause of lost time, idle or communicating, with the ns that all devices lost to it."""
    return [*analysis.causes.by_cause().items(), *analysis.communication.exposed.by_cause().items()]


def communication_glyph(cause: CommunicationCause, glyphs: Glyphs) -> str:
    """Return the glyph of a stretch in which a device did nothing but communicate."""
    return (glyphs.waits, glyphs.moves, glyphs.communicates)[cause]


def cause_letter(cause: Cause) -> str:
    """Return the letter of a cause of idle time, different for each."""
    return cause.facts.letter


def cause_name(cause: LossCause) -> str:
    """Return letter and short name of a cause of idle time, "P python"; of others the name, "waiting"."""
    if isinstance(cause, CommunicationCause):
        return translate(_COMMUNICATION_NAMES[cause])
    facts = cause_facts(cause)
    return f"{facts.letter} {facts.name}"


def cause_style(cause: LossCause, palette: Palette) -> Style:
    """Return the style of text about a cause; those that are alike share it."""
    return palette.style_of(ROLES[cause])


def cause_paint(cause: LossCause, palette: Palette) -> Paint:
    """Return how time lost to a cause is drawn on the timeline."""
    return palette.paint_of(ROLES[cause])


def main_legend(
    by_cause: Iterable[tuple[LossCause, int]], palette: Palette, glyphs: Glyphs, width: int
) -> list[StyledText]:
    """Return the largest cause with its share, in as many words as fit: "D data loader 72.3 %".

    by_cause : causes, and ns lost to each.
    """
    lost = sorted(by_cause, key=lambda item: -item[1])
    whole = sum(ns for _, ns in lost)
    if whole <= 0:
        return []
    cause, ns = lost[0]
    words, share = _legend_words(cause, glyphs), format_percent(ns, whole)
    rounded = f"{(200 * ns + whole) // (2 * whole)} %"
    fitting = (f" {tail}" for tail in (share, rounded) if cell_len(f"{words} {tail}") <= width)
    tail = next(fitting, "")
    return [
        (clip_cells(words, min(cell_len(words), width), ""), cause_style(cause, palette)),
        (tail, palette.style_of(Role.TEXT)),
    ]


def cause_legend(
    by_cause: Iterable[tuple[LossCause, int]], palette: Palette, glyphs: Glyphs, width: int
) -> list[StyledText]:
    """Return the causes with their shares, as many as fit: "P python 62.0 %  S sync 12.1 %".

    by_cause : causes, and ns lost to each.
    """
    lost = sorted(by_cause, key=lambda item: -item[1])
    whole = sum(ns for _, ns in lost)
    pieces: list[StyledText] = []
    for cause, ns in lost:
        words = f"{'  ' if pieces else ''}{_legend_words(cause, glyphs)} "
        share = format_percent(ns, whole)
        width -= cell_len(words) + cell_len(share)
        if width < 0:
            break
        pieces += [(words, cause_style(cause, palette)), (share, palette.style_of(Role.TEXT))]
    return pieces


def _legend_words(cause: LossCause, glyphs: Glyphs) -> str:
    """Return how a cause is marked on the timeline, and its name: "P python", "═ moving"."""
    words = cause_name(cause)
    return f"{communication_glyph(cause, glyphs)} {words}" if isinstance(cause, CommunicationCause) else words
