"""The line from the host to the device: the chain of a task, drawn through the lines of the timeline.

Pure: knows cells of a screen and glyphs; not the trace. From each slice the line goes up or down to where the
next one is, and there to its start, behind what is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style

from tracetui.ui.drawing.glyphs import Glyphs


class Stop(NamedTuple):
    """Where a slice of the chain is on screen; cells may be outside of it."""

    y: int
    first: int  #: the cells of the slice
    last: int
    shown: bool = True  #: its line is on screen; else y is the edge behind which the line is


class FlowCell(NamedTuple):
    """One cell of the line."""

    x: int
    glyph: str
    behind: bool  #: drawn only where the cell is empty


def flow_line(stops: Sequence[Stop], glyphs: Glyphs) -> dict[int, list[FlowCell]]:
    """Return the cells of the line through the stops, host first, by y; some may be off screen."""
    narrow = {
        (stop.y, stop.first) for stop in stops if stop.first == stop.last
    }  # what it leads to stays visible
    lines: dict[int, dict[int, FlowCell]] = defaultdict(dict)
    for start, end in zip(stops, stops[1:]):
        for y, ink in _between(start, end, glyphs):
            if (y, ink.x) not in narrow and (ink.x not in lines[y] or not ink.behind):
                lines[y][ink.x] = ink
    return {y: sorted(inks.values()) for y, inks in lines.items() if inks}


def _between(start: Stop, end: Stop, glyphs: Glyphs) -> Iterator[tuple[int, FlowCell]]:
    """Yield cells from that of a slice which is nearest in time to the next slice, to the start of that."""
    leave = min(max(end.first, start.first), start.last)
    down = 1 if end.y > start.y else -1
    turns = end.shown and not end.first <= leave <= end.last
    if start.y != end.y:
        for y in range(start.y + down, end.y, down):
            arrives = not turns and end.shown and y == end.y - down
            upright = (glyphs.down if down > 0 else glyphs.up) if arrives else glyphs.bar
            yield y, FlowCell(leave, upright, False)
        if turns:
            corners = glyphs.corners[:2] if leave < end.first else glyphs.corners[2:]
            yield end.y, FlowCell(leave, corners[down > 0], False)
    if turns and leave < end.first:
        for x in range(leave + 1, end.first - 1):
            yield end.y, FlowCell(x, glyphs.rule, True)
        if leave < end.first - 1:
            yield end.y, FlowCell(end.first - 1, glyphs.to_right, False)
    elif turns:  # by clocks that disagree, or without a length: it began before it was asked for
        for x in range(end.last + 2, leave):
            yield end.y, FlowCell(x, glyphs.rule, True)
        if end.last + 1 < leave:
            yield end.y, FlowCell(end.last + 1, glyphs.to_left, False)


def overlaid(line: Iterable[Segment], inks: Sequence[FlowCell], left: int, style: Style) -> list[Segment]:
    """Draw the cells of a flow over a line, x counted from `left`; the label on the left of it stays."""
    parts: list[Segment] = []
    wanted = [ink for ink in reversed(inks) if ink.x >= 0]
    at = 0  # the cell that the rest of the segment starts at
    drawn = -1  # the cell after the last one of the flow
    for segment in line:
        rest = segment
        while wanted and (x := wanted[-1].x + left) < at + rest.cell_length:
            ink = wanted.pop()
            if ink.behind and not _is_blank(rest, x - at):
                continue
            before, rest = _split(rest, x - at)
            _, rest = _split(rest, 1)
            if before.text:
                parts.append(before)
            if drawn == x:
                parts[-1] = Segment(parts[-1].text + ink.glyph, style)
            else:
                parts.append(Segment(ink.glyph, style))
            at = drawn = x + 1
        at += rest.cell_length
        if rest.text:
            parts.append(rest)
    return parts


def _is_blank(segment: Segment, cell: int) -> bool:
    """Return whether nothing is drawn in a cell: no glyph, no fill."""
    text, style, _ = segment
    if style is not None and (style.reverse or style.underline or style.bgcolor is not None):
        return False
    return len(text) == segment.cell_length and text[cell] == " "


def _split(segment: Segment, cell: int) -> tuple[Segment, Segment]:
    """Split a segment into its first cells and the others."""
    text, style, _ = segment
    if len(text) != segment.cell_length:  # Textual's way, for characters that take two cells, is slow
        return segment.split_cells(cell)
    return Segment(text[:cell], style), Segment(text[cell:], style)
