"""What computes on a device beside its AI cores: AI CPU, DSA, VPC, JPEG, each by its own name."""

from __future__ import annotations

import numpy as np

from tracetui.arrays import Int64s
from tracetui.trace.activities import engine_of_type
from tracetui.trace.model import Trace


def engine_of(trace: Trace, row: int) -> str:
    """Return what a task of `Activity.AICPU` runs on, as people call it: "AI CPU", "DSA"."""
    return engine_of_type(trace.string(int(trace.slices.task_type[row])) or trace.name(row))


def engines_of(trace: Trace, rows: Int64s) -> tuple[str, ...]:
    """Return what tasks of `Activity.AICPU` run on, each once, most time first."""
    slices = trace.slices
    time: dict[str, int] = {}
    _, first, place = np.unique(slices.task_type[rows], return_index=True, return_inverse=True)
    totals = np.zeros(len(first), np.int64)
    np.add.at(totals, place, slices.dur[rows])
    for row, ns in zip(rows[first].tolist(), totals.tolist()):
        name = engine_of(trace, row)
        time[name] = time.get(name, 0) + ns
    return tuple(sorted(time, key=lambda name: -time[name]))


def engines_within(trace: Trace, rows: Int64s, start_ns: int, end_ns: int) -> str:
    """Return what tasks of `Activity.AICPU` run on in some time: "DSA", "AI CPU and DSA"."""
    slices = trace.slices
    inside = rows[(slices.start[rows] < end_ns) & (slices.end[rows] > start_ns)]
    *leading, last = engines_of(trace, inside) or ("other compute",)
    return f"{', '.join(leading)} and {last}" if leading else last
