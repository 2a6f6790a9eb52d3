"""What happens inside one window of time: time per name, and the AICore gaps and idle time in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.analysis.activity import DeviceActivity
from tracetui.analysis.operators import OperatorTable, operator_table
from tracetui.arrays import EMPTY, Int64s
from tracetui.trace.model import Trace, Track


@dataclass(frozen=True, eq=False)
class WindowStatistics:
    """The slices of tracks cut to [start_ns, end_ns), so that windows side by side add up."""

    start_ns: int
    end_ns: int
    rows: Int64s  #: slice rows that overlap the window
    names: OperatorTable  #: their time by name
    gaps: int  #: AICore gaps that overlap the window, of all devices
    gap_ns: int  #: their time inside it
    device_ns: int  #: time inside it in which devices can be idle: that of their own windows, of all devices
    idle_ns: int  #: idle time inside it, of all devices
    longest_idle_ns: int  #: the longest idle interval, cut to the window


def window_statistics(
    trace: Trace, tracks: Iterable[Track], activities: Sequence[DeviceActivity], start_ns: int, end_ns: int
) -> WindowStatistics:
    """Return what those tracks, and all devices, do inside [start_ns, end_ns)."""
    rows = rows_in_window(trace, tracks, start_ns, end_ns)
    gaps = [
        activity.aicore.complement(activity.start_ns, activity.end_ns).clip(start_ns, end_ns)
        for activity in activities
    ]
    idle = [activity.idle.clip(start_ns, end_ns) for activity in activities]
    return WindowStatistics(
        start_ns=start_ns,
        end_ns=end_ns,
        rows=rows,
        names=operator_table(trace, rows, cut_durations(trace, rows, start_ns, end_ns)),
        gaps=sum(len(part) for part in gaps),
        gap_ns=sum(part.total for part in gaps),
        device_ns=sum(
            max(min(activity.end_ns, end_ns) - max(activity.start_ns, start_ns), 0) for activity in activities
        ),
        idle_ns=sum(part.total for part in idle),
        longest_idle_ns=max((int(part.durations.max()) for part in idle if len(part)), default=0),
    )


def rows_in_window(trace: Trace, tracks: Iterable[Track], start_ns: int, end_ns: int) -> Int64s:
    """Return the slice rows of tracks that overlap [start_ns, end_ns); without length, that start in it."""
    starts, ends = trace.slices.start, trace.slices.end
    parts = [EMPTY]
    for track in tracks:
        for lane in track.lanes:
            rows = trace.lane_slice_rows(lane)
            stop = int(np.searchsorted(starts[rows], end_ns, "left"))
            first = min(
                int(np.searchsorted(ends[rows], start_ns, "right")),
                int(np.searchsorted(starts[rows], start_ns, "left")),
            )
            parts.append(np.arange(rows.start + first, rows.start + max(first, stop)))
    return np.concatenate(parts)


def cut_durations(trace: Trace, rows: Int64s, start_ns: int, end_ns: int) -> Int64s:
    """Return the ns of each row inside [start_ns, end_ns)."""
    cut = np.minimum(trace.slices.end[rows], end_ns) - np.maximum(trace.slices.start[rows], start_ns)
    inside: Int64s = np.maximum(cut, 0)
    return inside
