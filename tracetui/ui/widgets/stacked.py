"""The lines of two runs one above the other, under a ruler that tells the time since their step began.

Draws the `StackedLook` it is given; moving is up to the screen, which gets the mouse as messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.cache import LRUCache
from textual.message import Message
from textual.strip import Strip

from tracetui.arrays import Int64s
from tracetui.language import clauses, translate
from tracetui.trace.clean import printable
from tracetui.ui.comparing.stacked_runs import NAMES, BandKind, Chosen, StackedRun, StackedRuns
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.idle_line import IdleLine
from tracetui.ui.drawing.lane import clip_cells, draw_lane, painted_selected, segments, text_cells
from tracetui.ui.drawing.looks import Looks
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.strips import StyledText, fitted
from tracetui.ui.drawing.ticks import apart, format_tick, tick_step
from tracetui.ui.state import Viewport
from tracetui.ui.viewer_screen import InViewer
from tracetui.ui.widgets.cached_lines import CachedLineWidget
from tracetui.ui.widgets.scrolling import TimeWheeled
from tracetui.units import format_duration, format_ms, format_percent, format_time

LABEL_LEAST, LABEL_MOST = 19, 24
KEPT = 512  #: lines that are drawn already
_NAME_LIMIT = 400  #: characters of a name that can matter on a screen
_CURSOR = 3  # style of the cursor on the ruler


#: What a line is called where there is no room for its name and a share.
_SHORT = {BandKind.COMMUNICATION: "comm"}


class HeadPart(Enum):
    """A line of a run that is no work."""

    HEAD = "head"  #: which run it is, and when the cursor is in it
    STEPS = "steps"


#: What goes first where there is no room for all.
_NEEDLESS = (
    BandKind.OPERATORS,
    BandKind.COPIES,
    HeadPart.STEPS,
    BandKind.COMMUNICATION,
    BandKind.COMPUTING,
    BandKind.IDLE,
)


class LinePlace(NamedTuple):
    """A line below the ruler."""

    side: int
    part: HeadPart | BandKind


class StackedLook(NamedTuple):
    """What is shown of both."""

    viewport: Viewport  #: on the axis of both
    time_ns: int  #: the cursor, on that axis
    side: int  #: that the cursor is in
    kind: BandKind  #: the line that it is on
    device: int  #: which of the devices
    chosen: tuple[Chosen, Chosen]  #: what is marked in each: what is selected, and its counterpart


def full_height(stack: StackedRuns, device: int) -> int:
    """Return how many lines there are of both where there is room for all."""
    return 1 + 2 * (len(HeadPart) + len(stack.kinds(device)))


class BandArt:
    """Draws the lines of one run."""

    def __init__(self, lanes: StackedRun, palette: Palette, glyphs: Glyphs) -> None:
        self._lanes, self._glyphs = lanes, glyphs
        self._idle = IdleLine(lanes.picture, palette, glyphs)
        self._looks = Looks(lanes.analysis.trace, palette)

    def line(self, number: int, kind: BandKind, chosen: Chosen, edges: Int64s) -> list[Segment]:
        """Draw a line of a device between `edges` (ns), with what is selected in it."""
        if kind is BandKind.IDLE:
            return self._idle.draw(self._lanes.device(number), chosen.gap, edges)
        band, trace, looks = self._lanes.band(number, kind), self._lanes.analysis.trace, self._looks
        columns = band.columns(edges)
        paints = np.zeros(len(columns.row), np.int64)
        crowd = -1
        if len(band):
            track = trace.track_of(int(band.rows[0]))
            paints, crowd = looks.choose(track, columns.row), looks.crowd(track)
        if chosen.row in band:
            start = int(trace.slices.start[chosen.row])
            paints = painted_selected(columns, paints, chosen.row, start, looks.selected)
        return draw_lane(
            columns, looks.paints, paints, self._name, self._glyphs, crowd=crowd, selected=looks.selected
        )

    def _name(self, row: int) -> str:
        return printable(self._lanes.analysis.trace.name(row), _NAME_LIMIT)


class Stacked(InViewer, TimeWheeled, CachedLineWidget, can_focus=True):
    """A ruler, then of each run a head, its steps and its lines."""

    DEFAULT_CSS = "Stacked { width: 1fr; height: 1fr; }"

    @dataclass
    class Pressed(Message):
        """The mouse went down on a line at a time of the axis, a column long."""

        place: LinePlace
        time_ns: int
        column_ns: int

    @dataclass
    class Wheeled(Message):
        """The wheel turned: up is -1. `time_ns` is under the mouse."""

        turn: int
        time_ns: int
        sideways: bool

    def __init__(self) -> None:
        super().__init__()
        self._stack: StackedRuns | None = None
        self._arts: tuple[BandArt, ...] = ()
        self._view: StackedLook | None = None
        self._shown: dict[int, object] = {}  # the look that each line has now
        self._strips: LRUCache[object, Strip] = LRUCache(KEPT)  # lines that are drawn already, by their look
        self._edges: tuple[object, tuple[Int64s, Int64s]] | None = None  # of the columns, for each run

    def show(self, stack: StackedRuns | None, view: StackedLook | None) -> None:
        """Show two runs; lines whose look does not change are not drawn again."""
        if stack is not self._stack:
            self._stack, self._edges = stack, None
            sides = stack.sides if stack is not None else ()
            self._arts = tuple(BandArt(side, self.palette, self.glyphs) for side in sides)
            self._shown.clear()
            self._strips.clear()
        self._view = view
        self.redraw([y for y in range(self.size.height) if self._key(y) != self._shown.get(y)])

    @property
    def label_width(self) -> int:
        """Cells of the labels."""
        return min(max(LABEL_LEAST, self.size.width // 5), LABEL_MOST, self.size.width // 2)

    @property
    def columns(self) -> int:
        """Columns of time."""
        return max(self.size.width - self.label_width, 1)

    @property
    def places(self) -> list[LinePlace]:
        """The lines below the ruler that there is room for."""
        if self._stack is None or self._view is None:
            return []
        parts: list[HeadPart | BandKind] = [*HeadPart, *self._stack.kinds(self._view.device)]
        room = max((self.size.height - 1) // 2, 1)
        for part in _NEEDLESS:
            if len(parts) > room and part in parts:
                parts.remove(part)
        return [LinePlace(side, part) for side in (0, 1) for part in parts]

    def _place(self, y: int) -> LinePlace | None:
        places = self.places
        return places[y - 1] if 0 < y <= len(places) else None

    # Drawing

    def _key(self, y: int) -> object:
        """Return all that the look of a line depends on."""
        view, place, size = self._view, self._place(y), self.size
        if view is None or (place is None and y > 0):
            return size
        moves = view.viewport, view.device, size
        if place is None:
            return moves, view.time_ns
        here = view.side == place.side and (place.part is view.kind or isinstance(place.part, HeadPart))
        at = view.time_ns if place.part is HeadPart.HEAD else 0
        chosen = view.chosen[place.side] if isinstance(place.part, BandKind) else None
        return place, moves, here, at, chosen

    def draw_lines(self, lines: Sequence[int]) -> list[Strip]:
        drawn = []
        for y in lines:
            key = self._shown[y] = self._key(y)
            strip = self._strips.get(key)
            if strip is None:
                strip = self._strips[key] = self.draw_line(y)
            drawn.append(strip)
        return drawn

    def draw_line(self, y: int) -> Strip:
        stack, view, place, width = self._stack, self._view, self._place(y), self.size.width
        if stack is None or view is None or (place is None and y > 0):
            return Strip.blank(width)
        if place is None:
            return Strip([self._scale(view), *self._ruler(stack, view)]).adjust_cell_length(width)
        if place.part is HeadPart.HEAD:
            return fitted(self._head(stack, view, place.side), width, self.glyphs.ellipsis)
        if isinstance(place.part, BandKind):
            label = self._label(stack, view, place.side, place.part)
            edges = self._edges_of(stack, view)[place.side]
            line = self._arts[place.side].line(view.device, place.part, view.chosen[place.side], edges)
        else:
            label, line = self._text("", Role.TEXT), self._steps(stack, view, place.side)
        return Strip([label, *line]).adjust_cell_length(width)

    def _edges_of(self, stack: StackedRuns, view: StackedLook) -> tuple[Int64s, Int64s]:
        key = view.viewport, self.columns
        if self._edges is None or self._edges[0] != key:
            edges = view.viewport.edges(self.columns)
            self._edges = key, (stack.axis.moments(0, edges), stack.axis.moments(1, edges))
        return self._edges[1]

    def _text(self, text: str, role: Role) -> Segment:
        cells = clip_cells(text, self.label_width, self.glyphs.ellipsis)
        return Segment(cells, self.style_of(role))

    def _scale(self, view: StackedLook) -> Segment:
        per_column = -(-view.viewport.span_ns // self.columns)
        scale = translate("{time}/col", time=format_duration(per_column))
        return self._text(f" {scale}", Role.DIM)

    def _label(self, stack: StackedRuns, view: StackedLook, side: int, kind: BandKind) -> Segment:
        """Return a line's name, and its share of the device's window that is on screen."""
        here = (view.side, view.kind) == (side, kind)
        edges, lanes = self._edges_of(stack, view)[side], stack.sides[side]
        activity = lanes.analysis.devices[lanes.device(view.device)]
        start, end = max(int(edges[0]), activity.start_ns), min(int(edges[-1]), activity.end_ns)
        share = ""
        if start < end and kind is not BandKind.OPERATORS:
            if kind is BandKind.IDLE:
                before, until = activity.idle.before(np.array([start, end], np.int64)).tolist()
                busy = until - before
            else:
                busy = lanes.band(view.device, kind).busy_ns(start, end)
            share = f"{format_percent(busy, end - start)} "
        room = self.label_width - len(share) - 1
        titles = [translate(title) for title in (kind.value, _SHORT.get(kind, ""))]
        title = next((title for title in titles if cell_len(title) < room), titles[0])
        name = f"{self.glyphs.here if here else ' '}{title}"
        text = clip_cells(name, room, self.glyphs.ellipsis) + f" {share}" if room > 4 else name
        return self._text(text, Role.CURSOR if here else Role.IDLE if kind is BandKind.IDLE else Role.TEXT)

    def _head(self, stack: StackedRuns, view: StackedLook, side: int) -> list[StyledText]:
        """Say which run it is, and when the cursor is in it."""
        style, active = self.palette.style_of, view.side == side
        lanes, axis = stack.sides[side], stack.axis
        moment, steps = axis.moment(side, view.time_ns), stack.steps(side)
        start = lanes.analysis.trace.start_ns
        when = format_time(moment - start, max(view.viewport.span_ns // self.columns, 1))
        stands = axis.place(side, moment) != view.time_ns
        at = int(np.searchsorted(steps.start, moment - stands, "right")) - 1
        if at >= 0:
            into, number = moment - int(steps.start[at]), int(steps.number[at])
            over = stands or moment >= steps.end[at]
            template = "step {number} is over" if over else "{time} into step {number}"
            when = clauses((when, translate(template, number=number, time=format_duration(into))))
        title = f"{self.glyphs.rule * 2}{self.glyphs.here if active else ' '}{NAMES[side]}"
        pieces: list[StyledText] = [
            (f"{title} {lanes.name}", style(Role.TITLE if active else Role.TEXT)),
            (f"  {lanes.device_name(view.device)}", style(Role.DIM)),
            (f"  {self.glyphs.cursor} {when} ", style(Role.NUMBER if active else Role.TEXT)),
        ]
        width_taken = sum(cell_len(text) for text, _ in pieces)
        return [*pieces, (self.glyphs.rule * max(self.size.width - width_taken, 0), style(Role.RULE))]

    def _ruler(self, stack: StackedRuns, view: StackedLook) -> list[Segment]:
        """Round times since the step began, at the same place in both runs."""
        viewport, columns, glyphs = view.viewport, self.columns, self.glyphs
        distance = tick_step(viewport.span_ns, columns)
        labels: list[tuple[int, str]] = []
        for origin, end in self._steps_on_screen(stack, view):
            first = max(-((origin - viewport.start_ns) // distance), 0) * distance + origin
            for time in range(first, min(end, viewport.end_ns), distance):
                column = viewport.column_of(time, columns)
                labels.append((column, f"{glyphs.tick}{format_tick(time - origin, distance)}"))
        cells = [" "] * columns
        at = viewport.column_of(view.time_ns, columns)
        cut = ((column, text[: columns - column]) for column, text in labels)
        for column, text in apart(cut, columns, [at]).items():
            cells[column : column + len(text)] = text
        style = np.zeros(columns, np.int64)
        if 0 <= at < columns:
            cells[at], style[at] = glyphs.cursor, _CURSOR
        roles = (Role.DIM, Role.NUMBER)
        return segments(cells, style, [self.style_of(role) for role in roles for _ in range(3)])

    def _steps_on_screen(self, stack: StackedRuns, view: StackedLook) -> list[tuple[int, int]]:
        """Return from when to when each step on screen lasts on the axis; none where they are too many."""
        axis, viewport = stack.axis, view.viewport
        first, last = (axis.step_at(time) for time in (viewport.start_ns, viewport.end_ns - 1))
        if 4 * (last - first) > self.columns:
            return []
        starts = [axis.step_start(step) for step in range(max(first, 0), last + 1)]
        return [*zip(starts, [*starts[1:], axis.end])]

    def _steps(self, stack: StackedRuns, view: StackedLook, side: int) -> list[Segment]:
        """Draw where steps of a run begin, how long they are, and how much shorter than in the other run."""
        viewport, columns, axis, glyphs = view.viewport, self.columns, stack.axis, self.glyphs
        cells, style = [" "] * columns, np.full(columns, -1, np.int64)
        edges, steps = self._edges_of(stack, view)[side], stack.steps(side)
        on_screen = np.flatnonzero((steps.end >= edges[0]) & (steps.start <= edges[-1])).tolist()
        for step in on_screen if 4 * len(on_screen) <= columns else ():
            start, length = axis.place(side, int(steps.start[step])), int(steps.end[step] - steps.start[step])
            other_span, number = axis.step_span(1 - side, axis.step_at(start)), int(steps.number[step])
            first, stop = (viewport.column_of(time, columns) for time in (start, start + length))
            left, right = max(first, 0), min(max(stop, first + 1, 0), columns)
            if left >= columns:
                continue
            called = translate("step {number}", number=number)
            texts = (f" {called}  {format_ms(length)} ms ", f" {called} ", f"{number}")
            line = _within(texts, right - left - 1, glyphs.rule)
            cells[left:right], style[left:right] = [(glyphs.tick if first == left else glyphs.rule), *line], 0
            shorter = other_span[1] - other_span[0] - length if other_span is not None else 0
            until = min(viewport.column_of(start + length + shorter, columns), columns)
            if shorter > 0 and until > right:
                less = (
                    f" {translate('{time} less', time=f'{format_ms(shorter)} ms')} ",
                    f" {translate('{time} less', time=format_duration(shorter))} ",
                    f"-{format_duration(shorter)}",
                )
                cells[right:until], style[right:until] = _within(less, until - right, glyphs.waits), 3
        inks = [self.style_of(role) for role in (Role.STEP, Role.GOOD) for _ in range(3)]
        return segments(cells[:columns], style, inks)

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        place = self._place(event.y)
        if place is not None and self._view is not None:
            column_ns = max(self._view.viewport.span_ns // self.columns, 1)
            self.post_message(self.Pressed(place, self._time_at(event.x), column_ns))

    def wheel(self, event: events.MouseEvent, turn: int, sideways: bool) -> None:
        event.stop()
        if self._view is not None:
            self.post_message(self.Wheeled(turn, self._time_at(event.x), sideways))

    def _time_at(self, x: int) -> int:
        assert self._view is not None
        column = min(max(x - self.label_width, 0), self.columns)
        return self._view.viewport.time_of(column, self.columns)


def _within(texts: Sequence[str], room: int, rule: str) -> list[str]:
    """Return the cells of a rule with the first of the texts that fits near its start."""
    text = next((cells for cells in map(text_cells, texts) if len(cells) <= room), [])
    line = [*(rule * (len(text) < room - 1)), *text] if text else []
    return line + [rule] * (room - len(line))
