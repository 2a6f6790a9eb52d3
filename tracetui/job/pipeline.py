"""The pipeline of a job: its stages, and what their bubbles are of.

A bubble is the time from the first block of a step to the last one, of all stages, in which a stage works at
no block. Its parts come from replays in which one thing after the other is gone: idle time and delays (late
host), unequal lengths of the same block and the time of transfers (jitter), and stages of unequal lengths
(imbalance). What is left then is the schedule's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.job.dualpipe import find_dualpipe
from tracetui.job.job import Job
from tracetui.job.pipeline_blocks import (
    BACKWARD,
    BOTH,
    FORWARD,
    GOES_BACKWARD,
    GOES_FORWARD,
    INPUTS,
    WAYS,
    WEIGHTS,
    Exchanges,
    PassLengths,
    StageBlock,
    find_blocks,
    schedule_name,
    trim_blocks,
)
from tracetui.job.rank_table import rank_rows
from tracetui.job.stages import job_stages, stage_count
from tracetui.job.whatif.answer import NoReplay
from tracetui.job.whatif.order import IDLE, Order, order_of
from tracetui.language import state
from tracetui.operations.graph import CircularOrder, Times

_FORWARD_SHARE = 1 / 3  # of a forward and a backward pass together, where nothing tells it


@dataclass(frozen=True)
class PipelineStage:
    """One stage of a pipeline; times are means of its ranks and steps, in ns."""

    number: int
    ranks: tuple[int, ...]  #: numbers
    microbatches: int | None  #: None: not known, as where stages are missing: blocks may be of several chunks
    warmup_ns: int  #: until its first backward block
    steady_ns: int
    drain_ns: int  #: after its last forward block
    schedule_ns: int
    imbalance_ns: int
    jitter_ns: int
    late_host_ns: int

    @property
    def bubble_ns(self) -> int:
        """What the four parts sum to."""
        return self.schedule_ns + self.imbalance_ns + self.jitter_ns + self.late_host_ns


@dataclass(frozen=True)
class Pipeline:
    """The pipeline of a job."""

    schedule: str  #: "1f1b", "gpipe", "interleaved", "dualpipe" or "unknown"
    chunks: int  #: of the model in each stage
    stages: tuple[PipelineStage, ...]
    step_ns: int  #: mean step, as replayed
    balance_saves_ns: int  #: of a step, with stages of equal lengths
    error: float  #: of the replay, the largest of a step as a share of it
    order: Order
    blocks: tuple[StageBlock, ...]
    shares: Mapping[int, float]  #: by pass, of a forward and a backward pass together
    closed_form_ns: int | None  #: the bubble that the schedule has in theory; None where it is unknown
    stage_count: int  #: stages of the job, also of missing ranks
    times: Times  #: of the replay as it was


def find_pipeline(job: Job) -> Pipeline | None:
    """Return the pipeline of a job; None where no two stages here exchange forward and backward.

    Raises NoReplay where the order of its operations makes no sense, or the clocks of its stages are not
    aligned. Where stages are missing the schedule is not known: what is between those here is not, either.
    """
    stages = job_stages(job, rank_rows(job))
    if len(stages) < 2:
        return None
    places = {rank.number: place for place, rank in enumerate(job.ranks)}
    of_rank = {places[rank]: stage.number for stage in stages for rank in stage.ranks}
    count = max(stage.number for stage in stages) + 1
    try:
        order = order_of(job)
    except CircularOrder:
        raise NoReplay(state("its collectives wait for each other")) from None
    exchanges = Exchanges(order, of_rank, count)
    blocks = [
        block for place in sorted(of_rank) for block in find_blocks(order, exchanges, place, of_rank[place])
    ]
    if not any(BACKWARD in block.ways for block in blocks):
        return None
    if len(np.unique(job.clocks.family[[block.place for block in blocks]])) > 1:
        raise NoReplay(state("the clocks of its stages are not aligned"))
    all_stages = max(stage_count(job), len(stages))
    is_whole = len(stages) == all_stages
    schedule, chunks = schedule_name(order, blocks, exchanges, count) if is_whole else ("unknown", 1)
    if schedule == "unknown" and is_whole and (found := find_dualpipe(order, exchanges, of_rank, count)):
        schedule, blocks = "dualpipe", found
    trim_blocks(order, blocks)
    bubbles = _Bubbles(order, blocks, [stage.number for stage in stages])
    return Pipeline(
        schedule=schedule,
        chunks=chunks,
        stages=tuple(
            bubbles.stage(stage.number, tuple(stage.ranks), chunks if is_whole else None) for stage in stages
        ),
        step_ns=round(float(bubbles.steps.mean())),
        balance_saves_ns=round(float(bubbles.steps.mean() - bubbles.balanced_steps().mean())),
        error=bubbles.error,
        order=order,
        blocks=tuple(blocks),
        shares=bubbles.shares,
        closed_form_ns=bubbles.closed_form(schedule, count),
        times=bubbles.times,
        stage_count=all_stages,
    )


def parted(block: StageBlock, times: Times, shares: Mapping[int, float]) -> Iterator[tuple[int, int, int]]:
    """Yield way, start and end of each pass of a block in a replay, by the shares of passes."""
    start, end = block.start(times), block.end(times)
    whole = sum(shares[way] for way in block.ways) or 1.0
    done = 0.0
    for way in block.ways:
        begins = start + round((end - start) * done / whole)
        done += shares[way]
        yield way, begins, start + round((end - start) * done / whole)


class _Bubbles:
    """The bubbles of the stages, in replays in which ever less stands in the way."""

    def __init__(self, order: Order, blocks: Sequence[StageBlock], stages: Sequence[int]) -> None:
        self._order, self._blocks, self._stages = order, blocks, stages
        self._transfer = (order.collective >= 0) & np.isin(
            order.channel, [n for n, matched in enumerate(order.job.channels) if matched.channel.pair]
        )
        self._between = self._work_between_blocks()
        times = order.times(delays=True)
        self.steps = order.step_times(times.start, times.end)
        self.error = order.largest_error(self.steps)
        self.times = times
        self._idle = np.array([self._idle_in(block) for block in blocks], np.int64)
        self._busy = np.array([self._busy_in(block) for block in blocks], np.int64)
        busy = self._busy.astype(np.float64)
        self._mean = self._means(busy)
        self.shares = self._pass_shares()
        balanced = np.array(  # all stages take the mean
            [self._pair * sum(self.shares[way] for way in block.ways) for block in blocks], np.float64
        )
        self._replays = [
            times,
            self._replay(busy, False),
            self._replay(self._mean, True),
            self._replay(balanced, True),
        ]
        self._lengths = [busy, busy, self._mean, balanced]

    def _idle_in(self, block: StageBlock) -> int:
        """Return the idle time inside a block; none of one that is known by its computing alone."""
        if block.lead_ns or block.trail_ns:
            return 0
        return int(self._order.parts[block.work, IDLE].sum())

    def _busy_in(self, block: StageBlock) -> int:
        """Return how long a block works: computing and copies, and collectives within its stage."""
        order = self._order
        span = block.end(self.times) - block.start(self.times)
        if block.lead_ns or block.trail_ns:
            return span
        low, high = order.start[block.first], order.end[block.last]
        within = (order.rank == block.place) & (order.collective >= 0) & ~self._transfer
        if (within & (order.start >= low) & (order.end <= high)).any():
            return span - self._idle_in(block)
        return int(order.parts[block.work].sum()) - self._idle_in(block)

    def _work_between_blocks(self) -> Bools:
        """Return which work is no block and lies between the first and the last one of its rank's step."""
        order = self._order
        between = np.zeros(len(order), np.bool_)
        bounds: dict[tuple[int, int], list[int]] = {}
        in_block = np.zeros(len(order), np.bool_)
        for block in self._blocks:
            in_block[block.work] = True
            first_and_last = bounds.setdefault((block.place, block.step), [block.first, block.last])
            first_and_last[1] = block.last
        for (place, _), (first, last) in bounds.items():
            own_work = np.flatnonzero((order.rank == place) & (order.segment >= 0) & ~in_block)
            inside = (order.start[own_work] >= order.start[first]) & (
                order.start[own_work] <= order.end[last]
            )
            between[own_work[inside]] = True
        return between

    def _means(self, lengths: Floats) -> Floats:
        """Return, for each block, the mean of all blocks of its stage and ways."""
        together: dict[tuple[int, tuple[int, ...]], list[float]] = {}
        keys = [(block.stage, block.ways) for block in self._blocks]
        for key, length in zip(keys, lengths.tolist()):
            together.setdefault(key, []).append(length)
        return np.array([np.mean(together[key]) for key in keys], np.float64)

    def _pass_shares(self) -> dict[int, float]:
        """Return by pass its share of a forward and a backward one, by stages that tell it."""
        known = {(block.stage, block.ways): mean for block, mean in zip(self._blocks, self._mean.tolist())}
        lengths = PassLengths(known)
        found: dict[int, list[float]] = {way: [] for way in WAYS}
        for stage in self._stages:
            forward, backward = (lengths.find(stage, (way,)) for way in (FORWARD, BACKWARD))
            if forward is None or backward is None or forward + backward <= 0:
                continue
            for way, shares in found.items():
                length = lengths.find(stage, (way,))
                shares += [max(length / (forward + backward), 0.0)] if length is not None else []
        means = {way: float(np.mean(shares)) for way, shares in found.items() if shares}
        forward = means.get(FORWARD, _FORWARD_SHARE)
        inputs = min(means.get(INPUTS, (1 - forward) / 2), 1 - forward)
        return {
            FORWARD: forward,
            BACKWARD: 1 - forward,
            BOTH: means.get(BOTH, 1.0),
            INPUTS: inputs,
            WEIGHTS: 1 - forward - inputs,
        }

    def _pair_of_stage(self, stage: int) -> float:
        """Return how long a forward and a backward block of a stage take together."""
        total = passes = 0.0
        for block, mean in zip(self._blocks, self._mean.tolist()):
            if block.stage == stage:
                total += mean
                passes += sum(self.shares[way] for way in block.ways)
        return total / passes if passes else 0.0

    @cached_property
    def _pair(self) -> float:
        """How long a forward and a backward block take together in the mean of the stages."""
        return float(np.mean([pair for pair in self._pairs.values() if pair] or [0.0]))

    @cached_property
    def _pairs(self) -> dict[int, float]:
        """How long a forward and a backward block take together by stage; 0 without blocks."""
        return {stage: self._pair_of_stage(stage) for stage in self._stages}

    def closed_form(self, schedule: str, stages: int) -> int | None:
        """Return the bubble in theory of a schedule of so many equal stages; None of an unknown one."""
        shares = self.shares
        if schedule == "unknown":
            return None
        if schedule == "dualpipe":
            share = shares[BOTH] + shares[BACKWARD] - 3 * shares[WEIGHTS]
            return round((stages // 2 - 1) * share * self._pair)
        return round((stages - 1) * self._pair)

    def _replay(self, lengths: Floats, without_transfers: bool) -> Times:
        """Replay with blocks of these lengths, and without idle time between them and delays."""
        duration = self._with_lengths(lengths)
        duration[self._between] = np.maximum(
            duration[self._between] - self._order.parts[self._between, IDLE], 0
        )
        if without_transfers:
            duration[self._transfer] = 0
        return self._order.times(duration, delays=False)

    def _with_lengths(self, lengths: Floats) -> Int64s:
        """Return the durations of all operations where blocks have these lengths."""
        duration = self._order.duration.copy()
        measured_lengths = (self._busy + self._idle).tolist()
        for block, length, measured in zip(self._blocks, lengths.tolist(), measured_lengths):
            change = round(length) - measured
            before = duration[block.work]
            weight = before / max(int(before.sum()), 1)
            changed = before + np.rint(weight * change).astype(np.int64)
            at = int(before.argmax())
            changed[at] += change - int((changed - before).sum())
            duration[block.work] = np.maximum(changed, 0)
        lasting: Int64s = duration
        return lasting

    def balanced_steps(self) -> Int64s:
        """Return the steps replayed with stages of equal lengths, and all else as measured."""
        factor = {stage: self._pair / pair if pair else 1.0 for stage, pair in self._pairs.items()}
        lengths = np.array(
            [
                busy * factor[block.stage] + idle
                for block, busy, idle in zip(self._blocks, self._busy.tolist(), self._idle.tolist())
            ]
        )
        times = self._order.times(self._with_lengths(lengths), delays=True)
        return self._order.step_times(times.start, times.end)

    def stage(self, number: int, ranks: tuple[int, ...], chunks: int | None) -> PipelineStage:
        """Return the bubble of a stage and its parts; `chunks` of the model in it, None where not known."""
        bubbles = [
            self._bubble(number, replay, lengths) for replay, lengths in zip(self._replays, self._lengths)
        ]
        full, no_idle, even, balanced = (round(bubble) for bubble in bubbles)
        warmup, steady, drain = self._phases(number)
        blocks = [block for block in self._blocks if block.stage == number]
        forward = sum(way in GOES_FORWARD for block in blocks for way in block.ways)
        runs = len({(block.place, block.step) for block in blocks})
        return PipelineStage(
            number=number,
            ranks=ranks,
            microbatches=None if chunks is None or not runs else round(forward / (runs * chunks)),
            warmup_ns=warmup,
            steady_ns=steady,
            drain_ns=drain,
            schedule_ns=balanced,
            imbalance_ns=even - balanced,
            jitter_ns=no_idle - even,
            late_host_ns=full - no_idle,
        )

    def _bubble(self, stage: int, times: Times, lengths: Floats) -> float:
        """Return the mean bubble of a stage in a replay with blocks of these lengths.

        Without blocks of its own a stage is in one all the time.
        """
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        busy: dict[tuple[int, int], float] = {}
        for block, length in zip(self._blocks, lengths.tolist()):
            start, end = block.start(times), block.end(times)
            first[block.step] = min(first.get(block.step, start), start)
            last[block.step] = max(last.get(block.step, end), end)
            if block.stage == stage:
                key = block.place, block.step
                busy[key] = busy.get(key, 0.0) + length
        busy = busy or {(-1, step): 0.0 for step in first}
        return float(np.mean([last[step] - first[step] - ns for (_, step), ns in busy.items()]))

    def _phases(self, stage: int) -> tuple[int, int, int]:
        """Return how long a stage warms up, works steadily and drains, on average."""
        times = self.times
        windows: dict[int, tuple[int, int]] = {}
        for block in self._blocks:
            start, end = block.start(times), block.end(times)
            low, high = windows.get(block.step, (start, end))
            windows[block.step] = min(low, start), max(high, end)
        first: dict[tuple[int, int], int] = {}
        last: dict[tuple[int, int], int] = {}
        for block in self._blocks:
            if block.stage != stage:
                continue
            key = block.place, block.step
            for way, start, end in parted(block, times, self.shares):
                if way in GOES_BACKWARD:
                    first[key] = min(first.get(key, start), start)
                if way in GOES_FORWARD:
                    last[key] = max(last.get(key, end), end)
        rows = []
        for key in first:
            low, high = windows[key[1]]
            begins, ends = first[key], max(last.get(key, first[key]), first[key])
            rows.append((begins - low, ends - begins, high - ends))
        if not rows:
            return 0, 0, 0
        warmup, steady, drain = np.mean(np.array(rows, np.float64).reshape(-1, 3), axis=0)
        return round(float(warmup)), round(float(steady)), round(float(drain))
