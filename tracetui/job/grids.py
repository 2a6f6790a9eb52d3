"""The time of the ranks of a job as a grid: a row for each rank, a column for each step or stretch of time.

All times of columns are aligned: on the clock of the lowest rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from tracetui.analysis.heat.cells import parts_in_columns
from tracetui.arrays import Floats, Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import TimeClass
from tracetui.job.job import Job
from tracetui.job.waits import waited_for


class GridMeasure(Enum):
    """The measures of a grid; the value is the name of the option that asks for it."""

    COST = "cost"  #: what the other ranks waited for the rank, exposed or not
    WAITED = "waited"  #: what the rank waited for others, in all operations, exposed or not
    IDLE = "idle"
    COMMUNICATION = "communication"  #: exposed
    COPY = "copy"  #: exposed
    COMPUTING = "computing"


#: the classes of time that a measure sums up
_CLASSES = {
    GridMeasure.IDLE: (TimeClass.IDLE,),
    GridMeasure.COMMUNICATION: (TimeClass.WAIT, TimeClass.TRANSFER, TimeClass.UNSPLIT),
    GridMeasure.COPY: (TimeClass.COPY,),
    GridMeasure.COMPUTING: (TimeClass.COMPUTING,),
}


def measure_by_step(
    job: Job, measure: GridMeasure, missing_waits: Sequence[Int64s] = ()
) -> tuple[Int64s, Int64s]:
    """Return the ns of a measure of each rank in each step, and all that it could be.

    Args:
        missing_waits: of COST one int64[k] for each missing rank, which is a row more: the places among
            the waits of the job of those for it.

    Returns:
        Two of int64[rows, steps], the steps as in `job.steps`. The second is the time of the step on the
        rank, of COST the time that the step took all other ranks; 0 where the rank has no such step.
    """
    steps = np.array(job.steps, np.int64)
    shape = len(job.ranks) + len(missing_waits), len(steps)
    whole, ns = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for place, rank in enumerate(job.ranks):
        steps_of_rank = rank.digest.steps
        columns = np.searchsorted(steps, steps_of_rank.number)
        np.add.at(whole[place], columns, steps_of_rank.stage + steps_of_rank.bubble)
        if measure in _CLASSES:
            np.add.at(ns[place], columns, _step_times(rank, measure))
    if measure not in _CLASSES:
        waits = job.waits
        rows = _row_of_waits(job, measure, missing_waits)
        (counted,) = np.nonzero((rows >= 0) & (waits.wait_ns > 0) & np.isin(waits.step, steps))
        np.add.at(ns, (rows[counted], np.searchsorted(steps, waits.step[counted])), waits.wait_ns[counted])
    if measure is GridMeasure.COST:
        whole = _time_of_others(whole, ns, len(job.ranks))
    return ns, whole


def _row_of_waits(job: Job, measure: GridMeasure, missing_waits: Sequence[Int64s]) -> Int64s:
    """Return the row that each wait counts in, below 0 where in none."""
    if measure is not GridMeasure.COST:
        return job.waits.rank_place
    rows = waited_for(job.ranks, job.channels, job.waits)
    for place, places in enumerate(missing_waits, len(job.ranks)):
        rows[places] = place
    return rows


def _time_of_others(whole: Int64s, ns: Int64s, ranks_here: int) -> Int64s:
    """Return the time of all ranks but that of each row; the first rows are the ranks that are here.

    0 where the rank has no time and cost nothing: one that lacks its device part may be waited for.
    """
    total: Int64s = whole.sum(axis=0)
    others_ns: Int64s = np.where((whole > 0) | (ns > 0), total[None] - whole, 0)
    others_ns[ranks_here:] = total
    return others_ns


def _step_times(rank: Rank, measure: GridMeasure) -> Int64s:
    steps = rank.digest.steps
    return {
        GridMeasure.IDLE: steps.idle,
        GridMeasure.COMMUNICATION: steps.exposed,
        GridMeasure.COPY: steps.copies,
        GridMeasure.COMPUTING: steps.computing,
    }[measure]


def measure_by_time(
    job: Job, measure: GridMeasure, edges: Int64s, missing_waits: Sequence[Int64s] = ()
) -> tuple[Int64s, Int64s]:
    """Return the ns of a measure of each rank between edges, and all that it could be.

    A digest knows how much of a class there is between two boundaries, not where: it is spread evenly there.
    Waits are exact.

    Args:
        edges: int64[columns + 1], aligned ns.
        missing_waits: as of `measure_by_step`.

    Returns:
        Two of int64[rows, columns]. The second is the part of the column in which the rank was recorded, of
        COST that of all other ranks.
    """
    shape = len(job.ranks) + len(missing_waits), len(edges) - 1
    whole, ns = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for place, rank in enumerate(job.ranks):
        offset = int(job.clocks.offset[place])
        recorded = np.array(_recorded_span(rank), np.int64) - offset
        parts = parts_in_columns(recorded[:1], recorded[1:], edges)
        np.add.at(whole[place], parts.column, parts.ns)
        if measure in _CLASSES:
            split = classes_by_time(rank, offset, edges)
            ns[place] = np.rint(split[list(_CLASSES[measure])].sum(axis=0)).astype(np.int64)
    if measure not in _CLASSES:
        waits = job.waits
        rows = _row_of_waits(job, measure, missing_waits)
        (counted,) = np.nonzero((rows >= 0) & (waits.wait_ns > 0))
        arrival = waits.arrival[counted]
        parts = parts_in_columns(arrival, arrival + waits.wait_ns[counted], edges)
        np.add.at(ns, (rows[counted][parts.interval], parts.column), parts.ns)
    if measure is GridMeasure.COST:
        whole = _time_of_others(whole, ns, len(job.ranks))
    return ns, whole


class JobLanes:
    """What the ranks of a job did over time, by their places."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def classes(self, place: int, edges: Int64s) -> Floats:
        """Return the ns of each class of time of a rank between aligned edges, float64[classes, columns]."""
        return classes_by_time(self._job.ranks[place], int(self._job.clocks.offset[place]), edges)


