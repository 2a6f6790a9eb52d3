"""What must be known to read the numbers of a job, or of a comparison, in sentences without full stop."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.comparison.comparison import Comparison
from tracetui.comparison.job_part import JobDoubts, JobPart
from tracetui.job.digest import MOST_RANKS
from tracetui.job.doubts import find_doubts
from tracetui.job.health import health_notes
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration

_MOST = 3  #: sentences of one kind


def job_notes(job: Job) -> list[str]:
    """Return what was left out of a job, what differs between its ranks, and which numbers are bounds."""
    return [*health_notes(job), *_doubt_sentences(find_doubts(job))]


def comparison_notes(comparison: Comparison) -> list[str]:
    """Return what must be known to read a comparison; of jobs also the notes on each of them."""
    jobs = () if comparison.job is None else _notes_on_jobs(comparison.job)
    return [*dict.fromkeys((*jobs, *comparison.notes))]


def _notes_on_jobs(job: JobPart) -> Iterator[str]:
    for name, unshared, doubts in zip(("BASE", "OTHER"), job.unshared, job.doubts):
        if unshared:
            yield f"only {name} has {ranks_in_words(list(unshared), 0)}: not compared"
        yield from (f"{name}: {sentence}" for sentence in _doubt_sentences(doubts))


def _doubt_sentences(doubts: JobDoubts) -> list[str]:
    return [*doubts.remarks, *_about_ranks(doubts), *_about_collectives(doubts), *_about_waits(doubts)]


def _about_ranks(doubts: JobDoubts) -> Iterator[str]:
    for world in doubts.unbelieved_worlds:
        yield f"a job of {format_count(world)} ranks is not believed: {format_count(MOST_RANKS)} are the most"
    if doubts.profiler_levels:
        yield f"the ranks are profiled at different levels: {printable(', '.join(doubts.profiler_levels))}"
    if doubts.unaligned:
        ranks = ranks_in_words(list(doubts.unaligned), 0)
        have = "has" if len(doubts.unaligned) == 1 else "have"
        lowest = f"rank {doubts.lowest}"
        yield f"{ranks} {have} no collective in common with {lowest}: their clocks are not aligned"
    for clock in doubts.shifted:
        side = "ahead of" if clock.ahead_ns > 0 else "behind"
        yield (
            f"the clock of rank {clock.rank} is {format_duration(abs(clock.ahead_ns))} {side} that of rank "
            f"{clock.reference}: its times are shifted by that"
        )


def _about_collectives(doubts: JobDoubts) -> Iterator[str]:
    for difference in doubts.differences[:_MOST]:
        step = "" if difference.step < 0 else f" of step {difference.step}"
        ran = printable(difference.ran) or "nothing more"
        elsewhere = printable(difference.elsewhere) or "nothing more"
        yield (
            f"rank {difference.rank} ran other collectives in group {printable(difference.group)} than "
            f"the others: number {difference.position + 1}{step} is {ran} there, and {elsewhere} elsewhere"
        )
    if len(doubts.differences) > _MOST:
        yield f"{format_count(len(doubts.differences) - _MOST)} more sequences of collectives differ"
    if doubts.strangers:
        yield (
            f"not compared are {format_count(doubts.strangers)} collectives that look alike on several ranks "
            f"and do not end together{', or whose ranks are not aligned' if doubts.is_split else ''}"
        )


def _about_waits(doubts: JobDoubts) -> Iterator[str]:
    if doubts.disagreeing:
        yield (
            f"in {format_count(doubts.disagreeing)} collectives planes and clocks name different late ranks: "
            f"the clocks count, aligned within {format_duration(doubts.residual_ns)}"
        )
    if doubts.lower_bounds:
        yield (
            f"{format_count(doubts.lower_bounds)} collectives have no planes, and ranks of their groups may "
            "be missing: their waits are lower bounds"
        )
