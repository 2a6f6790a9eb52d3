"""Where the host lost its lead before a gap, as a sentence. Pure: pieces of styled text."""

from __future__ import annotations

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.lead import LeadLosses
from tracetui.language import counted
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.causes import cause_style, cause_words
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import Piece
from tracetui.units import format_duration, format_time


def lead_sentence(losses: LeadLosses, gap: int, origin_ns: int, pen: Pen) -> list[Piece]:
    """Return "The host was 12 tasks (1.24 ms) ahead; it lost that when it enqueued nothing for 2.1 ms ..."

    Empty where the host had no lead before the gap, or did not cause it. Times are told from `origin_ns` on.
    """
    place = losses.of_gap(gap)
    if place < 0:
        return []
    count, start = int(losses.count[place]), int(losses.pause_start[place])
    tasks = counted(count, "1 task", "{count} tasks")
    work, pause = format_duration(int(losses.work[place])), int(losses.pause_end[place]) - start
    pieces = [
        *pen.said(
            "The host was {tasks} ({work}) ahead; it lost that when it enqueued nothing for {pause} from "
            "{start} on",
            tasks=tasks,
            work=_whole(work),
            pause=pen.text(_whole(format_duration(pause)), Role.NUMBER),
            start=_whole(format_time(start - origin_ns)),
        )
    ]
    cause, line = int(losses.cause[place]), int(losses.line[place])
    if cause >= 0:
        why = (cause_words(Cause(cause)), cause_style(Cause(cause), pen.palette))
        pieces = [*pen.said("{said}: {why}", said=pieces, why=why)]
    if line >= 0:
        file, number, function = losses.lines[line]
        called = printable(function, 60)
        if file:
            where = pen.text(f"{printable(path_end(file, 2), 60)}({number})", Role.USER_LINE)
            pieces = [*pen.said("{said} at {line} {function}", said=pieces, line=where, function=called)]
        else:
            pieces = [*pen.said("{said} in {function}", said=pieces, function=called)]
    return [*pen.said("{said}.", said=pieces)]


def _whole(text: str) -> str:
    """A number and its unit, which stay on one line."""
    return text.replace(" ", "\u00a0")
