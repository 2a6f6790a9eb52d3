"""Curves over time as styled text: an area on several rows, its scale, its peak, the value at the cursor.

Of each column the least and the most are drawn, so that nothing short is lost when one zooms out: full ink up
to the least, faint ink from there to the most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.segment import Segment
from rich.style import Style

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.language import translate
from tracetui.trace.quantity import format_value
from tracetui.ui.drawing.curve import LEVELS, round_up
from tracetui.ui.drawing.glyphs import Glyphs
from tracetui.ui.drawing.lane import segments, text_cells
from tracetui.ui.drawing.palette import Palette, Role
from tracetui.ui.drawing.picture import Picture
from tracetui.ui.drawing.row import TimelineRow
from tracetui.ui.state import Viewport, ViewState

if TYPE_CHECKING:
    from tracetui.analysis.counter_tracks import CounterTrack

_AREA, _SPREAD, _NOTHING, _CURSOR, _NUMBER, _UNREAD, _ON_AREA = (3 * place for place in range(7))
_ROLES = (Role.COUNTER, Role.SPREAD, Role.IDLE, Role.USER_LINE, Role.NUMBER, Role.UNREAD)


class Scale(NamedTuple):
    """What the lowest and the highest level of a curve stand for."""

    low: float
    top: float

    @classmethod
    def of(cls, lowest: float, highest: float) -> Scale:
        """Return a scale with round ends that holds 0, the least and the most."""
        return cls(-_round_up(-lowest) if lowest < 0 else 0.0, _round_up(highest) if highest > 0 else 0.0)


def _round_up(value: float) -> float:
    return float(round_up(math.ceil(value))) if value >= 1000 else round_up(math.ceil(value * 1000)) / 1000


def fill(values: Floats, scale: Scale, rows: int) -> Int64s:
    """Return how many levels of `rows` rows each value fills: int64[columns]; 0 of NaN.

    What is more than the least of the scale fills one at least.
    """
    span = (scale.top - scale.low) or 1.0
    share = np.where(np.isnan(values), 0.0, (values - scale.low) / span)
    filled: Int64s = np.maximum((share * (rows * LEVELS)).astype(np.int64), values > scale.low)
    return filled


class _Name(NamedTuple):
    """Where the name of the peak stands."""

    row: int
    first: int  #: column
    text: list[str]  #: a text for each cell
    on_area: bool  #: written on cells that are full, not on blank ones


@dataclass(frozen=True, eq=False)
class _Shape:
    """A curve at one zoom."""

    highest: Floats  #: float64[columns], NaN before the first sample
    levels: Int64s  #: int64[rows, columns], the uppermost row first: up to the most of each column
    solid: Int64s  #: the same up to the least
    mark: tuple[int, int]  #: row and column of the mark of the peak; -1 where nothing is higher than the rest
    name: _Name | None


class CurveLines:
    """Draws the rows of the curves of one picture."""

    def __init__(self, picture: Picture, palette: Palette, glyphs: Glyphs) -> None:
        self._picture, self._glyphs = picture, glyphs
        on_area = palette.style_of(Role.COUNTER) + Style(reverse=True)
        styles = [*map(palette.style_of, _ROLES), on_area]
        self._styles = [style for style in styles for _ in range(3)]
        self._shapes: dict[object, _Shape] = {}  # of one zoom
        self._zoom: object = None

    def label(self, row: TimelineRow, time_ns: int) -> str:
        """Return what stands beside a row that is not the first: the value at a time, or the scale."""
        curve = self._picture.curve(row.curve)
        if curve is None or row.part not in (1, row.parts - 1):
            return ""
        if row.part == 1:
            value = curve.series.at(time_ns)
            return "" if value is None else f"{self._glyphs.cursor} {format_value(value, curve.unit)}"
        scale = Scale.of(*curve.series.bounds)
        if scale.low == scale.top:
            return translate("always 0") if len(curve.series) else ""
        low = "0" if scale.low == 0 else format_value(scale.low, curve.unit)
        return translate("{low} to {high}", low=low, high=format_value(scale.top, curve.unit))

    def draw(self, row: TimelineRow, state: ViewState, edges: Int64s, here: bool) -> list[Segment]:
        """Draw one row in as many cells as there are columns."""
        curve = self._picture.curve(row.curve)
        assert curve is not None
        shape = self._shape(row, curve, state.viewport, edges)
        level, solid = shape.levels[row.part], shape.solid[row.part]
        cells = [self._glyphs.shades[shade] for shade in level.tolist()]
        style = np.where(level == 0, -1, np.where(2 * solid >= level, _AREA, _SPREAD)).astype(np.int64)
        if curve.shows_nothing and row.part == row.parts - 1:
            mostly = _mostly_nothing(curve, edges) & ~np.isnan(shape.highest)
            empty = (shape.highest == 0) | (mostly & (level <= 1))  # what is higher keeps its height
            style[mostly | empty] = _NOTHING
            for column in np.flatnonzero(empty).tolist():
                cells[column] = self._glyphs.dot
        if self._picture.sketch is not None and row.part == row.parts - 1:
            sampled = np.isnan(shape.highest) & self._picture.sketch.samples(row.curve, edges)
            style[sampled] = _UNREAD
            for column in np.flatnonzero(sampled).tolist():
                cells[column] = self._glyphs.unread[1]
        if shape.name is not None and shape.name.row == row.part:
            _, first, text, on_area = shape.name
            cells[first : first + len(text)] = text
            style[first : first + len(text)] = _ON_AREA if on_area else _NUMBER
        if shape.mark[0] == row.part:
            cells[shape.mark[1]], style[shape.mark[1]] = self._glyphs.pin, _NUMBER
        at = state.viewport.column_of(state.place.time_ns, len(cells)) if here else -1
        if 0 <= at < len(cells):
            style[at] = _CURSOR
            if cells[at] == " ":
                cells[at] = self._glyphs.bar
        return segments(cells, style, self._styles)

    def _shape(self, row: TimelineRow, curve: CounterTrack, viewport: Viewport, edges: Int64s) -> _Shape:
        zoom = viewport, len(edges)
        if zoom != self._zoom:
            self._zoom, self._shapes = zoom, {}
        key = row.curve, row.parts
        if key not in self._shapes:
            self._shapes[key] = _shape_of(curve, edges, row.parts, self._picture.sketch is not None)
        return self._shapes[key]


def _mostly_nothing(curve: CounterTrack, edges: Int64s) -> Bools:
    """Return whether the curve is, in each column, 0 for half of its time or more."""
    share = curve.zeros.mean_between(edges[:-1], np.maximum(edges[1:], edges[:-1] + 1))
    mostly: Bools = share >= 0.5  # not where nothing is known
    return mostly


def _shape_of(curve: CounterTrack, edges: Int64s, rows: int, is_partial: bool) -> _Shape:
    """Return a curve between edges; `is_partial`: what comes after its last sample is not read yet."""
    lowest, highest = curve.series.columns(edges)
    if is_partial and len(curve.series):
        unread = edges[:-1] > curve.series.time[-1]
        lowest, highest = np.where(unread, np.nan, lowest), np.where(unread, np.nan, highest)
    scale = Scale.of(*curve.series.bounds)
    filled = fill(highest, scale, rows)
    full = np.where(lowest == highest, filled, np.minimum(fill(lowest, scale, rows), filled))
    above = LEVELS * np.arange(rows - 1, -1, -1)[:, None]
    levels, solid = np.clip(filled - above, 0, LEVELS), np.clip(full - above, 0, LEVELS)
    known = ~np.isnan(highest)
    if rows == 1 or not known.any() or np.max(highest[known]) <= np.min(lowest[known]):
        return _Shape(highest, levels, solid, (-1, -1), None)
    peak = int(np.nanargmax(highest))
    top = rows - 1 - max(int(filled[peak]) - 1, 0) // LEVELS
    mark = max(top - 1, 0)
    peak_words = translate("peak {size}", size=format_value(float(highest[peak]), curve.unit))
    text = text_cells(peak_words)
    places = [(mark, levels[mark] == 0, False), *((row, solid[row] == LEVELS, True) for row in range(rows))]
    for row, free, on_area in places:
        free = free & (np.arange(len(free)) != peak)
        first = _nearest_room(free, len(text) + 2, peak) + 1
        if first > 0:
            return _Shape(highest, levels, solid, (mark, peak), _Name(row, first, text, on_area))
    return _Shape(highest, levels, solid, (mark, peak), None)


def _nearest_room(free: Bools, cells: int, column: int) -> int:
    """Return the first of so many free columns in a row, as near to a column as there are any; -1 without."""
    if cells > len(free):
        return -1
    (found,) = np.nonzero(np.convolve(free, np.ones(cells, np.int64), "valid") == cells)
    away = np.maximum(found - column, column - (found + cells - 1))
    return int(found[np.argmin(away)]) if len(found) else -1
