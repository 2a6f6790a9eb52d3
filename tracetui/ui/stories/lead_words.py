"""Where the host lost its lead before a gap, as a sentence. Pure: pieces of styled text."""

from __future__ import annotations

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.lead import LeadLosses
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.causes import cause_style, cause_words
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import Piece
from tracetui.units import format_count, format_duration, format_time


def lead_sentence(losses: LeadLosses, gap: int, origin_ns: int, pen: Pen) -> list[Piece]:
    """ "The host was 12 tasks (1.24 ms) ahead; it lost that when it enqueued nothing for 2.1 ms ..."

    Empty where the host had no lead before the gap, or did not cause it. Times are told from `origin_ns` on.
    """
    place = losses.of_gap(gap)
    if place < 0:
        return []
    count, start = int(losses.count[place]), int(losses.pause_start[place])
    tasks = "1 task" if count == 1 else f"{format_count(count)} tasks"
    work, pause = format_duration(int(losses.work[place])), int(losses.pause_end[place]) - start
    pieces = [
        pen.text(f"The host was {tasks} ({_whole(work)}) ahead; it lost that when it enqueued nothing for "),
        pen.text(_whole(format_duration(pause)), Role.NUMBER),
        pen.text(f" from {_whole(format_time(start - origin_ns))} on"),
    ]
    cause, line = int(losses.cause[place]), int(losses.line[place])
    if cause >= 0:
        pieces += [pen.text(": "), (cause_words(Cause(cause)), cause_style(Cause(cause), pen.palette))]
    if line >= 0:
        file, number, function = losses.lines[line]
        if file:
            pieces += [
                pen.text(" at "),
                pen.text(f"{printable(path_end(file, 2), 60)}({number})", Role.USER_LINE),
                pen.text(f" {printable(function, 60)}"),
            ]
        else:
            pieces.append(pen.text(f" in {printable(function, 60)}"))
    return [*pieces, pen.text(".")]


def _whole(text: str) -> str:
    """A number and its unit, which stay on one line."""
    return text.replace(" ", "\u00a0")
