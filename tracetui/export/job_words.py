"""A job in sentences: what is there, who was late, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tracetui.compare.job_part import reason_words
from tracetui.export.ranks import group_words
from tracetui.export.words import line_name
from tracetui.job.digest import Line
from tracetui.job.job import Job
from tracetui.job.late import LateRank, late_once
from tracetui.job.lines import JobLine
from tracetui.job.roots import MISSING, UNALIGNED, Root, Roots
from tracetui.job.tables import RankRow
from tracetui.job.waits import Waits
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration, format_percent

#: Percent of the time of a job below which no rank is blamed.
WORTH = 1
_MOST = 3  #: ranks that the verdict names
_NUMBERED = 3  #: ranks that are called by their numbers


def head_words(job: Job, step: int | None = None) -> str:
    """ "2 of 8 ranks, step 50, 4 collectives in common, clocks aligned within 550 ns" """
    here, world = len(job.ranks), job.world
    ranks = f"{format_count(here)} of {format_count(world)} ranks" if world else _counted(here, "rank")
    steps = f"step {step}" if step is not None else _steps(job)
    common = f"{_counted(job.matched, 'collective')} in common" if here > 1 else ""
    within = format_duration(job.clocks.residual_ns)
    parts = job.clocks.parts
    apart = f" in {format_count(parts)} parts" if parts > 1 else ""
    clocks = f"clocks aligned within {within}{apart}" if job.clocks.sights else ""
    return ", ".join(filter(None, (ranks, steps, common, clocks)))


def job_time(rows: tuple[RankRow, ...]) -> int:
    """Return the rank-nanoseconds of the steps (windows, without any) of all ranks."""
    return sum((row.mean("stage") or 0) * max(row.steps, 1) for row in rows)


def verdict(
    job: Job, rows: tuple[RankRow, ...], roots: Roots, waits: Waits, unread: frozenset[int] = frozenset()
) -> Iterator[str]:
    """Yield the sentences of what the ranks lost by waiting for each other, and by whose doing.

    `unread`: numbers of ranks that are there and not read.
    """
    whole = job_time(rows)
    total = roots.total_ns
    if not total:
        yield "No rank waits for another one."
        return
    share = format_percent(total, whole)
    bound = ", at least" if job.missing or job.clocks.parts > 1 else ""
    yield (f"Waiting for each other took the ranks {format_duration(total)}{bound}: {share} of their time.")
    blamed = [late for late in late_once(job, waits) if late.lost_ns * 100 >= whole * WORTH]
    for late in blamed[:_MOST]:
        yield _blame(late, _own_waits(job, waits, late), roots, unread)
    more = len(blamed) - _MOST
    if more > 0:
        each = " each" if more > 1 else ""
        yield f"{_counted(more, 'more rank')} cost the others at least {WORTH} % of their time{each}."
    if not blamed:
        yield f"No rank cost the others {WORTH} % of their time."


def late_words(late: LateRank, unread: frozenset[int] = frozenset()) -> str:
    """ "rank 5", "peer 5 of group 271 (missing)"; as written in the trace: never print it unescaped.

    `unread`: numbers of ranks that are there and not read, which are not missing.
    """
    state = absent_state(late, unread)
    if late.rank is not None:
        return f"rank {late.rank}" + (f" ({state})" if late.missing else "")
    if late.group_rank < 0:
        return f"a rank of {group_words(late.group, late.name)} ({state})"
    return f"peer {late.group_rank} of {group_words(late.group, late.name)} ({state})"


def absent_state(late: LateRank, unread: frozenset[int]) -> str:
    """ "missing", or "not read" where its trace may be one of those that are there.

    Ranks whose numbers are not known may be any of those that are not known, -1 among the numbers.
    """
    return "not read" if _maybe(late.rank, unread) else "missing"


def _maybe(rank: int | None, unread: frozenset[int]) -> bool:
    return bool(unread if rank is None else {rank, -1} & unread)


def root_rank(root: Root) -> str:
    """ "5", "-" of a missing rank whose number is not known."""
    return "-" if root.rank is None else str(root.rank)


def root_words(root: Root, unread: frozenset[int] = frozenset()) -> str:
    """ "idle, host.dataloader", "computing MatMul"; as written in the trace: never print it unescaped.

    `unread`: numbers of ranks that are there and not read, which are not missing.
    """
    if root.kind == MISSING and _maybe(root.rank, unread):
        return "not known: its trace is not read"
    return reason_words(root.kind, root.reason)


def root_line(root: Root) -> str:
    """ "data.py(70) __iter__", "" without a line; as written in the trace: never print it unescaped."""
    return "" if root.line is None else line_words(root.line)


def short_line(line: Line | None) -> str:
    """ "hybrid/train.py(65) train", "" without a line; never print it unescaped."""
    if line is None:
        return ""
    return line_name(path_end(line.file) if line.file else "", line.line, line.function)


def line_words(line: Line) -> str:
    """ "data.py(70) __iter__"; as written in the trace: never print it unescaped."""
    return line_name(line.file, line.line, line.function)


def whose(job: Job, told: JobLine) -> str:
    """Whose problem a line is: "every rank", "rank 2", "ranks 2, 5", "40 of 64 ranks"."""
    numbers = [job.ranks[place].number for place in told.concerned]
    if len(numbers) == len(job.ranks) > 1:
        return "every rank"
    if len(numbers) > _NUMBERED:
        return f"{format_count(len(numbers))} of {format_count(len(job.ranks))} ranks"
    return f"rank{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def passes_on(lost_ns: int, gained: Sequence[Root]) -> bool:
    """Whether a rank was late mostly because it waited itself: what it did longer is less than half of it.

    Args:
        lost_ns: what it cost the others.
        gained: what it did longer than they.
    """
    return 2 * sum(root.lost_ns for root in gained) < lost_ns


def _own_waits(job: Job, waits: Waits, late: LateRank) -> tuple[LateRank, ...]:
    """Whom a late rank waited for itself, longest first."""
    places = [place for place, rank in enumerate(job.ranks) if rank.number == late.rank]
    return late_once(job, waits.at(np.isin(waits.rank, places)))


def _blame(
    late: LateRank, waited: Sequence[LateRank], roots: Roots, unread: frozenset[int] = frozenset()
) -> str:
    others = late.waited
    each = f" {format_duration(late.lost_ns // others)}{' each' if others > 1 else ''}"
    whom = f"the {others} ranks here" if late.missing else f"{others} others"
    whom = "one other rank" if others == 1 else whom
    name = printable(late_words(late, unread))
    said = f"{name[0].upper()}{name[1:]} cost {whom}{each} in {_counted(late.operations, 'collective')}"
    if late.missing:
        return f"{said}; only its own trace tells why."
    own = [root for root in roots.roots if root.rank == late.rank and root.kind != MISSING]
    gained = [root for root in own if root.lost_ns > 0]
    if gained and gained[0].kind == UNALIGNED:
        return f"{said}; why is not known, as their clocks are not aligned."
    if passes_on(late.lost_ns, gained):
        mostly = "mostly " if gained else ""
        whom = f", longest for {printable(late_words(waited[0], unread))}" if waited else ""
        return f"{said}, {mostly}because it waited itself{whom}."
    first = gained[0]
    share = format_percent(first.lost_ns, sum(root.lost_ns for root in gained))
    where = f" at {short_line(first.line)}" if first.line is not None else ""
    return f"{said}: {printable(root_words(first) + where)} ({share} of what it did longer)."


def _steps(job: Job) -> str:
    if len(job.steps) == 1:
        return f"step {job.steps[0]}"
    return f"{format_count(len(job.steps))} steps" if job.steps else ""


def _counted(count: int, what: str) -> str:
    return f"{format_count(count)} {what}{'' if count == 1 else 's'}"
