"""What must be known to read the numbers of a job, or of a comparison, in sentences without full stop."""

from __future__ import annotations

from collections.abc import Iterator

from tracetui.comparison.comparison import Comparison
from tracetui.comparison.job_part import JobDoubts, JobPart
from tracetui.export.sentences.job import alignment_words
from tracetui.job.digest import MOST_RANKS
from tracetui.job.doubts import find_doubts
from tracetui.job.health import health_notes
from tracetui.job.job import Job
from tracetui.job.load import ranks_in_words
from tracetui.language import counted, restate, translate
from tracetui.trace.clean import printable
from tracetui.units import format_count, format_duration

_MOST_SENTENCES = 3  #: sentences of one kind


def job_notes(job: Job, has_means: bool = True) -> list[str]:
    """Return what was left out of a job, what differs between its ranks, and which numbers are bounds.

    `has_means`: as of `health_notes`.
    """
    return [*map(restate, health_notes(job, has_means)), *_doubt_sentences(find_doubts(job))]


def comparison_notes(comparison: Comparison) -> list[str]:
    """Return what must be known to read a comparison; of jobs also the notes on each of them."""
    jobs = () if comparison.job is None else _notes_on_jobs(comparison.job)
    return [*dict.fromkeys((*jobs, *map(restate, comparison.notes)))]


def _notes_on_jobs(job: JobPart) -> Iterator[str]:
    for name, unshared, doubts in zip(("BASE", "OTHER"), job.unshared, job.doubts):
        if unshared:
            ranks = restate(ranks_in_words(list(unshared), 0))
            yield translate("only {run} has {ranks}: not compared", run=name, ranks=ranks)
        for sentence in _doubt_sentences(doubts):
            yield translate("{run}: {note}", run=name, note=sentence)


def _doubt_sentences(doubts: JobDoubts) -> list[str]:
    return [
        *map(restate, doubts.remarks),
        *_about_ranks(doubts),
        *_about_collectives(doubts),
        *_about_waits(doubts),
    ]


def _about_ranks(doubts: JobDoubts) -> Iterator[str]:
    for world in doubts.unbelieved_worlds:
        yield translate(
            "a job of {count} ranks is not believed: {most} are the most",
            count=format_count(world),
            most=format_count(MOST_RANKS),
        )
    if doubts.profiler_levels:
        levels = printable(", ".join(doubts.profiler_levels))
        yield translate("the ranks are profiled at different levels: {levels}", levels=levels)
    if doubts.unaligned:
        template = "nothing that {ranks} and rank {rank} have in common tells how far their clocks are apart"
        ranks = restate(ranks_in_words(list(doubts.unaligned), 0))
        yield translate(template, ranks=ranks, rank=doubts.lowest)
    for clock in doubts.shifted:
        template = (
            "the clock of rank {rank} is {time} behind that of rank {other}: its times are shifted by that"
        )
        if clock.ahead_ns > 0:
            template = (
                "the clock of rank {rank} is {time} ahead of that of rank {other}: its times are shifted "
                "by that"
            )
        time = format_duration(abs(clock.ahead_ns))
        yield translate(template, rank=clock.rank, time=time, other=clock.reference)


def _about_collectives(doubts: JobDoubts) -> Iterator[str]:
    for difference in doubts.differences[:_MOST_SENTENCES]:
        template = (
            "rank {rank} ran other collectives in group {group} than the others: number {number} is {ran} "
            "there, and {elsewhere} elsewhere"
        )
        if difference.step >= 0:
            template = (
                "rank {rank} ran other collectives in group {group} than the others: number {number} of step "
                "{step} is {ran} there, and {elsewhere} elsewhere"
            )
        yield translate(
            template,
            rank=difference.rank,
            group=printable(difference.group),
            number=difference.position + 1,
            step=difference.step,
            ran=printable(difference.ran) or translate("nothing more"),
            elsewhere=printable(difference.elsewhere) or translate("nothing more"),
        )
    if len(doubts.differences) > _MOST_SENTENCES:
        more = len(doubts.differences) - _MOST_SENTENCES
        yield counted(
            more, "1 more sequence of collectives differs", "{count} more sequences of collectives differ"
        )
    if doubts.strangers and doubts.is_split:
        yield counted(
            doubts.strangers,
            "not compared is 1 collective that looks alike on several ranks and does not end together, or "
            "whose ranks are not aligned",
            "not compared are {count} collectives that look alike on several ranks and do not end together, "
            "or whose ranks are not aligned",
        )
    elif doubts.strangers:
        yield counted(
            doubts.strangers,
            "not compared is 1 collective that looks alike on several ranks and does not end together",
            "not compared are {count} collectives that look alike on several ranks and do not end together",
        )


def _about_waits(doubts: JobDoubts) -> Iterator[str]:
    if doubts.disagreeing:
        yield counted(
            doubts.disagreeing,
            "in 1 collective planes and clocks name different late ranks: the clocks count, {aligned}",
            "in {count} collectives planes and clocks name different late ranks: the clocks count, {aligned}",
            aligned=alignment_words(doubts.residual_ns),
        )
    if doubts.lower_bounds:
        yield counted(
            doubts.lower_bounds,
            "1 collective has no planes, and ranks of its group may be missing: its waits are lower bounds",
            "{count} collectives have no planes, and ranks of their groups may be missing: their waits are "
            "lower bounds",
        )
    if doubts.without_peer:
        yield counted(
            doubts.without_peer,
            "not compared is 1 send or receive, as nothing tells its peer: waiting in it is not counted",
            "not compared are {count} sends and receives, as nothing tells their peers: waiting in them is "
            "not counted",
        )
