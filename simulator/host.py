"""The Python side of a simulated process: frames of functions and modules, and the operators inside them.

Knows what surrounds an operator (the Python stack), not what any operator does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from simulator.machine import Machine, Thread
from simulator.recording import Call, Collection, Operator, OperatorRole, PythonFrame, PythonStack
from simulator.source import TrainingScript

SITE = "/usr/lib/python3.9/site-packages"
Shape = tuple[int, ...]


@dataclass
class StackLevel:
    """A Python function on the main thread's stack: its frame, unless it is a C function, and its call."""

    frame: PythonFrame | None
    call: Call


class LinePace(NamedTuple):
    """How much of its usual time the main thread needs for a line of the script."""

    line: int
    factor: float


class Host:
    """The main thread of a process that runs `script`, and the operators of all its threads."""

    def __init__(self, machine: Machine, script: TrainingScript, pace: LinePace | None = None) -> None:
        self.machine = machine
        self.script = script
        if pace is not None:
            machine.pace = lambda thread: pace.factor if self._executes(thread, pace.line) else 1.0
        self.dtype = "float"
        self._stack: list[StackLevel] = []
        self._modules: dict[str, int] = {}
        self._cached_stack: PythonStack | None = None

    def enter_roots(self, *lines: str) -> None:
        """Open the frames of when the profiler starts, outermost first, each at the code it executes."""
        for code in lines:
            line = self.script.line(code)
            function = self.script.function(line)[0]
            frame = PythonFrame(self.script.traced_as, line, function)
            self._open(f"{self.script.name}({line}): {function}", frame)
        self.machine.recording.roots = [level.call for level in self._stack]

    def record_from_here(self) -> None:
        """Let the profiler join the host only now: what was before is lost, open frames seem to begin."""
        self.machine.recording.forget_host()
        for level in self._stack:
            level.call.start = self.machine.main.now

    def finish(self) -> None:
        """Close everything that is open and let the device finish."""
        machine = self.machine
        last = max(machine.main.now, machine.autograd.now, machine.dequeue.now)
        machine.recording.end = machine.main.now = last + 500_000
        while self._stack:
            self._stack.pop().call.end = machine.main.now
            machine.main.now += 1000
        machine.recording.calls.extend(reversed(machine.recording.roots))
        machine.recording.end = max(machine.recording.end, *(task.end for task in machine.recording.tasks))

    def at(self, code: str) -> None:
        """Move the innermost function of the script on to the line that holds `code`."""
        line = self.script.line(code)
        function = self.script.function(line)[0]
        for level in reversed(self._stack):
            if level.frame and level.frame.path == self.script.traced_as:
                if level.frame.function != function:
                    raise ValueError(f"{code!r} is in {function}, not in {level.frame.function}")
                level.frame = level.frame._replace(line=line)
                break
        self._cached_stack = None

    @contextmanager
    def call(self, function: str, at: str | None = None) -> Iterator[None]:
        """Run a function of the script, called from the line that holds `at`."""
        if at is not None:
            self.at(at)
        first = self.script.line(f"def {function}(")
        frame = PythonFrame(self.script.traced_as, first, function)
        with self.frame(f"{self.script.name}({first}): {function}", frame):
            yield

    @contextmanager
    def module(self, kind: str, file: str, defined: int, line: int, at: str | None = None) -> Iterator[None]:
        """Call an nn.Module whose forward is in a library file."""
        if at is not None:
            self.at(at)
        with self._module_call(kind), self.library(file, defined, line, "forward"):
            yield

    @contextmanager
    def own_module(self, kind: str, code: str, at: str | None = None) -> Iterator[None]:
        """Call an nn.Module of the script; `code` is some of the code in its `forward`."""
        if at is not None:
            self.at(at)
        line = self.script.line(code)
        function, first = self.script.function(line)
        frame = PythonFrame(self.script.traced_as, line, function)
        with self._module_call(kind), self.frame(f"{self.script.name}({first}): {function}", frame):
            yield

    @contextmanager
    def distributed(self, kind: str, code: str, at: str) -> Iterator[None]:
        """Call an nn.Module of the script through DistributedDataParallel."""
        file = "torch/nn/parallel/distributed.py"
        outer = self.module("DistributedDataParallel", file, 1507, 1519, at)
        with outer, self.library(file, 1346, 1355, "_run_ddp_forward"), self.own_module(kind, code):
            yield

    @contextmanager
    def library(self, file: str, defined: int, line: int, function: str) -> Iterator[None]:
        """Enter a function of a library: defined at one line, executing another."""
        with self.frame(f"{file}({defined}): {function}", PythonFrame(f"{SITE}/{file}", line, function)):
            yield

    def python(self, us: float, at: str | None = None) -> None:
        """Run plain Python for so long."""
        if at is not None:
            self.at(at)
        self.machine.spend(self.machine.main, us)

    def collect(self, ms: float) -> None:
        """Run the garbage collector on the main thread."""
        thread = self.machine.main
        start = thread.now
        self.machine.spend(thread, ms * 1000)
        self.machine.recording.collections.append(Collection(thread.tid, start, thread.now))

    def go_to(self, line: int) -> None:
        """Move the innermost frame on to `line`."""
        frame = self._stack[-1].frame
        assert frame is not None
        self._stack[-1].frame = frame._replace(line=line)
        self._cached_stack = None

    def _open(self, name: str, frame: PythonFrame | None, module: int | None = None) -> StackLevel:
        recording = self.machine.recording
        parent = self._stack[-1].call.id if self._stack else 0
        call = Call(
            name, self.machine.main.tid, self.machine.main.now, recording.python_ids, parent, module=module
        )
        recording.python_ids += 1
        level = StackLevel(frame, call)
        self._stack.append(level)
        self._cached_stack = None
        return level

    @contextmanager
    def frame(self, name: str, frame: PythonFrame | None, module: int | None = None) -> Iterator[None]:
        """Put a frame of the Python tracer around what happens inside."""
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
        wrapped = PythonFrame(f"{SITE}/{file}", 1518, "_wrapped_call_impl")
        module = self.frame(f"nn.Module: {kind}_0", wrapped, number)
        with module, self.library(file, 1520, 1527, "_call_impl"):
            yield

    def _executes(self, thread: Thread, line: int) -> bool:
        """Return whether the thread is at a line of the script, or in what that calls."""
        if thread is not self.machine.main:
            return False
        script_frames = (frame for frame in self.call_stack() if frame.path == self.script.traced_as)
        frame = next(script_frames, None)
        return frame is not None and frame.line == line

    def call_stack(self) -> PythonStack:
        if self._cached_stack is None:
            self._cached_stack = tuple(level.frame for level in reversed(self._stack) if level.frame)
        return self._cached_stack

    @contextmanager
    def operator(
        self,
        thread: Thread,
        name: str,
        shapes: Sequence[Shape] | None,
        us: float,
        types: Sequence[str] | None = None,
        role: OperatorRole = OperatorRole.OPERATOR,
        sequence: int = -1,
        forward: Operator | None = None,
    ) -> Iterator[Operator]:
        """Put a cpu_op around what happens inside; half of `us` before it, a quarter after it."""
        operator = Operator(name, thread.tid, thread.now, sequence=sequence, role=role)
        if shapes is not None:
            operator.types = ";\r\n".join(types or [self.dtype] * len(shapes))
            texts = [",".join(map(str, shape)) for shape in shapes]
            operator.dims = ";\r\n".join(texts + [""] * (len(types or shapes) - len(texts)))
        if thread is self.machine.main:
            operator.stack = self.call_stack()
        if forward is not None:
            operator.forward_stack = forward.stack
        self.machine.spend(thread, us / 2)
        yield operator
        self.machine.spend(thread, us / 4)
        operator.end = thread.now
        self.machine.recording.operators.append(operator)
