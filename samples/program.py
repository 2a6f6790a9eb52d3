"""A training program as a simulated host runs it: Python frames, operators, autograd, optimizer, collectives.

The vocabulary in which `samples.scenarios` writes programs. Knows the framework (which frames and operators
surround a call), not the file format.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass

from samples.host import Host, Shape
from samples.machine import Machine, Thread
from samples.operators import RECIPES, Recipe, builtin
from samples.recording import (
    COLLECTIVE_STREAM,
    COMPUTE_STREAM,
    Burst,
    Operator,
    Pair,
    Role,
)
from samples.source import TrainingScript

RUN_BACKWARD = "<built-in method run_backward of torch._C._EngineBase object at 0xfffdc1a11890>"
ADAMW = (
    (557, "add"),
    (560, "mul"),
    (563, "lerp"),
    (565, "mul"),
    (566, "addcmul"),
    (599, "sqrt"),
    (607, "div"),
    (609, "add"),
    (610, "addcdiv"),
)


@dataclass
class Record:
    """A forward operator to be differentiated."""

    recipe: Recipe
    operator: Operator
    times: tuple[float, ...]
    shapes: Sequence[Shape]
    parameters: int


class Program(Host):
    """The host side of one process that trains with `script`."""

    def __init__(self, machine: Machine, script: TrainingScript, first_step: int = 50) -> None:
        super().__init__(machine, script)
        self._tape: list[Record] = []
        self._sequence = 1350
        self._step = first_step
        self._step_operator: Operator | None = None

    # -- operators ------------------------------------------------------------------------------------

    def op(
        self,
        name: str,
        at: str | None = None,
        us: float | None = None,
        shapes: Sequence[Shape] = (),
        gradient_us: Sequence[float] | None = None,
        parameters: int = 0,
        grad: bool = True,
        launches: bool = True,
    ) -> None:
        """Run an operator of the table on the main thread.

        us : time of its kernel on the device; gradient_us : of each of its backward operators;
        parameters : elements of the parameter whose gradient its backward accumulates;
        launches : False where the tensor is empty and nothing is launched.
        """
        if at is not None:
            self.at(at)
        recipe = RECIPES[name]
        thread = self.machine.main
        self.machine.spend(thread, 5)
        differentiable = grad and recipe.backward is not None
        if differentiable:
            self._sequence += 1
            self.machine.recording.sequences += 1
        sequence = self._sequence if differentiable else -1
        function = builtin(name)
        with self._python(function, None) if function else nullcontext():
            inner = self._nest(thread, recipe, shapes, us, sequence, launches)
        if differentiable:
            times = (
                tuple(gradient_us)
                if gradient_us is not None
                else ((us,) * len(recipe.gradients) if us else ())
            )
            self._tape.append(Record(recipe, inner, times, shapes, parameters))

    def to_device(self, at: str, shape: Shape, us: float, blocking: bool = False) -> None:
        """Copy a tensor from host to device."""
        self.at(at)
        machine = self.machine
        thread = machine.main
        size = 8
        for length in shape:
            size *= length
        kinds = ("long int", "Scalar", "None", "None", "None", "Scalar", "Scalar", "None")
        with ExitStack() as inside:
            inside.enter_context(
                self._python("<built-in method to of Tensor object at 0xfffca177d8b0>", None)
            )
            for name, types in (("aten::to", kinds), ("aten::_to_copy", kinds[:7])):
                inside.enter_context(self._operator(thread, name, [shape], 8, types, Role.COPY))
            with self._operator(thread, "aten::empty_strided", [], 12, role=Role.COPY):
                pass
            inside.enter_context(self._operator(thread, "aten::copy_", [shape, shape], 8, role=Role.COPY))
            with self._operator(thread, "acl_memcpy_host_to_device", None, 4, role=Role.COPY) as inner:
                machine.copy(thread, inner, size, us)
            if blocking:
                machine.spend(thread, 5)
                machine.synchronize(thread)

    def item(self, at: str) -> None:
        """Read a scalar: wait until the device has computed it, then copy it."""
        self.at(at)
        thread = self.machine.main
        with ExitStack() as inside:
            inside.enter_context(
                self._python("<built-in method item of Tensor object at 0xfffca17d7e50>", None)
            )
            for name in ("aten::item", "aten::_local_scalar_dense"):
                inside.enter_context(self._operator(thread, name, [()], 6, role=Role.SYNC))
            self.machine.synchronize(thread)
            self.machine.spend(thread, 5)
            self.machine.read_back(thread)

    # -- phases of a step -----------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Open the first ProfilerStep#N."""
        thread = self.machine.main
        self.machine.spend(thread, 60)
        self._step_operator = Operator(
            f"ProfilerStep#{self._step}",
            thread.tid,
            thread.now,
            role=Role.WRAPPER,
            stack=self._call_stack(),
            step=self._step,
        )
        self.machine.recording.steps.append(self._step_operator)

    def end_step(self, at: str, last: bool) -> None:
        """`prof.step()`: close this ProfilerStep#N and open the next, unless this was the last."""
        self.at(at)
        with self.library("torch_npu/profiler/profiler.py", 231, 241, "step"):
            self.python(40)
            assert self._step_operator is not None
            self._step_operator.end = self.machine.main.now
            self.machine.recording.operators.append(self._step_operator)
            self._step += 1
            if not last:
                self.begin_step()

    def load(self, at: str, ms: float) -> None:
        """Take the next batch from the data loader."""
        self.at(at)
        thread = self.machine.main
        file = "torch/utils/data/dataloader.py"
        name = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        with ExitStack() as inside:
            inside.enter_context(self.library(file, 625, 633, "__next__"))
            inside.enter_context(self._operator(thread, name, None, 15, role=Role.LOADER))
            inside.enter_context(self.library(file, 1298, 1328, "_next_data"))
            inside.enter_context(self.library(file, 1265, 1294, "_get_data"))
            self.python(ms * 1000)

    def backward(self, at: str, bucket: int = 0, collective_us: float = 0.0, skew_us: float = 0.0) -> None:
        """`loss.backward()`: the autograd thread differentiates what was recorded, last first.

        Gradients are reduced in buckets of `bucket` elements (0: not at all).
        """
        self.at(at)
        machine = self.machine
        main, auto = machine.main, machine.autograd
        tensor, engine = "torch/_tensor.py", "torch/autograd/__init__.py"
        with self.library(tensor, 433, 492, "backward"), self.library(engine, 149, 251, "backward"):
            with self._operator(main, "aten::ones_like", [()], 8) as root:
                recipe = RECIPES["ones_like"]
                machine.launch(main, root, "aclnnInplaceOne", recipe.kernels)
            machine.spend(main, 12)
            with self._python(RUN_BACKWARD, None):
                woken = main.now
                auto.now = main.now + machine.jitter(45)
                events = self._differentiate_all(auto, bucket, collective_us, skew_us)
                for event in events:
                    with self._operator(auto, "wait_event", None, 1.5) as wait:
                        machine.wait_event(auto, wait, COMPUTE_STREAM, event)
                    machine.spend(auto, 4)
                machine.recording.bursts.append(Burst(auto.tid, main.tid, woken, auto.now))
                main.now = auto.now + machine.jitter(20)

    def zero_grad(self, at: str) -> None:
        self.at(at)
        wrapper = self._operator(
            self.machine.main, "Optimizer.zero_grad#AdamW.zero_grad", None, 30, role=Role.WRAPPER
        )
        with self.library("torch/optim/optimizer.py", 788, 803, "zero_grad"), wrapper:
            self.python(30)

    def adamw(self, at: str, us: float) -> None:
        """`optimizer.step()` with the foreach implementation; each of its kernels takes `us`."""
        self.at(at)
        thread = self.machine.main
        with ExitStack() as inside:
            inside.enter_context(self.library("torch/optim/optimizer.py", 356, 373, "wrapper"))
            inside.enter_context(
                self._operator(thread, "Optimizer.step#AdamW.step", None, 20, role=Role.WRAPPER)
            )
            for defined, line, function in ((165, 184, "step"), (277, 335, "adamw")):
                inside.enter_context(self.library("torch/optim/adamw.py", defined, line, function))
            inside.enter_context(self.library("torch/optim/adamw.py", 499, 557, "_multi_tensor_adamw"))
            for line, name in ADAMW:
                self._go_to(line)
                self.op(f"foreach_{name}", us=us)

    # -- pieces ---------------------------------------------------------------------------------------

    def _nest(
        self,
        thread: Thread,
        recipe: Recipe,
        shapes: Sequence[Shape],
        us: float | None,
        sequence: int,
        launches: bool,
        forward: Operator | None = None,
        depth: int = 0,
    ) -> Operator:
        """The recipe's operators from `depth` on, each inside the one before, the launch in the innermost.

        Returns the innermost operator.
        """
        cost = 30.0 if thread is self.machine.main else 7.0
        last = depth == len(recipe.ops) - 1
        with self._operator(
            thread, recipe.ops[depth], shapes, cost, sequence=sequence, forward=forward
        ) as operator:
            if not last:
                operator = self._nest(thread, recipe, shapes, us, sequence, launches, forward, depth + 1)
            elif recipe.api is not None and launches:
                self._launch(thread, recipe, us, forward)
        return operator

    def _launch(
        self,
        thread: Thread,
        recipe: Recipe,
        us: float | None,
        forward: Operator | None,
    ) -> None:
        assert recipe.api is not None
        cost = 30.0 if thread is self.machine.main else 9.0
        if recipe.allocates:
            with self._operator(thread, "empty_tensor", None, cost, forward=forward):
                pass
            self.machine.spend(thread, cost / 3)
        kernels = recipe.kernels
        if us is not None:
            kernels = (*kernels[:-1], kernels[-1]._replace(us=us))
        with self._operator(thread, recipe.api, None, cost / 2, forward=forward) as launching:
            self.machine.launch(thread, launching, recipe.api, kernels, compile_us=recipe.compile_us)

    def _differentiate_all(
        self, thread: Thread, bucket: int, collective_us: float, skew_us: float
    ) -> list[int]:
        """The backward pass of everything on the tape; returns when the all-reduces of gradients end."""
        pending = 0
        left = sum(record.parameters for record in self._tape)
        ends = []
        for record in reversed(self._tape):
            self._differentiate(thread, record)
            pending += record.parameters
            left -= record.parameters
            if bucket and pending and (pending >= bucket or left == 0):
                ends.append(self._reduce(thread, pending, collective_us, skew_us))
                pending = 0
        self._tape.clear()
        return ends

    def _differentiate(self, thread: Thread, record: Record) -> None:
        """One node of the graph on the autograd thread, and the accumulation of its parameter's gradient."""
        recipe, forward = record.recipe, record.operator
        assert recipe.backward is not None
        sequence = forward.sequence
        name = f"autograd::engine::evaluate_function: {recipe.backward}"
        evaluation = self._operator(thread, name, None, 5, forward=forward)
        backward = self._operator(
            thread, recipe.backward, record.shapes[:1], 6, sequence=sequence, forward=forward
        )
        with evaluation, backward as node:
            node.forward_thread = 1
            self.machine.recording.pairs.append(
                Pair(sequence, forward.tid, forward.start, thread.tid, node.start)
            )
            for index, gradient in enumerate(recipe.gradients):
                us = record.times[index] if index < len(record.times) else None
                self._nest(thread, RECIPES[gradient], record.shapes, us, -1, True, forward)
                self.machine.spend(thread, 3)
        self.machine.spend(thread, 6)
        if record.parameters:
            self._accumulate(thread, record.parameters)

    def _accumulate(self, thread: Thread, count: int) -> None:
        name = "torch::autograd::AccumulateGrad"
        with self._operator(thread, f"autograd::engine::evaluate_function: {name}", None, 6):
            with self._operator(thread, name, [(count,)], 6) as node:
                node.forward_thread = 1
                with self._operator(thread, "aten::detach", [(count,)], 4):
                    pass
            with self._operator(thread, "torch::distributed::reducer::mul_out", [(count,)], 6):
                self._nest(thread, RECIPES["mul_grad"], [(count,)], max(2.0, count / 600_000), -1, True)
        self.machine.spend(thread, 6)

    def _reduce(self, thread: Thread, count: int, us: float, skew_us: float) -> int:
        """All-reduce a bucket of gradients; returns the device time at which it has ended."""
        machine = self.machine
        types = ("TensorList", "None", "None", "None", "Scalar")
        with self._operator(thread, "c10d::allreduce_", [()], 20, types, Role.COLLECTIVE):
            with self._operator(thread, "record_event", None, 3, role=Role.COLLECTIVE) as record:
                event = machine.record_event(thread, record, COMPUTE_STREAM)
            with self._operator(thread, "wait_event", None, 2, role=Role.COLLECTIVE) as wait:
                machine.wait_event(thread, wait, COLLECTIVE_STREAM, event)
            machine.spend(thread, 12)
            outer = self._operator(thread, "HcclAllreduce", [(count,)], 10, role=Role.COLLECTIVE)
            with outer, self._operator(thread, "HcclAllreduce", None, 2, role=Role.COLLECTIVE) as reduce:
                machine.all_reduce(thread, reduce, count, us, skew_us)
            machine.spend(thread, 8)
            with self._operator(thread, "record_event", None, 2, role=Role.COLLECTIVE) as record:
                done = machine.record_event(thread, record, COLLECTIVE_STREAM)
        machine.spend(thread, 8)
        return done
