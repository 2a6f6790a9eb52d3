"""Small movements: to the slice or gap beside another, to the edge of a slice. Pure, O(log n)."""

from __future__ import annotations

import numpy as np

from tracetui.trace.model import Trace
from tracetui.ui.drawing.picture import Picture


def beside(trace: Trace, lane: int, row: int, time_ns: int, by: int) -> int:
    """The next (1) or previous (-1) slice of a lane: beside `row` if it is on that lane, else beside a time.

    -1 where there is none.
    """
    rows = trace.lane_slice_rows(lane)
    if rows.start <= row < rows.stop:
        found = row + by
    else:
        starts = trace.slices.start[rows]
        if by > 0:
            found = rows.start + int(np.searchsorted(starts, time_ns, "right"))
        else:
            found = rows.start + int(np.searchsorted(starts, time_ns, "left")) - 1
    return found if rows.start <= found < rows.stop else -1


def gap_beside(picture: Picture, device: int, gap: int, time_ns: int, by: int) -> int:
    """Return the next or previous gap of a device in time; -1 where there is none."""
    if picture.analysis is None:
        return -1
    gaps = picture.analysis.gaps
    first, stop = np.searchsorted(gaps.device, np.array([device, device + 1], np.int32)).tolist()
    if first <= gap < stop:
        found = gap + by
    elif by > 0:
        found = first + int(np.searchsorted(gaps.start[first:stop], time_ns, "left"))
    else:
        found = first + int(np.searchsorted(gaps.start[first:stop], time_ns, "left")) - 1
    return found if first <= found < stop else -1


def snapped(trace: Trace, lane: int, time_ns: int, reach_ns: int) -> int:
    """The edge of a slice of the lane that is nearest to a time, if it is within reach; else the time."""
    rows = trace.lane_slice_rows(lane)
    best, distance = time_ns, reach_ns + 1
    for edges in (trace.slices.start[rows], trace.slices.end[rows]):
        at = int(np.searchsorted(edges, time_ns))
        for edge in edges[max(at - 1, 0) : at + 1].tolist():
            if abs(edge - time_ns) < distance:
                best, distance = edge, abs(edge - time_ns)
    return best
