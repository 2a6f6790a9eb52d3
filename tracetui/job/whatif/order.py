"""A job as operations that come after one another: the work of its ranks, and their collectives.

Of each rank, the work between two boundaries of its digest is one operation: what computes, is idle and
copies there, without the exposed communication. It comes after the work before it and after the collectives
that the device waited for in between: exposed communication ended with them. A collective begins after the
work before it and after the collective before it in its group, sends and receives after the work alone, and
moves its data once its last member has come. What a missing rank did is not known: what stands for
it comes to each collective in which others waited for it as long after the collective before as it did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.job.channels import Rank
from tracetui.job.digest import TimeClass
from tracetui.job.job import Job
from tracetui.job.waits import ABSENT
from tracetui.operations.graph import ALONE, Graph, Times, build_graph

COMPUTING, IDLE, COPY = range(3)  #: the parts of work
PARTS = ("computing", "idle", "copy")
_PART_OF_CLASS = {TimeClass.COMPUTING: COMPUTING, TimeClass.IDLE: IDLE, TimeClass.COPY: COPY}
MISSING = -1  #: place in the job of what stands for a rank that is missing
_PAIRS = ("send", "receive", "recv")
_MOST_JOINED = 4  #: collectives without work between them that one operation comes after


class WorkCells(NamedTuple):
    """What the idle time of work is charged to; columns of equal length."""

    operation: Int64s
    reason: Int64s  #: place among the texts of the rank, -1 where not told
    line: Int64s  #: place among the lines of the rank, -1 without
    ns: Int64s


@dataclass(frozen=True, eq=False)
class Order:
    """The operations of a job and their order; columns of one value per operation."""

    job: Job
    graph: Graph
    rank: Int64s  #: place in the job, MISSING of what stands for a missing rank
    step: Int64s  #: place among `steps`
    steps: tuple[int, ...]  #: numbers of the steps
    start: Int64s  #: measured, ns on the aligned clock
    end: Int64s
    delay: Int64s  #: ns from the end of all that it comes after to its start
    duration: Int64s  #: ns; of a member of a group its transfer
    origin: Int64s  #: ns from which the delay counts of an operation that comes after none
    parts: Int64s  #: int64[operations, 3]: of work its ns by part; 0 of collectives
    alike: Int64s  #: equal for the same work, or the same collective, of other ranks and steps
    kind: Int64s  #: place among `kinds`, -1 of work
    kinds: tuple[str, ...]  #: of collectives: "dp allReduce", as written in the trace
    collective: Int64s  #: place among the collectives of the rank, -1 of work
    channel: Int64s  #: place among the channels of the job of a collective, -1 of work
    segment: Int64s  #: of work its segment among those of the rank, else -1
    cells: dict[int, WorkCells]  #: by place of the rank

    def __len__(self) -> int:
        return len(self.rank)

    def times(self, duration: Int64s | None = None, delays: bool = True) -> Times:
        """Return when operations begin and end with other durations, by default as measured.

        `delays`: as measured; else there are none but of missing ranks, whose work is not known.
        """
        delay = self.delay if delays else np.where(self.rank == MISSING, self.delay, 0)
        return self.graph.times(delay, self.duration if duration is None else duration, self.origin)

    def step_times(self, start: Int64s, end: Int64s) -> Int64s:
        """Return the ns of each step, from the first start in it to the last end, of all ranks here.

        Of ranks whose clocks are not aligned with each other, it is the longest of those that are.
        """
        here, family = self._clock_families
        families = len(self.job.ranks)
        first = np.full((families, len(self.steps)), np.iinfo(np.int64).max)
        last = np.full((families, len(self.steps)), np.iinfo(np.int64).min)
        np.minimum.at(first, (family, self.step[here]), start[here])
        np.maximum.at(last, (family, self.step[here]), end[here])
        steps = np.where(last >= first, last, first) - first
        longest: Int64s = steps.max(axis=0, initial=0)
        return longest

    @cached_property
    def _clock_families(self) -> tuple[Int64s, Int64s]:
        """The operations of ranks that are here, and the number of the clocks that each is aligned with."""
        here = np.flatnonzero(self.rank != MISSING)
        return here, self.job.clocks.family[self.rank[here]]

    def largest_error(self, steps: Int64s) -> float:
        """Return how far off replayed steps are at most, each as a share of the measured one.

        `steps`: int64[steps], ns, of a replay with durations as measured.
        """
        measured = self.step_times(self.start, self.end)
        return float((np.abs(steps - measured) / np.maximum(measured, 1)).max())

    @property
    def is_work(self) -> Bools:
        """Whether operations are work of a rank that is here."""
        work: Bools = (self.collective < 0) & (self.rank != MISSING)
        return work


class _RankPart(NamedTuple):
    """The operations of one rank, work first, then its collectives; links by their places in it."""

    step: Int64s  #: number
    start: Int64s
    end: Int64s
    parts: Int64s
    alike: Int64s  #: of work: number of its place in the step, and of how many the step has
    segment: Int64s
    collective: Int64s
    after: Int64s
    before: Int64s
    cells: WorkCells


def median_step(lengths: Int64s) -> int:
    """Return the place of the step of median length, of int64[steps]."""
    return int(np.argsort(lengths, kind="stable")[len(lengths) // 2])


def order_of(job: Job) -> Order:
    """Return the operations of a job in their order.

    Raises CircularOrder where its collectives cannot have been in the order in which they were recorded.
    """
    parts = [_rank_part(rank, int(job.clocks.offset[place])) for place, rank in enumerate(job.ranks)]
    sizes = np.array([len(part.step) for part in parts], np.int64)
    first = np.cumsum(sizes) - sizes
    works = np.array([int((part.collective < 0).sum()) for part in parts], np.int64)
    group, channel, kind, alike, kinds = _collectives(job, first + works, int(sizes.sum()))
    missing = _missing_ranks(job, first + works, group)
    count = int(sizes.sum())
    added = np.arange(count, count + len(missing.start))

    def column(name: str, of_missing: Int64s) -> Int64s:
        joined: Int64s = np.concatenate([*(getattr(part, name) for part in parts), of_missing])
        return joined

    nothing = np.full(len(added), -1, np.int64)
    start, end = column("start", missing.start), column("end", missing.end)
    after = np.concatenate([*(part.after + at for part, at in zip(parts, first)), added[missing.linked]])
    before = np.concatenate(
        [*(part.before + at for part, at in zip(parts, first)), missing.before[missing.linked]]
    )
    group = np.concatenate((group, missing.group))
    graph = build_graph(len(start), after, before, group)
    number = column("step", nothing)
    number[count:] = number[missing.member]
    steps, step = np.unique(number, return_inverse=True)
    origin = np.full(len(start), int(start.min(initial=np.iinfo(np.int64).max)), np.int64)
    delay, duration = graph.measured(start, end, origin)
    work_alike = column("alike", nothing)
    all_alike = np.concatenate(
        (np.where(channel >= 0, int(work_alike.max(initial=0)) + 1 + alike, work_alike[:count]), nothing)
    )
    return Order(
        job=job,
        graph=graph,
        rank=np.concatenate((np.repeat(np.arange(len(parts)), sizes), np.full(len(added), MISSING))),
        step=step.astype(np.int64),
        steps=tuple(steps.tolist()),
        start=start,
        end=end,
        delay=np.maximum(delay, 0),
        duration=np.maximum(duration, 0),
        origin=origin,
        parts=np.concatenate([*(part.parts for part in parts), np.zeros((len(added), len(PARTS)), np.int64)]),
        alike=all_alike,
        kind=np.concatenate((kind, nothing)),
        kinds=kinds,
        collective=column("collective", nothing),
        channel=np.concatenate((channel, nothing)),
        segment=column("segment", nothing),
        cells={
            place: part.cells._replace(operation=part.cells.operation + at)
            for place, (part, at) in enumerate(zip(parts, first.tolist()))
        },
    )


def parts_in_ranges(order: Order, name: str) -> Int64s:
    """Return how much of each part of work lies in ranges of a name, int64[operations, 3] in ns."""
    inside = np.zeros_like(order.parts)
    for place, rank in enumerate(order.job.ranks):
        digest, ranges = rank.digest, rank.digest.ranges
        if ranges is None or not len(ranges):
            continue
        names = [number for number, text in enumerate(digest.texts) if text == name]
        of_name = np.flatnonzero(np.isin(ranges.name, names))
        if not len(of_name):
            continue
        bounds = _boundaries(rank)
        works = np.flatnonzero((order.rank == place) & (order.segment >= 0))
        operation = np.full(len(bounds) + 1, -1, np.int64)
        operation[order.segment[works]] = works
        begins = digest.boundaries[digest.cells.segment]
        of_cell = operation[np.searchsorted(bounds, begins, "right") - 1]
        start = ranges.start[of_name]
        latest = np.maximum.accumulate(ranges.end[of_name])
        before = np.searchsorted(start, begins, "right") - 1
        chosen = (before >= 0) & (begins < latest[before]) & (of_cell >= 0)
        time_class = digest.keys.time_class[digest.cells.key]
        for of_class, part in _PART_OF_CLASS.items():
            cells = chosen & (time_class == of_class)
            np.add.at(inside, (of_cell[cells], part), digest.cells.ns[cells])
    return inside


def _rank_part(rank: Rank, offset: int) -> _RankPart:
    """Return the operations of a rank on the aligned clock."""
    digest, collectives = rank.digest, rank.collectives
    bounds = _boundaries(rank)
    of_cell = np.searchsorted(bounds, digest.boundaries[digest.cells.segment], "right") - 1
    segments = max(len(bounds) - 1, 0)
    table = np.zeros((segments, len(PARTS)), np.int64)
    time_class = digest.keys.time_class[digest.cells.key]
    for of_class, part in _PART_OF_CLASS.items():
        chosen = time_class == of_class
        np.add.at(table, (of_cell[chosen], part), digest.cells.ns[chosen])
    work_ns = table.sum(axis=1)
    segment = np.flatnonzero(work_ns > 0)
    length = np.diff(bounds)
    exposed = np.append(False, length > work_ns)  # before each boundary
    work_at = np.cumsum(np.append(False, work_ns > 0)) - 1  # the last work before each boundary
    of_segment = np.full(segments + 1, -1, np.int64)
    of_segment[segment] = np.arange(len(segment))
    works = len(segment)
    starts, ends = np.searchsorted(bounds, collectives.start), np.searchsorted(bounds, collectives.end)
    inside = (ends < len(bounds)) & (starts < ends)
    if digest.awaited is not None:
        waited = digest.awaited.collective[inside[digest.awaited.collective]]
    else:
        waited = np.flatnonzero(inside & exposed[np.minimum(ends, segments)]) if len(bounds) else ends[:0]
    waited = waited[np.argsort(ends[waited], kind="stable")]
    at = np.concatenate((segment, np.minimum(starts, segments)))
    last_work = work_at[at] if len(bounds) else at
    links = [_pairs(np.arange(len(at)), last_work)]
    since = np.where(last_work >= 0, segment[np.maximum(last_work, 0)], -1) if works else np.full(len(at), -1)
    low = np.searchsorted(ends[waited], since, "right")
    high = np.searchsorted(ends[waited], at, "right")
    for back in range(1, _MOST_JOINED + 1):
        joined = np.where(high - back >= low, high - back, -1)
        links.append(
            _pairs(
                np.arange(len(at)),
                np.where(joined >= 0, works + waited[joined], -1) if len(waited) else joined,
            )
        )
    links.append(_after_in_group(rank, works))
    after, before = np.concatenate(links, axis=1)
    kept = after != before
    step = _step_numbers(rank, np.concatenate((bounds[segment], collectives.start)))
    cell = np.flatnonzero(time_class == TimeClass.IDLE)
    key = digest.cells.key[cell]
    return _RankPart(
        step=step,
        start=np.concatenate((bounds[segment], collectives.start)) - offset,
        end=np.concatenate((bounds[segment] + work_ns[segment], collectives.end)) - offset,
        parts=np.concatenate((table[segment], np.zeros((len(collectives), len(PARTS)), np.int64))),
        alike=np.concatenate((_ordinals(step[:works]), np.full(len(collectives), -1, np.int64))),
        segment=np.concatenate((segment, np.full(len(collectives), -1, np.int64))),
        collective=np.concatenate((np.full(works, -1, np.int64), np.arange(len(collectives)))),
        after=after[kept],
        before=before[kept],
        cells=WorkCells(
            of_segment[of_cell[cell]],
            digest.keys.reason[key],
            digest.keys.line[key],
            digest.cells.ns[cell],
        ),
    )


def _boundaries(rank: Rank) -> Int64s:
    """Return the boundaries of a rank that are edges of collectives or steps, not of ranges."""
    collectives, steps = rank.collectives, rank.digest.steps
    bounds = rank.digest.boundaries
    edges = np.concatenate((collectives.start, collectives.end, steps.host_start, steps.start, steps.end))
    parting: Int64s = bounds[np.isin(bounds, np.concatenate((edges, bounds[:1], bounds[-1:])))]
    return parting


def _pairs(after: Int64s, before: Int64s) -> Int64s:
    """Return the links between operations that follow each other, int64[2, links]."""
    linked = before >= 0
    return np.stack((after[linked], before[linked]))


def _after_in_group(rank: Rank, works: int) -> Int64s:
    """Return the links from each collective to the one before it in its group, if that had ended.

    Sends and receives have none: several may be under way.
    """
    collectives = rank.collectives
    pairs = [number for number, text in enumerate(rank.digest.texts) if text.lower() in _PAIRS]
    order = np.argsort(collectives.group, kind="stable")
    order = order[~np.isin(collectives.type[order], pairs)]
    same = collectives.group[order][1:] == collectives.group[order][:-1]
    earlier, later = order[:-1][same], order[1:][same]
    ended = collectives.end[earlier] <= collectives.start[later]
    return np.stack((works + later[ended], works + earlier[ended]))


def _step_numbers(rank: Rank, times: Int64s) -> Int64s:
    """Return the number of the step of each time: of the first that ends after it, else of the last."""
    steps = rank.digest.steps
    if not len(steps):
        return np.full(len(times), -1, np.int64)
    place = np.searchsorted(np.maximum.accumulate(steps.end), times, "right")
    return steps.number[np.minimum(place, len(steps) - 1)]


_MOST_IN_STEP = 1 << 20  # pieces of work; more of them are alike with nothing


def _ordinals(step: Int64s) -> Int64s:
    """Return a number for the place of each piece of work in its step and for how many the step has."""
    if not len(step):
        return step
    opens = np.flatnonzero(np.diff(step, prepend=step[0] - 1))
    counts = np.diff(np.append(opens, len(step)))
    ordinal = np.arange(len(step)) - np.repeat(opens, counts)
    numbers: Int64s = ordinal + np.repeat(counts, counts) * _MOST_IN_STEP
    return numbers


def _collectives(
    job: Job, first: Int64s, count: int
) -> tuple[Int64s, Int64s, Int64s, Int64s, tuple[str, ...]]:
    """Return group, channel, kind, alike of all operations, and the names of the kinds.

    Args:
        first: int64[ranks], the operation of the first collective of each rank.
        count: how many operations there are.
    """
    group, channel, kind, alike = (np.full(count, -1, np.int64) for _ in range(4))
    group[:] = ALONE
    names: dict[str, int] = {}
    sizes: dict[tuple[int, int], int] = {}
    groups = 0
    for number, matched in enumerate(job.channels):
        rows, members = np.nonzero(matched.places >= 0)
        ranks = np.array(matched.channel.ranks, np.int64)[members]
        operation = first[ranks] + matched.places[rows, members]
        group[operation], channel[operation] = groups + rows, number
        groups += len(matched.places)
        of_row = _kinds_of_rows(job, number, names)
        size = np.maximum(matched.column(job.ranks, "count", -1).max(axis=1, initial=-1), -1)
        like = np.array(
            [sizes.setdefault(key, len(sizes)) for key in zip(of_row.tolist(), size.tolist())], np.int64
        )
        kind[operation], alike[operation] = of_row[rows], like[rows]
    return group, channel, kind, alike, tuple(names)


def _kinds_of_rows(job: Job, number: int, names: dict[str, int]) -> Int64s:
    """Return the kind of each operation of a channel: what its group is for and what it does."""
    matched = job.channels[number]
    channel, rows = matched.channel, len(matched.places)
    role = f"{channel.group.name} " if channel.group.name else ""
    if channel.pair:
        forward = _sends_forward(job, number)
        return np.full(
            rows, names.setdefault(f"{role}{'forward' if forward else 'backward'}", len(names)), np.int64
        )
    member = (matched.places >= 0).argmax(axis=1)
    kinds = np.zeros(rows, np.int64)
    for place, rank in enumerate(channel.ranks):
        rows_of_member = np.flatnonzero(member == place)
        texts = job.ranks[rank].collectives.type[matched.places[rows_of_member, place]]
        for text in np.unique(texts).tolist():
            name = f"{role}{job.ranks[rank].digest.text(text)}"
            kinds[rows_of_member[texts == text]] = names.setdefault(name, len(names))
    return kinds


def _sends_forward(job: Job, number: int) -> bool:
    """Return whether the sender of a channel of sends and receives is the lower rank."""
    matched = job.channels[number]
    ranks, places = matched.channel.ranks, matched.places
    member = int((places >= 0).any(axis=0).argmax())
    rank = job.ranks[ranks[member]]
    place = int(places[:, member].max())
    sends = rank.digest.text(int(rank.collectives.type[place])).lower() == "send"
    if len(ranks) > 1:
        other = job.ranks[ranks[1 - member]].number
    else:
        group, peer = matched.channel.groups[member], int(rank.collectives.other[place])
        known = 0 <= peer < len(group.global_ranks)
        other = group.global_ranks[peer] if known else rank.number + (1 if peer > group.rank else -1)
    return sends == (rank.number < other)


class _Missing(NamedTuple):
    """What stands for missing ranks: its part of each operation that others waited for it in."""

    start: Int64s
    end: Int64s
    group: Int64s
    member: Int64s  #: an operation of a rank that is here, of the same collective
    before: Int64s  #: an operation of the collective before that in the channel, -1 without one
    linked: Bools


def _missing_ranks(job: Job, first: Int64s, group: Int64s) -> _Missing:
    """Return when missing ranks came to the collectives for which others waited for them."""
    waits = job.waits
    late = np.flatnonzero((waits.late_rank == ABSENT) & (waits.wait_ns > 0))
    place = first[waits.rank] + waits.collective if len(waits) else late
    operations, of_wait = np.unique(waits.operation[late], return_inverse=True)
    start = np.full(len(operations), np.iinfo(np.int64).min)
    np.maximum.at(start, of_wait, waits.arrival[late] + waits.wait_ns[late])
    end = np.full(len(operations), np.iinfo(np.int64).min)
    np.maximum.at(end, of_wait, waits.end[late])
    member = np.full(len(operations), -1, np.int64)
    member[of_wait] = place[late]
    at, index = np.unique(waits.operation, return_index=True)
    earlier = np.searchsorted(at, operations) - 1
    found = earlier >= 0
    before_wait = index[np.maximum(earlier, 0)] if len(index) else earlier
    same = found.copy()
    if len(operations):
        same &= waits.channel[before_wait] == waits.channel[late[np.unique(of_wait, return_index=True)[1]]]
    before = np.where(same, place[before_wait], -1) if len(operations) else member
    return _Missing(start, end, group[member] if len(member) else member, member, before, before >= 0)
