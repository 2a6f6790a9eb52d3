"""Lines of the timeline as styled text: their labels, then their columns of time.

Pure: knows the picture of a trace, paints and glyphs, and reads the state; not the widget and not the mouse.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment

from tracetui.arrays import Int64s
from tracetui.language import counted
from tracetui.trace.clean import printable
from tracetui.ui.drawing.curve_lines import CurveLines
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.idle_line import IdleLine
from tracetui.ui.drawing.lane import Unread, clip_cells, draw_lanes, draw_unread, painted_selected
from tracetui.ui.drawing.looks import Looks
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import LineKind, TimelineRow
from tracetui.ui.state import Viewport, ViewState
from tracetui.units import format_percent

if TYPE_CHECKING:
    from tracetui.ui.drawing.state_lines import StateLines

_LABEL_CELLS = 5  #: cells of a label that the share of idle time leaves at least
_NAME_LIMIT = 400  #: characters of a name that can matter on a screen


class LineArt:
    """Draws the lines of one trace."""

    def __init__(self, picture: Picture, palette: Palette, glyphs: Glyphs, waiting: str) -> None:
        """Draw a picture; `waiting`: what idle lines say while there is no analysis."""
        self.waiting = waiting
        self._picture, self._palette, self._glyphs = picture, palette, glyphs
        self._looks = Looks(picture.trace, palette)
        self._idle = IdleLine(picture, palette, glyphs)
        self._curves = CurveLines(picture, palette, glyphs)
        self._names: dict[int, str] = {}

    def lines(
        self, lines: Sequence[TimelineRow], state: ViewState, label_width: int, width: int
    ) -> list[list[Segment]]:
        """Draw lines in `width` cells each, the first `label_width` of them their labels."""
        edges = state.viewport.edges(max(width - label_width, 1))
        slices = [line for line in lines if _has_slices(line)]
        times = iter(self._slices(slices, state.row, edges) if slices else ())
        drawn = []
        for line in lines:
            here = state.place.cursor == (line.curve or line.key)
            if line.kind is LineKind.GROUP:
                drawn.append(self._group(line, here, width))
                continue
            label = self._label(line, here, state, label_width)
            time = next(times) if _has_slices(line) else self._time(line, state, edges, here)
            drawn.append([label, *time])
        return drawn

    def _group(self, line: TimelineRow, here: bool, width: int) -> list[Segment]:
        """Draw the header of a group, a rule after its name."""
        glyphs, title_style = self._glyphs, self._palette.style_of(Role.TITLE)
        fold = glyphs.folded if line.folded else glyphs.unfolded
        title = f"{glyphs.here if here else ' '}{'  ' * line.level}{fold} {line.label} "
        count = f" {counted(line.members, '1 track', '{count} tracks')} " if line.folded else ""
        room = width - cell_len(title)
        if room < cell_len(count):
            return [Segment(clip_cells(title, width, glyphs.ellipsis), title_style)]
        rule = Segment(glyphs.rule * (room - cell_len(count)) + count, self._palette.style_of(Role.RULE))
        return [Segment(title, title_style), rule]

    def _label(self, line: TimelineRow, here: bool, state: ViewState, width: int) -> Segment:
        """Draw the label of a line; that of an idle line tells how much of what is on screen is idle."""
        if line.part:
            text = f"   {self._curves.label(line, state.place.time_ns)}"
            style = self._palette.style_of(Role.TEXT if line.part == 1 else Role.DIM)
            return Segment(clip_cells(text, width - 1, self._glyphs.ellipsis) + " ", style)
        away = {-1: self._glyphs.up, 1: self._glyphs.down}.get(line.away, " ")
        text = f"{self._glyphs.here if here else away}{line.label}"
        if line.kind is LineKind.FOLDED or (line.kind in (LineKind.CURVE, LineKind.STATES) and line.folded):
            text += f" {self._glyphs.folded}"
        share = f" {self._idle_share(line.device, state.viewport)} " if line.kind is LineKind.IDLE else " "
        if width < len(share) + _LABEL_CELLS:
            share = ""
        role = Role.CURSOR if here else Role.IDLE if line.kind is LineKind.IDLE else Role.TEXT
        label = clip_cells(text, width - len(share), self._glyphs.ellipsis)
        return Segment(f"{label}{share}", self._palette.style_of(role))

    def _idle_share(self, device: int, viewport: Viewport) -> str:
        """Return how much is idle of the part of the device's window that is on screen."""
        analysis = self._picture.analysis
        if analysis is None or device < 0:
            return ""
        activity = analysis.devices[device]
        start, end = max(viewport.start_ns, activity.start_ns), min(viewport.end_ns, activity.end_ns)
        if start >= end:
            return ""
        idle = self._picture.idle(device, np.array([start, end], np.int64))
        return "" if idle is None else format_percent(int(idle.busy[0]), end - start)

    @cached_property
    def _states(self) -> StateLines:
        """What draws the recording of the scheduler, which few traces have."""
        from tracetui.ui.drawing.state_lines import StateLines

        return StateLines(self._palette, self._glyphs)

    def _time(self, line: TimelineRow, state: ViewState, edges: Int64s, here: bool) -> list[Segment]:
        """Draw the columns of time of a line without slices."""
        if line.kind is LineKind.IDLE:
            if self._picture.analysis is not None and line.device >= 0:
                return self._idle.draw(line.device, state.gap, edges)
            text = clip_cells(self.waiting, len(edges) - 1, self._glyphs.ellipsis)
            return [Segment(text, self._palette.style_of(Role.DIM))]
        analysis = self._picture.analysis
        if line.cpu >= 0 and analysis is not None and analysis.scheduler is not None:
            return self._states.owners(analysis.scheduler, line.cpu, edges)
        if line.pid >= 0 and analysis is not None and analysis.scheduler is not None:
            draw = self._states.states if line.kind is LineKind.STATES else self._states.cores
            return draw(analysis.scheduler, line.pid, edges)
        if line.kind is LineKind.CURVE and self._picture.curve(line.curve) is not None:
            return self._curves.draw(line, state, edges, here)
        return self._unread(line, edges)

    def _unread(self, line: TimelineRow, edges: Int64s) -> list[Segment]:
        """Draw a line of which nothing is read."""
        sketch = self._picture.sketch
        if sketch is None or (line.kind is LineKind.CURVE and line.part < line.parts - 1):
            text = "" if line.part or sketch is not None else "reading"
            notice = clip_cells(text, len(edges) - 1, self._glyphs.ellipsis)
            return [Segment(notice, self._palette.style_of(Role.DIM))]
        if line.kind is LineKind.CURVE:
            levels = sketch.samples(line.curve, edges).astype(np.int64)
        else:
            levels = sketch.levels(line.key, edges)
        return draw_unread(levels, self._palette.style_of(Role.UNREAD), self._glyphs)

    def _slices(self, lines: Sequence[TimelineRow], selected: int, edges: Int64s) -> list[list[Segment]]:
        """Draw the columns of time of lines with slices."""
        picture, looks = self._picture, self._looks
        tracks = [picture.trace.tracks[line.track] for line in lines]
        columns = picture.lines([(track, line.lane) for track, line in zip(tracks, lines)], edges)
        chosen = np.array([looks.choose(track, row) for track, row in zip(tracks, columns.row)])
        lane = picture.trace.lane_of(selected) if selected >= 0 else -1
        for place, (track, line) in enumerate(zip(tracks, lines)):
            if selected in track.rows and line.lane in (-1, lane):
                start = int(picture.trace.slices.start[selected])
                lane_columns = columns.lane(place)
                chosen[place] = painted_selected(lane_columns, chosen[place], selected, start, looks.selected)
        unread = None
        if picture.sketch is not None:
            levels = np.array([picture.sketch.levels(line.key, edges) for line in lines])
            unread = Unread(levels, looks.unread)
        return draw_lanes(
            columns,
            looks.paints,
            chosen,
            self._name,
            self._glyphs,
            np.array([looks.crowd(track) for track in tracks], np.int64),
            looks.selected,
            unread=unread,
        )

    def _name(self, row: int) -> str:
        name = int(self._picture.trace.slices.name[row])
        if name not in self._names:
            self._names[name] = printable(self._picture.trace.strings[name], _NAME_LIMIT)
        return self._names[name]


def _has_slices(line: TimelineRow) -> bool:
    return line.track >= 0 and (line.kind is LineKind.FOLDED or line.lane >= 0)
