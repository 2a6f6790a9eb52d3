"""What must be known to read the numbers of a job, in sentences without full stop."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.job.digest import MOST_RANKS
from tracetui.job.job import Job
from tracetui.job.same_job import LONGEST_BREAK
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration

_MOST = 3  #: sentences of one kind


def sayings(job: Job) -> list[str]:
    """Return the sentences: what was left out, what differs between ranks, and what numbers are bounds of."""
    return [*job.remarks, *_worlds(job), *_options(job), *_clocks(job), *_differences(job), *_waits(job)]


def _worlds(job: Job) -> Iterator[str]:
    worlds = {rank.digest.identity.world for rank in job.ranks}
    for world in sorted(world for world in worlds if world > MOST_RANKS):
        yield f"a job of {format_count(world)} ranks is not believed: {format_count(MOST_RANKS)} are the most"


def _options(job: Job) -> Iterator[str]:
    levels = {str(rank.digest.identity.options.get("profiler_level", "")) for rank in job.ranks} - {""}
    if len(levels) > 1:
        yield f"the ranks are profiled at different levels: {printable(', '.join(sorted(levels)))}"


def _clocks(job: Job) -> Iterator[str]:
    if not len(job.ranks):
        return
    apart = [
        rank.number
        for rank, family in zip(job.ranks, job.clocks.family.tolist())
        if family != int(job.clocks.family[0])
    ]
    if apart:
        shown = ", ".join(map(str, apart[:8])) + (", ..." if len(apart) > 8 else "")
        ranks = f"rank {shown} has" if len(apart) == 1 else f"ranks {shown} have"
        lowest = job.ranks[0].number
        yield f"{ranks} no collective in common with rank {lowest}: their clocks are not aligned"
    for rank, offset, family in zip(job.ranks, job.clocks.offset.tolist(), job.clocks.family.tolist()):
        if abs(offset) > LONGEST_BREAK:
            side = "ahead of" if offset > 0 else "behind"
            yield (
                f"the clock of rank {rank.number} is {format_duration(abs(offset))} {side} that of rank "
                f"{job.ranks[family].number}: its times are shifted by that"
            )


def _differences(job: Job) -> Iterator[str]:
    found = [difference for matched in job.channels for difference in matched.differences]
    for each in found[:_MOST]:
        step = "" if each.step < 0 else f" of step {each.step}"
        ran = printable(each.ran) or "nothing more"
        others = printable(each.elsewhere) or "nothing more"
        yield (
            f"rank {job.ranks[each.rank].number} ran other collectives in group {printable(each.group)} than "
            f"the others: number {each.position + 1}{step} is {ran} there, and {others} elsewhere"
        )
    if len(found) > _MOST:
        yield f"{format_count(len(found) - _MOST)} more sequences of collectives differ"
    if job.strangers:
        yield (
            f"not compared are {format_count(job.strangers)} collectives that look alike on several ranks "
            f"and do not end together{', or whose ranks are not aligned' if job.clocks.parts > 1 else ''}"
        )


def _waits(job: Job) -> Iterator[str]:
    notes = job.wait_notes
    if notes.disagree:
        yield (
            f"in {format_count(notes.disagree)} collectives planes and clocks name different late ranks: the "
            f"clocks count, aligned within {format_duration(job.clocks.residual_ns)}"
        )
    if notes.bounds:
        yield (
            f"{format_count(notes.bounds)} collectives have no planes, and ranks of their groups may be "
            "missing: their waits are lower bounds"
        )
