"""The line from the host to the device: the chain of a task, drawn through the lines of the timeline.

Pure: knows cells of a screen and glyphs; not the trace. From each slice the line goes up or down to where the
next one is, and there to its start, behind what is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.ui.drawing.glyphs import Glyphs


class Stop(NamedTuple):
    """Where a slice of the chain is on screen; cells may be outside of it."""

    y: int
    first: int  #: the cells of the slice
    last: int
    shown: bool = True  #: its line is on screen; else y is the edge behind which the line is


class Ink(NamedTuple):
    """One cell of the line."""

    x: int
    glyph: str
    behind: bool  #: drawn only where the cell is empty


def flow_line(stops: Sequence[Stop], glyphs: Glyphs) -> dict[int, list[Ink]]:
    """The cells of the line through the stops, host first, by y and each x once; some may be off screen."""
    narrow = {
        (stop.y, stop.first) for stop in stops if stop.first == stop.last
    }  # what it leads to stays visible
    lines: dict[int, dict[int, Ink]] = defaultdict(dict)
    for start, end in zip(stops, stops[1:]):
        for y, ink in _between(start, end, glyphs):
            if (y, ink.x) not in narrow and (ink.x not in lines[y] or not ink.behind):
                lines[y][ink.x] = ink
    return {y: sorted(inks.values()) for y, inks in lines.items() if inks}


def _between(start: Stop, end: Stop, glyphs: Glyphs) -> Iterator[tuple[int, Ink]]:
    """From the cell of a slice that is nearest in time to the next slice, to the start of that."""
    leave = min(max(end.first, start.first), start.last)
    down = 1 if end.y > start.y else -1
    turns = end.shown and not end.first <= leave <= end.last
    if start.y != end.y:
        for y in range(start.y + down, end.y, down):
            arrives = not turns and end.shown and y == end.y - down
            upright = (glyphs.down if down > 0 else glyphs.up) if arrives else glyphs.bar
            yield y, Ink(leave, upright, False)
        if turns:
            corners = glyphs.corners[:2] if leave < end.first else glyphs.corners[2:]
            yield end.y, Ink(leave, corners[down > 0], False)
    if turns and leave < end.first:
        for x in range(leave + 1, end.first - 1):
            yield end.y, Ink(x, glyphs.rule, True)
        if leave < end.first - 1:
            yield end.y, Ink(end.first - 1, glyphs.to_right, False)
    elif turns:  # by clocks that disagree, or without a length: it began before it was asked for
        for x in range(end.last + 2, leave):
            yield end.y, Ink(x, glyphs.rule, True)
        if end.last + 1 < leave:
            yield end.y, Ink(end.last + 1, glyphs.to_left, False)


def overlaid(strip: Strip, inks: Sequence[Ink], left: int, style: Style) -> list[Segment]:
    """A line with the cells of a flow in it, x counted from `left`; the label on the left of it stays."""
    width = strip.cell_length
    empty = _empty_cells(strip)
    parts: list[Segment] = []
    at = 0
    for ink in inks:
        x = ink.x + left
        if left <= x < width and (empty[x] or not ink.behind):
            parts += [*strip.crop(at, x), Segment(ink.glyph, style)]
            at = x + 1
    return [*parts, *strip.crop(at, width)]


def _empty_cells(strip: Strip) -> list[bool]:
    """Whether nothing is drawn in each cell: no glyph, no fill."""
    empty: list[bool] = []
    for segment in strip:
        style = segment.style
        filled = style is not None and (style.reverse or style.underline or style.bgcolor is not None)
        blanks = [not filled and character == " " for character in segment.text]
        whole = len(blanks) == segment.cell_length  # no character takes two cells
        empty += blanks if whole else [False] * segment.cell_length
    return empty
