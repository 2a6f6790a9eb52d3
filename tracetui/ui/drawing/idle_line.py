"""The line of a device's idle time: where it is idle, and why, by colour and letter.

Pure: knows the picture of a trace, paints and glyphs; not the widget. A column has the colour of the cause
with the most time in it. An interval with room is a box that tells its rank, its length and its causes from
left to right; one with less has the colour and letter of its main cause.
"""

from __future__ import annotations

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.cause_raster import main_causes
from tracetui.arrays import Bools, Int8s, Int64s
from tracetui.ui.drawing.causes import cause_letter, cause_name, cause_paint
from tracetui.ui.drawing.exposed_ink import ExposedInk
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.labels import apart
from tracetui.ui.drawing.lane import Unread, boxed_columns, draw_lane, equal_stretches
from tracetui.ui.drawing.palette import Paint, Palette, Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import idle_key
from tracetui.units import format_duration

WIDE = 28  #: cells from which an interval tells its causes from left to right
_RANK_CELLS = 6  #: cells that the rank and length of a gap need at least
_MARKED_CELLS = 3  #: cells from which the colours of the selected gap are underlined, not covered


class IdleLine:
    """Draws the idle lines of one trace; its analysis is there."""

    def __init__(self, picture: Picture, palette: Palette, glyphs: Glyphs) -> None:
        self._picture, self._palette, self._glyphs = picture, palette, glyphs
        causes = [cause_paint(cause, palette) for cause in Cause]
        unread = palette.style_of(Role.UNREAD)
        unread_paint = Paint(unread, unread, unread)
        self._exposed = ExposedInk(picture, palette, glyphs)
        self._paints = [*causes, *map(_marked, causes), palette.paint_of(Role.SELECTED), unread_paint]

    def draw(self, device: int, gap: int, edges: Int64s) -> list[Segment]:
        """Draw the columns between `edges` (ns); `gap`: the selected one, or -1."""
        picture = self._picture
        columns = picture.idle(device, edges)
        assert columns is not None
        cause = main_causes(picture.causes(device, edges))
        chosen = np.where(cause >= 0, cause, Cause.UNLINKED).astype(np.int64)
        boxed = boxed_columns(columns, np.diff(edges))
        first, stop = equal_stretches(np.where(boxed, columns.row, -1))
        texts: dict[int, str] = {}
        for start, end in zip(first.tolist(), stop.tolist()):
            interval = int(columns.row[start])
            if end - start < WIDE:
                main = picture.main_cause(device, interval)
                behind = start > 0 and bool(boxed[start - 1])  # a line between two boxes takes a cell
                texts[interval] = self._short(device, interval, main, end - start - behind)
                same = columns.row == interval
                chosen[same] = main
            else:
                texts[interval] = self._long(device, interval, cause[start:end])
        selected = self._selected(device, gap, columns.row)
        wide = int(np.count_nonzero(selected & boxed)) >= _MARKED_CELLS
        chosen[selected] = chosen[selected] + len(Cause) if wide else 2 * len(Cause)
        drawn = draw_lane(
            columns,
            self._paints,
            chosen,
            texts.__getitem__,
            self._glyphs,
            name_cells=1,
            unread=self._unread(device, edges),
        )
        strip = self._exposed.over(Strip(drawn, len(cause)), columns.row, device, gap, edges)
        return self._with_ranks(strip, device, edges)

    def _unread(self, device: int, edges: Int64s) -> Unread | None:
        """Return where nothing is known of the device, busy or idle."""
        sketch = self._picture.sketch
        if sketch is None:
            return None
        key = idle_key(self._picture.trace.devices[device])
        return Unread(sketch.levels(key, edges), len(self._paints) - 1)

    def _selected(self, device: int, gap: int, intervals: Int64s) -> Bools:
        analysis = self._picture.analysis
        assert analysis is not None
        idle, gaps = analysis.devices[device].idle, analysis.gaps
        if gap < 0 or gaps.device[gap] != device or not len(idle):
            return np.zeros(len(intervals), np.bool_)
        starts = idle.starts[intervals]
        inside: Bools = (intervals >= 0) & (starts >= gaps.start[gap]) & (starts < gaps.end[gap])
        return inside

    def _rank_and_length(self, device: int, interval: int) -> tuple[str, str]:
        """Return "3 " and "1.24 ms"; no rank but of the worst gaps."""
        assert self._picture.analysis is not None
        idle = self._picture.analysis.devices[device].idle
        start, end = int(idle.starts[interval]), int(idle.ends[interval])
        rank = self._picture.ranks.get(self._picture.gap_at(device, start))
        return f"{rank} " if rank else "", format_duration(end - start)

    def _short(self, device: int, interval: int, cause: Cause, width: int) -> str:
        """Return "1 P 1.24 ms", or as much of it as fits; a digit is put over what is too narrow for it."""
        rank, length = self._rank_and_length(device, interval)
        letter = cause_letter(cause)
        texts = [
            f" {rank}{letter} {length}",
            f"{rank}{letter} {length}",
            f"{letter} {length}",
            f"{rank}{letter}",
        ]
        fitting = (text for text in texts if len(text) <= width and width >= _RANK_CELLS)
        return next(fitting, letter)

    def _long(self, device: int, interval: int, cause: Int8s) -> str:
        """Return " 1 · 1.24 ms  P python   O   q queue": each cause where it begins, as far as it fits."""
        rank, length = self._rank_and_length(device, interval)
        text = f" {rank}{self._glyphs.dot} {length}  " if rank else f" {length}  "
        for start, end in zip(*(edges.tolist() for edges in equal_stretches(cause.astype(np.int64)))):
            at = max(start, len(text))
            shown_cause = Cause(int(cause[start]))
            room = end - at
            if room >= len(cause_name(shown_cause)) + 1:
                text = text.ljust(at) + cause_name(shown_cause) + " "
            elif room >= 2:
                text = text.ljust(at) + cause_letter(shown_cause) + " "
        return text

    def _with_ranks(self, strip: Strip, device: int, edges: Int64s) -> list[Segment]:
        """Draw digits of the worst gaps over the idle ink, where there is no room for their names.

        A mean hides a long gap between busy stretches once a column holds both: its digit stays.
        """
        assert self._picture.analysis is not None
        gaps, columns = self._picture.analysis.gaps, strip.cell_length
        too_wide_ns = _RANK_CELLS * int(np.diff(edges).max())
        narrow: dict[int, int] = {}  # the gap of a column
        for gap in self._picture.ranks:
            start, end = int(gaps.start[gap]), int(gaps.end[gap])
            if gaps.device[gap] == device and end - start < too_wide_ns:
                narrow.setdefault(int(np.searchsorted(edges, (start + end) // 2, "right")) - 1, gap)
        ranks = ((column, str(self._picture.ranks[gap])) for column, gap in narrow.items())
        for column, digit in apart(ranks, columns).items():
            parts = strip.divide([column, column + 1, columns])
            style = cause_paint(self._picture.gap_cause(narrow[column]), self._palette).box
            strip = Strip.join([parts[0], Strip([Segment(digit, style)], 1), parts[2]])
        return list(strip)


def _marked(paint: Paint) -> Paint:
    """Underline a paint: what is selected keeps its colours."""
    line = Style(underline=True)
    return Paint(paint.ink + line, paint.box + line, paint.edge + line)
