"""Where the slices of a chain are among the lines of the timeline, and which of those lines stay on screen.

Pure: knows the trace, lines and how far they are scrolled; no widget and no style.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tracetui.trace.model import Trace
from tracetui.ui.drawing.flow_line import Stop
from tracetui.ui.drawing.rows import TimelineLines, place_of_slice
from tracetui.ui.state import TrackKey, Viewport

if TYPE_CHECKING:
    from tracetui.analysis.launch_chains import LaunchChain

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
