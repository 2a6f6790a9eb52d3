"""Lines of a run as styled text: its idle time with the causes, and each kind of work in its own ink.

Pure: knows lanes, paints and glyphs; not the widget.
"""

from __future__ import annotations

import numpy as np
from rich.segment import Segment

from tracetui.arrays import Int64s
from tracetui.trace.clean import printable
from tracetui.ui.comparing.bands import BandKind
from tracetui.ui.comparing.stacked_runs import Chosen, StackedRun
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.idle_line import IdleLine
from tracetui.ui.drawing.lane import draw_lane, painted_selected
from tracetui.ui.drawing.looks import Looks
from tracetui.ui.drawing.palette import Palette

_NAME_LIMIT = 400  #: characters of a name that can matter on a screen


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
