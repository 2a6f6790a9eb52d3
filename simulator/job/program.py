"""What one rank of the job runs: `samples/hybrid/train_hybrid.py`, up to where it needs the other ranks.

The program is a generator: at every collective it yields what it brings to it, and is sent its part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import NamedTuple

from simulator.collective import Tasks
from simulator.job.layout import Layout
from simulator.job.mesh import Part
from simulator.machine import Machine
from simulator.program import Program
from simulator.recording import COMPUTE_STREAM, Communicator, OperatorRole
from simulator.source import SCRIPTS, TrainingScript

SCRIPT = SCRIPTS / "hybrid" / "train_hybrid.py"
TRACED_AS = "/workspace/hybrid/train_hybrid.py"
LOADER = "for tokens in loader:"
AUGMENTED = "return tokens[keep]"
AUGMENT = "keep = [position for position, token in enumerate(tokens.tolist()) if token % 97]"


_OPERATORS = {
    "allReduce": "c10d::allreduce_",
    "alltoAllV": "c10d::alltoall_base_",
    "send": "c10d::send",
    "receive": "c10d::recv_",
}


class Posting(NamedTuple):
    """What a rank brings to a collective: who it is there, what it calls it, and when it is ready."""

    group: Communicator
    kind: str
    elements: int
    begin: int
    #: is given its part, where the rank goes on at once; None: the rank waits for its part
    finish: Callable[[Part], None] | None = None


Running = Generator[Posting, Part, None]


class Size(NamedTuple):
    """How much work a step of the job is."""

    layers: int = 4
    microbatches: int = 2
    buckets: int = 2
    matmul_us: float = 420.0
    #: of a tensor-parallel all-reduce; a bucket of gradients has 4 times as many
    elements: int = 1_500_000


class Extra(NamedTuple):
    """What a rank does more than others: one of these."""

    loader_ms: float = 0.0
    python_ms: float = 0.0
    computing: float = 1.0  #: times as much
    steps: frozenset[int] | None = None  #: in which steps; None: in all
    workload: str = "W0"  #: of a mixture of experts, how its tokens are spread


class RankProgram(Program):
    """The process of one rank."""

    def __init__(self, machine: Machine, layout: Layout, rank: int, size: Size, extra: Extra) -> None:
        super().__init__(machine, TrainingScript(SCRIPT, TRACED_AS))
        groups = layout.groups(rank)
        machine.recording.groups = groups
        self._size, self._extra = size, extra
        self._tensor = next((group for group in groups if group.role == "tp"), None)
        self._data = next((group for group in groups if group.role == "dp"), None)
        self._model = next((group for group in groups if group.role == "mp"), None)
        pipeline = [group for group in groups if group.role == "pp"]
        self._previous = next((group for group in pipeline if group.rank == 1), None)
        self._next = next((group for group in pipeline if group.rank == 0), None)
        self._slower = 1.0

    def run(self, steps: int) -> Running:
        """Run all steps, and end the recording."""
        self.enter_roots("    main()", "        train(stage, optimizer, loader", "        prof.step()")
        self.begin_step()
        for step in range(steps):
            usual = self._extra.steps is not None and step not in self._extra.steps
            yield from self._run_step(Extra() if usual else self._extra)
            self.end_step("        prof.step()", last=step == steps - 1)
        self.finish()

    def _run_step(self, extra: Extra) -> Running:
        self._slower = extra.computing
        self.load(LOADER, ms=0.2 + extra.loader_ms)
        with self.call("augment", at="tokens = augment(tokens)"):
            self.python(20, at=AUGMENT)
            self.python(1000 * extra.python_ms)
            self.op("slice", at=AUGMENTED, shapes=[(4096,)])
        self.to_device("tokens = tokens.to(device, non_blocking=True)", (4096,), us=2.6)
        with self.call("train_step", at="        train_step(stage, tokens)"):
            yield from self._train_step()
        self.adamw("        optimizer.step()", us=60)
        self.item('print(f"loss {stage.total.item():.3f}")')

    def _train_step(self) -> Running:
        size = self._size
        for _ in range(size.microbatches):
            if self._previous:
                yield from self.collective(
                    "dist.recv(stage.inputs,", self._previous, "receive", 4 * size.elements
                )
            with self.call("forward", at="states = forward(stage, stage.embed(tokens))"):
                yield from self._layers(
                    "wide = functional.gelu(layer.up(states))",
                    "states = states + layer.down(wide)",
                    "dist.all_reduce(states,",
                )
            if self._next:
                yield from self.collective("dist.send(states,", self._next, "send", 4 * size.elements)
        for _ in range(size.microbatches):
            if self._next:
                yield from self.collective(
                    "dist.recv(stage.output_gradient,", self._next, "receive", 4 * size.elements
                )
            with self.call("backward", at="gradient = backward(stage, stage.loss())"):
                yield from self._layers(
                    "gradient = layer.down.gradient(gradient)",
                    "gradient = layer.up.gradient(gradient)",
                    "dist.all_reduce(gradient,",
                )
            if self._previous:
                yield from self.collective("dist.send(gradient,", self._previous, "send", 4 * size.elements)
        for _ in range(size.buckets if self._data else 0):
            assert self._data is not None
            yield from self.collective("dist.all_reduce(bucket,", self._data, "allReduce", 4 * size.elements)
        if self._model:
            yield from self.collective("dist.all_reduce(stage.norm,", self._model, "allReduce", 1)

    def _layers(self, first: str, second: str, reduced: str) -> Running:
        us = self._size.matmul_us * self._slower
        for _ in range(self._size.layers):
            self.op("linear", at=first, us=us, shapes=[(4096, 1024), (4096, 1024)], grad=False)
            self.op("linear", at=second, us=us, shapes=[(4096, 4096), (1024, 4096)], grad=False)
            if self._tensor:
                yield from self.collective(reduced, self._tensor, "allReduce", self._size.elements)

    def collective(self, at: str, group: Communicator, kind: str, elements: int) -> Running:
        """Take part in a collective, for which the compute stream waits."""
        self.at(at)
        machine, thread = self.machine, self.machine.main
        with ExitStack() as inside:
            function = {"allReduce": "all_reduce", "alltoAllV": "all_to_all_single"}.get(kind, kind)
            inside.enter_context(self.library("torch/distributed/distributed_c10d.py", 1941, 2004, function))
            name = _OPERATORS[kind]
            with self.operator(thread, name, [()], 20, role=OperatorRole.COLLECTIVE):
                with self.operator(thread, "record_event", None, 3, role=OperatorRole.COLLECTIVE) as record:
                    event = machine.record_event(thread, record, COMPUTE_STREAM)
                with self.operator(thread, "wait_event", None, 2, role=OperatorRole.COLLECTIVE) as wait:
                    machine.wait_event(thread, wait, group.stream, event)
                machine.spend(thread, 12)
                api = f"Hccl{kind[0].upper()}{kind[1:].lower()}"
                with self.operator(thread, api, None, 2, role=OperatorRole.COLLECTIVE) as calling:
                    posted = machine.post(thread, calling, kind, group)
                    part = yield Posting(group, kind, elements, posted.begin)
                    tasks = Tasks(machine.recording, group, posted.number, posted.connection)
                    for step in part.steps:
                        tasks.add(*step)
                    machine.complete(posted, elements, part.end, part.wait)
                with self.operator(thread, "record_event", None, 2, role=OperatorRole.COLLECTIVE) as record:
                    done = machine.record_event(thread, record, group.stream)
            with self.operator(thread, "wait_event", None, 2, role=OperatorRole.COLLECTIVE) as wait:
                machine.wait_event(thread, wait, COMPUTE_STREAM, done)
