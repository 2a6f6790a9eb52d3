"""How an operator of the table runs on a thread: its cpu_ops one inside the other, and its launch."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.host import Host, Shape
from simulator.machine import Thread
from simulator.operators import Recipe
from simulator.recording import Operator


class Dispatcher(Host):
    """A host that runs recipes; the autograd thread is quicker than the main thread, which records stacks."""

    def nest(
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
        """Run the recipe's operators from `depth` on, each inside the one before, the launch in the
        innermost.

        Returns the innermost operator.
        """
        cost = 30.0 if thread is self.machine.main else 7.0
        last = depth == len(recipe.ops) - 1
        with self.operator(
            thread, recipe.ops[depth], shapes, cost, sequence=sequence, forward=forward
        ) as operator:
            if not last:
                operator = self.nest(thread, recipe, shapes, us, sequence, launches, forward, depth + 1)
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
            with self.operator(thread, "empty_tensor", None, cost, forward=forward):
                pass
            self.machine.spend(thread, cost / 3)
        kernels = recipe.kernels
        if us is not None:
            kernels = (*kernels[:-1], kernels[-1]._replace(us=us))
        with self.operator(thread, recipe.api, None, cost / 2, forward=forward) as launching:
            self.machine.launch(thread, launching, recipe.api, kernels, compile_us=recipe.compile_us)
