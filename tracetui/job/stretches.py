"""The stretches of time that explain waits: from when two ranks were last together until each arrived."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.waits import JobWaits


@dataclass(frozen=True, eq=False)
class Stretches:
    """Of each wait for a rank that is here, the stretch of both ranks; columns of equal length."""

    wait: Int64s  #: place among the waits
    first: Int64s  #: boundary of the rank that waited, from where
    stop: Int64s  #: its boundary at the start of the operation
    late_first: Int64s  #: boundary of the late rank, from where
    late_stop: Int64s  #: its boundary at the start of the operation
    apart: Int64s  #: ns by which the late rank's stretch begins later, on aligned clocks
    together: Bools  #: from an operation of both; else from the start of the step
    segments: Int64s  #: of each rank its first segment among those of all ranks, then how many there are
    rank: Int64s  #: place in the job of the rank that waited
    late: Int64s  #: place in the job of the late rank


def first_segments(ranks: tuple[Rank, ...]) -> Int64s:
    """Return the first segment of each rank among those of all, and how many there are: one a boundary."""
    return np.concatenate(([0], np.cumsum([len(rank.digest.boundaries) for rank in ranks]))).astype(np.int64)


def stretches_of(
    ranks: tuple[Rank, ...], clocks: Clocks, waits: JobWaits, last_place: Int64s, late_last_place: Int64s
) -> Stretches:
    """Return the stretches of all waits for ranks that are here.

    Args:
        ranks: those of the job.
        clocks: how far the clocks of the ranks are apart.
        waits: all waits of the job.
        last_place: int64[waits]: among the collectives of the rank that waited, the place of the last
            operation of both ranks; -1 without one.
        late_last_place: int64[waits]: the same among those of the late rank.
    """
    late_places = np.full(int(waits.operation.max(initial=-1)) + 1, -1, np.int64)
    is_late_rank = waits.rank == waits.late
    late_places[waits.operation[is_late_rank]] = waits.place[is_late_rank]
    place = np.flatnonzero((waits.late >= 0) & (waits.late != waits.rank) & (waits.wait > 0))
    rank, late = waits.rank[place], waits.late[place]
    collective, late_collective = waits.place[place], late_places[waits.operation[place]]
    together = last_place[place] >= 0
    stop, late_stop = (
        _collective_boundaries(ranks, rank, collective, False),
        _collective_boundaries(ranks, late, late_collective, False),
    )
    first = np.where(together, _collective_boundaries(ranks, rank, last_place[place], True), 0)
    late_first = np.where(together, _collective_boundaries(ranks, late, late_last_place[place], True), 0)
    alone = np.flatnonzero(~together)
    step_first = _step_boundaries(ranks, rank[alone], waits.step[place[alone]])
    late_step_first = _step_boundaries(ranks, late[alone], waits.step[place[alone]])
    known = (
        (step_first >= 0)
        & (late_step_first >= 0)
        & (step_first <= stop[alone])
        & (late_step_first <= late_stop[alone])
    )
    first[alone] = np.where(known, step_first, 0)
    late_first[alone] = np.where(known, late_step_first, 0)
    segments = first_segments(ranks)
    times = np.concatenate([rank.digest.boundaries for rank in ranks])
    begins = times[segments[rank] + first] - clocks.offset[rank]
    late_begins = times[segments[late] + late_first] - clocks.offset[late]
    return Stretches(
        wait=place,
        first=first,
        stop=stop,
        late_first=late_first,
        late_stop=late_stop,
        apart=late_begins - begins,
        together=together,
        segments=segments,
        rank=rank,
        late=late,
    )


def _collective_boundaries(ranks: tuple[Rank, ...], rank: Int64s, place: Int64s, end: bool) -> Int64s:
    """Return the boundary at the start, or `end`, of collectives; of place -1 any."""
    columns = [rank_of_job.end_boundary if end else rank_of_job.start_boundary for rank_of_job in ranks]
    first = np.concatenate(([0], np.cumsum([len(column) for column in columns])[:-1]))
    boundaries: Int64s = np.concatenate(columns)[first[rank] + np.maximum(place, 0)]
    return boundaries


def _step_boundaries(ranks: tuple[Rank, ...], rank: Int64s, number: Int64s) -> Int64s:
    """Return the boundary of the host's start of a step on each rank, -1 where the rank has no such step."""
    boundaries = np.full(len(rank), -1, np.int64)
    for place in np.unique(rank).tolist():
        digest, (rows,) = ranks[place].digest, np.nonzero(rank == place)
        order = np.argsort(digest.steps.number, kind="stable")
        sorted_places = np.searchsorted(digest.steps.number[order], number[rows])
        is_there = sorted_places < len(order)
        is_there[is_there] = digest.steps.number[order[sorted_places[is_there]]] == number[rows][is_there]
        starts = digest.steps.host_start[order[sorted_places[is_there]]]
        boundary = np.searchsorted(digest.boundaries, starts)
        exact = boundary < len(digest.boundaries)
        exact[exact] = digest.boundaries[boundary[exact]] == starts[exact]
        boundaries[rows[is_there]] = np.where(exact, boundary, -1)
    return boundaries
