"""The tracks: one line of the terminal per lane, drawn when it is asked for.

Draws what `session.state` says; moving is the screen's affair, to which the mouse is passed on as messages. A
strip is cached under everything that changes its look, and only lines whose look changed are drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual import events
from textual.cache import LRUCache
from textual.message import Message
from textual.strip import Strip

from tracetui.ui.drawing.flow_line import (
    FlowCell,
    HopPlace,
    Scrolled,
    flow_line,
    hop_places,
    kept_lines,
    overlaid,
    stops,
)
from tracetui.ui.drawing.line_art import LineArt
from tracetui.ui.drawing.palette import Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import LineKind, TimelineLines, TimelineRow, timeline_lines
from tracetui.ui.session import Session
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget, WholeStrip
from tracetui.ui.widgets.scrolling import TimeWheeled

if TYPE_CHECKING:
    from tracetui.analysis.launch_chains import LaunchChain

LABEL_LEAST, LABEL_MOST = 18, 28
#: lines that are drawn already: those of a dozen screens. With 4,096 a garbage collection took 50 ms, not 10
KEPT = 512
IDLE_CELLS = len("▸ 100.0 % ")  #: what stands around the label of an idle line


class Tracks(InViewer, TimeWheeled, CachedLineWidget, can_focus=True):
    """All lines of the timeline; the fixed ones stay on top."""

    DEFAULT_CSS = "Tracks { width: 1fr; height: 1fr; }"

    @dataclass
    class Pressed(Message):
        """The mouse went down, or moved while down, at a time on a line (-1: on its label)."""

        place: int
        time_ns: int
        dragging: bool
        on_label: bool

    @dataclass
    class Wheeled(Message):
        """The wheel turned: up is -1. `time_ns` is under the mouse, None over the labels."""

        turn: int
        time_ns: int | None
        sideways: bool

    class Awaits(Message):
        """A line is shown of which nothing is read until it is asked for."""

    class Aligned(Message):
        """The labels have another width: what stands above the tracks is to begin with their times."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.lines = TimelineLines((), 0)
        self.top = 0  #: the first of the scrolling lines that is shown
        self.label_width = LABEL_LEAST
        self.picture: Picture | None = None  #: what is drawn of the trace; None before it is there
        self._art: LineArt | None = None
        self._strips: LRUCache[object, Strip] = LRUCache(KEPT)
        self._chain: LaunchChain | None = None  # drawn from line to line
        self._keeps = False  # the lines of both its ends stay on screen
        self._hops: list[HopPlace] = []
        self._inks: tuple[object, dict[int, list[FlowCell]]] = (None, {})
        self._shown: dict[int, object] = {}  #: the look that each line of the screen has now
        self._pressed: tuple[int, int] | None = None

    # What it shows

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self.size.width - self.label_width, 1)

    def show_trace(self, picture: Picture) -> None:
        """Draw another trace, or the same with its analysis."""
        app = self.viewer
        self._chain = None
        self.picture, self._art = picture, LineArt(picture, app.palette, app.glyphs, self.session.waiting)
        self.lay_out()

    def show_waiting(self) -> None:
        """Say again what the idle lines wait for."""
        waiting = self.session.waiting
        if self._art is not None and self._art.waiting != waiting:
            self._art.waiting = waiting
            self.redraw(y for y in range(self.lines.fixed) if self.lines.lines[y].kind is LineKind.IDLE)

    def lay_out(self) -> None:
        """Lay the lines out again: tracks came, were folded or pinned. What is on top of the screen stays."""
        if self.picture is None:
            return
        state, sketch = self.session.state, self.picture.sketch
        first = self.lines.fixed + self.top
        key = self.lines.lines[first].key if self.top else ()
        expected, devices = (sketch.tracks, sketch.devices) if sketch is not None else ((), ())
        trace, extras = self.picture.trace, self.picture.extras
        self.lines = timeline_lines(trace, state.toggled, state.pinned, expected, devices, extras)
        curves = [line for line in self.lines.lines if line.kind is LineKind.CURVE]
        if any(not line.curve or (line.track >= 0 and not self.picture.has_counters) for line in curves):
            self.post_message(self.Awaits())
        self._set_label_width()
        self._find_hops()
        self._strips.clear()
        place = self.lines.index(key)
        self.scroll_lines(place - self.lines.fixed if place >= self.lines.fixed else self.top)
        self.refresh()

    def scroll_lines(self, top: int) -> bool:
        """Show the scrolling lines from this one on, as far as there are enough of them."""
        shown = max(self.size.height - self.lines.fixed, 1)
        top = max(min(top, len(self.lines.lines) - self.lines.fixed - shown), 0)
        if top == self.top:
            return False
        self.top = top
        self.refresh()
        return True

    def follow(self, chain: LaunchChain | None, keeps: bool) -> None:
        """Draw a chain from line to line; `keeps`: the lines of both its ends stay on screen."""
        if (chain, keeps) != (self._chain, self._keeps):
            self._chain, self._keeps = chain, keeps
            self._find_hops()

    def _find_hops(self) -> None:
        self._hops = []
        if self.picture is not None and self._chain is not None:
            toggled = self.session.state.toggled
            self._hops = hop_places(self.picture.trace, self._chain, self.lines, toggled)

    def reveal(self, place: int) -> None:
        """Scroll so that a line is on screen, and with it all of a chain that is kept, where it fits."""
        if place < self.lines.fixed:
            return
        line = self.lines.lines[place]
        if line.parts > 1 and line.part == 0 and not self._keeps:
            self.reveal(place + line.parts - 1)  # all of a curve, its name first
        offset = place - self.lines.fixed
        shown = max(self.size.height - self.lines.fixed, 1)
        places = [hop.place - self.lines.fixed for hop in self._hops if hop.place >= self.lines.fixed]
        first, last = min([offset, *places]), max([offset, *places])
        if self._keeps and last - first < shown:
            self.scroll_lines(min(max(self.top, last - shown + 1), first))
            return
        covered = 2 if self._keeps else 0  # lines at each edge that may show others
        if offset < self.top + covered:
            self.scroll_lines(offset - max(covered, 1))
        elif offset >= self.top + shown - covered:
            self.scroll_lines(offset - shown + 1 + max(covered, 1))

    @property
    def _scrolled(self) -> Scrolled:
        return Scrolled(self.lines.fixed, self.top, self.size.height)

    @property
    def _kept(self) -> dict[int, int]:
        """The places of lines that are scrolled away and shown at the edge all the same, by y."""
        return kept_lines(self._hops, self._scrolled) if self._keeps else {}

    def place_at(self, y: int) -> int:
        """Return the place in `lines` of a line of the screen, -1 below the last one."""
        place = self._kept.get(y, y if y < self.lines.fixed else y + self.top)
        return place if 0 <= place < len(self.lines.lines) else -1

    def line_at(self, y: int) -> TimelineRow | None:
        """Return what a line of the screen shows: the first below those on top has the label of its track."""
        place = self.place_at(y)
        if place < 0:
            return None
        line, kept = self.lines.lines[place], self._kept
        if y in kept:
            return replace(line, label=self.lines.label(place), away=1 if place > y + self.top else -1)
        above = y - 1 in kept or y == self.lines.fixed
        return replace(line, label=self.lines.label(place)) if above else line

    def _flow(self) -> dict[int, list[FlowCell]]:
        """Return the cells of the line that is drawn from slice to slice of the chain, by y."""
        if not self._hops:
            return {}
        viewport, scrolled, columns = self.session.state.viewport, self._scrolled, self.columns
        key = (tuple(self._hops), self._keeps, viewport, scrolled, columns)
        if self._inks[0] != key:
            found = stops(self._hops, self._kept, scrolled, viewport, columns)
            inks = flow_line(found, self.glyphs)
            idle = [
                y for y, line in enumerate(self.lines.lines[: scrolled.fixed]) if line.kind is LineKind.IDLE
            ]
            self._inks = key, {y: inks[y] for y in inks if y not in idle}
        return self._inks[1]

    def show_state(self) -> None:
        """Draw again the lines whose look the state has changed."""
        flow = self._flow()
        changed = [
            y
            for y in range(self.size.height)
            if (line := self.line_at(y)) is not None and (self._key(line), flow.get(y)) != self._shown.get(y)
        ]
        if 2 * len(changed) > self.size.height:
            self.refresh()
        else:
            self.redraw(changed)

    def on_resize(self) -> None:
        self._set_label_width()
        self.scroll_lines(self.top)

    def _set_label_width(self) -> None:
        lines, width = self.lines.lines, self.size.width
        longest = max((len(line.label) for line in lines if line.kind is not LineKind.GROUP), default=0)
        idle = max((len(line.label) for line in lines if line.kind is LineKind.IDLE), default=0)
        narrowest = max(LABEL_LEAST, min(idle + IDLE_CELLS, LABEL_MOST, width // 4))
        widest = max(narrowest, min(LABEL_MOST, width // 5))
        wanted = min(max(longest + 3, narrowest), widest)
        before, self.label_width = self.label_width, min(wanted, self.size.width // 2)
        self.session.state.columns = self.columns
        if self.label_width != before:
            self.post_message(self.Aligned())

    # Drawing

    def draw_lines(self, lines: Sequence[int]) -> list[Strip]:
        wanted = {y: line for y in lines if (line := self.line_at(y)) is not None}
        keys = {y: self._key(line) for y, line in wanted.items()}
        flow = self._flow()
        self._shown.update({y: (key, flow.get(y)) for y, key in keys.items()})
        strips = {y: self._strips.get(key) for y, key in keys.items()}
        new = [y for y, strip in strips.items() if strip is None]
        if new and self._art is not None:
            width, state = self.size.width, self.session.state
            drawn = self._art.lines([wanted[y] for y in new], state, self.label_width, width)
            for y, segments in zip(new, drawn):
                strips[y] = self._strips[keys[y]] = WholeStrip(segments, width)
        for y in strips.keys() & flow.keys():
            if (strip := strips[y]) is not None:
                style = self.style_of(Role.FLOW)
                segments = overlaid(strip, flow[y], self.label_width, style)
                strips[y] = WholeStrip(segments, self.size.width)
        return [strips.get(y) or Strip.blank(self.size.width) for y in lines]

    def _key(self, line: TimelineRow) -> object:
        """Return everything that a line's look depends on."""
        state = self.session.state
        selected: object = None
        if line.kind is LineKind.IDLE:
            selected = state.gap, self._art and self._art.waiting
        elif state.row >= 0 and self.picture is not None and line.track >= 0:
            lane = self.picture.trace.lane_of(state.row)
            if line.lane == lane or (
                line.lane < 0 and int(self.picture.trace.lane_track[lane]) == line.track
            ):
                selected = state.row
        here = state.place.cursor == (line.curve or line.key)
        if line.curve and (here or line.part == 1):
            selected = state.place.time_ns
        return (
            line.key,
            line.label,
            line.away,
            line.folded,
            state.viewport,
            self.size.width,
            self.label_width,
            selected,
            here,
        )

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.button == 1:
            self.capture_mouse()
            self._pressed = (event.x, event.y)
            self._report(event, dragging=False)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._pressed is not None and event.x != self._pressed[0]:
            self._report(event, dragging=True)

    def on_mouse_up(self) -> None:
        self.capture_mouse(False)
        self._pressed = None

    def _report(self, event: events.MouseEvent, dragging: bool) -> None:
        place, on_label = self.place_at(event.y), event.x < self.label_width
        self.post_message(self.Pressed(place, self._time_at(event.x), dragging, on_label))

    def wheel(self, event: events.MouseEvent, turn: int, sideways: bool) -> None:
        event.stop()
        over_time = event.x >= self.label_width
        self.post_message(self.Wheeled(turn, self._time_at(event.x) if over_time else None, sideways))

    def _time_at(self, x: int) -> int:
        column = min(max(x - self.label_width, 0), self.columns)
        return self.session.state.viewport.time_of(column, self.columns)
