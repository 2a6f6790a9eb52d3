"""Which paint a slice gets: device slices by what they do, host slices by name, Python frames by file."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.dialects.known import KNOWN
from tracetui.trace.model import Activity, Family, Trace, Track
from tracetui.ui.drawing.palette import Paint, Palette, Role

_BY_ACTIVITY = (Family.TASKS, Family.GROUP, Family.PLANE)
_OVERLAP: dict[str, Activity | Role] = {"computing_ns": Activity.COMPUTE, "free_ns": Role.IDLE}


class Looks:
    """The paints of the slices of one trace."""

    def __init__(self, trace: Trace, palette: Palette) -> None:
        self._trace = trace
        self._palette = palette
        self.paints: list[Paint] = []
        self._places: dict[Paint, int] = {}
        self._of_name: dict[Family, Int64s] = {}  #: place of the paint of each string, -1 not yet asked for
        self._of_activity = np.array(
            [self._place(palette.paint_of(activity)) for activity in Activity], dtype=np.int64
        )
        self.selected = self._place(palette.paint_of(Role.SELECTED))
        self.idle = self._place(palette.paint_of(Role.IDLE))
        unread = palette.style_of(Role.UNREAD)
        self.unread = self._place(Paint(unread, unread, unread))
        self._crowds = {
            Family.FRAMES: self._place(palette.paint_of(Role.FRAME)),
            Family.OPERATORS: self._place(palette.paint_of(Role.HOST)),
            Family.CALLS: self._place(palette.paint_of(Role.HOST)),
        }

    def crowd(self, track: Track) -> int:
        """Return the paint of many slices in one column, where their names decide their hue; else -1."""
        return self._crowds.get(track.family, -1)

    def choose(self, track: Track, rows: Int64s) -> Int64s:
        """Return the places in `paints` of slices (int64[n], -1 allowed) of one track."""
        if track.family in _BY_ACTIVITY:
            return self._of_activity[self._trace.slices.activity[rows]]
        names = self._trace.slices.name[rows]
        if track.family not in self._of_name:
            self._of_name[track.family] = np.full(len(self._trace.strings), -1, np.int64)
        of_name = self._of_name[track.family]
        chosen = of_name[names]
        if (chosen < 0).any():
            for name in np.unique(names[chosen < 0]).tolist():
                of_name[name] = self._place(self._paint(track.family, self._trace.strings[name]))
            chosen = of_name[names]
        return chosen

    def _paint(self, family: Family, name: str) -> Paint:
        if family is Family.OVERLAP:
            own_sum = KNOWN.tasks.overlap_rows.get(name, "")
            return self._palette.paint_of(_OVERLAP.get(own_sum, Activity.COMMUNICATION))
        if family is Family.FRAMES:
            return self._palette.file_hue(name.partition("(")[0])
        if name.startswith(KNOWN.operators.queue_beginnings):
            return self._palette.paint_of(Activity.WAIT)
        return self._palette.hue(name)

    def _place(self, paint: Paint) -> int:
        if paint not in self._places:
            self._places[paint] = len(self.paints)
            self.paints.append(paint)
        return self._places[paint]
