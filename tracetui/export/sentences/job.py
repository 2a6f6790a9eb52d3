"""A job in sentences: what is there, who was late, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tracetui.export.sentences.causes import line_name
from tracetui.export.sentences.ranks import group_words
from tracetui.export.sentences.roots import reason_words
from tracetui.job.digest import DigestLine
from tracetui.job.exposure import UNSPLIT_COMMUNICATION
from tracetui.job.idle_lines import JobLine
from tracetui.job.job import Job
from tracetui.job.late_ranks import LateRank, late_once
from tracetui.job.losses import Loss, UnevenStages, cost_ns
from tracetui.job.network_links import JobLink
from tracetui.job.rank_table import RankRow
from tracetui.job.roots import ABSENT, UNALIGNED, UNMATCHED, Root, RootBreakdown
from tracetui.job.waits import JobWaits
from tracetui.language import clauses, counted, names, speaks_english, translate
from tracetui.trace.clean import printable
from tracetui.trace.stack import path_end
from tracetui.units import format_count, format_duration, format_percent

NO_WAIT = "No rank waits for another one."
_NOT_COMPARED = "No collective of the ranks can be compared: who waited for whom is not known."
#: Titles of tables of a job.
LINES_TITLE = "Lines that ranks were idle for, preparing included, all ranks together"
LINKS_TITLE = "Links, most time first"
STAGES_TITLE = "Stages of the pipeline"
#: Percent of the time of a job below which no rank is blamed.
WORTH = 1
_MOST_RANKS = 3  #: ranks that the verdict names
#: Percent by which the longest wait may be above the mean where all ranks lost "each" as much, and what a
#: cause explains above what its rank cost before others are said to pass it on; and of all waits that may be
#: behind other work where this is not said.
_ALIKE = 5
_NUMBERED = 3  #: ranks that are called by their numbers


def head_words(job: Job, step: int | None = None) -> str:
    """Return "2 of 8 ranks, step 50, 4 collectives in common, clocks aligned within 550 ns"."""
    ranks_here, world = len(job.ranks), job.world
    ranks = counted(ranks_here, "1 rank", "{count} ranks")
    if world and world > 1:
        template = "{here} of at least {world} ranks" if job.world_is_least else "{here} of {world} ranks"
        ranks = translate(template, here=format_count(ranks_here), world=format_count(world))
    elif ranks_here > 1:
        ranks = translate("{here} of an unknown number of ranks", here=format_count(ranks_here))
    steps = translate("step {number}", number=step) if step is not None else _steps_words(job)
    common = ""
    if ranks_here > 1 and (job.matched or not job.strangers):  # a note counts those that are not compared
        matched = job.matched if step is None else job.waits.at_step(step).matched
        common = counted(matched, "1 collective in common", "{count} collectives in common")
    template, parts = "clocks {aligned}", job.clocks.parts
    if parts > 1:
        template = "clocks {aligned} in {parts} parts"
    clocks = translate(template, aligned=alignment_words(job.clocks.residual_ns), parts=format_count(parts))
    return clauses(filter(None, (ranks, steps, common, clocks if job.clocks.sights else "")))


def alignment_words(residual_ns: int | None) -> str:
    """Return "aligned within 550 ns": how far off the clocks of a job may be; None: not known."""
    if residual_ns is None:
        return translate("aligned with unknown error")
    return translate("aligned within {time}", time=format_duration(residual_ns))


def job_time(rows: tuple[RankRow, ...]) -> int:
    """Return the rank-nanoseconds of the steps (windows, without any) of all ranks."""
    return sum(row.time_ns for row in rows)


def loss_sentences(
    job: Job,
    rows: tuple[RankRow, ...],
    roots: RootBreakdown,
    waits: JobWaits,
    losses: Sequence[Loss],
    unread: frozenset[int] = frozenset(),
    has_links: bool = True,
) -> Iterator[str]:
    """Yield the sentences of what the ranks lose most time by: the largest cause first, then all waits.

    `losses`: as `find_losses` returns them. `unread`: numbers of ranks that are there and not read.
    `has_links`: whether links were looked at, which are not known of one step.
    """
    job_ns = job_time(rows)
    costly = [loss for loss in losses if (cost := cost_ns(loss)) > 0 and cost * 100 >= job_ns * WORTH]
    sentences = [_loss_sentence(job, loss, roots, waits, unread) for loss in costly[:_MOST_RANKS]]
    is_compared = bool(job.matched or roots.total_ns or len(job.ranks) < 2)
    if sentences or is_compared:
        yield sentences[0] if sentences else _balanced_sentence(job, has_links)
    if roots.total_ns:
        yield _waits_sentence(job, roots.total_ns, int(waits.exposed_ns.sum()), job_ns)
        if job.may_lack_late_rank:
            yield translate("Whether ranks are missing that came later still is not known.")
    elif len(job.ranks) > 1:
        yield translate(NO_WAIT if is_compared else _NOT_COMPARED)
    yield from sentences[1:]
    more_ranks = len([loss for loss in costly[_MOST_RANKS:] if isinstance(loss, LateRank)])
    if more_ranks:
        template = "1 more rank cost the others at least {worth} % of their time."
        if more_ranks > 1:
            template = "{count} more ranks cost the others at least {worth} % of their time each."
        yield translate(template, count=format_count(more_ranks), worth=WORTH)


def _waits_sentence(job: Job, waited_ns: int, exposed_ns: int, job_ns: int) -> str:
    """Return what all waits took; `exposed_ns` of them without other work."""
    is_least = not job.is_whole or job.clocks.parts > 1 or job.without_peer > 0
    if _is_hidden(waited_ns, exposed_ns):
        template = (
            "The ranks waited {time} for each other, {exposed} of it without other work: "
            "{share} of their time."
        )
        if is_least:
            template = (
                "The ranks waited at least {time} for each other, {exposed} of it without other work: "
                "{share} of their time."
            )
        share = format_percent(exposed_ns, job_ns)
    else:
        template = "Waiting for each other took the ranks {time}: {share} of their time."
        if is_least:
            template = "Waiting for each other took the ranks {time}, at least: {share} of their time."
        share = format_percent(waited_ns, job_ns)
    return translate(
        template, time=format_duration(waited_ns), exposed=format_duration(exposed_ns), share=share
    )


def _is_hidden(waited_ns: int, exposed_ns: int) -> bool:
    """Tell whether ranks did other work in more of their waits than goes without saying."""
    return (waited_ns - exposed_ns) * 100 > waited_ns * _ALIKE


def _balanced_sentence(job: Job, has_links: bool) -> str:
    if len(job.ranks) < 2:
        return translate("One rank is here: there is nothing to compare it with.")
    template = "The ranks are balanced: no rank, link or stage costs {worth} % of their time."
    if not has_links:
        template = "The ranks are balanced: no rank or stage costs {worth} % of their time."
    if not job.is_whole or job.unmatched or job.without_peer:
        template = "No rank, link or stage is seen to cost the ranks here {worth} % of their time."
        if not has_links:
            template = "No rank or stage is seen to cost the ranks here {worth} % of their time."
    return translate(template, worth=WORTH)


def _loss_sentence(
    job: Job, loss: Loss, roots: RootBreakdown, waits: JobWaits, unread: frozenset[int] = frozenset()
) -> str:
    if isinstance(loss, LateRank):
        return _late_rank_sentence(loss, _waited_for(job, waits, loss), roots, unread)
    if isinstance(loss, UnevenStages):
        return translate(
            "Stage {stage} computes {time} a step, {share} longer than the mean of the {count} stages.",
            stage=loss.slowest.number,
            time=format_duration(loss.slowest.computing_max_ns),
            share=f"{loss.slowest.imbalance * 100:.0f} %",
            count=loss.stages,
        )
    slowest_link, other_links = loss.links[0], len(loss.links) - 1
    slowness = slowest_link.slowness
    template = "The link {link} is slow: it moves at {share} of the usual speed, and took {time} longer."
    if other_links:
        template = (
            "{count} links are slow, most of all {link}: "
            "it moves at {share} of the usual speed, and took {time} longer."
        )
    return translate(
        template,
        count=other_links + 1,
        link=printable(link_words(slowest_link)),
        share=format_percent(slowness.usual_ns, slowness.ns),
        time=format_duration(slowness.excess_ns),
    )


def link_path(link: JobLink) -> str:
    """Return "rank 0 to 4", "peer 0 to 5 of group 271"; as written in the trace: never print it unescaped."""
    ends, group = link.ends, translate("group {key}", key=link.ends.group)
    if ends.src is not None and ends.dst is not None:
        return translate("rank {src} to {dst}", src=ends.src, dst=ends.dst)
    template = "peer {src} to {dst} of {group}"
    src, dst = ends.group_src, ends.group_dst
    if ends.src is not None:
        template, src = "rank {src} to peer {dst} of {group}", ends.src
    elif ends.dst is not None:
        template, dst = "peer {src} of {group} to rank {dst}", ends.dst
    return translate(template, src=src, dst=dst, group=group)


def link_words(link: JobLink) -> str:
    """Return "rank 0 to 4 (RDMA)"; as written in the trace: never print it unescaped."""
    transport = link.ends.transport
    path = link_path(link)
    return translate("{link} ({transport})", link=path, transport=transport) if transport else path


def late_words(late: LateRank, unread: frozenset[int] = frozenset()) -> str:
    """Return "rank 5", "peer 5 of group 271 (missing)"; as written in the trace: never print it unescaped.

    `unread`: numbers of ranks that are there and not read, which are not missing.
    """
    state = absent_state(late, unread)
    if late.rank is not None:
        if not late.missing:
            return translate("rank {number}", number=late.rank)
        return translate("rank {number} ({state})", number=late.rank, state=state)
    group = group_words(late.group, late.name)
    if late.group_rank < 0:
        return translate("a rank of {group} ({state})", group=group, state=state)
    return translate("peer {number} of {group} ({state})", number=late.group_rank, group=group, state=state)


def absent_state(late: LateRank, unread: frozenset[int]) -> str:
    """Return "missing", or "not read" where its trace may be one of those that are there.

    Ranks whose numbers are not known may be any of those that are not known, -1 among the numbers.
    """
    return translate("not read") if _may_be_unread(late.rank, unread) else translate("missing")


def _may_be_unread(rank: int | None, unread: frozenset[int]) -> bool:
    return bool(unread if rank is None else {rank, -1} & unread)


def root_words(root: Root, unread: frozenset[int] = frozenset()) -> str:
    """Return "idle, host.dataloader", "computing MatMul"; as written in the trace: never print it unescaped.

    `unread`: numbers of ranks that are there and not read, which are not missing.
    """
    if root.kind == ABSENT and _may_be_unread(root.rank, unread):
        return translate("not known: its trace is not read")
    return reason_words(root.kind, root.reason)


def root_with_line(root: Root) -> str:
    """Return "idle, host.dataloader at data.py(70)"; as written in the trace: never print it unescaped."""
    reason = root_words(root)
    return (
        reason if root.line is None else translate("{why} at {line}", why=reason, line=short_line(root.line))
    )


def short_line(line: DigestLine | None) -> str:
    """Return "hybrid/train.py(65) train", "" without a line; never print it unescaped."""
    if line is None:
        return ""
    return line_name(path_end(line.file) if line.file else "", line.line, line.function)


def digest_line_words(line: DigestLine) -> str:
    """Return "data.py(70) __iter__"; as written in the trace: never print it unescaped."""
    return line_name(line.file, line.line, line.function)


def affected_ranks(job: Job, job_line: JobLine) -> str:
    """Return whose problem a line is: "every rank", "rank 2", "ranks 2, 5", "40 of 64 ranks"."""
    numbers = [job.ranks[place].number for place in job_line.affected]
    if len(numbers) == len(job.ranks) > 1:
        return translate("every rank")
    if len(numbers) > _NUMBERED:
        affected, total = format_count(len(numbers)), format_count(len(job.ranks))
        return translate("{here} of {world} ranks", here=affected, world=total)
    template = "rank {number}" if len(numbers) == 1 else "ranks {number}"
    return translate(template, number=names(map(str, numbers)))


def passes_on(lost_ns: int, longer: Sequence[Root]) -> bool:
    """Tell whether a rank was late mostly because it waited: what it did longer is less than half of it.

    Args:
        lost_ns: what it cost the others.
        longer: what it did longer than they.
    """
    return 2 * sum(root.lost_ns for root in longer) < lost_ns


def _waited_for(job: Job, waits: JobWaits, late: LateRank) -> tuple[LateRank, ...]:
    """Return whom a late rank waited for itself, longest first."""
    places = [place for place, rank in enumerate(job.ranks) if rank.number == late.rank]
    return late_once(job, waits.at(np.isin(waits.rank_place, places)))


def _late_rank_sentence(
    late: LateRank, waited_for: Sequence[LateRank], roots: RootBreakdown, unread: frozenset[int] = frozenset()
) -> str:
    waiting, mean = late.waiting_ranks, late.lost_ns // late.waiting_ranks
    lost_alike = (late.longest_ns - mean) * 100 <= mean * _ALIKE
    template = "{rank} cost one other rank {time} in {collectives}"
    if waiting > 1:
        template = "{rank} cost {others} others {time} each in {collectives}"
        if not lost_alike:
            template = "{rank} cost {others} others {time} each on average, {most} at most, in {collectives}"
    if waiting > 1 and late.missing:
        template = "{rank} cost {others} ranks here {time} each in {collectives}"
        if not lost_alike:
            template = (
                "{rank} cost {others} ranks here {time} each on average, {most} at most, in {collectives}"
            )
    name = printable(late_words(late, unread))
    cost = translate(
        template,
        rank=f"{name[0].upper()}{name[1:]}" if speaks_english() else name,
        others=waiting,
        time=format_duration(mean),
        most=format_duration(late.longest_ns),
        collectives=counted(late.operations, "1 collective", "{count} collectives"),
    )
    if _is_hidden(late.lost_ns, late.exposed_ns):
        exposed = format_duration(late.exposed_ns)
        cost = translate("{said}, {exposed} of it in all without other work", said=cost, exposed=exposed)
    if late.missing:
        return translate("{said}; only its own trace tells why.", said=cost)
    longer = [root for root in roots.roots if root.rank == late.rank and root.kind != ABSENT]
    known = [root for root in longer if root.kind not in (UNALIGNED, UNMATCHED)]
    incomparable = longer[0].kind if longer and longer[0] not in known else ""
    if incomparable and not known:
        template = "{said}; why is not known, as none of its collectives matches."
        if incomparable == UNALIGNED:
            template = "{said}; why is not known, as their clocks are not aligned."
        return translate(template, said=cost)
    if passes_on(late.lost_ns, longer):
        waited_ns = sum(other.lost_ns for other in waited_for)
        # Its own waits are the reason of as much for each that waited for it, at most. The rest is none:
        # who waits for it comes later to other collectives, where it waits less.
        if passes_on(late.lost_ns - 2 * waiting * waited_ns, longer):
            template = "{said}; most of that they would have waited for other ranks instead."
            return translate(template, said=cost)
        return _passed_on_sentence(cost, bool(longer), waited_for, unread)
    longest = known[0]
    if longest.kind == UNSPLIT_COMMUNICATION:
        template = "{said}; why is not known, as not all ranks of its collectives can be compared."
        return translate(template, said=cost)
    template = "{said}: {what} ({time} of waiting)."
    if (longest.lost_ns - late.lost_ns) * 100 > late.lost_ns * _ALIKE:
        template = "{said}: {what} ({time} of waiting with what others pass on)."
    if incomparable == UNALIGNED:
        template = "{said}: as far as clocks are aligned, {what} ({time} of waiting)."
    elif incomparable:
        template = "{said}: as far as its collectives match, {what} ({time} of waiting)."
    what = printable(root_with_line(longest))
    return translate(template, said=cost, what=what, time=format_duration(longest.lost_ns))


def _passed_on_sentence(
    cost: str, has_own_part: bool, waited_for: Sequence[LateRank], unread: frozenset[int]
) -> str:
    """Return the sentence about a rank that was late because it waited itself."""
    template = "{said}, because it waited itself, longest for {rank}."
    if has_own_part:
        template = "{said}, mostly because it waited itself, longest for {rank}."
    return translate(template, said=cost, rank=printable(late_words(waited_for[0], unread)))


def _steps_words(job: Job) -> str:
    if len(job.steps) == 1:
        return translate("step {number}", number=job.steps[0])
    return counted(len(job.steps), "1 step", "{count} steps") if job.steps else ""
