"""Where the host lost its lead before a gap, as a sentence of styled text."""

from __future__ import annotations

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.lead import LeadLosses
from tracetui.language import counted
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.ui.drawing.causes import cause_name, cause_style
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.pen import Pen
from tracetui.ui.drawing.strips import Piece
from tracetui.units import format_duration, format_time


def lead_sentence(losses: LeadLosses, gap: int, origin_ns: int, pen: Pen) -> list[Piece]:
    """Return "The host was 12 tasks (1.24 ms) ahead; it lost that when it enqueued nothing for 2.1 ms ..."

    Empty where the host had no lead before the gap, or did not cause the gap. Times count from `origin_ns`.
    """
    index = losses.of_gap(gap)
    if index < 0:
        return []
    count, start = int(losses.count[index]), int(losses.pause_start[index])
    tasks = counted(count, "1 task", "{count} tasks")
    work, pause_ns = format_duration(int(losses.work[index])), int(losses.pause_end[index]) - start
    pieces = [
        *pen.compose(
            "The host was {tasks} ({work}) ahead; it lost that when it enqueued nothing for {pause} from "
            "{start} on",
            tasks=tasks,
            work=_unbroken(work),
            pause=pen.text(_unbroken(format_duration(pause_ns)), Role.NUMBER),
            start=_unbroken(format_time(start - origin_ns)),
        )
    ]
    cause, line = int(losses.cause[index]), int(losses.line[index])
    if cause >= 0:
        cause_piece = (cause_name(Cause(cause)), cause_style(Cause(cause), pen.palette))
        pieces = [*pen.compose("{sentence}: {why}", sentence=pieces, why=cause_piece)]
    if line >= 0:
        file, number, function = losses.lines[line]
        function_name = printable(function, 60)
        if file:
            location = pen.text(f"{printable(path_end(file, 2), 60)}({number})", Role.USER_LINE)
            pieces = [
                *pen.compose(
                    "{sentence} at {line} {function}", sentence=pieces, line=location, function=function_name
                )
            ]
        else:
            pieces = [*pen.compose("{sentence} in {function}", sentence=pieces, function=function_name)]
    return [*pen.compose("{sentence}.", sentence=pieces)]


def _unbroken(text: str) -> str:
    """Return a number and its unit with a space between them that does not break."""
    return text.replace(" ", "\u00a0")