def classes_by_time(rank: Rank, offset_ns: int, edges: Int64s) -> Floats:
    """Return the ns of each class of time of a rank between edges, spread evenly between boundaries.

    Args:
        offset_ns: the clock of the rank minus that of the edges.
        edges: int64[columns + 1], aligned ns.

    Returns:
        float64[classes, columns].
    """
    digest = rank.digest
    ns_by_class = np.zeros((len(TimeClass), len(edges) - 1))
    origin = int(edges[0])  # float64 does not hold epoch ns
    bounds, edges = digest.boundaries - offset_ns - origin, edges - origin
    if len(bounds) < 2 or not len(digest.cells):
        return ns_by_class
    table = np.zeros((len(TimeClass), len(bounds) - 1), np.int64)
    np.add.at(table, (digest.keys.time_class[digest.cells.key], digest.cells.segment), digest.cells.ns)
    before = np.concatenate((np.zeros((len(TimeClass), 1)), np.cumsum(table, axis=1)), axis=1)
    for time_class in TimeClass:
        ns_by_class[time_class] = np.diff(np.interp(edges, bounds, before[time_class]))
    return ns_by_class


def job_span(job: Job) -> tuple[int, int]:
    """Return when the first rank was first recorded, and the last one last, aligned ns."""
    offset = job.clocks.offset.tolist()
    ends = [
        (start - ahead, end - ahead) for (start, end), ahead in zip(map(_recorded_span, job.ranks), offset)
    ]
    first = min(start for start, _ in ends)
    return first, max(max(end for _, end in ends), first + 1)


def _recorded_span(rank: Rank) -> tuple[int, int]:
    """Return from when to when a rank is known, on its clock."""
    digest = rank.digest
    if not len(digest.boundaries):
        return digest.start, digest.end
    return int(digest.boundaries[0]), int(digest.boundaries[-1])
