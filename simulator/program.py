"""A training program as a simulated host runs it: Python frames, operators, autograd, optimizer, collectives.

The vocabulary in which `simulator.scenarios` writes programs. Knows the framework (which frames and operators
surround a call), not the file format.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext

from simulator.autograd import Autograd, Record
from simulator.dispatch import Dispatcher
from simulator.host import LinePace, Shape
from simulator.machine import Machine
from simulator.operators import RECIPES, builtin
from simulator.recording import COMPUTE_STREAM, Operator, OperatorRole
from simulator.source import TrainingScript

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


class Program(Dispatcher):
    """The host side of one process that trains with `script`."""

    def __init__(
        self, machine: Machine, script: TrainingScript, pace: LinePace | None = None, first_step: int = 50
    ) -> None:
        super().__init__(machine, script, pace)
        self._autograd = Autograd(self)
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
        with self.frame(function, None) if function else nullcontext():
            inner = self.nest(thread, recipe, shapes, us, sequence, launches)
        if differentiable:
            times = tuple(gradient_us or ())
            if us is not None and not times:
                times = (us,) * len(recipe.gradients)
            self._autograd.record(Record(recipe, inner, times, shapes, parameters))

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
            inside.enter_context(self.frame("<built-in method to of Tensor object at 0xfffca177d8b0>", None))
            for name, types in (("aten::to", kinds), ("aten::_to_copy", kinds[:7])):
                inside.enter_context(self.operator(thread, name, [shape], 8, types, OperatorRole.COPY))
            with self.operator(thread, "aten::empty_strided", [], 12, role=OperatorRole.COPY):
                pass
            inside.enter_context(
                self.operator(thread, "aten::copy_", [shape, shape], 8, role=OperatorRole.COPY)
            )
            with self.operator(thread, "acl_memcpy_host_to_device", None, 4, role=OperatorRole.COPY) as inner:
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
                self.frame("<built-in method item of Tensor object at 0xfffca17d7e50>", None)
            )
            for name in ("aten::item", "aten::_local_scalar_dense"):
                inside.enter_context(self.operator(thread, name, [()], 6, role=OperatorRole.SYNC))
            self.machine.synchronize(thread)
            self.machine.spend(thread, 5)
            self.machine.read_back(thread)

    def nonzero(self, at: str, shape: Shape) -> None:
        """Find what is not 0: wait until the device has counted it, for the size of the result."""
        self.at(at)
        machine, thread = self.machine, self.machine.main
        with (
            self.frame("<built-in method nonzero of Tensor object at 0xfffca17d7e50>", None),
            self.operator(thread, "aten::nonzero", [shape], 12, role=OperatorRole.SYNC),
        ):
            with self.operator(thread, "aclnnNonzeroV2", None, 15, role=OperatorRole.SYNC) as inner:
                machine.launch(thread, inner, "aclnnNonzeroV2", RECIPES["nonzero"].kernels)
            machine.synchronize(thread)

    def all_reduce(self, at: str, count: int, us: float) -> None:
        """Call `dist.all_reduce`: the compute stream waits for the collective."""
        self.at(at)
        machine, thread = self.machine, self.machine.main
        with self.library("torch/distributed/distributed_c10d.py", 1941, 2004, "all_reduce"):
            end = self._autograd.reduce(thread, count, us, 0)
            with self.operator(thread, "wait_event", None, 2, role=OperatorRole.COLLECTIVE) as wait:
                machine.wait_event(thread, wait, COMPUTE_STREAM, end)

    def empty_cache(self, at: str, ms: float) -> None:
        """Give unused memory of the device back to the driver, in several calls."""
        self.at(at)
        with self.library("torch_npu/npu/memory.py", 109, 121, "empty_cache"):
            for _ in range(4):
                self.machine.change_memory(self.machine.main, "aclrtFree", ms * 250)
                self.python(2)

    def record(self, at: str, us: float) -> None:
        """Record an event, which takes the runtime so long."""
        self.at(at)
        thread = self.machine.main
        with self.operator(thread, "record_event", None, 4) as inner:
            self.machine.record_event(thread, inner, COMPUTE_STREAM, us)

    # -- phases of a step -----------------------------------------------------------------------------

    def begin_step(self) -> None:
        """Open the first ProfilerStep#N."""
        thread = self.machine.main
        self.machine.spend(thread, 60)
        self._step_operator = Operator(
            f"ProfilerStep#{self._step}",
            thread.tid,
            thread.now,
            role=OperatorRole.WRAPPER,
            stack=self.call_stack(),
            step=self._step,
        )
        self.machine.recording.steps.append(self._step_operator)

    def end_step(self, at: str, last: bool) -> None:
        """Call `prof.step()`: close this ProfilerStep#N and open the next, unless this was the last."""
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
            inside.enter_context(self.operator(thread, name, None, 15, role=OperatorRole.LOADER))
            inside.enter_context(self.library(file, 1298, 1328, "_next_data"))
            inside.enter_context(self.library(file, 1265, 1294, "_get_data"))
            self.python(ms * 1000)

    def backward(self, at: str, bucket: int = 0, collective_us: float = 0.0, skew_us: float = 0.0) -> None:
        """Call `loss.backward()`: the autograd thread differentiates what was recorded, last first.

        Gradients are reduced in buckets of `bucket` elements (0: not at all).
        """
        self.at(at)
        machine = self.machine
        main = machine.main
        tensor, engine = "torch/_tensor.py", "torch/autograd/__init__.py"
        with self.library(tensor, 433, 492, "backward"), self.library(engine, 149, 251, "backward"):
            with self.operator(main, "aten::ones_like", [()], 8) as root:
                machine.launch(main, root, "aclnnInplaceOne", RECIPES["ones_like"].kernels)
            machine.spend(main, 12)
            with self.frame(RUN_BACKWARD, None):
                self._autograd.run(bucket, collective_us, skew_us)

    def zero_grad(self, at: str) -> None:
        self.at(at)
        wrapper = self.operator(
            self.machine.main, "Optimizer.zero_grad#AdamW.zero_grad", None, 30, role=OperatorRole.WRAPPER
        )
        with self.library("torch/optim/optimizer.py", 788, 803, "zero_grad"), wrapper:
            self.python(30)

    def adamw(self, at: str, us: float) -> None:
        """Call `optimizer.step()` with the foreach implementation; each of its kernels takes `us`."""
        self.at(at)
        thread = self.machine.main
        with ExitStack() as inside:
            inside.enter_context(self.library("torch/optim/optimizer.py", 356, 373, "wrapper"))
            inside.enter_context(
                self.operator(thread, "Optimizer.step#AdamW.step", None, 20, role=OperatorRole.WRAPPER)
            )
            for defined, line, function in ((165, 184, "step"), (277, 335, "adamw")):
                inside.enter_context(self.library("torch/optim/adamw.py", defined, line, function))
            inside.enter_context(self.library("torch/optim/adamw.py", 499, 557, "_multi_tensor_adamw"))
            for line, name in ADAMW:
                self.go_to(line)
                self.op(f"foreach_{name}", us=us)
