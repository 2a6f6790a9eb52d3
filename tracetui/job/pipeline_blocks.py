"""The blocks of a pipeline: what the ranks of its stages do between sends and receives, and their schedule.

A block is the forward or backward pass of a micro-batch through a stage. Sends and receives part the work of
a rank: work after a receive is a block of the way that it came, work before a send one of the way that it
goes, and where these differ, as at both ends of the pipeline, there is one of each. The way forward is to the
next stage, and of more than two stages from the last to the first. Before the first block of a step and after
its last one there may be other work, which is told from it by the length of other blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tracetui.arrays import Floats, Int64s
from tracetui.job.channels import BATCHES
from tracetui.job.whatif.order import COMPUTING, Order
from tracetui.operations.graph import Times

FORWARD, BACKWARD = 1, -1
BOTH = 2  #: a forward and a backward pass at once
INPUTS, WEIGHTS = -2, -3  #: the halves of a backward pass, where they are apart
WAYS = FORWARD, BACKWARD, BOTH, INPUTS, WEIGHTS
GOES_FORWARD, GOES_BACKWARD = frozenset({FORWARD, BOTH}), frozenset({BACKWARD, INPUTS, BOTH})


@dataclass
class StageBlock:
    """Work between two exchanges: a forward pass, a backward one, or several passes."""

    place: int  #: of the rank in the job
    stage: int
    step: int  #: place among the steps of the order
    first: int  #: operations: its first and last
    last: int
    ways: tuple[int, ...]  #: its passes, in their order
    work: Int64s  #: its operations of work
    lead_ns: int = 0  #: other work before it in these operations
    trail_ns: int = 0  #: other work after it

    def start(self, times: Times) -> int:
        """Return when it begins in a replay."""
        return int(times.start[self.first]) + self.lead_ns

    def end(self, times: Times) -> int:
        """Return when it ends in a replay."""
        return int(times.end[self.last]) - self.trail_ns


class Exchanges:
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
            kind = rank.digest.text(int(rank.collectives.type[int(order.collective[operation])])).lower()
            if kind in BATCHES:  # which way it sends is not known
                continue
            sends[operation] = kind == "send"
            here, peer = of_rank[place], of_rank[peers[0]]
            source, target = (here, peer) if sends[operation] else (peer, here)
            self.wrapped[operation] = count > 2 and abs(source - target) == count - 1
            way[operation] = np.sign(target - source) * (-1 if self.wrapped[operation] else 1)
        self.way, self.sends = way, sends


def find_blocks(order: Order, exchanges: Exchanges, place: int, stage: int) -> list[StageBlock]:
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


class PassLengths:
    """How long passes of each stage take, by blocks of which that is known.

    Where no block of some passes is known, their length follows from blocks that have other passes beside
    them, and from a backward pass being as long as its halves.
    """

    def __init__(self, known: Mapping[tuple[int, tuple[int, ...]], float]) -> None:
        """Take the lengths of blocks by stage and passes, in ns."""
        self._known = known
        self._equations: dict[int, tuple[Floats, Floats]] = {}

    def find(self, stage: int, ways: tuple[int, ...]) -> float | None:
        """Return how long some passes take together, in ns; None where nothing tells it."""
        if (stage, ways) in self._known:
            return self._known[stage, ways]
        counts, lengths = self._of_stage(stage)
        wanted = _counts(ways)
        solution = np.linalg.lstsq(counts, lengths, rcond=None)[0]
        shown = np.linalg.lstsq(counts.T, wanted, rcond=None)[0] @ counts
        return float(wanted @ solution) if np.allclose(shown, wanted) else None

    def _of_stage(self, stage: int) -> tuple[Floats, Floats]:
        """Return the number of passes of each way, float64[blocks, ways], and the lengths of the blocks."""
        if stage not in self._equations:
            rows = [(_counts(ways), length) for (of, ways), length in self._known.items() if of == stage]
            rows.append((_counts((BACKWARD,)) - _counts((INPUTS, WEIGHTS)), 0.0))
            counts, lengths = zip(*rows)
            self._equations[stage] = np.array(counts), np.array(lengths)
        return self._equations[stage]


def _counts(ways: Sequence[int]) -> Floats:
    return np.array([ways.count(way) for way in WAYS], np.float64)


def trim_blocks(order: Order, blocks: Sequence[StageBlock]) -> None:
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
    usual = PassLengths({key: int(np.median(computing)) for key, computing in lengths.items()})
    for of_step in ends.values():
        for block, is_first in ((of_step[0], True), (of_step[-1], False)):
            found = usual.find(block.stage, block.ways)
            whole = int(order.end[block.last] - order.start[block.first])
            if found is None or whole <= found:
                continue
            length = round(found)
            computing = int(order.parts[block.work, COMPUTING].sum())
            if is_first and block.ways[0] == FORWARD:
                block.lead_ns = whole - min(length, computing)
            elif not is_first and block.ways[-1] in (BACKWARD, INPUTS, WEIGHTS):
                block.trail_ns = whole - min(length, computing)


def schedule_name(
    order: Order, blocks: Sequence[StageBlock], exchanges: Exchanges, count: int
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
