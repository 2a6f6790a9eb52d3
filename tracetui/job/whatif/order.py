"""A job as operations that come after one another: the work of its ranks, and their collectives.

The work of a rank between two boundaries of its digest is one operation: what computes, is idle and copies
there, without the exposed communication. It comes after the work before it, and after the collectives in
between that the device waited for. A collective begins after the work before it and after the collective
before it in its group, sends and receives after the work alone; it moves its data once its last member has
come. What a missing rank did is not known: where others waited for it, a stand-in comes to the collective, as
long after the collective before as the missing rank did.
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
from tracetui.job.waits import INCOMPARABLE
from tracetui.operations.graph import ALONE, Graph, Times, build_graph

COMPUTING, IDLE, COPY = range(3)  #: the parts of work
PARTS = ("computing", "idle", "copy")
_PART_OF_CLASS = {TimeClass.COMPUTING: COMPUTING, TimeClass.IDLE: IDLE, TimeClass.COPY: COPY}
STAND_IN = -1  #: in place of a rank: the operation stands for one of a missing rank
_SENDS_AND_RECEIVES = ("send", "receive", "recv")
_MOST_AWAITED = 4  #: collectives since the last work that one operation comes after


class WorkCells(NamedTuple):
    """What the work of a rank consists of, and what its idle time is charged to; columns of equal length."""

    operation: Int64s  #: the work that it is of
    part: Int64s
    reason: Int64s  #: place among the texts of the rank, -1 where not told
    line: Int64s  #: place among the lines of the rank, -1 without
    start: Int64s  #: the boundary of the digest from which on it is told
    ns: Int64s


@dataclass(frozen=True, eq=False)
class Order:
    """The operations of a job and their order; columns of one value per operation."""

    job: Job
    graph: Graph
    rank: Int64s  #: place in the job, or STAND_IN
    step: Int64s  #: place among `steps`
    steps: tuple[int, ...]  #: numbers of the steps
    start: Int64s  #: measured, ns on the aligned clock
    end: Int64s
    delay: Int64s  #: ns from the end of all that it comes after to its start
    duration: Int64s  #: ns; of a collective its transfer, once all members have come
    #: ns: the first start of all; the delay of an operation that comes after none counts from it
    origin: Int64s
    parts: Int64s  #: int64[operations, 3]: of work its ns by part; 0 of collectives
    #: equal for work between the same collectives, or for the same collective, of other ranks and steps
    alike: Int64s
    kind: Int64s  #: place among `kinds`, -1 of work
    kinds: tuple[str, ...]  #: of collectives: "dp allReduce", as written in the trace
    collective: Int64s  #: place among the collectives of the rank, -1 of work
    channel: Int64s  #: place among the channels of the job of a collective, -1 of work
    segment: Int64s  #: of work its segment among those of the rank, else -1
    cells: dict[int, WorkCells]  #: by place of the rank

    def __len__(self) -> int:
        return len(self.rank)

    def times(self, duration: Int64s | None = None, *, delays: bool) -> Times:
        """Return when operations begin and end with other durations, by default as measured.

        `delays`: as measured; else only stand-ins have one, since the work of a missing rank is not known.
        """
        delay = self.delay if delays else np.where(self.rank == STAND_IN, self.delay, 0)
        return self.graph.times(delay, self.duration if duration is None else duration, self.origin)

    def step_times(self, start: Int64s, end: Int64s) -> Int64s:
        """Return the ns of each step, from the first start in it to the last end, of all ranks here.

        Where not all clocks are aligned, each family of aligned clocks has its ns, and the longest counts.
        """
        here, family = self._clock_families
        families = len(self.job.ranks)
        first = np.full((families, len(self.steps)), np.iinfo(np.int64).max)
        last = np.full((families, len(self.steps)), np.iinfo(np.int64).min)
        np.minimum.at(first, (family, self.step[here]), start[here])
        np.maximum.at(last, (family, self.step[here]), end[here])
        step_ns = np.where(last >= first, last, first) - first  # 0 where a family has nothing in a step
        longest: Int64s = step_ns.max(axis=0, initial=0)
        return longest

    def longest_of_step(self, step: int, start: Int64s, end: Int64s) -> Int64s:
        """Return the operations of a step (its place) of the ranks here.

        Where not all clocks are aligned, they are of those with aligned clocks for which it is longest.
        """
        by_family = self.aligned_in_step(step).values()
        return max(by_family, key=lambda of_family: int(end[of_family].max() - start[of_family].min()))

    def aligned_in_step(self, step: int) -> dict[int, Int64s]:
        """Return the operations of a step (its place) of the ranks here, by their clocks."""
        here, family = self._clock_families
        of_step = self.step[here] == step
        operations, families = here[of_step], family[of_step]
        return {number: operations[families == number] for number in np.unique(families).tolist()}

    @cached_property
    def _clock_families(self) -> tuple[Int64s, Int64s]:
        """The operations of ranks that are here, and the number of the clocks that each is aligned with.

        Without those before the first step of their rank and after its last, and without ranks that have no
        steps where others do: no step takes time for them.
        """
        steps = [rank.digest.steps for rank in self.job.ranks]
        first = np.array([min(of_rank.host_start.tolist(), default=0) for of_rank in steps])
        stop = np.array([max(of_rank.end.tolist(), default=0) for of_rank in steps])
        here = np.flatnonzero(self.rank != STAND_IN)
        rank = self.rank[here]
        start = self.start[here] + self.job.clocks.offset[rank]
        is_in_step = (start >= first[rank]) & (start < stop[rank])
        is_in_step |= ~np.isin(self.step[here], self.step[here[is_in_step]])  # a step of nothing else
        return here[is_in_step], self.job.clocks.family[self.rank[here[is_in_step]]]

    def largest_error(self, step_ns: Int64s) -> float:
        """Return how far off replayed steps are at most, each as a share of the measured one.

        `step_ns`: int64[steps], of a replay with durations as measured.
        """
        measured = self.step_times(self.start, self.end)
        return float((np.abs(step_ns - measured) / np.maximum(measured, 1)).max())

    @property
    def is_work(self) -> Bools:
        """Whether operations are work of a rank that is here."""
        work: Bools = (self.collective < 0) & (self.rank != STAND_IN)
        return work


class _RankOperations(NamedTuple):
    """The operations of one rank, work first, then its collectives; links by their places among these."""

    step: Int64s  #: number
    start: Int64s
    end: Int64s
    parts: Int64s
    alike: Int64s  #: of work: see `_ordinals`, other ones outside the steps; -1 of collectives
    segment: Int64s
    collective: Int64s
    after: Int64s  #: the later operation of each link
    before: Int64s  #: the earlier one
    cells: WorkCells


def median_step(lengths: Int64s) -> int:
    """Return the place of the step of median length, of int64[steps]."""
    return int(np.argsort(lengths, kind="stable")[len(lengths) // 2])


def order_of(job: Job) -> Order:
    """Return the operations of a job in their order.

    Raises CircularOrder where its collectives cannot have been in the order in which they were recorded.
    """
    by_rank = [
        _rank_operations(rank, int(job.clocks.offset[place]), steps)
        for place, (rank, steps) in enumerate(zip(job.ranks, _job_steps(job)))
    ]
    sizes = np.array([len(of_rank.step) for of_rank in by_rank], np.int64)
    count = int(sizes.sum())
    first = np.cumsum(sizes) - sizes  # of each rank its first operation
    work_counts = np.array([int((of_rank.collective < 0).sum()) for of_rank in by_rank], np.int64)
    first_collective = first + work_counts
    graph_group, channel, kind, alike, kinds = _collectives(job, first_collective, count)
    stand_ins = _stand_ins(job, first_collective, graph_group)
    added = np.arange(count, count + len(stand_ins.start))
    none = np.full(len(added), -1, np.int64)

    def column(name: str, of_stand_ins: Int64s) -> Int64s:
        return np.concatenate([*(getattr(of_rank, name) for of_rank in by_rank), of_stand_ins])

    start, end = column("start", stand_ins.start), column("end", stand_ins.end)
    ranks = [*zip(by_rank, first.tolist())]
    after = np.concatenate(
        [*(of_rank.after + first_operation for of_rank, first_operation in ranks), added[stand_ins.linked]]
    )
    before = np.concatenate(
        [
            *(of_rank.before + first_operation for of_rank, first_operation in ranks),
            stand_ins.before[stand_ins.linked],
        ]
    )
    graph = build_graph(len(start), after, before, np.concatenate((graph_group, stand_ins.graph_group)))
    number = column("step", none)
    number[number < 0] = max(job.steps, default=-1)  # in no step, where there are some: see `_clock_families`
    number[count:] = number[stand_ins.member]
    steps, step = np.unique(number, return_inverse=True)
    origin = np.full(len(start), int(start.min(initial=np.iinfo(np.int64).max)), np.int64)
    delay, duration = graph.measured(start, end, origin)
    work_alike = column("alike", none)
    all_alike = np.concatenate(
        (np.where(channel >= 0, int(work_alike.max(initial=0)) + 1 + alike, work_alike[:count]), none)
    )
    no_work = np.zeros((len(added), len(PARTS)), np.int64)
    return Order(
        job=job,
        graph=graph,
        rank=np.concatenate((np.repeat(np.arange(len(by_rank)), sizes), np.full(len(added), STAND_IN))),
        step=step.astype(np.int64),
        steps=tuple(steps.tolist()),
        start=start,
        end=end,
        delay=np.maximum(delay, 0),
        duration=np.maximum(duration, 0),
        origin=origin,
        parts=column("parts", no_work),
        alike=all_alike,
        kind=np.concatenate((kind, none)),
        kinds=kinds,
        collective=column("collective", none),
        channel=np.concatenate((channel, none)),
        segment=column("segment", none),
        cells={
            place: of_rank.cells._replace(operation=of_rank.cells.operation + first_operation)
            for place, (of_rank, first_operation) in enumerate(ranks)
        },
    )


def cells_in_ranges(order: Order, name: str) -> dict[int, Int64s]:
    """Return by place of the rank its cells that lie in ranges of a name."""
    found = {}
    for place, rank in enumerate(order.job.ranks):
        digest, ranges = rank.digest, rank.digest.ranges
        if ranges is None:
            continue
        names = [number for number, text in enumerate(digest.texts) if text == name]
        of_name = np.flatnonzero(np.isin(ranges.name, names))
        if len(of_name):
            begins = order.cells[place].start
            latest = np.maximum.accumulate(ranges.end[of_name])
            before = np.searchsorted(ranges.start[of_name], begins, "right") - 1
            found[place] = np.flatnonzero((before >= 0) & (begins < latest[before]))
    return found


def _rank_operations(rank: Rank, offset: int, steps: _Steps | None) -> _RankOperations:
    """Return the operations of a rank, with its steps, on the aligned clock."""
    digest, collectives = rank.digest, rank.collectives
    bounds = _boundaries(rank)
    part_of_class = np.full(max(TimeClass) + 1, -1, np.int64)
    part_of_class[list(_PART_OF_CLASS)] = list(_PART_OF_CLASS.values())
    part = part_of_class[digest.keys.time_class[digest.cells.key]]
    of_work = np.flatnonzero(part >= 0)
    part, key, cell_ns = part[of_work], digest.cells.key[of_work], digest.cells.ns[of_work]
    cell_start = digest.boundaries[digest.cells.segment[of_work]]
    segment_of_cell = np.searchsorted(bounds, cell_start, "right") - 1
    segments = max(len(bounds) - 1, 0)
    ns_by_part = np.zeros((segments, len(PARTS)), np.int64)
    np.add.at(ns_by_part, (segment_of_cell, part), cell_ns)
    work_ns = ns_by_part.sum(axis=1)
    segment = np.flatnonzero(work_ns > 0)  # of each operation of work
    works = len(segment)
    work_of_segment = np.full(segments + 1, -1, np.int64)
    work_of_segment[segment] = np.arange(works)
    starts, ends = np.searchsorted(bounds, collectives.start), np.searchsorted(bounds, collectives.end)
    boundary = np.concatenate((segment, np.minimum(starts, segments)))  # at which each operation begins
    operation = np.arange(len(boundary))
    works_before = np.cumsum(np.append(False, work_ns > 0))  # before each boundary
    last_work = works_before[boundary] - 1
    links = [_links(operation, last_work)]
    # Of the collectives that the device waited for, by end: those since the last work, the latest first.
    awaited = _awaited(rank, starts, ends, np.append(False, np.diff(bounds) > work_ns))
    work_began = np.full(len(boundary), -1, np.int64)
    work_began[last_work >= 0] = segment[last_work[last_work >= 0]]
    first_awaited = np.searchsorted(ends[awaited], work_began, "right")
    stop_awaited = np.searchsorted(ends[awaited], boundary, "right")
    for place in (stop_awaited - back for back in range(1, _MOST_AWAITED + 1)):
        found = place >= first_awaited
        links.append(np.stack((operation[found], works + awaited[place[found]])))
    links.append(_after_in_group(rank, works))
    after, before = np.concatenate(links, axis=1)
    kept = after != before
    start = np.concatenate((bounds[segment], collectives.start)) - offset
    place = steps.places(start) if steps else np.zeros(len(start), np.int64)
    inside = np.clip(place, 0, len(steps.ends) - 1) if steps else place
    ordinal = _ordinals(place, start, works) + (place - inside)[:works] * _MOST_IN_STEP**2
    return _RankOperations(
        step=steps.number[inside] if steps else place - 1,
        start=start,
        end=np.concatenate((bounds[segment] + work_ns[segment], collectives.end)) - offset,
        parts=np.concatenate((ns_by_part[segment], np.zeros((len(collectives), len(PARTS)), np.int64))),
        alike=np.concatenate((ordinal, np.full(len(collectives), -1, np.int64))),
        segment=np.concatenate((segment, np.full(len(collectives), -1, np.int64))),
        collective=np.concatenate((np.full(works, -1, np.int64), np.arange(len(collectives)))),
        after=after[kept],
        before=before[kept],
        cells=WorkCells(
            work_of_segment[segment_of_cell],
            part,
            digest.keys.reason[key],
            digest.keys.line[key],
            cell_start,
            cell_ns,
        ),
    )


def _awaited(rank: Rank, starts: Int64s, ends: Int64s, follows_exposed: Bools) -> Int64s:
    """Return the collectives that the device waited for, by end; their places.

    `starts`, `ends`: the boundary of each. `follows_exposed`, bool[boundaries]: whether exposed communication
    ends there, which tells them where the digest does not.
    """
    is_bounded = (ends < len(follows_exposed)) & (starts < ends)
    if rank.digest.awaited is not None:
        awaited = rank.digest.awaited.collective
        awaited = awaited[is_bounded[awaited]]
    else:
        awaited = np.flatnonzero(is_bounded & follows_exposed[np.minimum(ends, len(follows_exposed) - 1)])
    return awaited[np.argsort(ends[awaited], kind="stable")]


def _boundaries(rank: Rank) -> Int64s:
    """Return the boundaries of a rank without those inside it that only ranges have."""
    collectives, steps = rank.collectives, rank.digest.steps
    bounds = rank.digest.boundaries
    edges = np.concatenate((collectives.start, collectives.end, steps.host_start, steps.start, steps.end))
    return bounds[np.isin(bounds, np.concatenate((edges, bounds[:1], bounds[-1:])))]


def _links(after: Int64s, before: Int64s) -> Int64s:
    """Return links, int64[2, links]: each operation `after` with the one `before` it, without those of -1."""
    linked = before >= 0
    return np.stack((after[linked], before[linked]))


def _after_in_group(rank: Rank, works: int) -> Int64s:
    """Return the links from each collective to the one before it in its group, if that had ended.

    Sends and receives have none: several may be under way.
    """
    collectives = rank.collectives
    unordered = [
        number for number, text in enumerate(rank.digest.texts) if text.lower() in _SENDS_AND_RECEIVES
    ]
    by_group = np.argsort(collectives.group, kind="stable")
    by_group = by_group[~np.isin(collectives.type[by_group], unordered)]
    same = collectives.group[by_group][1:] == collectives.group[by_group][:-1]
    earlier, later = by_group[:-1][same], by_group[1:][same]
    ended = collectives.end[earlier] <= collectives.start[later]
    return np.stack((works + later[ended], works + earlier[ended]))


class _Steps(NamedTuple):
    """The steps of a rank."""

    number: Int64s
    first: int  #: when the first begins, on the aligned clock
    ends: Int64s  #: of each, or of one before it that ends later

    def places(self, times: Int64s) -> Int64s:
        """Return the place of the step of each time: -1 before the first, their count after the last."""
        return np.where(times < self.first, -1, np.searchsorted(self.ends, times, "right"))


def _job_steps(job: Job) -> list[_Steps | None]:
    """Return the steps of each rank: its own, else those of a rank that is aligned with it, else None."""
    family = job.clocks.family.tolist()
    steps = [
        _Steps(own.number, int(own.host_start.min()) - offset, np.maximum.accumulate(own.end) - offset)
        if len(own)
        else None
        for own, offset in zip((rank.digest.steps for rank in job.ranks), job.clocks.offset.tolist())
    ]
    aligned = {of_rank: found for of_rank, found in zip(family, steps) if found}
    return [found or aligned.get(of_rank) for found, of_rank in zip(steps, family)]


_MOST_IN_STEP = 1 << 20  # collectives


def _ordinals(place: Int64s, start: Int64s, works: int) -> Int64s:
    """Return a number for how many collectives of its step began before each operation of work, of how many.

    Their order is the program's, while how many operations lie between two depends on what overlaps.
    `place`: that of the step of each operation, work first; `start`: when it begins.
    """
    first, stop = (np.searchsorted(place[works:], place[:works], side) for side in ("left", "right"))
    begun = np.searchsorted(start[works:], start[:works], "right")
    numbers: Int64s = begun - first + (stop - first) * _MOST_IN_STEP
    return numbers


def _collectives(
    job: Job, first: Int64s, count: int
) -> tuple[Int64s, Int64s, Int64s, Int64s, tuple[str, ...]]:
    """Return the group of all operations in the graph, channel, kind, alike, and the names of the kinds.

    Args:
        first: int64[ranks], the operation of the first collective of each rank.
        count: how many operations there are.
    """
    graph_group, channel, kind, alike = (np.full(count, -1, np.int64) for _ in range(4))
    graph_group[:] = ALONE
    names: dict[str, int] = {}
    sizes: dict[tuple[int, int], int] = {}
    groups = 0
    for number, matched in enumerate(job.channels):
        rows, members = np.nonzero(matched.places >= 0)
        ranks = np.array(matched.channel.ranks, np.int64)[members]
        operation = first[ranks] + matched.places[rows, members]
        graph_group[operation], channel[operation] = groups + rows, number
        groups += len(matched.places)
        of_row = _kinds_of_rows(job, number, names)
        size = np.maximum(matched.column(job.ranks, "count", -1).max(axis=1, initial=-1), -1)
        like = np.array(
            [sizes.setdefault(key, len(sizes)) for key in zip(of_row.tolist(), size.tolist())], np.int64
        )
        kind[operation], alike[operation] = of_row[rows], like[rows]
    return graph_group, channel, kind, alike, tuple(names)


def _kinds_of_rows(job: Job, number: int, names: dict[str, int]) -> Int64s:
    """Return the kind of each operation of a channel: what its group is for and what it does."""
    matched = job.channels[number]
    channel, rows = matched.channel, len(matched.places)
    role = f"{channel.group.name} " if channel.group.name else ""
    direction = _direction(job, number) if channel.pair else ""
    if direction:
        return np.full(rows, names.setdefault(f"{role}{direction}", len(names)), np.int64)
    member = (matched.places >= 0).argmax(axis=1)
    kinds = np.zeros(rows, np.int64)
    for place, rank in enumerate(channel.ranks):
        rows_of_member = np.flatnonzero(member == place)
        texts = job.ranks[rank].collectives.type[matched.places[rows_of_member, place]]
        for text in np.unique(texts).tolist():
            name = f"{role}{job.ranks[rank].digest.text(text)}"
            kinds[rows_of_member[texts == text]] = names.setdefault(name, len(names))
    return kinds


def _direction(job: Job, number: int) -> str:
    """Return "forward" where the sender of a channel of two is the lower rank, "backward"; "" if not told."""
    matched = job.channels[number]
    ranks, places = matched.channel.ranks, matched.places
    member = int((places >= 0).any(axis=0).argmax())
    rank = job.ranks[ranks[member]]
    place = int(places[:, member].max())
    type_text = rank.digest.text(int(rank.collectives.type[place])).lower()
    if type_text not in _SENDS_AND_RECEIVES:
        return ""
    if len(ranks) > 1:
        other = job.ranks[ranks[1 - member]].number
    else:
        group, peer = matched.channel.groups[member], int(rank.collectives.other[place])
        if peer < 0:
            return ""
        is_known = peer < len(group.global_ranks)
        other = group.global_ranks[peer] if is_known else rank.number + (1 if peer > group.rank else -1)
    return "forward" if (type_text == "send") == (rank.number < other) else "backward"


class _StandIns(NamedTuple):
    """The stand-ins of missing ranks, one in each collective in which others waited for one."""

    start: Int64s
    end: Int64s
    graph_group: Int64s
    member: Int64s  #: an operation of a rank that is here, of the same collective
    before: Int64s  #: an operation of the collective before that in the channel, -1 without one
    linked: Bools  #: whether there is one


def _stand_ins(job: Job, first: Int64s, graph_group: Int64s) -> _StandIns:
    """Return the stand-ins of missing ranks. `first`: int64[ranks], each one's first collective."""
    waits = job.waits
    late = np.flatnonzero((waits.late_place == INCOMPARABLE) & (waits.wait_ns > 0))
    node = first[waits.rank_place] + waits.collective if len(waits) else late  # the operation of each wait
    numbers, first_late, stand_in = np.unique(waits.operation[late], return_index=True, return_inverse=True)
    start = np.full(len(numbers), np.iinfo(np.int64).min)
    np.maximum.at(start, stand_in, waits.arrival[late] + waits.wait_ns[late])
    end = np.full(len(numbers), np.iinfo(np.int64).min)
    np.maximum.at(end, stand_in, waits.end[late])
    member = np.full(len(numbers), -1, np.int64)
    member[stand_in] = node[late]
    before = member
    if len(numbers):
        every_number, first_wait = np.unique(waits.operation, return_index=True)
        earlier = np.searchsorted(every_number, numbers) - 1  # numbers ascend in a channel
        wait_before = first_wait[np.maximum(earlier, 0)]
        is_same = (earlier >= 0) & (waits.channel[wait_before] == waits.channel[late[first_late]])
        before = np.where(is_same, node[wait_before], -1)
    groups = graph_group[member] if len(member) else member
    return _StandIns(start, end, groups, member, before, before >= 0)
