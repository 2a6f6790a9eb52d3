"""`step_trace_raw_<rank>_detail_time.csv`: when each step of a graph began, on the clock of the device.

MindSpore wrote it beside the timelines for MindInsight, with a row for each step and one of their means. All
points are in units of 10 ns; those of each all-reduce stand in columns that bear its name.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Int64s
from tracetui.siblings.names import timeline_rank
from tracetui.siblings.tables import Format, TableColumn, ValueKind, read_table

UNIT_NS = 10
_START = "_start_point"
_POINTS = ("start_point", "end_point", "fp_point", "bp_point")


class StepPoints(NamedTuple):
    """The steps in the table; columns of equal length, ns on the clock of the device."""

    number: Int64s
    start: Int64s
    end: Int64s
    forward: Int64s  #: when the forward pass begins
    backward: Int64s  #: when the backward pass ends
    all_reduce_starts: dict[str, Int64s]  #: when each all-reduce begins, by its name


@lru_cache(maxsize=2)
def step_points(timeline: Path) -> StepPoints | None:
    """Return the steps in the table beside a timeline; None where there is no such table. Reads it once."""
    rank = timeline_rank(timeline.name)
    path = timeline.with_name(f"step_trace_raw_{rank}_detail_time.csv")
    if rank is None or not path.is_file():
        return None
    columns = [TableColumn("step", ValueKind.WHOLE, ("step_num",))]
    columns += [TableColumn(point, ValueKind.WHOLE, (point,), needed=True) for point in _POINTS]
    table = read_table(path, Format(path.name, tuple(columns), has_extra=True))
    steps = np.flatnonzero(table.numbers["step"] >= 0)  # the row of the means has none
    if not len(steps):
        return None
    start, end, forward, backward = (table.numbers[point][steps] * UNIT_NS for point in _POINTS)
    all_reduce_starts = {
        title.removesuffix(_START): np.where(np.isfinite(values), values * UNIT_NS, -1).astype(np.int64)
        for title, column in table.floats.items()
        if title.endswith(_START)
        for values in (column[steps],)
    }
    return StepPoints(table.numbers["step"][steps], start, end, forward, backward, all_reduce_starts)
