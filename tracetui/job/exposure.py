"""When ranks did nothing but wait in a collective, as the whole job tells: what of their time is passed on.

In each segment of a rank, all exposed communication is of the operation that began last. Of it, waits are
what the planes say; without planes, what lies before the arrival of the late rank, in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracetui.analysis.communication.owners import last_begun
from tracetui.arrays import Floats, Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import Line, TimeClass
from tracetui.job.stretches import first_segments
from tracetui.job.waits import JobWaits

_NAMES = {
    TimeClass.COMPUTING: "computing",
    TimeClass.WAIT: "transfer",
    TimeClass.TRANSFER: "transfer",
    TimeClass.UNSPLIT: "transfer",
    TimeClass.COPY: "copy",
    TimeClass.IDLE: "idle",
}
_COMMUNICATION = (TimeClass.WAIT, TimeClass.TRANSFER, TimeClass.UNSPLIT)
_KEPT = np.array([each not in _COMMUNICATION for each in TimeClass], np.bool_)


@dataclass(frozen=True, eq=False)
class TimedCells:
    """How much time of each key there is in segments, as of `Cells`, in fractions of ns."""

    segment: Int64s
    key: Int64s
    ns: Floats


@dataclass(frozen=True, eq=False)
class Exposure:
    """The exposed communication in each segment of all ranks, one after the other."""

    waited: Floats  #: ns of it that are passed on
    moved: Floats  #: ns of the rest
    wait: Int64s  #: place among the waits of that in which it waited, -1 where nothing is passed on
    segments: Int64s  #: of each rank the place of its first segment, then how many there are

    def cells(
        self, ranks: tuple[Rank, ...], place: int
    ) -> tuple[list[tuple[str, str, Line | None]], TimedCells]:
        """Return kind, reason and line of what a rank did itself, and how much of it in each segment."""
        digest = ranks[place].digest
        keys, cells = digest.keys, digest.cells
        told = [
            (
                _NAMES[TimeClass(time_class)],
                digest.text(reason),
                digest.lines[line] if line >= 0 else None,
            )
            for time_class, reason, line in zip(
                keys.time_class.tolist(), keys.reason.tolist(), keys.line.tolist()
            )
        ]
        kept = _KEPT[keys.time_class[cells.key]]
        moved = self.moved[self.segments[place] : self.segments[place + 1]]
        (where,) = np.nonzero(moved)
        return [*told, ("transfer", "", None)], TimedCells(
            np.concatenate((cells.segment[kept], where)),
            np.concatenate((cells.key[kept], np.full(len(where), len(told), np.int64))),
            np.concatenate((cells.ns[kept].astype(np.float64), moved[where])),
        )


def exposure(ranks: tuple[Rank, ...], waits: JobWaits) -> Exposure:
    """Return the exposed communication of all ranks."""
    segments = first_segments(ranks)
    count = int(segments[-1])
    waited, moved = np.zeros(count, np.float64), np.zeros(count, np.float64)
    wait = np.full(count, -1, np.int64)
    of_rank = _waits_by_place(ranks, waits)
    for place, rank in enumerate(ranks):
        own = slice(int(segments[place]), int(segments[place + 1]))
        waited[own], moved[own], wait[own] = _of_rank(rank, waits, of_rank[place])
    return Exposure(waited, moved, wait, segments)


def _waits_by_place(ranks: tuple[Rank, ...], waits: JobWaits) -> list[Int64s]:
    """Of each rank the place among the waits of each of its collectives."""
    found = [np.full(len(rank.collectives), -1, np.int64) for rank in ranks]
    order = np.argsort(waits.rank, kind="stable")
    bounds = np.searchsorted(waits.rank[order], np.arange(len(ranks) + 1))
    for place, places in enumerate(found):
        own = order[bounds[place] : bounds[place + 1]]
        places[waits.place[own]] = own
    return found


def _of_rank(rank: Rank, waits: JobWaits, of_collective: Int64s) -> tuple[Floats, Floats, Int64s]:
    """What is passed on, what is not, and to which wait, in each segment; the last is after all."""
    digest, own = rank.digest, rank.collectives
    bounds = digest.boundaries
    parts = np.zeros((len(TimeClass), len(bounds)), np.float64)
    classes = digest.keys.time_class[digest.cells.key]
    np.add.at(parts, (classes, digest.cells.segment), digest.cells.ns)
    owner = np.full(len(bounds), -1, np.int64)
    owned = last_begun(own.start, own.end)
    at = np.searchsorted(owned.start, bounds, "right") - 1
    held = (at >= 0) & (bounds < owned.end[at]) if len(owned.end) else np.zeros(len(bounds), np.bool_)
    owner[held] = owned.place[at[held]]
    wait = np.where(owner >= 0, of_collective[owner], -1) if len(own) else owner
    wait_ns = np.where(wait >= 0, waits.wait[wait], 0) if len(waits) else np.zeros(len(bounds), np.int64)
    wait = np.where(wait_ns > 0, wait, -1)
    length = np.diff(bounds, append=bounds[-1:])
    start = np.where(owner >= 0, own.start[owner], 0) if len(own) else np.zeros(len(bounds), np.int64)
    before = np.clip(start + wait_ns - bounds, 0, length) / np.maximum(length, 1)
    told = np.where(wait >= 0, parts[TimeClass.WAIT], 0.0)
    passed = told + np.where(wait >= 0, parts[TimeClass.UNSPLIT] * before, 0.0)
    rest = parts[TimeClass.WAIT] + parts[TimeClass.UNSPLIT] + parts[TimeClass.TRANSFER] - passed
    return passed, rest, np.where(passed > 0, wait, -1)
