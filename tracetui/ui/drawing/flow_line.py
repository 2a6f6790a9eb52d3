"""The line from the host to the device: the chain of a task, drawn through the lines of the timeline.

Pure: knows the trace, lines and how far they are scrolled, cells and glyphs; no widget. From each slice the
line goes up or down to where the next one is, and there to its start, behind what is drawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style

from tracetui.trace.model import Trace
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.rows import TimelineLines, place_of_slice
from tracetui.ui.state import TrackKey, Viewport

if TYPE_CHECKING:
    from tracetui.analysis.launch_chains import LaunchChain


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


_OFF = 2  #: cells


class HopPlace(NamedTuple):
    """One slice of a chain."""

    place: int  #: of its line in TimelineLines, or of the header that it is folded under
    start_ns: int
    end_ns: int


class Scrolled(NamedTuple):
    """What part of the lines is on screen."""

    fixed: int  #: lines that stay on top
    top: int  #: how far the others are scrolled
    height: int

    def y_of(self, place: int) -> int:
        """Return the line of the screen; in `fixed` or below `height` where it is not on screen."""
        return place if place < self.fixed else place - self.top

    def shows(self, place: int) -> bool:
        """Return whether a line is on screen by itself, though perhaps under one that is kept there."""
        return place < self.fixed or self.fixed <= place - self.top < self.height


def hop_places(
    trace: Trace, chain: LaunchChain, lines: TimelineLines, toggled: frozenset[TrackKey]
) -> list[HopPlace]:
    """Return the slices of a chain that have a line, host first."""
    found = []
    for hop in chain.hops:
        key, hidden = place_of_slice(trace, hop.row, toggled)
        place = lines.index(hidden or key)
        if place >= 0:
            found.append(HopPlace(place, hop.start_ns, hop.start_ns + hop.dur_ns))
    return found


def kept_lines(hops: Sequence[HopPlace], scrolled: Scrolled) -> dict[int, int]:
    """Return lines of both ends of a chain that are scrolled away, by the y at the edge that shows them."""
    ends = {hop.place for hop in (*hops[:1], *hops[-1:]) if hop.place >= scrolled.fixed}
    above: list[int] = []
    below: list[int] = []
    for _ in ends:  # a line that is kept may cover that of the other end
        above = [end for end in sorted(ends) if scrolled.y_of(end) < scrolled.fixed + len(above)]
        below = [end for end in sorted(ends) if scrolled.y_of(end) >= scrolled.height - len(below)]
    if scrolled.height - scrolled.fixed <= 2 * len(ends):  # too low to keep more than what is selected
        return {}
    return {
        **dict(enumerate(above, scrolled.fixed)),
        **dict(enumerate(below, scrolled.height - len(below))),
    }


def stops(
    hops: Sequence[HopPlace], kept: dict[int, int], scrolled: Scrolled, viewport: Viewport, columns: int
) -> list[Stop]:
    """Return where the slices of a chain are on screen."""
    lines = {place: y for y, place in kept.items()}
    found = []
    for place, start_ns, end_ns in _worth(
        hops, [hop.place in lines or scrolled.shows(hop.place) for hop in hops]
    ):
        y, shown = lines.get(place, scrolled.y_of(place)), place in lines or scrolled.shows(place)
        if not shown:
            y = scrolled.fixed - 1 if y < scrolled.fixed else scrolled.height
        # What is off screen is just off screen: closely zoomed in, it is 10^10 cells away
        first, last = (
            min(max(viewport.column_of(time, columns), -_OFF), columns + _OFF)
            for time in (start_ns, max(end_ns - 1, start_ns))
        )
        found.append(Stop(y, first, last, shown))
    return found


def _worth(hops: Sequence[HopPlace], shown: Sequence[bool]) -> Sequence[HopPlace]:
    """Return those on screen, and the next one on either side, towards which the line leaves the screen."""
    if not any(shown):
        return hops
    first, stop = shown.index(True), len(shown) - list(reversed(shown)).index(True)
    between = [hop for hop, is_shown in zip(hops[first:stop], shown[first:stop]) if is_shown]
    return [*hops[max(first - 1, 0) : first], *between, *hops[stop : stop + 1]]
