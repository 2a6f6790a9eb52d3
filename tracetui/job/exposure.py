"""The time in which ranks did nothing but wait in a collective: it is passed on to what made others late.

In each segment of a rank, all exposed communication is of the operation that began last. Of it, waits are
what the planes say; without planes, what lies before the arrival of the late rank, in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

import numpy as np

from tracetui.analysis.idle.pieces import last_begun
from tracetui.arrays import Floats, Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import DigestLine, TimeClass
from tracetui.job.legs import first_segments
from tracetui.job.waits import JobWaits

#: The kind of exposed communication that is not passed on, waits among it, as the JSON of a job calls it.
KEPT_COMMUNICATION = "transfer"
#: The same where nothing tells whether the rank waited or moved data: only some of `TimeClass.UNSPLIT` is.
UNSPLIT_COMMUNICATION = "unsplit"
_COMMUNICATION = (TimeClass.WAIT, TimeClass.TRANSFER, TimeClass.UNSPLIT)
_NAMES = {
    TimeClass.COMPUTING: "computing",
    **dict.fromkeys(_COMMUNICATION, KEPT_COMMUNICATION),
    TimeClass.COPY: "copy",
    TimeClass.IDLE: "idle",
}
RootKey = tuple[str, str, Optional[DigestLine]]  #: kind, reason and line
_IS_OWN_TIME = np.array([time_class not in _COMMUNICATION for time_class in TimeClass], np.bool_)


@dataclass(frozen=True, eq=False)
class TimedCells:
    """Time by segment and key, like `TimeCells`, but in fractions of ns."""

    segment: Int64s
    key: Int64s
    ns: Floats


@dataclass(frozen=True, eq=False)
class Exposure:
    """The exposed communication in each segment of all ranks, one after the other."""

    passed_on: Floats  #: ns of it in which the rank only waited, as far as that is known
    unsplit: Floats  #: ns of it beside that, without planes, in operations whose waits are lower bounds
    kept: Floats  #: ns of the rest
    wait_place: Int64s  #: place among the waits of that in which it waited, -1 where nothing is passed on
    segments: Int64s  #: of each rank the place of its first segment, then how many there are

    def exposed_ns(self, waits: JobWaits) -> Int64s:
        """Return the ns of each wait in which the rank did nothing else."""
        waited = np.flatnonzero(self.wait_place >= 0)
        ns = np.bincount(self.wait_place[waited], self.passed_on[waited], len(waits))
        return np.minimum(np.rint(ns).astype(np.int64), waits.wait_ns)

    def own_time(self, ranks: tuple[Rank, ...], place: int) -> tuple[list[RootKey], TimedCells]:
        """Return what a rank did itself, and how much of it in each segment.

        That is all but what is passed on.
        """
        digest = ranks[place].digest
        keys, cells = digest.keys, digest.cells
        root_keys: list[RootKey] = [
            (
                _NAMES[TimeClass(time_class)],
                digest.text(reason),
                digest.lines[line] if line >= 0 else None,
            )
            for time_class, reason, line in zip(
                keys.time_class.tolist(), keys.reason.tolist(), keys.line.tolist()
            )
        ]
        is_own_time = _IS_OWN_TIME[keys.time_class[cells.key]]
        segments = slice(int(self.segments[place]), int(self.segments[place + 1]))
        rest = np.stack((self.kept[segments], self.unsplit[segments]))
        rest_kind, rest_segment = np.nonzero(rest)
        rest_keys: list[RootKey] = [(KEPT_COMMUNICATION, "", None), (UNSPLIT_COMMUNICATION, "", None)]
        return [*root_keys, *rest_keys], TimedCells(
            np.concatenate((cells.segment[is_own_time], rest_segment)),
            np.concatenate((cells.key[is_own_time], len(root_keys) + rest_kind)),
            np.concatenate((cells.ns[is_own_time].astype(np.float64), rest[rest_kind, rest_segment])),
        )


def find_exposure(ranks: tuple[Rank, ...], waits: JobWaits) -> Exposure:
    """Return the exposed communication of all ranks."""
    segments = first_segments(ranks)
    count = int(segments[-1])
    passed_on, kept, unsplit = np.zeros((3, count), np.float64)
    wait_place = np.full(count, -1, np.int64)
    waits_by_rank = _waits_of_collectives(ranks, waits)
    waits_ns, lower_bounds = np.append(waits.wait_ns, 0), np.append(waits.lower_bound, 0)
    for place, rank in enumerate(ranks):
        segment_range = slice(int(segments[place]), int(segments[place + 1]))
        columns = _rank_exposure(rank, waits_ns, lower_bounds, waits_by_rank[place])
        for column, values in zip((passed_on, kept, unsplit, wait_place), columns):
            column[segment_range] = values
    return Exposure(passed_on, unsplit, kept, wait_place, segments)


def _waits_of_collectives(ranks: tuple[Rank, ...], waits: JobWaits) -> list[Int64s]:
    """Return, for each rank, int64[collectives]: the place of each one's wait among the waits of the job."""
    waits_by_rank = [np.full(len(rank.collectives), -1, np.int64) for rank in ranks]
    order = np.argsort(waits.rank_place, kind="stable")
    bounds = np.searchsorted(waits.rank_place[order], np.arange(len(ranks) + 1))
    for place, places in enumerate(waits_by_rank):
        waits_of_rank = order[bounds[place] : bounds[place + 1]]
        places[waits.collective[waits_of_rank]] = waits_of_rank
    return waits_by_rank


def _rank_exposure(
    rank: Rank, waits_ns: Int64s, lower_bounds: Int64s, wait_of_collective: Int64s
) -> tuple[Floats, Floats, Floats, Int64s]:
    """Return, for each segment, the ns passed on, kept and unsplit, and the wait they are passed on to.

    `waits_ns`, `lower_bounds`: of the waits of the job, with a 0 after them.
    """
    digest, collectives = rank.digest, rank.collectives
    bounds = digest.boundaries
    ns_by_class = np.zeros((len(TimeClass), len(bounds)), np.float64)
    classes = digest.keys.time_class[digest.cells.key]
    np.add.at(ns_by_class, (classes, digest.cells.segment), digest.cells.ns)
    # Columns end in what counts where there is nothing: a place of -1 leads there.
    owned = last_begun(collectives.start, collectives.end)
    owned_place = np.searchsorted(owned.start, bounds, "right") - 1
    is_owned = bounds < np.append(owned.end, np.iinfo(np.int64).min)[owned_place]
    owner = np.where(is_owned, np.append(owned.place, -1)[owned_place], -1)
    wait_place = np.append(wait_of_collective, -1)[owner]
    wait_ns, is_lower_bound = waits_ns[wait_place], lower_bounds[wait_place] == 1
    wait_place = np.where(wait_ns > 0, wait_place, -1)
    length = np.diff(bounds, append=bounds[-1:])
    start = np.append(collectives.start, 0)[owner]
    before = np.clip(start + wait_ns - bounds, 0, length) / np.maximum(length, 1)
    known_wait = np.where(wait_place >= 0, ns_by_class[TimeClass.WAIT], 0.0)
    waited = np.where(wait_place >= 0, ns_by_class[TimeClass.UNSPLIT] * before, 0.0)
    passed_on = known_wait + waited
    unsplit = np.where(is_lower_bound, ns_by_class[TimeClass.UNSPLIT] - waited, 0.0)
    kept = ns_by_class[list(_COMMUNICATION)].sum(axis=0) - passed_on - unsplit
    return passed_on, kept, unsplit, np.where(passed_on > 0, wait_place, -1)
