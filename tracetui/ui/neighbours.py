"""The slice or gap beside another, the edge of a slice near a time. Pure, O(log n)."""

from __future__ import annotations

import numpy as np

from tracetui.trace.model import Trace
from tracetui.ui.drawing.picture import Picture


def slice_beside(trace: Trace, lane: int, row: int, time_ns: int, by: int) -> int:
    """Return the next (`by` 1) or previous (-1) slice of a lane; -1 where there is none.

    It is the one beside `row` where that is on the lane, else the one beside a time.
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


def nearest_edge(trace: Trace, lane: int, time_ns: int, reach_ns: int) -> int:
    """Return the nearest edge of a slice of a lane, if it is within reach of a time; else the time itself."""
    rows = trace.lane_slice_rows(lane)
    best, distance = time_ns, reach_ns + 1
    for edges in (trace.slices.start[rows], trace.slices.end[rows]):
        at = int(np.searchsorted(edges, time_ns))
        for edge in edges[max(at - 1, 0) : at + 1].tolist():
            if abs(edge - time_ns) < distance:
                best, distance = edge, abs(edge - time_ns)
    return best
