"""What is compared of two jobs beside a mean rank: each rank, and why ranks waited for each other."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.comparison.rows import ComparedRow
from tracetui.trace.stack import Frame


@dataclass(frozen=True)
class ComparedRank(ComparedRow):
    """The mean step of a rank that both jobs have."""

    rank: int
    waterfall: tuple[ComparedRow, ...]  #: what the step went into


@dataclass(frozen=True)
class ComparedRoot(ComparedRow):
    """What a rank did longer than those that waited for it: what all of them lost by it in a step.

    Below 0: it did less of it than they.
    """

    rank: int | None  #: None: a missing rank whose number is not known
    kind: str  #: as of `tracetui.job.roots.Root`
    reason: str  #: of idle time its cause, of computing the type of operator; "" of others
    frame: Frame | None  #: the line, by its place in OTHER where it is there
    backward: bool
    base_line: int | None  #: its number in BASE


@dataclass(frozen=True)
class JobPart:
    """What is compared of two jobs beside a mean rank."""

    ranks: tuple[ComparedRank, ...]  #: those first that changed most
    waits: ComparedRow  #: what all ranks together lose in a step by waiting for each other
    roots: tuple[ComparedRoot, ...]  #: why; they sum to it; those first that changed most
