"""The legs that explain waits: from when two ranks were last together until each arrived."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.job.channels import Rank
from tracetui.job.clocks import Clocks
from tracetui.job.last_together import late_collectives, values_at
from tracetui.job.waits import JobWaits


@dataclass(frozen=True, eq=False)
class Legs:
    """The two legs of each wait for a rank that is here, one of either rank, as columns of equal length.

    A leg lies between two boundaries of the rank's digest, given as their places.
    """

    wait_place: Int64s  #: place among the waits
    rank_place: Int64s  #: place in the job of the rank that waited
    waiting_first: Int64s  #: boundary at which its leg begins
    waiting_stop: Int64s  #: boundary at which it starts the operation
    late_place: Int64s  #: place in the job of the rank that was late
    late_first: Int64s  #: boundary at which its leg begins
    late_stop: Int64s  #: boundary at which it starts the operation
    start_delay_ns: Int64s  #: ns by which the late rank's leg begins later, on aligned clocks
    share: Floats  #: the wait / how much later the late rank came: below 1 if the wait had ended before
    from_shared_operation: Bools  #: both begin at the end of an operation of both ranks
    from_step: Bools  #: both begin at the start of the step; without either, at that of the recording
    segments: Int64s  #: first segment of each rank among those of all ranks, then how many there are

    def at(self, selected: Bools) -> Legs:
        """Return the rows that are selected, bool[legs]."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        segments = columns.pop("segments")
        return Legs(**{name: column[selected] for name, column in columns.items()}, segments=segments)


def first_segments(ranks: tuple[Rank, ...]) -> Int64s:
    """Return the first segment of each rank among those of all, then their count: one for each boundary."""
    return np.concatenate(([0], np.cumsum([len(rank.digest.boundaries) for rank in ranks]))).astype(np.int64)


def find_legs(
    ranks: tuple[Rank, ...], clocks: Clocks, waits: JobWaits, last_place: Int64s, late_last_place: Int64s
) -> Legs:
    """Return the legs of all waits for ranks that are here.

    Args:
        ranks: those of the job.
        clocks: how far the clocks of the ranks are apart.
        waits: all waits of the job.
        last_place: int64[waits]: among the collectives of the rank that waited, the place of the last
            operation of both ranks; -1 without one.
        late_last_place: int64[waits]: the same among those of the late rank.
    """
    place = np.flatnonzero((waits.late_place >= 0) & (waits.wait_ns > 0))
    rank, late = waits.rank_place[place], waits.late_place[place]
    collective, late_collective = waits.collective[place], late_collectives(waits)[place]
    is_shared = last_place[place] >= 0
    starts, ends = ([getattr(one, name) for one in ranks] for name in ("start_boundary", "end_boundary"))
    stop, late_stop = values_at(starts, rank, collective), values_at(starts, late, late_collective)
    first = np.where(is_shared, values_at(ends, rank, np.maximum(last_place[place], 0)), 0)
    late_first = np.where(is_shared, values_at(ends, late, np.maximum(late_last_place[place], 0)), 0)
    step_based = np.flatnonzero(~is_shared)
    step_first = _step_boundaries(ranks, rank[step_based], waits.step[place[step_based]])
    late_step_first = _step_boundaries(ranks, late[step_based], waits.step[place[step_based]])
    known = (
        (step_first >= 0)
        & (late_step_first >= 0)
        & (step_first <= stop[step_based])
        & (late_step_first <= late_stop[step_based])
    )
    first[step_based] = np.where(known, step_first, 0)
    late_first[step_based] = np.where(known, late_step_first, 0)
    from_step = np.zeros(len(place), np.bool_)
    from_step[step_based] = known
    segments = first_segments(ranks)
    times = np.concatenate([rank.digest.boundaries for rank in ranks])
    offset, late_offset = clocks.offset[rank], clocks.offset[late]
    begins = times[segments[rank] + first] - offset
    late_begins = times[segments[late] + late_first] - late_offset
    later_ns = (times[segments[late] + late_stop] - late_offset) - (times[segments[rank] + stop] - offset)
    return Legs(
        wait_place=place,
        rank_place=rank,
        waiting_first=first,
        waiting_stop=stop,
        late_place=late,
        late_first=late_first,
        late_stop=late_stop,
        start_delay_ns=late_begins - begins,
        share=waits.wait_ns[place] / later_ns,
        from_shared_operation=is_shared,
        from_step=from_step,
        segments=segments,
    )


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
