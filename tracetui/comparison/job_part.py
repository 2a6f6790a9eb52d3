"""What is compared of two jobs beside a mean rank: each rank, and why ranks waited for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tracetui.comparison.compared_row import ComparedRow
from tracetui.trace.stack import Frame

#: Kinds of roots that tell no reason: no trace is there, its clock is not aligned, no collective matches.
INCOMPARABLE_KINDS = "absent", "unaligned", "unmatched"


@dataclass(frozen=True)
class ComparedRank(ComparedRow):
    """The mean step of a rank that both jobs have."""

    rank: int
    waterfall: tuple[ComparedRow, ...]  #: what the step went into


@dataclass(frozen=True)
class ComparedRoot(ComparedRow):
    """What a rank did longer than those that waited for it: what all of them lost by it in a step."""

    rank: int | None  #: None: a missing rank whose number is not known
    kind: str  #: as of `tracetui.job.roots.Root`
    reason: str  #: of idle time its cause, of computing the type of operator; "" of others
    frame: Frame | None  #: the line, by its place in OTHER where it is there
    backward: bool
    base_line: int | None  #: its number in BASE


class ShiftedClock(NamedTuple):
    """A clock that is so far off that its times are shifted."""

    rank: int
    ahead_ns: int  #: of the clock of `reference`
    reference: int


class SequenceDifference(NamedTuple):
    """Where a rank ran other collectives than the others of its group; names as written in the trace."""

    rank: int
    group: str
    position: int  #: in the sequence of the step, from 0
    step: int  #: number, -1 where none
    ran: str  #: what it ran, "" nothing
    elsewhere: str  #: what the other ranks ran


@dataclass(frozen=True)
class JobDoubts:
    """What must be known to read the numbers of a job; `tracetui.job.doubts` finds it."""

    remarks: tuple[str, ...]  #: what was found when the ranks were read, in sentences without full stop
    unbelieved_worlds: tuple[int, ...]  #: numbers of ranks that a trace tells and no job has
    profiler_levels: tuple[str, ...]  #: as written in the traces; empty where all are the same
    unaligned: tuple[int, ...]  #: ranks that have no collective in common with the lowest one
    lowest: int  #: the number of the lowest rank
    shifted: tuple[ShiftedClock, ...]
    differences: tuple[SequenceDifference, ...]
    strangers: int  #: collectives of like sequence that do not end together
    is_split: bool  #: there are sets of ranks that are not aligned with each other
    disagreeing: int  #: collectives in which planes and clocks name different late ranks
    residual_ns: int | None  #: how far off aligned clocks may be; None: not known
    lower_bounds: int  #: collectives without planes of whose groups ranks may be missing
    without_peer: int  #: sends and receives of which nothing tells whom they are with


@dataclass(frozen=True)
class JobPart:
    """What is compared of two jobs beside a mean rank."""

    ranks: tuple[ComparedRank, ...]  #: those first that changed most
    waits: ComparedRow  #: what all ranks together lose in a step by waiting for each other
    roots: tuple[ComparedRoot, ...]  #: why; they sum to it; those first that changed most
    doubts: tuple[JobDoubts, JobDoubts]  #: of BASE and of OTHER
    unshared: tuple[tuple[int, ...], tuple[int, ...]]  #: the ranks that only BASE has, and only OTHER
