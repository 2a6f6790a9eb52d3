"""What one rank of a job of reinforcement learning runs: `samples/roles/train_roles.py`, its roles marked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from simulator.job.layout import Layout
from simulator.job.program import Extra, RankProgram, Running, Size
from simulator.machine import Machine
from simulator.source import SCRIPTS, TrainingScript

ROLES_SCRIPT = SCRIPTS / "roles" / "train_roles.py"
ROLES_TRACED_AS = "/workspace/roles/train_roles.py"
ROLES = ("generate", "log_prob", "reward", "update")
_REWARD_US = 900.0


class RolesProgram(RankProgram):
    """The process of one rank; `Extra.computing` is of generating alone."""

    def __init__(self, machine: Machine, layout: Layout, rank: int, size: Size, extra: Extra) -> None:
        super().__init__(machine, layout, rank, size, extra)
        self.script = TrainingScript(ROLES_SCRIPT, ROLES_TRACED_AS)

    def run(self, steps: int) -> Running:
        """All steps, and the end of the recording."""
        self.enter_roots("    main()", "        train(policy, optimizer, loader", "        prof.step()")
        self.begin_step()
        for step in range(steps):
            usual = self._extra.steps is not None and step not in self._extra.steps
            yield from self._run_step(Extra() if usual else self._extra)
            self.end_step("        prof.step()", last=step == steps - 1)
        self.finish()

    def _run_step(self, extra: Extra) -> Running:
        assert self._data is not None
        elements = self._size.elements
        self.load("for prompts in loader:", ms=0.2 + extra.loader_ms)
        with self._role("generate"), self.call("generate", at="answers = generate(policy, prompts)"):
            self._matmuls("prompts = layer.decode(prompts)", extra.computing)
        with self._role("log_prob"), self.call("log_prob", at="answers = log_prob(policy, answers)"):
            yield from self.collective("dist.all_reduce(policy.lengths)", self._data, "allReduce", 64)
            self._matmuls("answers = layer.score(answers)", 0.5)
        with self._role("reward"), self.call("reward", at="scores = reward(answers)"):
            self.python(_REWARD_US, at="return [answer == right for answer, right in answers]")
            self.op("slice", shapes=[(4096,)])
        with self._role("update"):
            with self.call("update", at="            update(policy, scores)"):
                self._matmuls("scores = layer.gradient(scores)", 1.0)
                yield from self.collective(
                    "dist.all_reduce(policy.gradients)", self._data, "allReduce", 4 * elements
                )
            self.adamw("            optimizer.step()", us=60)
        self.item('print(f"reward {policy.reward.item():.3f}")')

    @contextmanager
    def _role(self, name: str) -> Iterator[None]:
        """Mark a range with record_function."""
        self.at(f'with record_function("{name}"):')
        with self.operator(self.machine.main, name, None, 4):
            yield

    def _matmuls(self, at: str, factor: float) -> None:
        for _ in range(self._size.layers):
            us = self._size.matmul_us * factor
            self.op("linear", at=at, us=us, shapes=[(4096, 1024), (4096, 1024)], grad=False)
