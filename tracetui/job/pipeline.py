"""The pipeline of a job: its blocks, the schedule they follow, and what the bubbles of its stages are of.

A block is the forward or backward pass of a micro-batch through a stage. Sends and receives part the work of
a rank: work after a receive is a block of the way that it came, work before a send one of the way that it
goes, and where these differ, as at both ends of the pipeline, there is one of each. The way forward is to the
next stage, and from the last to the first. Before the first block of a step and after its last one there may
be other work, which is told from it by the length of other blocks.

A bubble is the time from the first block of a step to the last one, of all stages, in which a stage works at
no block. Its parts come from replays in which one thing after the other is gone: idle time and delays (late
host), unequal lengths of the same block and the time of transfers (jitter), and stages of unequal lengths
(imbalance). What is left then is the schedule's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Bools, Floats, Int64s
from tracetui.job.job import Job
from tracetui.job.rank_table import rank_rows
from tracetui.job.stages import job_stages
from tracetui.job.whatif.answer import NoReplay
from tracetui.job.whatif.order import COMPUTING, IDLE, Order, order_of
from tracetui.operations.graph import CircularOrder, Times

FORWARD, BACKWARD = 1, -1
_FORWARD_SHARE = 1 / 3  # of a forward and a backward pass together, where nothing tells it


@dataclass
class StageBlock:
    """Work between two exchanges: a forward pass, a backward one, or both."""

    place: int  #: of the rank in the job
    stage: int
    step: int  #: place among the steps of the order
    first: int  #: operations: its first and last
    last: int
    ways: tuple[int, ...]  #: FORWARD and BACKWARD, in their order
    work: Int64s  #: its operations of work
    lead_ns: int = 0  #: other work before it in these operations
    trail_ns: int = 0  #: other work after it

    def start(self, times: Times) -> int:
        """Return when it begins in a replay."""
        return int(times.start[self.first]) + self.lead_ns

    def end(self, times: Times) -> int:
        """Return when it ends in a replay."""
        return int(times.end[self.last]) - self.trail_ns


@dataclass(frozen=True)
class PipelineStage:
    """One stage of a pipeline; times are means of its ranks and steps, in ns."""

    number: int
    ranks: tuple[int, ...]  #: numbers
    microbatches: int
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

    schedule: str  #: "1f1b", "gpipe", "interleaved" or "unknown"
    chunks: int  #: of the model in each stage
    stages: tuple[PipelineStage, ...]
    step_ns: int  #: mean step, as replayed
    balance_saves_ns: int  #: of a step, with stages of equal lengths
    error: float  #: of the replay, the largest of a step as a share of it
    order: Order
    blocks: tuple[StageBlock, ...]
    forward_share: float  #: of a forward and a backward block together
    times: Times  #: of the replay as it was


def find_pipeline(job: Job) -> Pipeline | None:
    """Return the pipeline of a job; None where it has no stages that exchange.

    Raises NoReplay where the order of its operations makes no sense.
    """
    stages = job_stages(job, rank_rows(job))
    if len(stages) < 2:
        return None
    places = {rank.number: place for place, rank in enumerate(job.ranks)}
    of_rank = {places[rank]: number for number, stage in enumerate(stages) for rank in stage.ranks}
    try:
        order = order_of(job)
    except CircularOrder:
        raise NoReplay("its collectives wait for each other") from None
    exchanges = _Exchanges(order, of_rank, len(stages))
    blocks = [
        block for place in sorted(of_rank) for block in _blocks(order, exchanges, place, of_rank[place])
    ]
    _trim(order, blocks)
    if not any(BACKWARD in block.ways for block in blocks):
        return None
    bubbles = _Bubbles(order, blocks, len(stages))
    schedule, chunks = _schedule(order, blocks, exchanges, len(stages))
    return Pipeline(
        schedule=schedule,
        chunks=chunks,
        stages=tuple(
            bubbles.stage(number, tuple(stage.ranks), chunks) for number, stage in enumerate(stages)
        ),
        step_ns=round(float(bubbles.steps.mean())),
        balance_saves_ns=round(float(bubbles.steps.mean() - bubbles.balanced_steps().mean())),
        error=bubbles.error,
        order=order,
        blocks=tuple(blocks),
        forward_share=bubbles.forward_share,
        times=bubbles.times,
    )


class _Exchanges:
    """The sends and receives of the ranks of a pipeline, by rank and start."""

    def __init__(self, order: Order, of_rank: dict[int, int], count: int) -> None:
        job = order.job
        way = np.zeros(len(order), np.int64)
        sends = np.zeros(len(order), np.bool_)
        self.wrapped = np.zeros(len(order), np.bool_)  #: between the last stage and the first
        pairs = [number for number, matched in enumerate(job.channels) if matched.channel.pair]
        for operation in np.flatnonzero(np.isin(order.channel, pairs)).tolist():
            place = int(order.rank[operation])
            ranks = job.channels[int(order.channel[operation])].channel.ranks
            peers = [rank for rank in ranks if rank != place]
            if len(peers) != 1 or place not in of_rank or peers[0] not in of_rank:
                continue
            rank = job.ranks[place]
            kind = int(rank.collectives.type[int(order.collective[operation])])
            sends[operation] = rank.digest.text(kind).lower() == "send"
            here, peer = of_rank[place], of_rank[peers[0]]
            source, target = (here, peer) if sends[operation] else (peer, here)
            self.wrapped[operation] = count > 2 and abs(source - target) == count - 1
            way[operation] = np.sign(target - source) * (-1 if self.wrapped[operation] else 1)
        self.way, self.sends = way, sends


def _blocks(order: Order, exchanges: _Exchanges, place: int, stage: int) -> list[StageBlock]:
    """Return the blocks of a rank, in their order."""
    operations = np.flatnonzero(order.rank == place)
    events = operations[exchanges.way[operations] != 0]
    work = operations[order.segment[operations] >= 0]
    when = np.where(exchanges.sends[events], order.start[events], order.end[events])
    events = events[np.argsort(when, kind="stable")]
    before = np.searchsorted(np.sort(when), order.start[work], "right") - 1
    found = []
    parted = np.diff(before, prepend=-2) != 0
    opens = np.flatnonzero(parted | (np.diff(order.step[work], prepend=-1) != 0))
    for first, stop in zip(opens.tolist(), [*opens[1:].tolist(), len(work)]):
        at = int(before[first])
        ways = []
        if parted[first] and at >= 0 and not exchanges.sends[events[at]]:
            ways.append(int(exchanges.way[events[at]]))
        is_last = stop == len(work) or bool(parted[stop])
        if is_last and at + 1 < len(events) and exchanges.sends[events[at + 1]]:
            way = int(exchanges.way[events[at + 1]])
            ways += [way] if way not in ways else []
        pieces = work[first:stop]
        if ways:
            step = int(order.step[pieces[-1]])
            found.append(StageBlock(place, stage, step, int(pieces[0]), int(pieces[-1]), tuple(ways), pieces))
    return found


def _trim(order: Order, blocks: Sequence[StageBlock]) -> None:
    """Set what other work the first and last blocks of each step have in their operations.

    What other blocks of the same ways take tells it: of the first one the end is the block, of the last the
    start.
    """
    lengths: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    ends: dict[tuple[int, int], list[StageBlock]] = {}
    for block in blocks:
        ends.setdefault((block.place, block.step), []).append(block)
    edges = {id(of_step[place]) for of_step in ends.values() for place in (0, -1)}
    for block in blocks:
        if id(block) not in edges:
            computing = int(order.parts[block.work, COMPUTING].sum())
            lengths.setdefault((block.stage, block.ways), []).append(computing)
    usual = {key: int(np.median(computing)) for key, computing in lengths.items()}
    for of_step in ends.values():
        for block, is_first in ((of_step[0], True), (of_step[-1], False)):
            length = usual.get((block.stage, block.ways))
            whole = int(order.end[block.last] - order.start[block.first])
            if length is None or whole <= length:
                continue
            computing = int(order.parts[block.work, COMPUTING].sum())
            if is_first and block.ways[0] == FORWARD:
                block.lead_ns = whole - min(length, computing)
            elif not is_first and block.ways[-1] == BACKWARD:
                block.trail_ns = whole - min(length, computing)


class _Bubbles:
    """The bubbles of the stages, in replays in which ever less stands in the way."""

    def __init__(self, order: Order, blocks: Sequence[StageBlock], count: int) -> None:
        self._order, self._blocks, self._count = order, blocks, count
        self._transfer = (order.collective >= 0) & np.isin(
            order.channel, [n for n, matched in enumerate(order.job.channels) if matched.channel.pair]
        )
        self._between = self._idle_between_blocks()
        times = order.times()
        self.steps = order.step_times(times.start, times.end)
        self.error = order.largest_error(self.steps)
        self.times = times
        self._idle = np.array([self._idle_in(block) for block in blocks], np.int64)
        self._busy = np.array([self._busy_in(block) for block in blocks], np.int64)
        busy = self._busy.astype(np.float64)
        self._mean = self._means(busy)
        self.forward_share = self._forward_share()
        balanced = self._balanced()
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

    def _idle_between_blocks(self) -> Bools:
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
        """Return of each block the mean of those of its stage and ways."""
        together: dict[tuple[int, tuple[int, ...]], list[float]] = {}
        keys = [(block.stage, block.ways) for block in self._blocks]
        for key, length in zip(keys, lengths.tolist()):
            together.setdefault(key, []).append(length)
        return np.array([np.mean(together[key]) for key in keys], np.float64)

    def _forward_share(self) -> float:
        """Return the share of a forward block in one of each way, by stages that have both by themselves."""
        pure: dict[int, dict[int, float]] = {}
        for block, mean in zip(self._blocks, self._mean.tolist()):
            if len(block.ways) == 1:
                pure.setdefault(block.stage, {})[block.ways[0]] = mean
        pairs = [
            (mean_by_way[FORWARD], mean_by_way[BACKWARD])
            for mean_by_way in pure.values()
            if len(mean_by_way) == 2
        ]
        shares = [forward / (forward + backward) for forward, backward in pairs if forward + backward]
        return float(np.mean(shares)) if shares else _FORWARD_SHARE

    def _pair_of_stage(self, stage: int) -> float:
        """Return how long a forward and a backward block of a stage take together."""
        total = passes = 0.0
        for block, mean in zip(self._blocks, self._mean.tolist()):
            if block.stage == stage:
                total += mean
                passes += len(block.ways) / 2
        return total / passes if passes else 0.0

    def _balanced(self) -> Floats:
        """Return how long each block takes where all stages take the mean."""
        pair = float(np.mean([self._pair_of_stage(stage) for stage in range(self._count)]))
        way = {FORWARD: pair * self.forward_share, BACKWARD: pair * (1 - self.forward_share)}
        return np.array(
            [sum(way[direction] for direction in block.ways) for block in self._blocks], np.float64
        )

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
        pairs = [self._pair_of_stage(stage) for stage in range(self._count)]
        mean = float(np.mean(pairs))
        factor = [mean / pair if pair else 1.0 for pair in pairs]
        lengths = np.array(
            [
                busy * factor[block.stage] + idle
                for block, busy, idle in zip(self._blocks, self._busy.tolist(), self._idle.tolist())
            ]
        )
        times = self._order.times(self._with_lengths(lengths))
        return self._order.step_times(times.start, times.end)

    def stage(self, number: int, ranks: tuple[int, ...], chunks: int) -> PipelineStage:
        """Return the bubble of a stage and its parts."""
        bubbles = [
            self._bubble(number, replay, lengths) for replay, lengths in zip(self._replays, self._lengths)
        ]
        full, no_idle, even, balanced = (round(bubble) for bubble in bubbles)
        warmup, steady, drain = self._phases(number)
        blocks = [block for block in self._blocks if block.stage == number]
        forward = sum(FORWARD in block.ways for block in blocks)
        runs = len({(block.place, block.step) for block in blocks})
        return PipelineStage(
            number=number,
            ranks=ranks,
            microbatches=round(forward / max(runs * chunks, 1)),
            warmup_ns=warmup,
            steady_ns=steady,
            drain_ns=drain,
            schedule_ns=balanced,
            imbalance_ns=even - balanced,
            jitter_ns=no_idle - even,
            late_host_ns=full - no_idle,
        )

    def _bubble(self, stage: int, times: Times, lengths: Floats) -> float:
        """Return the mean bubble of a stage in a replay with blocks of these lengths."""
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
        return float(np.mean([last[step] - first[step] - ns for (_, step), ns in busy.items()]))

    def _phases(self, stage: int) -> tuple[int, int, int]:
        """Return how long a stage warms up, works steadily and drains, on average."""
        times, share = self.times, self.forward_share
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
            key, start, end = (block.place, block.step), block.start(times), block.end(times)
            forward = round((end - start) * (share if len(block.ways) == 2 else 1.0))
            if BACKWARD in block.ways:
                begins = start + forward if block.ways[0] == FORWARD else start
                first[key] = min(first.get(key, begins), begins)
            if FORWARD in block.ways:
                ends = start + forward if block.ways[0] == FORWARD else end
                last[key] = max(last.get(key, ends), ends)
        rows = []
        for key in first:
            low, high = windows[key[1]]
            begins, ends = first[key], max(last.get(key, first[key]), first[key])
            rows.append((begins - low, ends - begins, high - ends))
        warmup, steady, drain = np.mean(np.array(rows, np.float64).reshape(-1, 3), axis=0)
        return round(float(warmup)), round(float(steady)), round(float(drain))


def _schedule(
    order: Order, blocks: Sequence[StageBlock], exchanges: _Exchanges, count: int
) -> tuple[str, int]:
    """Return the name of the schedule that the blocks of all stages follow, and the chunks of each stage.

    Several chunks are told by what the last stage sends to the first. Where stages do not have as many blocks
    of each way as each other, nothing is told.
    """
    sequences: dict[tuple[int, int, int], list[int]] = {}
    for block in blocks:
        sequences.setdefault((block.stage, block.place, block.step), []).extend(block.ways)
    numbers = {(ways.count(FORWARD), ways.count(BACKWARD)) for ways in sequences.values()}
    if len(numbers) != 1 or len(set(*numbers)) != 1:
        return "unknown", 1
    wrapped = int((exchanges.wrapped & exchanges.sends & (exchanges.way == FORWARD)).sum())
    if wrapped:
        first = sorted({block.place for block in blocks if block.stage == 0})
        sent = exchanges.sends & (exchanges.way == FORWARD) & ~exchanges.wrapped
        within = int((sent & np.isin(order.rank, first)).sum())
        return ("interleaved", round(within / (within - wrapped))) if within > wrapped else ("unknown", 1)
    names = [_names(sequence, stage, count) for (stage, _, _), sequence in sequences.items()]
    common = frozenset.intersection(*names)
    return next((name for name in ("1f1b", "gpipe") if name in common), "unknown"), 1


def _names(sequence: Sequence[int], stage: int, count: int) -> frozenset[str]:
    """Return the schedules that the blocks of one step of a stage follow."""
    microbatches = sum(way == FORWARD for way in sequence)
    warmup = min(count - 1 - stage, microbatches)
    steady = [FORWARD, BACKWARD] * (microbatches - warmup)
    schedules = {
        "1f1b": [FORWARD] * warmup + steady + [BACKWARD] * warmup,
        "gpipe": [FORWARD] * microbatches + [BACKWARD] * microbatches,
    }
    return frozenset(name for name, blocks in schedules.items() if blocks == list(sequence))
