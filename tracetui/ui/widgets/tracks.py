"""The tracks: one line of the terminal per lane, drawn when it is asked for.

Draws what `app.state` says; moving is the screen's affair, to which the mouse is passed on as messages. A
strip is cached under everything that changes its look, and only lines whose look changed are drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.cache import LRUCache
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tracetui.arrays import Int64s
from tracetui.trace.clean import printable
from tracetui.ui.drawing import clip_cells, draw_lane, segments
from tracetui.ui.looks import Looks
from tracetui.ui.palette import Role
from tracetui.ui.picture import Picture
from tracetui.ui.rows import LineKind, TimelineLines, TrackLine, timeline_lines
from tracetui.units import format_duration, format_percent

if TYPE_CHECKING:
    from tracetui.ui.app import TraceApp

LABEL_LEAST, LABEL_MOST = 18, 28
_NAME_LIMIT = 400  #: characters of a name that can matter on a screen


class Tracks(Widget, can_focus=True):
    """All lines of the timeline; the fixed ones stay on top."""

    DEFAULT_CSS = """
    Tracks { width: 1fr; height: 1fr; }
    """

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

    def __init__(self) -> None:
        super().__init__()
        self.lines = TimelineLines((), 0)
        self.top = 0  #: the first of the scrolling lines that is shown
        self.label_width = LABEL_LEAST
        self._picture: Picture | None = None
        self._looks: Looks | None = None
        self._names: dict[int, str] = {}
        self._strips: LRUCache[object, Strip] = LRUCache(4096)
        self._edges: Int64s = np.zeros(1, np.int64)
        self._shown: dict[int, object] = {}  #: the look that each line of the screen has now
        self._pressed: tuple[int, int] | None = None

    # What it shows

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self.size.width - self.label_width, 1)

    @property
    def trace_app(self) -> TraceApp:
        return self.app  # type: ignore[return-value]

    @property
    def picture(self) -> Picture | None:
        return self._picture

    def show_trace(self, picture: Picture) -> None:
        """Draw another trace, or the same with its analysis."""
        if self._picture is None or picture.trace is not self._picture.trace:
            self._looks = Looks(picture.trace, self.trace_app.palette)
            self._names.clear()
        self._picture = picture
        self.lay_out()

    def lay_out(self) -> None:
        """Lay the lines out again: tracks came, were folded or pinned."""
        if self._picture is None:
            return
        state = self.trace_app.state
        self.lines = timeline_lines(self._picture.trace, state.toggled, state.pinned)
        self._set_label_width()
        self._strips.clear()
        self.scroll_lines(self.top)
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

    def reveal(self, place: int) -> None:
        """Scroll so that a line is on screen."""
        if place < self.lines.fixed:
            return
        offset = place - self.lines.fixed
        shown = max(self.size.height - self.lines.fixed, 1)
        if offset < self.top:
            self.scroll_lines(offset - (1 if offset else 0))
        elif offset >= self.top + shown:
            self.scroll_lines(offset - shown + 2)

    def place_at(self, y: int) -> int:
        """The place in `lines` of a line of the screen, -1 below the last one."""
        place = y if y < self.lines.fixed else y + self.top
        return place if 0 <= place < len(self.lines.lines) else -1

    def show_state(self) -> None:
        """Draw again the lines whose look the state has changed."""
        changed = [
            y
            for y in range(self.size.height)
            if (place := self.place_at(y)) >= 0 and self._key(self.lines.lines[place]) != self._shown.get(y)
        ]
        if 2 * len(changed) > self.size.height:
            self.refresh()
        else:
            for y in changed:
                self.refresh(Region(0, y, self.size.width, 1))

    def on_resize(self) -> None:
        self._set_label_width()
        self.scroll_lines(self.top)

    def _set_label_width(self) -> None:
        longest = max(
            (len(line.label) for line in self.lines.lines if line.kind is not LineKind.GROUP), default=0
        )
        most = max(LABEL_LEAST, min(LABEL_MOST, self.size.width // 5))
        self.label_width = min(max(longest + 3, LABEL_LEAST), most)
        self.trace_app.state.columns = self.columns

    # Drawing

    def render_line(self, y: int) -> Strip:
        place = self.place_at(y)
        if place < 0 or self._picture is None or self._looks is None:
            return Strip.blank(self.size.width)
        line = self.lines.lines[place]
        key = self._shown[y] = self._key(line)
        strip = self._strips.get(key)
        if strip is None:
            if line.kind is LineKind.GROUP:
                strip = Strip(self._group(line), self.size.width)
            else:
                strip = Strip([*self._label(line), *self._time(line)], self.size.width)
            self._strips[key] = strip
        return strip

    def _key(self, line: TrackLine) -> object:
        """Everything that a line's look depends on."""
        state = self.trace_app.state
        selected: object = None
        if line.kind is LineKind.IDLE:
            selected = state.gap
        elif state.row >= 0 and self._picture is not None and line.track >= 0:
            lane = self._picture.trace.lane_of(state.row)
            if line.lane == lane or (
                line.lane < 0 and int(self._picture.trace.lane_track[lane]) == line.track
            ):
                selected = state.row
        return (line.key, line.folded, state.viewport, self.size.width, self.label_width, selected,
                state.place.cursor == line.key, self._picture and self._picture.analysis is None)  # fmt: skip

    def _label(self, line: TrackLine) -> list[Segment]:
        """The label column of a line."""
        palette, glyphs = self.trace_app.palette, self.trace_app.glyphs
        here = line.key == self.trace_app.state.place.cursor
        mark = glyphs.here if here else " "
        width = self.label_width - 1
        text = f"{mark}{line.label}"
        if line.kind is LineKind.FOLDED:
            text = f"{mark}{line.label} {glyphs.folded}"
        style = palette.style_of(
            Role.CURSOR if here else Role.IDLE if line.kind is LineKind.IDLE else Role.TEXT
        )
        if line.kind is LineKind.IDLE and (share := self._idle_share(line)):
            return [Segment(f"{clip_cells(text, width - len(share), glyphs.ellipsis)}{share} ", style)]
        return [Segment(clip_cells(text, width, glyphs.ellipsis) + " ", style)]

    def _idle_share(self, line: TrackLine) -> str:
        """How much of what is on screen is idle."""
        assert self._picture is not None
        viewport = self.trace_app.state.viewport
        edges = np.array([viewport.start_ns, viewport.end_ns], np.int64)
        columns = self._picture.idle(line.device, edges)
        return "" if columns is None else " " + format_percent(int(columns.busy[0]), viewport.span_ns)

    def _time(self, line: TrackLine) -> list[Segment]:
        """The columns of time of a line."""
        assert self._picture is not None
        edges = self.trace_app.state.viewport.edges(self.columns)
        if line.kind is LineKind.IDLE:
            return self._idle(line, edges)
        if line.kind is LineKind.COUNTER:
            return self._counter(line, edges)
        return self._slices(line, edges)

    def _group(self, line: TrackLine) -> list[Segment]:
        """The header of a group, a rule after its name."""
        palette, glyphs, width = self.trace_app.palette, self.trace_app.glyphs, self.size.width
        mark = glyphs.here if line.key == self.trace_app.state.place.cursor else " "
        title = f"{mark}{glyphs.folded if line.folded else glyphs.unfolded} {line.label} "
        count = f" {line.members} track{'s' if line.members > 1 else ''} " if line.folded else ""
        room = width - cell_len(title)
        if room < len(count):
            return [Segment(clip_cells(title, width, glyphs.ellipsis), palette.style_of(Role.TITLE))]
        return [
            Segment(title, palette.style_of(Role.TITLE)),
            Segment(count.rjust(room, glyphs.rule), palette.style_of(Role.RULE)),
        ]

    def _slices(self, line: TrackLine, edges: Int64s) -> list[Segment]:
        picture, looks = self._picture, self._looks
        assert picture is not None and looks is not None
        track = picture.trace.tracks[line.track]
        columns = (
            picture.folded(track, edges) if line.kind is LineKind.FOLDED else picture.lane(line.lane, edges)
        )
        chosen = looks.choose(track, columns.row)
        row, crowd = self.trace_app.state.row, looks.crowd(track)
        if row in track.rows:
            chosen, crowd = self._select(columns.row, chosen, row, edges, line), None
        return draw_lane(columns, looks.paints, chosen, self._name_of, self.trace_app.glyphs, crowd)

    def _select(self, rows: Int64s, chosen: Int64s, row: int, edges: Int64s, line: TrackLine) -> Int64s:
        """Paint the selected slice, in one column at least, also where longer slices share the column."""
        assert self._looks is not None and self._picture is not None
        trace = self._picture.trace
        if line.kind is LineKind.LANE and trace.lane_of(row) != line.lane:
            return chosen
        chosen = np.where(rows == row, self._looks.selected, chosen)
        column = int(np.searchsorted(edges, trace.slices.start[row], "right")) - 1
        if 0 <= column < len(rows) and not (rows == row).any():
            chosen[column] = self._looks.selected
        return chosen

    def _idle(self, line: TrackLine, edges: Int64s) -> list[Segment]:
        palette, glyphs = self.trace_app.palette, self.trace_app.glyphs
        picture, looks = self._picture, self._looks
        assert picture is not None and looks is not None
        columns = picture.idle(line.device, edges)
        if columns is None or picture.analysis is None:
            waiting = "reading" if self.trace_app.progress else self.trace_app.problem or "analysing"
            return [Segment(waiting.ljust(self.columns)[: self.columns], palette.style_of(Role.DIM))]
        idle = picture.analysis.devices[line.device].idle
        gap = self.trace_app.state.gap
        chosen = np.full(len(columns.row), looks.idle, dtype=np.int64)
        if gap >= 0 and picture.analysis.gaps.device[gap] == line.device:
            gaps, touched = picture.analysis.gaps, columns.row >= 0
            inside = (idle.starts[columns.row] >= gaps.start[gap]) & (idle.ends[columns.row] <= gaps.end[gap])
            chosen[touched & inside] = looks.selected

        def name(row: int) -> str:
            start, end = int(idle.starts[row]), int(idle.ends[row])
            rank = picture.ranks.get(picture.gap_at(line.device, start))
            return (f"{rank} {glyphs.dot} " if rank else "") + f"{format_duration(end - start)}"

        drawn = draw_lane(columns, looks.paints, chosen, name, glyphs)
        return self._ranked(line, drawn, columns.row)

    def _ranked(self, line: TrackLine, drawn: list[Segment], rows: Int64s) -> list[Segment]:
        """The digits of the worst gaps over the idle ink, where there is no room for their names."""
        assert self._picture is not None and self._picture.analysis is not None
        gaps, viewport = self._picture.analysis.gaps, self.trace_app.state.viewport
        style = self.trace_app.palette.paint_of(Role.IDLE).box
        strip = Strip(drawn, self.columns)
        text = strip.text
        for gap, rank in sorted(self._picture.ranks.items(), key=lambda item: -item[1]):
            start, end = int(gaps.start[gap]), int(gaps.end[gap])
            column = viewport.column_of((start + end) // 2, self.columns)
            narrow = (end - start) * self.columns < 6 * viewport.span_ns
            if (
                gaps.device[gap] == line.device
                and 0 <= column < self.columns
                and narrow
                and len(text) > column
            ):
                parts = strip.divide([column, column + 1, self.columns])
                strip = Strip.join([parts[0], Strip([Segment(str(rank), style)], 1), parts[2]])
        return list(strip)

    def _counter(self, line: TrackLine, edges: Int64s) -> list[Segment]:
        picture = self._picture
        assert picture is not None
        track = picture.trace.tracks[line.track]
        held = picture.counter(track, edges)
        top = picture.counter_top(track)
        share = np.nan_to_num(held / top, nan=0.0, posinf=1.0, neginf=0.0) if top > 0 else np.zeros(len(held))
        level = np.clip(np.ceil(share * 8), 0, 8).astype(np.int64)
        cells = [self.trace_app.glyphs.shades[shade] for shade in level.tolist()]
        style = np.where(level > 0, 0, -1).astype(np.int64)
        return segments(cells, style, [self.trace_app.palette.style_of(Role.COUNTER)])

    def _name_of(self, row: int) -> str:
        assert self._picture is not None
        name = int(self._picture.trace.slices.name[row])
        if name not in self._names:
            self._names[name] = printable(self._picture.trace.strings[name], _NAME_LIMIT)
        return self._names[name]

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

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -1, event.shift)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1, event.shift)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        self._wheel(event, -1, True)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        self._wheel(event, 1, True)

    def _report(self, event: events.MouseEvent, dragging: bool) -> None:
        place, on_label = self.place_at(event.y), event.x < self.label_width
        self.post_message(self.Pressed(place, self._time_at(event.x), dragging, on_label))

    def _wheel(self, event: events.MouseEvent, turn: int, sideways: bool) -> None:
        event.stop()
        over_time = event.x >= self.label_width
        self.post_message(self.Wheeled(turn, self._time_at(event.x) if over_time else None, sideways))

    def _time_at(self, x: int) -> int:
        column = min(max(x - self.label_width, 0), self.columns)
        return self.trace_app.state.viewport.time_of(column, self.columns)
