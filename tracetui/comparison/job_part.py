"""What is compared of two jobs beside a mean rank: each rank, and why ranks waited for each other."""

from __future__ import annotations

from dataclasses import dataclass

from tracetui.comparison.rows import ComparedRow
from tracetui.language import tell, wording
from tracetui.trace.stack import Frame, path_end


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


def cause_words(label: str) -> str:
    """Return the label of a cause, "host.dataloader"; with its name in a language that has one."""
    name = wording(label)
    return label if name == label else tell("{cause} ({label})", cause=name, label=label)


def reason_words(kind: str, reason: str) -> str:
    """Return "idle, host.dataloader", "computing MatMul", "began the step later"; as written in the trace."""
    if kind == "idle":
        return tell("idle, {cause}", cause=cause_words(reason)) if reason else tell("idle")
    if kind == "computing":
        return tell("computing {type}", type=reason) if reason else tell("computing others")
    return tell(_KINDS[kind])


_KINDS = {
    "copy": "copying",
    "transfer": "moving",
    "clock": "difference of clocks",
    "step": "began the step later",
    "absent": "not known: its trace is missing",
    "unaligned": "not known: its clock is not aligned",
}


def root_words(row: ComparedRoot) -> str:
    """Return "rank 2, host.dataloader at hybrid/train.py(12)"; as written in the trace."""
    rank = tell("a missing rank") if row.rank is None else tell("rank {number}", number=row.rank)
    if row.kind == "idle" and row.reason:
        why = cause_words(row.reason)
    else:
        why = reason_words(row.kind, row.reason)
    if row.frame is None:
        return tell("{rank}, {why}", rank=rank, why=why)
    file, line, function = row.frame
    at = f"{path_end(file)}({line})" if file else function
    told = "{rank}, {why} at {line} (backward)" if row.backward else "{rank}, {why} at {line}"
    return tell(told, rank=rank, why=why, line=at)


@dataclass(frozen=True)
class JobPart:
    """What is compared of two jobs beside a mean rank."""

    ranks: tuple[ComparedRank, ...]  #: those first that changed most
    waits: ComparedRow  #: what all ranks together lose in a step by waiting for each other
    roots: tuple[ComparedRoot, ...]  #: why; they sum to it; those first that changed most
