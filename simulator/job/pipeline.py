"""What one stage of a pipeline runs: `samples/pipeline/train_pipeline.py`, and the schedules of its blocks.

A block is the forward or backward pass of one micro-batch through one stage. It needs what the
stage before (of a backward pass: after) makes of the micro-batch; what it makes is sent while it goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

from simulator.collective import Tasks
from simulator.job.layout import Layout
from simulator.job.mesh import Part
from simulator.job.program import Extra, Posting, RankProgram, Running, Size
from simulator.machine import Machine
from simulator.recording import COMPUTE_STREAM, Communicator, OperatorRole
from simulator.source import SCRIPTS, TrainingScript

PIPELINE_SCRIPT = SCRIPTS / "pipeline" / "train_pipeline.py"
PIPELINE_TRACED_AS = "/workspace/pipeline/train_pipeline.py"
BACKWARD = 2  #: times as long as the forward pass of a micro-batch
CHUNKS = 2  #: of the model in each stage, where the schedule is interleaved
ELEMENTS = 65_536  #: of what one stage sends to another


class SimulatedBlock(NamedTuple):
    """One block of a stage."""

    forward: bool
    chunk: int = 0


def one_forward_one_backward(stage: int, stages: int, microbatches: int) -> list[SimulatedBlock]:
    """Return the blocks of a stage: some go forward, then one forward and one backward in turn."""
    warmup = min(stages - 1 - stage, microbatches)
    steady = [SimulatedBlock(True), SimulatedBlock(False)] * (microbatches - warmup)
    return [SimulatedBlock(True)] * warmup + steady + [SimulatedBlock(False)] * warmup


def gpipe(stage: int, stages: int, microbatches: int) -> list[SimulatedBlock]:
    """Return the blocks of a stage: all go forward, then all backward."""
    return [SimulatedBlock(True)] * microbatches + [SimulatedBlock(False)] * microbatches


def interleaved(stage: int, stages: int, microbatches: int) -> list[SimulatedBlock]:
    """Return the blocks of a stage that has two chunks of the model, as Megatron interleaves them."""
    total = microbatches * CHUNKS
    warmup = min(2 * (stages - stage - 1) + (CHUNKS - 1) * stages, total)
    forward = [SimulatedBlock(True, place // stages % CHUNKS) for place in range(total)]
    backward = [SimulatedBlock(False, CHUNKS - 1 - place // stages % CHUNKS) for place in range(total)]
    steady = [block for pair in zip(forward[warmup:], backward) for block in pair]
    return forward[:warmup] + steady + backward[total - warmup :]


Schedule = Callable[[int, int, int], "list[SimulatedBlock]"]
SCHEDULES: dict[str, Schedule] = {
    "1f1b": one_forward_one_backward,
    "gpipe": gpipe,
    "interleaved": interleaved,
}


class PipelineProgram(RankProgram):
    """The process of one stage; `Extra.computing` is how much longer all its blocks take."""

    schedule = "1f1b"
    chunks = 1

    def __init__(self, machine: Machine, layout: Layout, rank: int, size: Size, extra: Extra) -> None:
        super().__init__(machine, layout, rank, size, extra)
        self.script = TrainingScript(PIPELINE_SCRIPT, PIPELINE_TRACED_AS)
        self._stage, self._stages = layout.place(rank)[2], layout.pp
        groups = machine.recording.groups
        self._forward = {group.ranks: group for group in groups if group.role == "p2p"}
        self._backward = {group.ranks: group for group in groups if group.role == "p2pb"}
        self._layout, self._rank = layout, rank

    def run(self, steps: int) -> Running:
        """All steps, and the end of the recording."""
        self.enter_roots("    main()", "        train(stage, optimizer, loader", "        prof.step()")
        self.begin_step()
        for step in range(steps):
            yield from self._run_step(self._extra)
            self.end_step("        prof.step()", last=step == steps - 1)
        self.finish()

    def _run_step(self, extra: Extra) -> Running:
        self._slower = extra.computing
        self.load("for tokens in loader:", ms=0.2 + extra.loader_ms)
        with self.call("run", at="        run(stage, tokens)"):
            yield from self._blocks()
        if self._model:
            yield from self.collective("dist.all_reduce(stage.norm,", self._model, "allReduce", 1)
        self.adamw("        optimizer.step()", us=60)
        self.item('print(f"loss {stage.total.item():.3f}")')

    def _blocks(self) -> Running:
        """All blocks of a step."""
        for block in SCHEDULES[self.schedule](self._stage, self._stages, self._size.microbatches):
            yield from self._block(block)

    def _block(self, block: SimulatedBlock) -> Running:
        step = 1 if block.forward else -1
        source = self._link(block, -step)
        if source is not None:
            yield from self.collective("dist.recv(block.received,", source, "receive", ELEMENTS)
        us = self._size.matmul_us * self._slower / self.chunks
        if block.forward:
            with self.call("forward", at="states = forward(stage, block.received)"):
                for _ in range(self._size.layers):
                    self.op("linear", at="states = layer(states)", us=us, grad=False)
        else:
            with self.call("backward", at="states = backward(stage, block.received)"):
                for _ in range(BACKWARD * self._size.layers):
                    self.op("linear", at="gradient = layer.gradient(gradient)", us=us, grad=False)
        target = self._link(block, step)
        if target is not None:
            yield from self._send("dist.isend(states,", target)

    def _link(self, block: SimulatedBlock, way: int) -> Communicator | None:
        """Return the group in which a block receives from or sends to the next stage on one way."""
        stage, chunk = self._stage + way, block.chunk
        if not 0 <= stage < self._stages:
            stage, chunk = stage % self._stages, chunk + way
        if not 0 <= chunk < self.chunks:
            return None
        width = self._layout.tp * self._layout.dp
        ranks = tuple(sorted((self._rank, self._rank + (stage - self._stage) * width)))
        return (self._forward if block.forward else self._backward)[ranks]

    def _send(self, at: str, group: Communicator) -> Running:
        """Send without waiting: neither the host nor the compute stream does."""
        self.at(at)
        machine, thread = self.machine, self.machine.main
        with ExitStack() as inside:
            inside.enter_context(self.library("torch/distributed/distributed_c10d.py", 1941, 2004, "isend"))
            with self.operator(thread, "c10d::send", [()], 20, role=OperatorRole.COLLECTIVE):
                with self.operator(thread, "record_event", None, 3, role=OperatorRole.COLLECTIVE) as record:
                    event = machine.record_event(thread, record, COMPUTE_STREAM)
                with self.operator(thread, "wait_event", None, 2, role=OperatorRole.COLLECTIVE) as wait:
                    machine.wait_event(thread, wait, group.stream, event)
                machine.spend(thread, 12)
                with self.operator(thread, "HcclSend", None, 2, role=OperatorRole.COLLECTIVE) as calling:
                    posted = machine.post(thread, calling, "send", group)
                    machine.launched(posted)

                    def finish(part: Part) -> None:
                        tasks = Tasks(machine.recording, group, posted.number, posted.connection)
                        for task in part.steps:
                            tasks.add(*task)
                        machine.complete(posted, ELEMENTS, part.end, part.wait, False)

                    yield Posting(group, "send", ELEMENTS, posted.begin, finish)


class GPipeProgram(PipelineProgram):
    """The process of one stage that goes forward with all micro-batches first."""

    schedule = "gpipe"


class InterleavedProgram(PipelineProgram):
    """The process of one stage that has two chunks of the model."""

    schedule = "interleaved"
    chunks = CHUNKS
