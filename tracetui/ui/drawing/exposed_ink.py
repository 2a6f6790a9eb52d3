"""Exposed communication on lines of idle time: where a device is not idle and does nothing but communicate.

Pure: knows the picture of a trace, the palette and glyphs. A column has the glyph and colour of what
there is most of: waiting for a rank, moving data, or not told apart. A stretch with room tells the rank of
its gap, how long, and for whom.
"""

from __future__ import annotations

import numpy as np
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tracetui.analysis.communication.causes import CommunicationCause
from tracetui.arrays import Bools, Int64s
from tracetui.export.text import cell_width
from tracetui.language import translate
from tracetui.ui.drawing.causes import cause_paint, cause_style, communication_glyph
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.lane import equal_stretches
from tracetui.ui.drawing.palette import Palette
from tracetui.ui.drawing.picture import Picture
from tracetui.units import format_duration

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
