"""What slow operations cost: steps replayed with some operations as long as they are ideally.

The definitions are those of Lin et al., "Understanding Stragglers in Large Model Training Using What-if
Analysis" (OSDI 2025). Ideally an operation that computes takes the mean of all of its kind, and a transfer
the median of its kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.arrays import Bools, Int64s
from tracetui.operations.graph import ALONE, Graph, Times, build_graph

WORST_PERCENT = 3  #: of the workers that M_W is about
_DIRECTIONS = ("-send", "-receive", "-recv")  #: with these endings kinds are one kind: of one direction


@dataclass(frozen=True, eq=False)
class MeasuredOperations:
    """Measured operations; columns of equal length."""

    rank: Int64s
    step: Int64s  #: number from 0 in `steps`
    kind: Int64s  #: number from 0 in `kinds`
    start: Int64s  #: ns
    end: Int64s  #: ns
    group: Int64s  #: number from 0 of what transfers together in one step, ALONE where it computes
    steps: tuple[int, ...]
    kinds: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, eq=False)
class TimedOperations:
    """Operations with their order, to be timed again and again."""

    operations: MeasuredOperations
    graph: Graph

    @cached_property
    def origin(self) -> Int64s:
        """int64[operations]: the measured start of the step of each."""
        return self.first_starts[self.operations.step]

    @cached_property
    def first_starts(self) -> Int64s:
        """int64[steps]: the measured start of each step."""
        first = np.full(len(self.operations.steps), np.iinfo(np.int64).max)
        np.minimum.at(first, self.operations.step, self.operations.start)
        return first

    @cached_property
    def _measured(self) -> tuple[Int64s, Int64s]:
        operations = self.operations
        return self.graph.measured(operations.start, operations.end, self.origin)

    @property
    def delay(self) -> Int64s:
        """int64[operations]: ns from the end of what an operation comes after to its start."""
        return self._measured[0]

    @property
    def duration(self) -> Int64s:
        """int64[operations]: measured durations, and transfers of groups, in ns."""
        return self._measured[1]

    @cached_property
    def ideal_duration(self) -> Int64s:
        """int64[operations]: durations and transfers as they are ideally."""
        return ideal_durations(self.operations.kind, self.operations.group, self.duration)

    def times(self, is_ideal: Bools | None, delays: bool) -> Times:
        """Return when operations begin and end, some of them with their ideal durations.

        `is_ideal`: which, bool[operations]; None: none. `delays`: are they delayed as measured?
        """
        duration = (
            self.duration if is_ideal is None else np.where(is_ideal, self.ideal_duration, self.duration)
        )
        delay = self.delay if delays else np.zeros(len(duration), np.int64)
        return self.graph.times(delay, duration, self.origin)

    def step_times(self, times: Times) -> Int64s:
        """Return the ns of each step: from its start to the end of its last operation.

        A step starts when it did as measured; one of which all operations come after others, with the first.
        """
        step, count = self.operations.step, len(self.operations.steps)
        last = np.full(count, np.iinfo(np.int64).min)
        np.maximum.at(last, step, times.end)
        first = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(first, step, times.start)
        starts_alone = np.zeros(count, np.bool_)
        starts_alone[step[~self.graph.linked]] = True
        return last - np.where(starts_alone, self.first_starts, first)

    def mean_step(self, is_ideal: Bools | None = None, delays: bool = False) -> float:
        """Return the mean time of a step in ns, by default without delays."""
        steps = self.step_times(self.times(is_ideal, delays))
        return float(steps.mean()) if len(steps) else 0.0


def replayed(operations: MeasuredOperations, after: Int64s, before: Int64s) -> TimedOperations:
    """Return operations with their order. Raises CircularOrder where some wait for each other."""
    return TimedOperations(operations, build_graph(len(operations), after, before, operations.group))


def ideal_durations(kind: Int64s, group: Int64s, duration: Int64s) -> Int64s:
    """Return the mean duration of each kind that computes and the median transfer of each kind, in ns.

    A kind of which some operations compute and others transfer is two kinds.
    """
    transfers = group != ALONE
    ideal = np.zeros(len(duration), np.int64)
    computes = ~transfers
    count = np.bincount(kind[computes])
    mean = np.bincount(kind[computes], duration[computes]) / np.maximum(count, 1)
    ideal[computes] = np.rint(mean)[kind[computes]].astype(np.int64)
    places = np.flatnonzero(transfers)
    if len(places):
        order = places[np.lexsort((duration[places], kind[places]))]
        opens = np.flatnonzero(np.diff(kind[order], prepend=-1))
        counts = np.diff(np.append(opens, len(order)))
        low, high = duration[order[opens + (counts - 1) // 2]], duration[order[opens + counts // 2]]
        ideal[order] = np.repeat(low + (high - low) // 2, counts)
    return ideal


@dataclass(frozen=True)
class Slowdown:
    """What slow operations cost a job, as ratios of mean step times."""

    step_ns: float  #: mean of the steps as measured: replayed with delays
    no_delay_ns: float  #: without delays
    ideal_ns: float  #: without delays, and every operation ideal
    by_kind: dict[str, float]  #: S_t, most first: all is ideal but one kind
    by_rank: dict[int, float]  #: S_w by rank: all is ideal but one worker
    worst_workers: float | None  #: M_W: share of the slowdown that is gone with the worst workers ideal
    last_stage: float | None  #: M_S: the same of the last stage; None without stages

    @property
    def slowdown(self) -> float:
        """S: by what factor operations of unequal lengths make a step longer."""
        return self.no_delay_ns / self.ideal_ns if self.ideal_ns else 1.0

    @property
    def delays(self) -> float:
        """By what factor delays make a step longer."""
        return self.step_ns / self.no_delay_ns if self.no_delay_ns else 1.0


def slowdown_of(job: TimedOperations, stage: Int64s | None = None, copy: Int64s | None = None) -> Slowdown:
    """Return what slow operations cost a job.

    Args:
        job: its operations.
        stage: int64[operations] of the pipeline; None where there is none.
        copy: int64[operations], the number of the data-parallel copy of the model that each is of; None where
            it isn't known. With both, the slowdown of a worker is the lesser of those of its stage and copy.
    """
    operations = job.operations
    plain, best = job.mean_step(), job.mean_step(np.ones(len(operations), np.bool_))
    by_kind = {}
    for name, kinds in _directions(operations.kinds):
        by_kind[name] = _ratio(job.mean_step(~np.isin(operations.kind, kinds)), best)
    by_rank = _by_rank(job, best, stage, copy)
    worst = sorted(by_rank, key=lambda rank: (-by_rank[rank], rank))
    worst = worst[: -(-len(worst) * WORST_PERCENT // 100)]
    return Slowdown(
        step_ns=job.mean_step(delays=True),
        no_delay_ns=plain,
        ideal_ns=best,
        by_kind=dict(sorted(by_kind.items(), key=lambda item: (-item[1], item[0]))),
        by_rank=by_rank,
        worst_workers=_gone(job, plain, best, np.isin(operations.rank, worst)),
        last_stage=None
        if stage is None or not len(stage) or stage.max() == stage.min()
        else _gone(job, plain, best, stage == stage.max()),
    )


def _by_rank(
    job: TimedOperations, best: float, stage: Int64s | None, copy: Int64s | None
) -> dict[int, float]:
    rank = job.operations.rank
    ranks = np.unique(rank).tolist()
    if stage is None or copy is None:
        return {number: _ratio(job.mean_step(rank != number), best) for number in ranks}
    of_stage = {number: _ratio(job.mean_step(stage != number), best) for number in np.unique(stage).tolist()}
    of_copy = {number: _ratio(job.mean_step(copy != number), best) for number in np.unique(copy).tolist()}
    first = {
        number: int(place) for number, place in zip(ranks, np.unique(rank, return_index=True)[1].tolist())
    }
    return {
        number: min(of_stage[int(stage[place])], of_copy[int(copy[place])]) for number, place in first.items()
    }


def _gone(job: TimedOperations, plain: float, best: float, is_ideal: Bools) -> float | None:
    """Return the share of the slowdown that is gone where some operations are ideal; None without any."""
    return (plain - job.mean_step(is_ideal)) / (plain - best) if plain != best else None


def _ratio(one: float, other: float) -> float:
    return one / other if other else 1.0


def _directions(kinds: Sequence[str]) -> Iterable[tuple[str, list[int]]]:
    """Return the numbers of kinds that are one, and its name: sends and receives of one direction."""
    together: dict[str, list[int]] = {}
    for number, kind in enumerate(kinds):
        ending = next((ending for ending in _DIRECTIONS if kind.endswith(ending) and kind != ending), "")
        name = f"{kind[: -len(ending)]}-send-receive" if ending else kind
        together.setdefault(name, []).append(number)
    return together.items()
