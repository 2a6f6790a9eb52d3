"""Pictures of a page, as SVG: where the time of a device went, and maps of time in cells.

Sums of columns are exact integer nanoseconds; only the drawing rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.heat.cells import HeatCells
from tracetui.analysis.raster import even_edges
from tracetui.arrays import Int64s
from tracetui.export.page.html import quote
from tracetui.language import translate
from tracetui.units import format_duration, format_percent

COLUMNS = 360  #: of a strip
WIDTH, HEIGHT = 1080, 72  #: of a strip, in units of its picture
_AXIS = 16  #: units below a picture for its scale
_CELL = 14  #: units that a row of a map is high
_LABEL = 170  #: units left of a map for the names of its rows
_SHADES = 8  #: steps of opacity in a map


def time_strip(activity: DeviceActivity, origin_ns: int) -> str:
    """Draw what a device did over its window: columns of computing, exposed communication, copies and idle.

    `origin_ns` is the start of the trace; the scale below counts from it.
    """
    edges = even_edges(activity.start_ns, activity.end_ns, min(COLUMNS, activity.window_ns))
    parts = {
        "computing": activity.compute,
        "communication": activity.communication_not_overlapped,
        "copies": activity.free - activity.idle,
        "idle": activity.idle,
    }
    ns = {kind: np.diff(times.before(edges)) for kind, times in parts.items()}
    drawn = _stacked(ns, np.diff(edges))
    scale = _scale(activity.start_ns - origin_ns, activity.end_ns - origin_ns, 0, WIDTH, HEIGHT + _AXIS - 3)
    labels = {
        "computing": translate("computing"),
        "communication": translate("exposed communication"),
        "copies": translate("copies"),
        "idle": translate("idle"),
    }
    shares = {
        kind: format_percent(int(column_ns.sum()), activity.window_ns) for kind, column_ns in ns.items()
    }
    legend = "".join(
        f'<span class="key {kind}"></span>{quote(label)} {quote(shares[kind])}'
        for kind, label in labels.items()
    )
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT + _AXIS}" role="img" preserveAspectRatio="none">'
        f'<rect class="frame" width="{WIDTH}" height="{HEIGHT}"/>{drawn}{scale}</svg>'
        f"<figcaption>{legend}</figcaption></figure>"
    )


def map_of_cells(cells: HeatCells, names: Sequence[tuple[str, str]], bounds: tuple[str, str]) -> str:
    """Draw a map: a cell is as dark as its share; `names` are the rows, each with its class of the style.

    `bounds` stand below the first and the last column.
    """
    rows, columns = cells.ns.shape
    width = (WIDTH - _LABEL) / max(columns, 1)
    levels = np.ceil(np.nan_to_num(cells.share) * _SHADES).astype(np.int64)
    parts = []
    for row in range(rows):
        name, kind = names[row]
        top = row * _CELL
        parts.append(f'<text x="{_LABEL - 6}" y="{top + 11}" text-anchor="end">{quote(name, 28)}</text>')
        parts.append(
            f'<rect class="frame" x="{_LABEL}" y="{top}" width="{WIDTH - _LABEL}" height="{_CELL - 1}"/>'
        )
        for level, column, count in _runs(levels[row]):
            if level:
                parts.append(
                    f'<rect class="{kind}" x="{_LABEL + column * width:.2f}" y="{top}" '
                    f'width="{count * width:.2f}" height="{_CELL - 1}" opacity="{level / _SHADES:.3f}"/>'
                )
    below = rows * _CELL + 12
    parts.append(f'<text x="{_LABEL}" y="{below}">{quote(bounds[0])}</text>')
    parts.append(f'<text x="{WIDTH}" y="{below}" text-anchor="end">{quote(bounds[1])}</text>')
    size = f"0 0 {WIDTH} {rows * _CELL + _AXIS}"
    return f'<figure><svg viewBox="{size}" role="img">{"".join(parts)}</svg></figure>'


def _stacked(ns: dict[str, Int64s], length: Int64s) -> str:
    """Draw bars of equal width upon each other; each as high as its share of the column's `length` ns."""
    columns = len(length)
    width = WIDTH / max(columns, 1)
    base = np.zeros(columns)
    parts = []
    for kind, column_ns in ns.items():
        heights = column_ns / np.maximum(length, 1) * HEIGHT
        # Bars overlap by a tenth of a unit: no ground shows between them.
        path = "".join(
            f"M{column * width:.2f} {HEIGHT - base[column]:.2f}h{width + 0.1:.2f}"
            f"v{-heights[column]:.2f}h{-width - 0.1:.2f}z"
            for column in np.flatnonzero(column_ns).tolist()
        )
        parts.append(f'<path class="{kind}" d="{path}"/>' if path else "")
        base += heights
    return "".join(parts)


def _scale(start_ns: int, end_ns: int, left: int, right: int, y: int) -> str:
    """Write the times of five places below a strip."""
    parts = []
    for place, anchor in ((0, "start"), (1, "middle"), (2, "middle"), (3, "middle"), (4, "end")):
        time = start_ns + (end_ns - start_ns) * place // 4
        x = left + (right - left) * place / 4
        parts.append(
            f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}">{quote(format_duration(time))}</text>'
        )
    return "".join(parts)


def _runs(levels: Int64s) -> list[tuple[int, int, int]]:
    """Return the runs of equal levels: level, first column, number of columns."""
    runs, column = [], 0
    for level, group in groupby(levels.tolist()):
        count = len(list(group))
        runs.append((level, column, count))
        column += count
    return runs
