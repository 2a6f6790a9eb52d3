"""Lines of the timeline as styled text: their labels, then their columns of time.

Pure: knows the picture of a trace, paints and glyphs, and reads the state; not the widget and not the mouse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from rich.segment import Segment

from tracetui.analysis.raster import Columns
from tracetui.arrays import Int64s
from tracetui.trace.clean import printable
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.idle_line import IdleLine
from tracetui.ui.drawing.lane import Unread, clip_cells, draw_lanes, draw_unread, segments
from tracetui.ui.drawing.looks import Looks
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import LineKind, Row
from tracetui.ui.state import Viewport, ViewState
from tracetui.units import format_percent

_LABEL_CELLS = 5  #: cells of a label that the share of idle time leaves at least
_NAME_LIMIT = 400  #: characters of a name that can matter on a screen


class LineArt:
    """Draws the lines of one trace."""

    def __init__(self, picture: Picture, palette: Palette, glyphs: Glyphs, waiting: str) -> None:
        """`waiting`: what idle lines say while there is no analysis."""
        self.waiting = waiting
        self._picture, self._palette, self._glyphs = picture, palette, glyphs
        self._looks = Looks(picture.trace, palette)
        self._idle = IdleLine(picture, palette, glyphs)
        self._names: dict[int, str] = {}

    def lines(
        self, lines: Sequence[Row], state: ViewState, label_width: int, width: int
    ) -> list[list[Segment]]:
        """Lines in `width` cells each, the first `label_width` of them their labels."""
        edges = state.viewport.edges(max(width - label_width, 1))
        slices = [line for line in lines if _has_slices(line)]
        times = iter(self._slices(slices, state.row, edges) if slices else ())
        drawn = []
        for line in lines:
            here = line.key == state.place.cursor
            if line.kind is LineKind.GROUP:
                drawn.append(self._group(line, here, width))
                continue
            label = self._label(line, here, state.viewport, label_width)
            time = next(times) if _has_slices(line) else self._time(line, state, edges)
            drawn.append([label, *time])
        return drawn

    def _group(self, line: Row, here: bool, width: int) -> list[Segment]:
        """The header of a group, a rule after its name."""
        glyphs, title_style = self._glyphs, self._palette.style_of(Role.TITLE)
        fold = glyphs.folded if line.folded else glyphs.unfolded
        title = f"{glyphs.here if here else ' '}{fold} {line.label} "
        count = f" {line.members} track{'s' if line.members > 1 else ''} " if line.folded else ""
        room = width - cell_len(title)
        if room < len(count):
            return [Segment(clip_cells(title, width, glyphs.ellipsis), title_style)]
        rule = Segment(count.rjust(room, glyphs.rule), self._palette.style_of(Role.RULE))
        return [Segment(title, title_style), rule]

    def _label(self, line: Row, here: bool, viewport: Viewport, width: int) -> Segment:
        """The label column; that of an idle line tells how much of what is on screen is idle."""
        away = {-1: self._glyphs.up, 1: self._glyphs.down}.get(line.away, " ")
        text = f"{self._glyphs.here if here else away}{line.label}"
        if line.kind is LineKind.FOLDED:
            text += f" {self._glyphs.folded}"
        share = f" {self._idle_share(line.device, viewport)} " if line.kind is LineKind.IDLE else " "
        if width < len(share) + _LABEL_CELLS:
            share = ""
        role = Role.CURSOR if here else Role.IDLE if line.kind is LineKind.IDLE else Role.TEXT
        label = clip_cells(text, width - len(share), self._glyphs.ellipsis)
        return Segment(f"{label}{share}", self._palette.style_of(role))

    def _idle_share(self, device: int, viewport: Viewport) -> str:
        """Idle on screen, of the part of the device's window that is on screen."""
        analysis = self._picture.analysis
        if analysis is None or device < 0:
            return ""
        activity = analysis.devices[device]
        start, end = max(viewport.start_ns, activity.start_ns), min(viewport.end_ns, activity.end_ns)
        if start >= end:
            return ""
        idle = self._picture.idle(device, np.array([start, end], np.int64))
        return "" if idle is None else format_percent(int(idle.busy[0]), end - start)

    def _time(self, line: Row, state: ViewState, edges: Int64s) -> list[Segment]:
        """The columns of time of a line without slices."""
        if line.kind is LineKind.IDLE:
            if self._picture.analysis is not None and line.device >= 0:
                return self._idle.draw(line.device, state, edges)
            text = clip_cells(self.waiting, len(edges) - 1, self._glyphs.ellipsis)
            return [Segment(text, self._palette.style_of(Role.DIM))]
        if line.kind is LineKind.COUNTER and line.track >= 0:
            return self._counter(line, edges)
        return self._unread(line, edges)

    def _unread(self, line: Row, edges: Int64s) -> list[Segment]:
        """A line of which nothing is read."""
        sketch = self._picture.sketch
        assert sketch is not None
        if line.kind is LineKind.COUNTER:
            levels = sketch.samples(line.key, edges).astype(np.int64)
        else:
            levels = sketch.levels(line.key, edges)
        return draw_unread(levels, self._palette.style_of(Role.UNREAD), self._glyphs)

    def _slices(self, lines: Sequence[Row], selected: int, edges: Int64s) -> list[list[Segment]]:
        """The columns of time of lines with slices."""
        picture, looks = self._picture, self._looks
        tracks = [picture.trace.tracks[line.track] for line in lines]
        columns = picture.lines([(track, line.lane) for track, line in zip(tracks, lines)], edges)
        chosen = np.array([looks.choose(track, row) for track, row in zip(tracks, columns.row)])
        lane = picture.trace.lane_of(selected) if selected >= 0 else -1
        for place, (track, line) in enumerate(zip(tracks, lines)):
            if selected in track.rows and line.lane in (-1, lane):
                chosen[place] = self._select(columns.lane(place), chosen[place], selected)
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

    def _select(self, columns: Columns, chosen: Int64s, row: int) -> Int64s:
        """Paint a slice as selected, in one column at least, also where longer slices share the column."""
        mine = columns.row == row
        chosen = np.where(mine, self._looks.selected, chosen)
        column = int(np.searchsorted(columns.edges, self._picture.trace.slices.start[row], "right")) - 1
        if 0 <= column < len(mine) and not mine.any():
            chosen[column] = self._looks.selected
        return chosen

    def _counter(self, line: Row, edges: Int64s) -> list[Segment]:
        """The samples as heights, from 0 to the highest of the whole trace."""
        track = self._picture.trace.tracks[line.track]
        held, top = self._picture.counter(track, edges), self._picture.counter_top(track)
        if top > 0:
            share = np.nan_to_num(held / top, nan=0.0, posinf=1.0, neginf=0.0)
        else:
            share = np.zeros(len(held))
        level = np.clip(np.ceil(share * 8), 0, 8).astype(np.int64)
        cells = [self._glyphs.shades[shade] for shade in level.tolist()]
        style = np.where(level > 0, 0, -1).astype(np.int64)
        return segments(cells, style, [self._palette.style_of(Role.COUNTER)])

    def _name(self, row: int) -> str:
        name = int(self._picture.trace.slices.name[row])
        if name not in self._names:
            self._names[name] = printable(self._picture.trace.strings[name], _NAME_LIMIT)
        return self._names[name]


def _has_slices(line: Row) -> bool:
    return line.track >= 0 and (line.kind is LineKind.FOLDED or line.lane >= 0)
