"""What one rank of a DualPipe runs: `samples/pipeline/train_dualpipe.py`, and its schedule of eight steps.

Half of the micro-batches enter at the first rank, half at the last, and each rank holds two stages of the
model: one of each direction. The schedule is that of DeepSeek-AI's DualPipe. A backward pass is one for the
inputs, for which others wait, and one for the weights, for which nobody does and which fills bubbles.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from simulator.job.layout import Layout
from simulator.job.pipeline import ELEMENTS, PipelineProgram
from simulator.job.program import Extra, Running, Size
from simulator.machine import Machine
from simulator.recording import Communicator
from simulator.source import SCRIPTS, TrainingScript

DUALPIPE_SCRIPT = SCRIPTS / "pipeline" / "train_dualpipe.py"
DUALPIPE_TRACED_AS = "/workspace/pipeline/train_dualpipe.py"


class PassKind(Enum):
    """What is done for a micro-batch in one stage; values are times as long as the forward pass."""

    FORWARD = 1
    BACKWARD = 2
    INPUTS = "inputs"  #: the half of a backward pass that the stage before waits for
    WEIGHTS = "weights"  #: the other half

    @property
    def layers(self) -> int:
        """How many layers it takes as long as, of each layer of the stage."""
        return 2 if self is PassKind.BACKWARD else 1


class DualPass(NamedTuple):
    """A pass of a micro-batch that entered at this rank's end of the pipeline, or (`far`) at the other."""

    kind: PassKind
    far: bool = False


DualBlock = tuple[DualPass, ...]  # of two passes: both at once


def dualpipe(stage: int, stages: int, microbatches: int) -> list[DualBlock]:
    """Return the blocks of a rank. Ranks and micro-batches are even, and these at least twice as many."""
    half = stages // 2
    from_end = min(stage, stages - 1 - stage)
    from_middle = half - 1 - from_end
    near, far = DualPass(PassKind.FORWARD), DualPass(PassKind.FORWARD, far=True)
    back_near, back_far = DualPass(PassKind.BACKWARD), DualPass(PassKind.BACKWARD, far=True)
    inputs_far, weights = DualPass(PassKind.INPUTS, far=True), DualPass(PassKind.WEIGHTS)
    blocks: list[DualBlock] = [(near,)] * (2 * from_middle)
    blocks += [(near,), (far,)] * (from_end + 1)
    blocks += [(inputs_far,), (weights,), (far,)] * from_middle
    main: list[DualBlock] = [(near, back_far), (far, back_near)] * (microbatches // 2 - stages + from_end + 1)
    blocks += [(near,), (back_far,), *main[1:]] if not from_middle else main
    blocks += [(back_far,), (far, back_near)] * from_middle
    last = [back_far, back_near] * (from_end + 1)
    blocks += [
        (passed if place <= from_end else passed._replace(kind=PassKind.INPUTS),)
        for place, passed in enumerate(last)
    ]
    blocks += [(weights,), (DualPass(PassKind.INPUTS),)] * from_middle
    return blocks + [(weights,)] * (from_end + 1)


class DualPipeProgram(PipelineProgram):
    """The process of one rank; `Extra.computing` is how much longer all its passes take."""

    def __init__(self, machine: Machine, layout: Layout, rank: int, size: Size, extra: Extra) -> None:
        super().__init__(machine, layout, rank, size, extra)
        self.script = TrainingScript(DUALPIPE_SCRIPT, DUALPIPE_TRACED_AS)
        self._groups = {(group.role, group.ranks): group for group in machine.recording.groups}

    def _blocks(self) -> Running:
        for block in dualpipe(self._stage, self._stages, self._size.microbatches):
            yield from self._dual_block(block)

    def _dual_block(self, block: DualBlock) -> Running:
        for passed in block:
            source = self._exchange(passed, receives=True)
            if source is not None:
                yield from self.collective("dist.recv(passed.received,", source, "receive", ELEMENTS)
        us = self._size.matmul_us * self._slower
        with self.call("compute", at="        compute(block)"):
            for _ in range(self._size.layers):
                for passed in block:
                    for _ in range(passed.kind.layers):
                        self.op("linear", at="layer.run()", us=us, grad=False)
        for passed in block:
            target = self._exchange(passed, receives=False)
            if target is not None:
                yield from self._send("dist.isend(passed.states,", target)

    def _exchange(self, passed: DualPass, receives: bool) -> Communicator | None:
        """Return the group in which a pass receives what it needs, or sends what it made; None without."""
        if passed.kind is PassKind.WEIGHTS:
            return None
        forward = passed.kind is PassKind.FORWARD
        reverse = passed.far == (self._stage < self._stages // 2)
        upwards = (forward != receives) != reverse
        pair = self._layout.neighbour(self._rank, 1 if upwards else -1)
        role = ("p2p" if forward else "p2pb") + ("-r" if reverse else "")
        return None if pair is None else self._groups[role, pair]
