"""What one rank of a mixture of experts runs: `samples/experts/train_experts.py`, and how tokens are spread.

The workloads are the eight that NVIDIA/Megatron-LM pull request 7488 names. How many tokens each rank has to
work at is set here, so that the ratio of the most to the mean is exact.
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
_HOT = (10, 2, 2, 2)


class Workload(NamedTuple):
    """How tokens are spread: shares of each rank, which sum to 16."""

    name: str
    worked_at: tuple[int, ...] = _EVEN  #: by the experts of each rank
    brought: tuple[int, ...] = _EVEN  #: by each rank
    rotates: bool = False  #: the next rank has them in the next step
    only_step: int | None = None  #: in which step; balanced in all others. None: in all

    def tokens(self, rank: int, step: int) -> int:
        """How many tokens the experts of a rank work at in a step."""
        if self.only_step is not None and step != self.only_step:
            return _EVEN[rank] * TOKENS
        return self.worked_at[(rank - step * self.rotates) % RANKS] * TOKENS

    def imbalance(self, steps: int) -> float:
        """Return the most tokens of a rank divided by the mean, on average over steps."""
        of_steps = [[self.tokens(rank, step) for rank in range(RANKS)] for step in range(steps)]
        return sum(max(tokens) * RANKS / sum(tokens) for tokens in of_steps) / steps


WORKLOADS = {
    "W0": Workload("balanced"),
    "W1": Workload("hot expert set", (7, 3, 3, 3)),
    "W2": Workload("hot rank", _HOT),
    "W3": Workload("spread hot experts", (5, 3, 5, 3)),
    "W4": Workload("source ragged", _EVEN, (7, 3, 3, 3)),
    "W5": Workload("zero expert rank", (8, 8, 0, 0)),
    "W6": Workload("rotating hotspot", _HOT, rotates=True),
    "W7": Workload("burst", _HOT, only_step=1),
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
