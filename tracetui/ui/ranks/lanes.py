"""What all ranks did at the same time: a line for each, on one aligned axis.

A column shows what there is most of. Between two boundaries of a digest the split is known, not the order.
"""

from __future__ import annotations

from typing import Optional, Protocol

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.analysis.raster import even_edges
from tracetui.arrays import Floats, Int64s
from tracetui.job.digest import TimeClass
from tracetui.language import translate
from tracetui.trace.model import Activity
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.strips import StyledText, fitted
from tracetui.ui.drawing.ticks import ticks_line
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget

_WORDS = {
    TimeClass.COMPUTING: "computing",
    TimeClass.WAIT: "waiting",
    TimeClass.TRANSFER: "moving",
    TimeClass.UNSPLIT: "communicating",
    TimeClass.COPY: "copying",
    TimeClass.IDLE: "idle",
}


class Lanes(Protocol):
    """What ranks do over time."""

    def classes(self, place: int, edges: Int64s) -> Floats:
        """Return the ns of each class of time of a rank between edges, float64[classes, columns]."""


class RankLanes(InViewer, CachedLineWidget):
    """The lanes under their axis; those around the chosen rank where there is no room for all."""

    DEFAULT_CSS = "RankLanes { width: 1fr; height: 1fr; }"

    def __init__(self, *, id: Optional[str] = None) -> None:  # noqa: A002, UP045 - Textual's own name
        super().__init__(id=id)
        self._source: Lanes | None = None
        self._labels: tuple[str, ...] = ()
        self._names = 0  # cells of the longest label, and the marks beside it
        self._drawn_lanes: dict[tuple[int, int], list[Segment]] = {}  # by place and columns
        self._rank = 0
        self._span = (0, 1)
        self._origin = 0

    def show(
        self, lanes: Lanes, labels: tuple[str, ...], rank: int, span: tuple[int, int], origin_ns: int
    ) -> None:
        """Show a span of time, aligned ns, with a rank (its place) chosen; -1: none.

        Args:
            labels: of the ranks, by place.
            origin_ns: 0 of the axis.
        """
        if lanes is not self._source or span != self._span:
            self._source, self._labels, self._span = lanes, labels, span
            self._names = max(map(len, labels)) + 2
            self._origin = origin_ns
            self._drawn_lanes.clear()
        elif rank == self._rank:
            return
        self._rank = rank
        self.refresh()

    def legend(self) -> list[StyledText]:
        """Say what the glyphs are."""
        dim = self.style_of(Role.DIM)
        pieces: list[StyledText] = []
        for time_class in TimeClass:
            glyph, style = self._ink(time_class)
            pieces += [(f" {glyph * 2}", style), (f" {translate(_WORDS[time_class])} ", dim)]
        return pieces

    def _ink(self, time_class: TimeClass) -> tuple[str, Style]:
        glyphs, style = self.glyphs, self.palette.style_of
        communication = style(Activity.COMMUNICATION)
        return {
            TimeClass.COMPUTING: (glyphs.shades[4], style(Activity.COMPUTE)),
            TimeClass.WAIT: (glyphs.waits, style(Role.WAITING)),
            TimeClass.TRANSFER: (glyphs.moves, communication),
            TimeClass.UNSPLIT: (glyphs.communicates, communication),
            TimeClass.COPY: (glyphs.shades[2], style(Activity.COPY)),
            TimeClass.IDLE: (glyphs.full, style(Role.IDLE)),
        }[time_class]

    @property
    def _first(self) -> int:
        """The place of the first rank on screen."""
        shown = max(self.size.height - 1, 1)
        return max(min(self._rank - shown // 2, len(self._labels) - shown), 0)

    def draw_line(self, y: int) -> Strip:
        lanes, width = self._source, self.size.width
        if lanes is None:
            return Strip.blank(width)
        names = min(self._names, width // 3)
        columns = max(width - names, 1)
        if y == 0:
            text = ticks_line(self._span, self._origin, columns, self.glyphs.tick)
            axis: list[StyledText] = [(" " * names, Style.null()), (text, self.style_of(Role.DIM))]
            return fitted(axis, width, self.glyphs.ellipsis)
        place = self._first + y - 1
        if place >= len(self._labels):
            return Strip.blank(width)
        role = Role.TITLE if place == self._rank else Role.TEXT
        mark = self.glyphs.here if place == self._rank else " "
        name = f"{mark}{self._labels[place]}".ljust(names)[: names - 1] + " "
        return Strip([Segment(name, self.style_of(role)), *self._lane(lanes, place, columns)], width)

    def _lane(self, lanes: Lanes, place: int, columns: int) -> list[Segment]:
        """Draw what a rank did, and keep it: moving to another rank scrolls all lanes."""
        segments = self._drawn_lanes.get((place, columns))
        if segments is None:
            segments = self._drawn_lanes[place, columns] = self._draw_lane(lanes, place, columns)
        return segments

    def _draw_lane(self, lanes: Lanes, place: int, columns: int) -> list[Segment]:
        start, end = self._span
        edges = even_edges(start, max(end, start + columns), columns)
        split = lanes.classes(place, edges)
        known = split.sum(axis=0) > 0
        longest = np.where(known, split.argmax(axis=0), -1)
        segments: list[Segment] = []
        bounds = np.flatnonzero(np.diff(longest, prepend=-2, append=-2)).tolist()
        for first, stop in zip(bounds, bounds[1:]):
            if longest[first] < 0:
                segments.append(Segment(" " * (stop - first)))
            else:
                glyph, style = self._ink(TimeClass(int(longest[first])))
                segments.append(Segment(glyph * (stop - first), style))
        return segments
