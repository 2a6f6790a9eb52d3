"""Where the viewer looks: viewport, selection, window, folds; with undo. Pure, the one truth of all screens.

Times are integer ns. Knows no terminal and no trace: rows and gaps are numbers here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tracetui.arrays import Int64s

#: identifies a track or a group of tracks while the trace still grows and its numbers change
TrackKey = tuple[str, ...]

NONE = -1
PAN_PARTS = 8  #: a pan moves by one eighth of the screen
ZOOM = (2, 3)  #: a level of zooming in leaves two thirds of the span


@dataclass(frozen=True)
class Viewport:
    """A half-open interval of time [start_ns, end_ns) on screen, never empty."""

    start_ns: int
    end_ns: int

    def __post_init__(self) -> None:
        if self.end_ns <= self.start_ns:
            raise ValueError(f"empty viewport: {self.start_ns}..{self.end_ns}")

    @property
    def span_ns(self) -> int:
        """How much time is on screen."""
        return self.end_ns - self.start_ns

    @property
    def centre_ns(self) -> int:
        """The time in the middle."""
        return self.start_ns + self.span_ns // 2

    def within(self, bounds: Viewport) -> Viewport:
        """Return this span, moved (and cut, if it is too wide) to lie inside `bounds`."""
        span = min(self.span_ns, bounds.span_ns)
        start = min(max(self.start_ns, bounds.start_ns), bounds.end_ns - span)
        return Viewport(start, start + span)

    def pan(self, by_ns: int, bounds: Viewport) -> Viewport:
        """Return the viewport moved by so much time, stopping at the bounds; the span stays."""
        return Viewport(self.start_ns + by_ns, self.end_ns + by_ns).within(bounds)

    def zoom(
        self, numerator: int, denominator: int, anchor_ns: int, bounds: Viewport, least_ns: int
    ) -> Viewport:
        """Scale the span by numerator / denominator to at least `least_ns`; the anchor stays where it is.

        An anchor outside the viewport is taken as its nearest edge. The place is kept to 1 ns, unless the
        bounds are in the way.
        """
        span = self.span_ns * numerator // denominator
        if numerator > denominator:
            span = max(span, self.span_ns + 1)
        span = min(max(span, least_ns, 1), bounds.span_ns)
        anchor = min(max(anchor_ns, self.start_ns), self.end_ns)
        start = anchor - (anchor - self.start_ns) * span // self.span_ns
        return Viewport(start, start + span).within(bounds)

    def showing(self, start_ns: int, end_ns: int, bounds: Viewport) -> Viewport:
        """Return the viewport moved as little as possible so that the interval, or its start, is visible."""
        if end_ns - start_ns >= self.span_ns:
            if start_ns < self.end_ns and end_ns > self.start_ns:
                return self
            margin = self.span_ns // 10
            return self.pan(start_ns - margin - self.start_ns, bounds)
        if start_ns < self.start_ns:
            return self.pan(start_ns - self.start_ns - self.span_ns // 10, bounds)
        if end_ns > self.end_ns:
            return self.pan(end_ns - self.end_ns + self.span_ns // 10, bounds)
        return self

    def column_of(self, time_ns: int, columns: int) -> int:
        """Return the column that holds a time; below 0 or from `columns` on when it is off screen.

        As `edges` has it: the last column whose edge is not after the time.
        """
        return ((time_ns - self.start_ns + 1) * columns - 1) // self.span_ns

    def time_of(self, column: int, columns: int) -> int:
        """Return the time at the left edge of a column, ns."""
        return self.start_ns + column * self.span_ns // columns

    def edges(self, columns: int) -> Int64s:
        """Return int64[columns + 1], ns: column c is [edges[c], edges[c + 1])."""
        whole, remainder = divmod(self.span_ns, columns)
        column = np.arange(columns + 1, dtype=np.int64)
        return self.start_ns + column * whole + column * remainder // columns


def around(start_ns: int, end_ns: int, bounds: Viewport, least_ns: int, share: int = 3) -> Viewport:
    """Return a viewport in which the interval takes the middle 1 / `share`, as far as the bounds allow."""
    span = min(max((end_ns - start_ns) * share, least_ns, 1), bounds.span_ns)
    start = start_ns - (span - (end_ns - start_ns)) // 2
    return Viewport(start, start + span).within(bounds)


@dataclass(frozen=True)
class UndoPoint:
    """What undo brings back."""

    viewport: Viewport
    row: int = NONE  #: the selected slice
    gap: int = NONE  #: the selected gap (index into Analysis.gaps)
    cursor: TrackKey = ()  #: the line of the timeline that the cursor is on
    time_ns: int = 0  #: the moment that the cursor is at: kept when it moves to another line
    window: tuple[int, int] | None = None  #: the window of time that tables and exports use, ns


@dataclass(eq=False)
class Search:
    """A search over the names of slices."""

    text: str = ""
    hits: Int64s = field(default_factory=lambda: np.empty(0, dtype=np.int64))  #: rows, by time
    starts: Int64s = field(default_factory=lambda: np.empty(0, dtype=np.int64))  #: ns, of each hit
    at: int = NONE  #: index into hits

    @property
    def count(self) -> str:
        """Which hit of how many: "3/128"."""
        return f"{self.at + 1}/{len(self.hits)}"

    def columns(self, edges: Int64s) -> Int64s:
        """Return the columns between `edges` (ns, int64[columns + 1]) in which a hit starts, in order."""
        return np.flatnonzero(np.diff(np.searchsorted(self.starts, edges, "left")))


@dataclass
class ViewState:
    """The state of the view. Every change of `place` goes through `go`, which keeps undo right.

    A burst of the same movement (held pan keys) is one step of undo.
    """

    bounds: Viewport
    place: UndoPoint = field(init=False)
    columns: int = 80  #: columns of time on screen; the narrowest viewport is 1 ns a column
    mark: int | None = None  #: a window that is being made starts here, ns
    search: Search = field(default_factory=Search)
    filter: str = ""  #: shared by the tables
    toggled: frozenset[TrackKey] = frozenset()  #: tracks and groups folded or unfolded against their default
    pinned: tuple[TrackKey, ...] = ()  #: tracks kept on top, in order of pinning
    undo_stack: list[UndoPoint] = field(default_factory=list)
    redo_stack: list[UndoPoint] = field(default_factory=list)
    burst: str | None = None  #: the movement the top of the undo stack belongs to

    def __post_init__(self) -> None:
        self.place = UndoPoint(self.bounds, time_ns=self.bounds.start_ns)

    @property
    def viewport(self) -> Viewport:
        """The time on screen."""
        return self.place.viewport

    @property
    def row(self) -> int:
        """The selected slice, or -1."""
        return self.place.row

    @property
    def gap(self) -> int:
        """The selected gap, or -1."""
        return self.place.gap

    @property
    def window(self) -> tuple[int, int] | None:
        """Start and end in ns of the window that was chosen; None: all."""
        return self.place.window

    @property
    def shown_window(self) -> tuple[int, int]:
        """The window that was chosen, else what the timeline shows; ns."""
        return self.window or (self.viewport.start_ns, self.viewport.end_ns)

    @property
    def is_used(self) -> bool:
        """Whether somebody has moved, selected, searched, filtered or folded anything."""
        moved = bool(self.undo_stack or self.redo_stack) or max(self.row, self.gap) >= 0
        return moved or bool(self.search.text or self.filter or self.toggled or self.pinned)

    @property
    def least_ns(self) -> int:
        """The narrowest span of a viewport."""
        return min(max(self.columns, 1), self.bounds.span_ns)

    def go(self, place: UndoPoint, burst: str | None = None) -> bool:
        """Move to a place. False where that is the place already."""
        place = replace(place, viewport=place.viewport.within(self.bounds))
        if place == self.place:
            return False
        if burst is None or burst != self.burst:
            self.undo_stack.append(self.place)
            del self.undo_stack[:-1000]
        self.burst = burst
        self.redo_stack.clear()
        self.place = place
        return True

    def look(self, viewport: Viewport, burst: str | None = None) -> bool:
        """Change the viewport only."""
        return self.go(replace(self.place, viewport=viewport), burst)

    def pan(self, by_ns: int) -> bool:
        """Move in time."""
        return self.look(self.viewport.pan(by_ns, self.bounds), "pan")

    def zoom(self, numerator: int, denominator: int, anchor_ns: int) -> bool:
        """Zoom so that the anchor keeps its column."""
        viewport = self.viewport.zoom(numerator, denominator, anchor_ns, self.bounds, self.least_ns)
        return self.look(viewport, "zoom")

    def pan_parts(self, parts: int) -> bool:
        """Move in time by so many eighths of the screen, to the left where negative."""
        return self.pan(parts * max(self.viewport.span_ns // PAN_PARTS, 1))

    def pan_to_end(self, way: int) -> bool:
        """Move to the start (`way` -1) or the end (1) of all there is; the span stays."""
        view, bounds = self.viewport, self.bounds
        return self.pan(bounds.start_ns - view.start_ns if way < 0 else bounds.end_ns - view.end_ns)

    def zoom_levels(self, levels: int, anchor_ns: int) -> bool:
        """Zoom in by so many levels, out where negative, so that the anchor keeps its column."""
        closer, farther = ZOOM[0] ** abs(levels), ZOOM[1] ** abs(levels)
        return self.zoom(*((closer, farther) if levels > 0 else (farther, closer)), anchor_ns)

    def show(self, start_ns: int, end_ns: int, share: int = 3) -> bool:
        """Zoom so that the interval takes the middle 1 / `share` of the screen."""
        return self.look(around(start_ns, end_ns, self.bounds, self.least_ns, share))

    def undo(self) -> bool:
        """Go back to the place before the last movement."""
        return self._go_between(self.undo_stack, self.redo_stack)

    def redo(self) -> bool:
        """Take back an undo."""
        return self._go_between(self.redo_stack, self.undo_stack)

    def _go_between(self, source: list[UndoPoint], target: list[UndoPoint]) -> bool:
        """Go to the last place of a stack, and leave this one on the other."""
        if source:
            target.append(self.place)
            self.place, self.burst = source.pop(), None
            return True
        return False

    def part_of(self, span: tuple[int, int]) -> Viewport | None:
        """Return what of a span, ns from the start of all there is, can be looked at; None for nothing."""
        bounds = self.bounds
        start, end = (min(max(bounds.start_ns + ns, bounds.start_ns), bounds.end_ns) for ns in span)
        return Viewport(start, end) if start < end else None

    def grow(self, bounds: Viewport) -> None:
        """Take longer bounds: a viewport that showed all still does; undo is kept."""
        everything = self.viewport == self.bounds
        self.bounds = bounds
        self.place = replace(self.place, viewport=bounds if everything else self.viewport.within(bounds))

    def forget_rows(self) -> None:
        """Forget rows and gaps, which are numbered anew: nothing points at the old ones, also after undo."""
        self.place = replace(self.place, row=NONE, gap=NONE)
        self.undo_stack = [replace(place, row=NONE, gap=NONE) for place in self.undo_stack]
        self.redo_stack = [replace(place, row=NONE, gap=NONE) for place in self.redo_stack]
        self.search = Search()

    def toggle(self, key: TrackKey) -> None:
        """Fold what is unfolded, unfold what is folded."""
        self.toggled ^= {key}

    def toggle_pin(self, key: TrackKey) -> None:
        """Pin a track on top, or let it go."""
        if key in self.pinned:
            self.pinned = tuple(other for other in self.pinned if other != key)
        else:
            self.pinned = (*self.pinned, key)
