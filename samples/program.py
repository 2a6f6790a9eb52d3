"""A training program as a simulated host runs it: Python frames, operators, autograd, optimizer, collectives.

The vocabulary in which `samples.scenarios` writes programs. Knows the framework (which frames and operators
surround a call), not the file format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from samples.machine import Kernel, Machine, Thread
from samples.operators import RECIPES, Recipe
from samples.recording import COLLECTIVE_STREAM, Burst, Call, Collection, Frame, Operator, Pair, Role, Stack
from samples.source import TrainingScript

SITE = "/usr/lib/python3.9/site-packages"
ALLOCATOR = "0xffffab81cf10"
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
Shape = tuple[int, ...]


@dataclass
class Level:
    """A Python function on the main thread's stack: its frame, unless it is a C function, and its call."""

    frame: Frame | None
    call: Call


@dataclass
class Record:
    """A forward operator to be differentiated."""

    recipe: Recipe
    operator: Operator
    times: tuple[float, ...]
    shapes: Sequence[Shape]
    parameters: int


class Program:
    """The host side of one process that trains with `script`."""

    def __init__(self, machine: Machine, script: TrainingScript, first_step: int = 50) -> None:
        self.machine = machine
        self.script = script
        self.dtype = "float"
        self._stack: list[Level] = []
        self._tape: list[Record] = []
        self._modules: dict[str, int] = {}
        self._sequence = 1350
        self._step = first_step
        self._step_operator: Operator | None = None
        self._cached_stack: Stack | None = None

    # -- Python ---------------------------------------------------------------------------------------

    def enter_roots(self, *lines: str) -> None:
        """The frames that are open when the profiler starts; `lines` are what they execute then, outermost first."""
        for code in lines:
            line = self.script.line(code)
            function = self.script.function(line)[0]
            self._open(
                f"{self.script.name}({line}): {function}", Frame(self.script.traced_as, line, function)
            )
        self.machine.recording.roots = [level.call for level in self._stack]

    def finish(self) -> None:
        """Close everything that is open and let the device finish."""
        machine = self.machine
        last = max([machine.main.now, machine.autograd.now, machine.dequeue.now])
        machine.recording.end = machine.main.now = last + 500_000
        while self._stack:
            self._stack.pop().call.end = machine.main.now
            machine.main.now += 1000
        machine.recording.calls.extend(reversed(machine.recording.roots))
        machine.recording.end = max(machine.recording.end, *(task.end for task in machine.recording.tasks))

    def at(self, code: str) -> None:
        """The innermost function of the script goes on to the line that holds `code`."""
        index = max(
            i
            for i, level in enumerate(self._stack)
            if level.frame and level.frame.path == self.script.traced_as
        )
        line = self.script.line(code)
        frame = self._stack[index].frame
        assert frame is not None
        function = self.script.function(line)[0]
        if function != frame.function:
            raise ValueError(f"{code!r} is in {function}, not in {frame.function}")
        self._stack[index].frame = frame._replace(line=line)
        self._cached_stack = None

    @contextmanager
    def call(self, function: str, at: str | None = None) -> Iterator[None]:
        """Run a function of the script, called from the line that holds `at`."""
        if at is not None:
            self.at(at)
        first = self.script.line(f"def {function}(")
        with self._python(
            f"{self.script.name}({first}): {function}", Frame(self.script.traced_as, first, function)
        ):
            yield

    @contextmanager
    def module(self, kind: str, file: str, defined: int, line: int, at: str | None = None) -> Iterator[None]:
        """Call an nn.Module whose forward is in a library file."""
        if at is not None:
            self.at(at)
        with self._module_call(kind), self.library(file, defined, line, "forward"):
            yield

    @contextmanager
    def own_module(self, kind: str, first: str, at: str | None = None) -> Iterator[None]:
        """Call an nn.Module of the script; `first` is the `def forward` line's code."""
        if at is not None:
            self.at(at)
        line = self.script.line(first)
        frame = Frame(self.script.traced_as, line, self.script.function(line)[0])
        with self._module_call(kind), self._python(f"{self.script.name}({line}): forward", frame):
            yield

    @contextmanager
    def distributed(self, at: str) -> Iterator[None]:
        """Call the DistributedDataParallel wrapper around the model."""
        file = "torch/nn/parallel/distributed.py"
        with (
            self.module("DistributedDataParallel", file, 1507, 1519, at),
            self.library(file, 1346, 1355, "_run_ddp_forward"),
        ):
            yield

    @contextmanager
    def library(self, file: str, defined: int, line: int, function: str) -> Iterator[None]:
        """A function of a library: defined at one line, executing another."""
        with self._python(f"{file}({defined}): {function}", Frame(f"{SITE}/{file}", line, function)):
            yield

    def python(self, us: float, at: str | None = None) -> None:
        """Plain Python for so long."""
        if at is not None:
            self.at(at)
        self.machine.spend(self.machine.main, us)

    def collect(self, ms: float) -> None:
        """A run of the garbage collector on the main thread."""
        thread = self.machine.main
        start = thread.now
        self.machine.spend(thread, ms * 1000)
        self.machine.recording.collections.append(Collection(thread.tid, start, thread.now))

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
        compile_us: float = 0.0,
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
        builtin = f"<built-in method {recipe.ops[0].split('::')[1]} of type object at {ALLOCATOR}>"
        with self._python(builtin, None):
            inner = self._nest(thread, recipe, shapes, us, sequence, compile_us, launches)
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
        with self._python("<built-in method to of Tensor object at 0xfffca177d8b0>", None):
            with self._operator(thread, "aten::to", [shape], 8, types=kinds, role=Role.COPY):
                with self._operator(thread, "aten::_to_copy", [shape], 7, types=kinds[:7], role=Role.COPY):
                    with self._operator(thread, "aten::empty_strided", [], 12, role=Role.COPY):
                        pass
                    with self._operator(thread, "aten::copy_", [shape, shape], 8, role=Role.COPY):
                        with self._operator(
                            thread, "acl_memcpy_host_to_device", None, 4, role=Role.COPY
                        ) as inner:
                            machine.copy(thread, inner, size, us)
                        if blocking:
                            machine.spend(thread, 5)
                            machine.synchronize(thread)

    def item(self, at: str) -> None:
        """Read a scalar: wait until the device has computed it, then copy it."""
        self.at(at)
        thread = self.machine.main
        with self._python("<built-in method item of Tensor object at 0xfffca17d7e50>", None):
            with self._operator(thread, "aten::item", [()], 6, role=Role.SYNC):
                with self._operator(thread, "aten::_local_scalar_dense", [()], 5, role=Role.SYNC):
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
        with self.library(file, 625, 633, "__next__"):
            with self._operator(thread, name, None, 15, role=Role.LOADER):
                with (
                    self.library(file, 1298, 1328, "_next_data"),
                    self.library(file, 1265, 1294, "_get_data"),
                ):
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
                machine.launch(
                    main, root, "aclnnInplaceOne", (Kernel("OnesLikeAiCore_OnesLike", "AI_CORE", 2.0),)
                )
            machine.spend(main, 12)
            with self._python(
                "<built-in method run_backward of torch._C._EngineBase object at 0xfffdc1a11890>", None
            ):
                woken = main.now
                auto.now = main.now + machine.jitter(45)
                pending = 0
                events = []
                total = sum(record.parameters for record in self._tape)
                for record in reversed(self._tape):
                    self._differentiate(auto, record)
                    pending += record.parameters
                    total -= record.parameters
                    if bucket and pending and (pending >= bucket or total == 0):
                        events.append(self._reduce(auto, pending, collective_us, skew_us))
                        pending = 0
                for event in events:
                    with self._operator(auto, "wait_event", None, 1.5, role=Role.COLLECTIVE) as wait:
                        machine.wait_event(auto, wait, 2, event)
                    machine.spend(auto, 4)
                machine.recording.bursts.append(Burst(auto.tid, main.tid, woken, auto.now))
                self._tape.clear()
                main.now = auto.now + machine.jitter(20)

    def zero_grad(self, at: str) -> None:
        self.at(at)
        with (
            self.library("torch/optim/optimizer.py", 788, 803, "zero_grad"),
            self._operator(
                self.machine.main, "Optimizer.zero_grad#AdamW.zero_grad", None, 30, role=Role.WRAPPER
            ),
        ):
            self.python(30)

    def adamw(self, at: str, us: float) -> None:
        """`optimizer.step()` with the foreach implementation; each of its kernels takes `us`."""
        self.at(at)
        file = "torch/optim/adamw.py"
        with self.library("torch/optim/optimizer.py", 356, 373, "wrapper"):
            with self._operator(self.machine.main, "Optimizer.step#AdamW.step", None, 20, role=Role.WRAPPER):
                with self.library(file, 165, 184, "step"), self.library(file, 277, 335, "adamw"):
                    with self.library(file, 499, 557, "_multi_tensor_adamw"):
                        for line, name in ADAMW:
                            self._go_to(line)
                            self.op(f"foreach_{name}", us=us)

    # -- pieces ---------------------------------------------------------------------------------------

    def _go_to(self, line: int) -> None:
        """The innermost frame goes on to `line`."""
        frame = self._stack[-1].frame
        assert frame is not None
        self._stack[-1].frame = frame._replace(line=line)
        self._cached_stack = None

    def _open(self, name: str, frame: Frame | None, module: int | None = None) -> Level:
        recording = self.machine.recording
        parent = self._stack[-1].call.id if self._stack else 0
        call = Call(
            name, self.machine.main.tid, self.machine.main.now, recording.python_ids, parent, module=module
        )
        recording.python_ids += 1
        level = Level(frame, call)
        self._stack.append(level)
        self._cached_stack = None
        return level

    @contextmanager
    def _python(self, name: str, frame: Frame | None, module: int | None = None) -> Iterator[None]:
        """A frame of the Python tracer around what happens inside."""
        thread = self.machine.main
        level = self._open(name, frame, module)
        self.machine.spend(thread, 1.6)
        yield
        self.machine.spend(thread, 0.6)
        level.call.end = thread.now
        self.machine.recording.calls.append(level.call)
        self._stack.pop()
        self._cached_stack = None
        self.machine.spend(thread, 1.2)

    @contextmanager
    def _module_call(self, kind: str) -> Iterator[None]:
        number = self._modules.setdefault(kind, len(self._modules))
        file = "torch/nn/modules/module.py"
        with (
            self._python(f"nn.Module: {kind}_0", Frame(f"{SITE}/{file}", 1518, "_wrapped_call_impl"), number),
            self.library(file, 1520, 1527, "_call_impl"),
        ):
            yield

    def _call_stack(self) -> Stack:
        if self._cached_stack is None:
            self._cached_stack = tuple(level.frame for level in reversed(self._stack) if level.frame)
        return self._cached_stack

    @contextmanager
    def _operator(
        self,
        thread: Thread,
        name: str,
        shapes: Sequence[Shape] | None,
        us: float,
        types: Sequence[str] | None = None,
        role: Role = Role.OPERATOR,
        sequence: int = -1,
        forward: Operator | None = None,
    ) -> Iterator[Operator]:
        """A cpu_op around what happens inside; half of `us` before it, a quarter after it."""
        operator = Operator(name, thread.tid, thread.now, sequence=sequence, role=role)
        if shapes is not None:
            operator.types = ";\r\n".join(types or [self.dtype] * len(shapes))
            texts = [",".join(map(str, shape)) for shape in shapes]
            operator.dims = ";\r\n".join(texts + [""] * (len(types or shapes) - len(texts)))
        if thread is self.machine.main:
            operator.stack = self._call_stack()
        if forward is not None:
            operator.forward_stack = forward.stack
        self.machine.spend(thread, us / 2)
        yield operator
        self.machine.spend(thread, us / 4)
        operator.end = thread.now
        self.machine.recording.operators.append(operator)

    def _nest(
        self,
        thread: Thread,
        recipe: Recipe,
        shapes: Sequence[Shape],
        us: float | None,
        sequence: int,
        compile_us: float,
        launches: bool,
        forward: Operator | None = None,
        depth: int = 0,
    ) -> Operator:
        """The recipe's operators from `depth` on, each inside the one before, and the launch in the innermost.

        Returns the innermost operator.
        """
        cost = 30.0 if thread is self.machine.main else 7.0
        last = depth == len(recipe.ops) - 1
        with self._operator(
            thread, recipe.ops[depth], shapes, cost, sequence=sequence, forward=forward
        ) as operator:
            if not last:
                operator = self._nest(
                    thread, recipe, shapes, us, sequence, compile_us, launches, forward, depth + 1
                )
            elif recipe.api is not None and launches:
                self._launch(thread, recipe, us, compile_us, forward)
        return operator

    def _launch(
        self,
        thread: Thread,
        recipe: Recipe,
        us: float | None,
        compile_us: float,
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
            self.machine.launch(thread, launching, recipe.api, kernels, compile_us=compile_us)

    def _differentiate(self, thread: Thread, record: Record) -> None:
        """One node of the graph on the autograd thread, and the accumulation of its parameter's gradient."""
        recipe, forward = record.recipe, record.operator
        assert recipe.backward is not None
        sequence = forward.sequence
        with (
            self._operator(
                thread, f"autograd::engine::evaluate_function: {recipe.backward}", None, 5, forward=forward
            ),
            self._operator(
                thread, recipe.backward, record.shapes[:1], 6, sequence=sequence, forward=forward
            ) as node,
        ):
            node.forward_thread = 1
            self.machine.recording.pairs.append(
                Pair(sequence, forward.tid, forward.start, thread.tid, node.start)
            )
            for index, name in enumerate(recipe.gradients):
                us = record.times[index] if index < len(record.times) else None
                self._nest(thread, RECIPES[name], record.shapes, us, -1, 0.0, True, forward)
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
                self._nest(thread, RECIPES["mul_grad"], [(count,)], max(2.0, count / 600_000), -1, 0.0, True)
        self.machine.spend(thread, 6)

    def _reduce(self, thread: Thread, count: int, us: float, skew_us: float) -> int:
        """All-reduce a bucket of gradients; returns the device time at which it has ended."""
        machine = self.machine
        with self._operator(
            thread,
            "c10d::allreduce_",
            [()],
            20,
            types=("TensorList", "None", "None", "None", "Scalar"),
            role=Role.COLLECTIVE,
        ):
            with self._operator(thread, "record_event", None, 3, role=Role.COLLECTIVE) as record:
                event = machine.record_event(thread, record, 2)
            with self._operator(thread, "wait_event", None, 2, role=Role.COLLECTIVE) as wait:
                machine.wait_event(thread, wait, COLLECTIVE_STREAM, event)
            machine.spend(thread, 12)
            with self._operator(thread, "HcclAllreduce", [(count,)], 10, role=Role.COLLECTIVE):
                with self._operator(thread, "HcclAllreduce", None, 2, role=Role.COLLECTIVE) as reduce:
                    machine.all_reduce(thread, reduce, count, us, skew_us)
            machine.spend(thread, 8)
            with self._operator(thread, "record_event", None, 2, role=Role.COLLECTIVE) as record:
                done = machine.record_event(thread, record, COLLECTIVE_STREAM)
        machine.spend(thread, 8)
        return done
