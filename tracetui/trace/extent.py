"""The part of a trace worth showing first."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.model import Activity, Family, Layer, Trace


def busy_extent(trace: Trace) -> tuple[int, int]:
    """First start and last end, ns, of the device tasks and the steps; of all slices without a device.

    The profiler's own tasks (PROFILING_ENABLE lies more than 10 ms before the first step) and the counters
    (100 ms before) do not count.
    """
    rows = np.concatenate([_tasks(trace), _steps(trace)])
    if not len(rows) or not trace.devices:
        return trace.start_ns, trace.end_ns
    return int(trace.slices.start[rows].min()), int(trace.slices.end[rows].max())


def _tasks(trace: Trace) -> Int64s:
    """The rows of device tasks and collectives, without those of the profiler itself."""
    rows = np.flatnonzero(trace.slices.activity != Activity.NONE)
    own = np.array([text.startswith("PROFILING_") for text in trace.strings])
    return rows[~own[trace.slices.name[rows]]] if len(own) else rows


def _steps(trace: Trace) -> Int64s:
    """The rows of ProfilerStep#N on the host."""
    is_step = np.array([text.startswith("ProfilerStep#") for text in trace.strings], np.bool_)
    found = [np.zeros(0, np.int64)]
    for track in trace.tracks:
        if track.layer == Layer.PYTHON and track.family == Family.OPERATORS and len(is_step):
            rows = np.arange(track.rows.start, track.rows.stop)
            found.append(rows[is_step[trace.slices.name[rows]]])
    return np.concatenate(found)
