"""The blocks of DualPipe: of two directions, and told from what each rank sends.

Half of the micro-batches enter at the first rank and half at the last one, so that what goes up the pipeline
is forward for some and backward for others: which it is, only the order of a schedule tells. This is the one
published by DeepSeek-AI, in eight steps of each rank. A backward pass may be cut in two: for the inputs, for
which other ranks wait, and for the weights, for which nobody does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tracetui.arrays import Int64s
from tracetui.job.pipeline_blocks import BACKWARD, BOTH, FORWARD, INPUTS, WEIGHTS, Exchanges, StageBlock
from tracetui.job.whatif.order import Order

UP, DOWN = 1, -1
_FEWEST_STAGES = 4  # of two, what is sent is that of other schedules as well


class DualBlock(NamedTuple):
    """A block of the schedule, and what it exchanges with other ranks: UP is to the next one, or from it."""

    way: int
    receives: tuple[int, ...]
    sends: tuple[int, ...]


def dualpipe_blocks(stage: int, stages: int, microbatches: int) -> list[DualBlock]:
    """Return the blocks of a rank, in their order.

    `F0` is forward of what entered at its half of the pipeline, `F1` of what entered at the other one. `I`
    and `W` are the halves of the backward pass `B`; `F0&B1` are both at once.
    """
    outer = min(stage, stages - 1 - stage)
    inner = stages // 2 - 1 - outer
    turns = microbatches // 2 - stages + outer + 1
    main = ["F0&B1", "F1&B0"] * turns
    if not inner:
        main[:1] = ["F0", "B1"]
    ending = ["B1", "B0"] * (outer + 1)
    names = [
        *["F0"] * (2 * inner),
        *["F0", "F1"] * (outer + 1),
        *["I1", "W", "F1"] * inner,
        *main,
        *["B1", "F1&B0"] * inner,
        *ending[: outer + 1],
        *(name.replace("B", "I") for name in ending[outer + 1 :]),
        *["W", "I0"] * inner,
        *["W"] * (outer + 1),
    ]
    return [_dual_block(name, stage, stages) for name in names]


_WAYS = {"F": FORWARD, "B": BACKWARD, "I": INPUTS, "W": WEIGHTS}


def _dual_block(name: str, stage: int, stages: int) -> DualBlock:
    receives, sends = [], []
    passes = name.split("&")
    for passed in passes:
        way = _WAYS[passed[0]]
        if way == WEIGHTS:
            continue
        enters_below = (passed[1] == "0") == (stage < stages // 2)
        goes = UP if (way == FORWARD) == enters_below else DOWN
        receives += [-goes] if 0 <= stage - goes < stages else []
        sends += [goes] if 0 <= stage + goes < stages else []
    way = _WAYS[name[0]] if len(passes) == 1 else BOTH
    return DualBlock(way, tuple(receives), tuple(sends))


def find_dualpipe(
    order: Order, exchanges: Exchanges, of_rank: dict[int, int], stages: int
) -> list[StageBlock] | None:
    """Return the blocks of all ranks; None where one of them sends or receives other than DualPipe does.

    Args:
        order: the operations of the job.
        exchanges: its sends and receives.
        of_rank: by place of each rank its stage.
        stages: how many there are.
    """
    if stages < _FEWEST_STAGES or stages % 2 or exchanges.wrapped.any():
        return None
    found: list[StageBlock] = []
    for place, stage in sorted(of_rank.items()):
        operations = np.flatnonzero(order.rank == place)
        for step in np.unique(order.step[operations]).tolist():
            events = _StepEvents(order, exchanges, operations[order.step[operations] == step])
            microbatches = len(events.sends) // (1 if stage in (0, stages - 1) else 2)
            if not microbatches:
                continue
            if microbatches % 2 or microbatches < 2 * stages:
                return None
            blocks = dualpipe_blocks(stage, stages, microbatches)
            if not events.follow(blocks):
                return None
            found += [
                StageBlock(place, stage, step, int(work[0]), int(work[-1]), ways, work)
                for ways, work in events.parted(blocks)
            ]
    return found or None


class _StepEvents:
    """What a rank sends, receives and works at in one step."""

    def __init__(self, order: Order, exchanges: Exchanges, operations: Int64s) -> None:
        exchanged = operations[exchanges.way[operations] != 0]
        sends = exchanged[exchanges.sends[exchanged]]
        receives = exchanged[~exchanges.sends[exchanged]]
        self.sends = sends[np.argsort(order.start[sends], kind="stable")]
        self._sent = exchanges.way[self.sends]
        self._received = -exchanges.way[receives]
        self._work = operations[order.segment[operations] >= 0]
        starts = order.start[self._work]
        self._sent_before = np.searchsorted(order.start[self.sends], starts, "right")
        self._received_before = np.searchsorted(np.sort(order.end[receives]), starts, "right")

    def follow(self, blocks: Sequence[DualBlock]) -> bool:
        """Return whether what is sent is what these blocks send, in their order, and so is what is received.

        Receives may be posted before they are needed: their number from either side is what counts.
        """
        at = 0
        for block in blocks:
            sent = self._sent[at : at + len(block.sends)].tolist()
            if sorted(sent) != sorted(block.sends):
                return False
            at += len(block.sends)
        received = Counter(way for block in blocks for way in block.receives)
        return at == len(self._sent) and received == Counter(self._received.tolist())

    def parted(self, blocks: Sequence[DualBlock]) -> list[tuple[tuple[int, ...], Int64s]]:
        """Return the work between sends and receives, and of which blocks it is.

        Blocks between which nothing is sent or received are one.
        """
        sends = np.cumsum([0, *(len(block.sends) for block in blocks[:-1])])
        receives = np.cumsum([len(block.receives) for block in blocks])
        first = np.searchsorted(sends, self._sent_before, "left")
        stop = np.searchsorted(sends, self._sent_before, "right")
        last = np.minimum(np.searchsorted(receives, self._received_before, "right"), stop) - 1
        block_of = np.where(last >= first, last, -1)
        found: list[tuple[tuple[int, ...], Int64s]] = []
        worked = np.unique(block_of[block_of >= 0]).tolist()
        for number, place in enumerate(worked):
            begins = max(
                worked[number - 1] + 1 if number else 0, int(np.searchsorted(sends, sends[place], "left"))
            )
            ways = tuple(block.way for block in blocks[begins : place + 1])
            found.append((ways, self._work[block_of == place]))
        return found
