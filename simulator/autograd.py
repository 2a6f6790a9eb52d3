"""The backward pass: what the autograd thread runs for the operators that the forward pass recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.dispatch import Dispatcher
from simulator.host import Shape
from simulator.machine import Thread
from simulator.operators import RECIPES, Recipe
from simulator.recording import COLLECTIVE_STREAM, COMPUTE_STREAM, Burst, GradientFlow, Operator, OperatorRole


@dataclass
class Record:
    """A forward operator to be differentiated."""

    recipe: Recipe
    operator: Operator
    times: tuple[float, ...]
    shapes: Sequence[Shape]
    parameters: int


class Autograd:
    """The recorded operators of a host, and the thread that differentiates them."""

    def __init__(self, host: Dispatcher) -> None:
        self._host = host
        self._machine = host.machine
        self._tape: list[Record] = []

    def record(self, record: Record) -> None:
        self._tape.append(record)

    def run(self, bucket: int, collective_us: float, skew_us: float) -> None:
        """Run the whole backward pass, during which the main thread waits.

        Gradients are reduced in buckets of `bucket` elements (0: not at all).
        """
        machine = self._machine
        main, thread = machine.main, machine.autograd
        wake_time = main.now
        thread.now = main.now + machine.jitter(45)
        for event in self._differentiate_all(thread, bucket, collective_us, skew_us):
            with self._host.operator(thread, "wait_event", None, 1.5) as wait:
                machine.wait_event(thread, wait, COMPUTE_STREAM, event)
            machine.spend(thread, 4)
        machine.recording.bursts.append(Burst(thread.tid, main.tid, wake_time, thread.now))
        main.now = thread.now + machine.jitter(20)

    def _differentiate_all(
        self, thread: Thread, bucket: int, collective_us: float, skew_us: float
    ) -> list[int]:
        """Run the backward pass of everything on the tape; return when the all-reduces of gradients end."""
        pending = 0
        remaining = sum(record.parameters for record in self._tape)
        ends = []
        for record in reversed(self._tape):
            self._differentiate(thread, record)
            pending += record.parameters
            remaining -= record.parameters
            if bucket and pending and (pending >= bucket or remaining == 0):
                ends.append(self.reduce(thread, pending, collective_us, skew_us))
                pending = 0
        self._tape.clear()
        return ends

    def _differentiate(self, thread: Thread, record: Record) -> None:
        """Run one node of the graph on the autograd thread, and accumulate its parameter's gradient."""
        recipe, forward = record.recipe, record.operator
        assert recipe.backward is not None
        sequence = forward.sequence
        name = f"autograd::engine::evaluate_function: {recipe.backward}"
        evaluation = self._host.operator(thread, name, None, 5, forward=forward)
        backward = self._host.operator(
            thread, recipe.backward, record.shapes[:1], 6, sequence=sequence, forward=forward
        )
        with evaluation, backward as node:
            node.forward_thread = 1
            self._machine.recording.pairs.append(
                GradientFlow(sequence, forward.tid, forward.start, thread.tid, node.start)
            )
            for index, gradient in enumerate(recipe.gradients):
                us = record.times[index] if index < len(record.times) else None
                self._host.nest(thread, RECIPES[gradient], record.shapes, us, -1, True, forward)
                self._machine.spend(thread, 3)
        self._machine.spend(thread, 6)
        if record.parameters:
            self._accumulate(thread, record.parameters)

    def _accumulate(self, thread: Thread, count: int) -> None:
        name = "torch::autograd::AccumulateGrad"
        with self._host.operator(thread, f"autograd::engine::evaluate_function: {name}", None, 6):
            with self._host.operator(thread, name, [(count,)], 6) as node:
                node.forward_thread = 1
                with self._host.operator(thread, "aten::detach", [(count,)], 4):
                    pass
            with self._host.operator(thread, "torch::distributed::reducer::mul_out", [(count,)], 6):
                self._host.nest(thread, RECIPES["mul_grad"], [(count,)], max(2.0, count / 600_000), -1, True)
        self._machine.spend(thread, 6)

    def reduce(self, thread: Thread, count: int, us: float, skew_us: float) -> int:
        """All-reduce a tensor, or a bucket of gradients; return the device time at which it has ended."""
        machine = self._machine
        types = ("TensorList", "None", "None", "None", "Scalar")
        with self._host.operator(thread, "c10d::allreduce_", [()], 20, types, OperatorRole.COLLECTIVE):
            with self._host.operator(thread, "record_event", None, 3, role=OperatorRole.COLLECTIVE) as record:
                event = machine.record_event(thread, record, COMPUTE_STREAM)
            with self._host.operator(thread, "wait_event", None, 2, role=OperatorRole.COLLECTIVE) as wait:
                machine.wait_event(thread, wait, COLLECTIVE_STREAM, event)
            machine.spend(thread, 12)
            outer = self._host.operator(thread, "HcclAllreduce", [(count,)], 10, role=OperatorRole.COLLECTIVE)
            with (
                outer,
                self._host.operator(thread, "HcclAllreduce", None, 2, role=OperatorRole.COLLECTIVE) as reduce,
            ):
                machine.all_reduce(thread, reduce, count, us, skew_us)
            machine.spend(thread, 8)
            with self._host.operator(thread, "record_event", None, 2, role=OperatorRole.COLLECTIVE) as record:
                end = machine.record_event(thread, record, COLLECTIVE_STREAM)
        machine.spend(thread, 8)
        return end
