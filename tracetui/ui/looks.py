"""Which paint a slice gets: device slices by what they do, host slices by name, Python frames by file."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family, Trace, Track
from tracetui.ui.palette import Paint, Palette, Role

_BY_ACTIVITY = (Family.TASKS, Family.GROUP, Family.PLANE)
_OVERLAP: dict[str, Activity | Role] = {"Computing": Activity.AICORE, "Free": Role.IDLE}
_QUIET = ("Enqueue", "Dequeue")


class Looks:
    """The paints of the slices of one trace."""

    def __init__(self, trace: Trace, palette: Palette) -> None:
        self._trace = trace
        self._palette = palette
        self.paints: list[Paint] = []
        self._places: dict[Paint, int] = {}
        self._of_name: dict[tuple[Family, int], int] = {}
        self._of_activity = np.array(
            [self._place(palette.paint_of(activity)) for activity in Activity], dtype=np.int64
        )
        self.selected = self._place(palette.paint_of(Role.SELECTED))
        self.idle = self._place(palette.paint_of(Role.IDLE))
        self._crowds = {
            Family.FRAMES: self._place(palette.paint_of(Role.FRAME)),
            Family.OPERATORS: self._place(palette.paint_of(Role.HOST)),
            Family.CALLS: self._place(palette.paint_of(Role.HOST)),
        }

    def crowd(self, track: Track) -> int | None:
        """The paint of many slices in one column, where their names decide their hue; else None."""
        return self._crowds.get(track.family)

    def choose(self, track: Track, rows: Int64s) -> Int64s:
        """The places in `paints` of slices (int64[n], -1 allowed) of one track."""
        if track.family in _BY_ACTIVITY:
            return self._of_activity[self._trace.slices.activity[rows]]
        names, places = np.unique(self._trace.slices.name[rows], return_inverse=True)
        chosen = np.array([self._of(track.family, name) for name in names.tolist()], dtype=np.int64)
        return chosen[places]

    def _of(self, family: Family, name: int) -> int:
        key = (family, name)
        if key not in self._of_name:
            self._of_name[key] = self._place(self._paint(family, self._trace.strings[name]))
        return self._of_name[key]

    def _paint(self, family: Family, name: str) -> Paint:
        if family is Family.OVERLAP:
            return self._palette.paint_of(_OVERLAP.get(name, Activity.COMMUNICATION))
        if family is Family.FRAMES:
            return self._palette.file_hue(name.partition("(")[0])
        if name.startswith(_QUIET):
            return self._palette.paint_of(Activity.WAIT)
        return self._palette.hue(name)

    def _place(self, paint: Paint) -> int:
        if paint not in self._places:
            self._places[paint] = len(self.paints)
            self.paints.append(paint)
        return self._places[paint]
