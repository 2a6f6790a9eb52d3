"""What one rank of a mixture of experts runs: `samples/experts/train_experts.py`, and how tokens are spread.

The workloads are the eight of the benchmark in NVIDIA/Megatron-LM pull request 7488, for 8 experts on 4 ranks
of which each token has 2. There tokens draw their experts at random; here each rank has the tokens that are
expected of it, so that the ratio of the most to the mean is exact. Hot are experts 0 and 1: 3 of 4 tokens
have both, and the others any two.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.job.layout import Layout
from simulator.job.program import Extra, RankProgram, Running, Size
from simulator.machine import Machine
from simulator.source import SCRIPTS, TrainingScript

EXPERTS_SCRIPT = SCRIPTS / "experts" / "train_experts.py"
EXPERTS_TRACED_AS = "/workspace/experts/train_experts.py"
RANKS = 4
TOKENS = 1024  #: of a share, of which each rank of a balanced workload has 4
HIDDEN = 512  #: elements of a token
_US_PER_TOKEN = 0.12
_EVEN = (4, 4, 4, 4)
_HOT = (13, 1, 1, 1)  # 3/4 of the tokens on one rank, the rest on all alike
_BURST = (10, 2, 2, 2)  # half of the tokens on one rank


class Workload(NamedTuple):
    """How tokens are spread: shares of each rank, which sum to 16."""

    name: str
    worked_at: tuple[int, ...] = _EVEN  #: by the experts of each rank
    brought: tuple[int, ...] = _EVEN  #: by each rank
    rotates_after: int = 0  #: steps after which the next rank has them; 0: never
    steady_steps: int = 0  #: that are balanced before each step that is not

    def tokens(self, rank: int, step: int) -> int:
        """How many tokens the experts of a rank work at in a step."""
        if step % (self.steady_steps + 1) != self.steady_steps:
            return _EVEN[rank] * TOKENS
        turns = step // self.rotates_after if self.rotates_after else 0
        return self.worked_at[(rank - turns) % RANKS] * TOKENS

    def imbalance(self, steps: int) -> float:
        """Return the most tokens of a rank divided by the mean, on average over steps."""
        of_steps = [[self.tokens(rank, step) for rank in range(RANKS)] for step in range(steps)]
        return sum(max(tokens) * RANKS / sum(tokens) for tokens in of_steps) / steps


WORKLOADS = {
    "W0": Workload("balanced"),
    "W1": Workload("hot expert set", _HOT),
    "W2": Workload("hot rank", _HOT),
    "W3": Workload("spread hot experts"),  # every other expert is hot: one on each rank
    "W4": Workload("source ragged", _EVEN, (7, 3, 3, 3)),
    "W5": Workload("zero expert rank", (0, 0, 8, 8)),
    "W6": Workload("rotating hotspot", _HOT, rotates_after=3),
    "W7": Workload("burst", _BURST, steady_steps=3),
}


class ExpertsProgram(RankProgram):
    """The process of one rank; `Extra.workload` says how tokens are spread."""

    def __init__(self, machine: Machine, layout: Layout, rank: int, size: Size, extra: Extra) -> None:
        super().__init__(machine, layout, rank, size, extra)
        self.script = TrainingScript(EXPERTS_SCRIPT, EXPERTS_TRACED_AS)
        self._rank = rank
        self._workload = WORKLOADS[extra.workload]

    def run(self, steps: int) -> Running:
        """All steps, and the end of the recording."""
        self.enter_roots("    main()", "        train(model, optimizer, loader", "        prof.step()")
        self.begin_step()
        for step in range(steps):
            yield from self._step_of(step)
            self.end_step("        prof.step()", last=step == steps - 1)
        self.finish()

    def _step_of(self, step: int) -> Running:
        assert self._data is not None
        self.load("for tokens in loader:", ms=0.2)
        for _ in range(self._size.layers):
            with self.call("experts", at="tokens = experts(layer, tokens)"):
                yield from self._layer(step)
        yield from self.collective(
            "dist.all_reduce(model.gradients)", self._data, "allReduce", 4 * self._size.elements
        )
        self.adamw("        optimizer.step()", us=60)
        self.item('print(f"loss {model.total.item():.3f}")')

    def _layer(self, step: int) -> Running:
        assert self._data is not None
        tokens = self._workload.tokens(self._rank, step)
        brought = self._workload.brought[self._rank] * TOKENS
        self.op("linear", at="tokens = layer.attention(tokens)", us=self._size.matmul_us, grad=False)
        yield from self.collective(
            "dist.all_to_all_single(layer.received,", self._data, "alltoAllV", brought * HIDDEN
        )
        for line in ("wide = torch_npu.npu_grouped_matmul(", "made = torch_npu.npu_grouped_matmul("):
            us = max(2.0, tokens * _US_PER_TOKEN)
            self.op("grouped_matmul", at=line, us=us, shapes=[(tokens, HIDDEN)], grad=False)
        yield from self.collective("dist.all_to_all_single(tokens,", self._data, "alltoAllV", tokens * HIDDEN)
