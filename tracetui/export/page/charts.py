"""Pictures of a page, as SVG: where time went, and maps of time in cells.

A picture is stretched to the width of the page, so its words stand beside it, as large as others.
Sums of columns are exact integer nanoseconds; only the drawing rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.heat.cells import HeatCells
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Floats, Int64s
from tracetui.export.page.html import as_markup
from tracetui.export.tables.common import share_words
from tracetui.language import translate
from tracetui.units import format_duration, format_percent

COLUMNS = 360  #: of a strip
HEIGHT = 72  #: of a strip, in units of its picture
_SHADES = 8  #: steps of opacity in a map
#: What a strip tells apart, each by its class of the style, from the bottom up.
COMPUTING, COMMUNICATION, COPIES, IDLE = "computing", "communication", "copies", "idle"


def time_strip(activity: DeviceActivity, origin_ns: int) -> str:
    """Return a figure of what a device did over its window: computing, communication, copies and idle.

    `origin_ns` is the start of the trace; the scale below counts from it.
    """
    edges = even_edges(activity.start_ns, activity.end_ns, COLUMNS)
    times = {
        COMPUTING: activity.compute,
        COMMUNICATION: activity.communication_not_overlapped,
        COPIES: activity.free - activity.idle,
        IDLE: activity.idle,
    }
    ns = {kind: np.diff(kind_times.before(edges)) for kind, kind_times in times.items()}
    return strip(ns, np.diff(edges), time_scale(activity.start_ns - origin_ns, activity.end_ns - origin_ns))


def strip(ns: Mapping[str, Int64s | Floats], whole: Int64s, scale: Sequence[str]) -> str:
    """Return a figure of columns of what time went into; below it the scale and what the colours mean.

    Args:
        ns: of each kind of time its ns in each column.
        whole: ns of each column that is filled to the top.
        scale: texts, from the left end to the right one.
    """
    total = max(sum(int(column_ns.sum()) for column_ns in ns.values()), 1)
    labels = {
        COMPUTING: translate("computing"),
        COMMUNICATION: translate("exposed communication"),
        COPIES: translate("copies"),
        IDLE: translate("idle"),
    }
    legend = "".join(
        f'<span class="what"><span class="key {kind}"></span>{as_markup(labels[kind])} '
        f"{as_markup(format_percent(round(column_ns.sum()), total))}</span> "
        for kind, column_ns in ns.items()
    )
    return (
        f'<figure class="strip">{_stretched(len(whole), HEIGHT, _stacked(ns, whole))}{_scale(scale)}'
        f"<figcaption>{legend}</figcaption></figure>"
    )


def map_of_cells(
    cells: HeatCells, names: Sequence[tuple[str, str]], scale: Sequence[str], highest: float = 0.0
) -> str:
    """Return a figure of a map: a cell is as dark as its share is beside the highest, which stands below.

    Args:
        cells: the cells.
        names: of the rows, each with its class of the style.
        scale: texts below the map, from the first column to the last.
        highest: the share that is darkest; 0: the highest of the cells.
    """
    rows, columns = cells.ns.shape
    shares = np.nan_to_num(cells.share)
    highest = highest or float(shares.max(initial=0.0))
    levels = np.ceil(shares / (highest or 1.0) * _SHADES).astype(np.int64)
    parts = []
    for row in range(rows):
        name, kind = names[row]
        drawn = "".join(
            f'<rect class="{kind}" x="{column}" width="{count}" height="1" opacity="{level / _SHADES:g}"/>'
            for level, column, count in _runs(levels[row])
            if level
        )
        parts.append(f'<span class="name">{as_markup(name, 48)}</span>{_stretched(columns, 1, drawn)}')
    darkest = as_markup(translate("darkest: {share} of the time of a cell", share=share_words(highest)))
    below = f"<span></span>{_scale(scale)}<span></span><figcaption>{darkest}</figcaption>"
    return f'<figure class="map">{"".join(parts)}{below}</figure>'


def time_scale(start_ns: int, end_ns: int) -> list[str]:
    """Return five texts for a scale: times, evenly from `start_ns` to `end_ns`."""
    return [format_duration(start_ns + (end_ns - start_ns) * place // 4) for place in range(5)]


def step_scale(numbers: Sequence[int]) -> list[str]:
    """Return two texts, for a scale: what the first and the last step are called; below 0 it is none."""
    return [
        translate("outside steps") if number < 0 else translate("step {number}", number=number)
        for number in (numbers[0], numbers[-1])
    ]


def _stretched(width: int, height: int, drawn: str) -> str:
    """Return an SVG that fills the width of the page; `drawn` is markup in its units, `width` x `height`."""
    return f'<svg viewBox="0 0 {width} {height}" role="img" preserveAspectRatio="none">{drawn}</svg>'


def _scale(texts: Sequence[str]) -> str:
    """Return markup of texts set evenly below a picture, from its left end to its right one."""
    return f'<span class="scale">{"".join(f"<span>{as_markup(text)}</span>" for text in texts)}</span>'


def _stacked(ns: Mapping[str, Int64s | Floats], whole: Int64s) -> str:
    """Return SVG paths of bars upon each other, one unit wide, as high as their share of `whole` (ns)."""
    base, width = np.zeros(len(whole)), round(1 + len(whole) / 3600, 3)
    parts = []
    for kind, column_ns in ns.items():
        heights = column_ns / np.maximum(whole, 1) * HEIGHT
        # Bars overlap a little: no ground shows between them.
        path = "".join(
            f"M{column} {HEIGHT - base[column]:.2f}h{width:g}v{-heights[column]:.2f}h-{width:g}z"
            for column in np.flatnonzero(heights > 0.005).tolist()
        )
        parts.append(f'<path class="{kind}" d="{path}"/>' if path else "")
        base += heights
    return "".join(parts)


def _runs(levels: Int64s) -> list[tuple[int, int, int]]:
    """Return the runs of equal levels: level, first column, number of columns."""
    runs, column = [], 0
    for level, group in groupby(levels.tolist()):
        count = len(list(group))
        runs.append((level, column, count))
        column += count
    return runs
