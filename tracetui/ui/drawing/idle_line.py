"""The line of a device's idle time: where it is idle, and why, by colour and letter.

Pure: knows the picture of a trace, paints and glyphs; not the widget. A column has the colour of the cause
with the most time in it. An interval with room is a box that tells its rank, its length and its causes from
left to right; one with less has the colour and letter of its main cause. Where a device does nothing but
communicate, a column has the glyph and colour of what there is most of: waiting for a rank, moving data, or
not told apart; a stretch with room tells the rank of its gap, how long, and for whom.
"""

from __future__ import annotations

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.analysis.idle.cause import Cause
from tracetui.analysis.idle.cause_raster import main_causes
from tracetui.arrays import Bools, Int8s, Int64s
from tracetui.export.text import cell_width
from tracetui.language import translate
from tracetui.ui.drawing.causes import cause_letter, cause_name, cause_paint, cause_style, communication_glyph
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.lane import Unread, boxed_columns, draw_lane, equal_stretches
from tracetui.ui.drawing.palette import Paint, Palette, Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.rows import idle_key
from tracetui.ui.drawing.ticks import apart
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


_WORDS = {
    CommunicationCause.WAIT: "waiting",
    CommunicationCause.TRANSFER: "moving",
    CommunicationCause.UNSPLIT: "waiting or moving",
}
_LEAST_CELLS = 8  #: a stretch with fewer has no text
_AROUND = 2  #: cells of it that stay on each side of the text


def most_exposed(ns: Int64s, edges: Int64s, free: Bools) -> Int64s:
    """Return the cause that most of a `free` column went into, -1 where less than half is exposed.

    ns : int64[causes, columns], between `edges`.
    """
    exposed = ns.sum(axis=0)
    shown = free & (exposed > 0) & (2 * exposed >= np.diff(edges))
    return np.where(shown, ns.argmax(axis=0), -1).astype(np.int64)


class ExposedInk:
    """Draws over the idle lines of one trace; its analysis is there."""

    def __init__(self, picture: Picture, palette: Palette, glyphs: Glyphs) -> None:
        self._picture = picture
        self._inks = [cause_style(cause, palette) for cause in CommunicationCause]
        self._boxes = [cause_paint(cause, palette).box for cause in CommunicationCause]
        self._glyph = [communication_glyph(cause, glyphs) for cause in CommunicationCause]

    def over(self, drawn: Strip, idle: Int64s, device: int, selected: int, edges: Int64s) -> Strip:
        """Return the line with what is exposed in the columns without idle time.

        idle : int64[columns], the idle interval of each column, -1 where there is none.
        selected : the selected gap, or -1.
        """
        ns = self._picture.exposed(device, edges)
        cause = most_exposed(ns, edges, idle < 0)
        first, stop = equal_stretches(np.where(cause >= 0, 0, -1).astype(np.int64))
        if not len(first):
            return drawn
        bounds = np.stack((first, stop), axis=1).reshape(-1).tolist()
        parts = list(drawn.divide([*bounds, len(cause)]))
        for place, (start, end) in enumerate(zip(first.tolist(), stop.tolist())):
            gap = self._picture.gap_at(device, int(edges[start] + edges[end]) // 2)
            chosen = gap >= 0 and gap == selected
            parts[2 * place + 1] = self._stretch(cause[start:end], gap, chosen)
        return Strip.join(parts)

    def _stretch(self, causes: Int64s, gap: int, chosen: bool) -> Strip:
        """Return one stretch, its text in a box of the colour that there is most of.

        causes : int64[columns] of CommunicationCause. gap : that it lies in, or -1.
        """
        marked = Style(bold=True, underline=True) if chosen else Style.null()
        starts, stops = equal_stretches(causes)
        ink = [
            Segment(self._glyph[causes[start]] * (stop - start), self._inks[causes[start]] + marked)
            for start, stop in zip(starts.tolist(), stops.tolist())
        ]
        strip = Strip(ink, len(causes))
        text = self._text(gap, len(causes) - 2 * _AROUND) if len(causes) >= _LEAST_CELLS else ""
        if not text:
            return strip
        main = int(np.bincount(causes).argmax())
        before, _, after = strip.divide([_AROUND, _AROUND + cell_width(text), len(causes)])
        return Strip.join([before, Strip([Segment(text, self._boxes[main] + marked)]), after])

    def _text(self, gap: int, room: int) -> str:
        """Return " 1 waits 86.2 ms for peer 5 of group 271 ", or as much of it as fits."""
        if gap < 0:
            return ""
        assert self._picture.analysis is not None
        exposed = self._picture.analysis.communication.exposed
        (cause, ns), *_ = exposed.by_cause(exposed.of_gap(gap)).items() or ((None, 0),)
        if cause is None:
            return ""
        from tracetui.export.sentences.late_ranks import late_rank  # there is an analysis, which knows it

        rank = self._picture.ranks.get(gap)
        number, length = f"{rank} " if rank else "", format_duration(ns)
        late = late_rank(self._picture.analysis, gap) if cause is CommunicationCause.WAIT else None
        word = translate(_WORDS[cause])
        texts = [f" {number}{word} {length} ", f" {number}{length} ", f" {number}" if rank else ""]
        if late is not None:
            wait = translate("{word} {time} for {rank}", word=word, time=length, rank=late)
            texts.insert(0, f" {number}{wait} ")
        return next((text for text in texts if cell_width(text) <= room), "")
