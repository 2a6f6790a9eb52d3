"""The stretches of time that explain waits: from when two ranks were last together until each arrived."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.waits import Waits


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


def since(ranks: tuple[Rank, ...], clocks: Clocks, waits: Waits, mine: Int64s, theirs: Int64s) -> Stretches:
    """Return the stretches of all waits for ranks that are here.

    Args:
        ranks: of the job.
        clocks: of the ranks.
        waits: of the ranks.
        mine: of each wait the place, among the collectives of the rank that waited, of the last operation of
            both, -1 without one.
        theirs: the same on the late rank.
    """
    of_late = np.full(int(waits.operation.max(initial=-1)) + 1, -1, np.int64)
    themselves = waits.rank == waits.late
    of_late[waits.operation[themselves]] = waits.place[themselves]
    place = np.flatnonzero((waits.late >= 0) & (waits.late != waits.rank) & (waits.wait > 0))
    rank, late = waits.rank[place], waits.late[place]
    own, others = waits.place[place], of_late[waits.operation[place]]
    together = mine[place] >= 0
    stop, late_stop = _boundary(ranks, rank, own, False), _boundary(ranks, late, others, False)
    first = np.where(together, _boundary(ranks, rank, mine[place], True), 0)
    late_first = np.where(together, _boundary(ranks, late, theirs[place], True), 0)
    alone = np.flatnonzero(~together)
    of_step = _step_boundaries(ranks, rank[alone], waits.step[place[alone]])
    late_of_step = _step_boundaries(ranks, late[alone], waits.step[place[alone]])
    told = (
        (of_step >= 0) & (late_of_step >= 0) & (of_step <= stop[alone]) & (late_of_step <= late_stop[alone])
    )
    first[alone] = np.where(told, of_step, 0)
    late_first[alone] = np.where(told, late_of_step, 0)
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


def _boundary(ranks: tuple[Rank, ...], rank: Int64s, place: Int64s, end: bool) -> Int64s:
    """The boundary of the start or end of collectives; of place -1 any."""
    columns = [each.end_boundary if end else each.start_boundary for each in ranks]
    first = np.concatenate(([0], np.cumsum([len(column) for column in columns])[:-1]))
    found: Int64s = np.concatenate(columns)[first[rank] + np.maximum(place, 0)]
    return found


def _step_boundaries(ranks: tuple[Rank, ...], rank: Int64s, number: Int64s) -> Int64s:
    """The boundary of the host's start of a step on each rank, -1 where the rank has no such step."""
    found = np.full(len(rank), -1, np.int64)
    for place in np.unique(rank).tolist():
        digest, (own,) = ranks[place].digest, np.nonzero(rank == place)
        order = np.argsort(digest.steps.number, kind="stable")
        at = np.searchsorted(digest.steps.number[order], number[own])
        held = at < len(order)
        held[held] = digest.steps.number[order[at[held]]] == number[own][held]
        starts = digest.steps.host_start[order[at[held]]]
        boundary = np.searchsorted(digest.boundaries, starts)
        exact = boundary < len(digest.boundaries)
        exact[exact] = digest.boundaries[boundary[exact]] == starts[exact]
        found[own[held]] = np.where(exact, boundary, -1)
    return found
