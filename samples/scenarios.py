"""The training programs of the samples: one function each, in the vocabulary of `samples.program`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from samples.machine import Machine
from samples.program import Program
from samples.recording import Recording
from samples.source import TrainingScript

HERE = Path(__file__).resolve().parent
START_NS = 1736412474712511620

LINEAR = "torch/nn/modules/linear.py", 113, 114
NORM = "torch/nn/modules/normalization.py", 189, 190
FUNCTIONAL = "torch/nn/functional.py"


def moba(program: Program, steps: int) -> None:
    """MoBA attention whose gate is computed block by block in two Python loops, so that the NPU starves."""
    p = program
    layers, blocks, tokens, width, heads, words = 2, 6, 768, 1024, 8, 8192
    hidden = (tokens, width)
    split = (heads, tokens, width // heads)

    def linear(at: str, shape: tuple[int, ...], out: int, us: float) -> None:
        with p.module("Linear", *LINEAR, at=at):
            weight = (out, shape[-1])
            p.op("linear", us=us, shapes=[shape, weight], gradient_us=[us, us], parameters=out * shape[-1])

    def norm(at: str) -> None:
        with p.module("LayerNorm", *NORM, at=at), p.library(FUNCTIONAL, 2503, 2543, "layer_norm"):
            p.op("layer_norm", shapes=[hidden, (width,), (width,)], parameters=2 * width)

    def block_gate() -> None:
        for _ in range(blocks):
            means = "means.append(key[:, begin:end].mean(dim=1))"
            p.op("slice", at=means, shapes=[split])
            p.op("slice", shapes=[split])
            p.op("mean", us=5, shapes=[(heads, tokens // blocks, width // heads)], grad=False)
            p.python(6)
        gate = (heads, tokens, blocks)
        p.op("cat", at="gate = query @ torch.stack(means, dim=2)", us=4, shapes=[(heads, width // heads)] * 2)
        p.op("bmm", us=9, shapes=[split, (heads, width // heads, blocks)], grad=False)
        for block in range(blocks):
            for at, launches in (
                ('gate[:, :begin, block] = float("-inf")', block > 0),
                ('gate[:, begin:end, block] = float("inf")', True),
            ):
                p.op("slice", at=at, shapes=[gate])
                p.op("slice", shapes=[gate])
                p.op("select", shapes=[gate])
                p.op("fill", us=2.4, shapes=[(heads, tokens // blocks)], launches=launches)
            p.python(6)
        p.op(
            "topk",
            at="lowest = gate.topk(min(TOP_BLOCKS, blocks), dim=-1).values[..., -1:]",
            us=22,
            shapes=[gate],
        )
        p.op("slice", shapes=[(heads, tokens, 3)])
        p.op("ge", at="return gate >= lowest", us=3, shapes=[gate, (heads, tokens, 1)])

    def attention() -> None:
        with p.call("block_gate", at="chosen = block_gate(query, key)"):
            block_gate()
        masks = "hidden = ~(chosen.repeat_interleave(BLOCK, dim=-1) & causal)"
        square = (heads, tokens, tokens)
        p.op("repeat_interleave", at=masks, us=18, shapes=[(heads, tokens, blocks)])
        p.op("bitwise_and", us=11, shapes=[square, square[1:]])
        p.op("bitwise_not", us=10, shapes=[square])
        p.op("transpose", at="scores = query @ key.transpose(1, 2)", shapes=[split])
        p.op("bmm", us=70, shapes=[split, (heads, width // heads, tokens)])
        p.op("mul", at="scores = scores * query.shape[-1] ** -0.5", us=28, shapes=[square, ()])
        p.op(
            "masked_fill",
            at='scores = scores.masked_fill(hidden, float("-inf"))',
            us=30,
            shapes=[square, square, ()],
        )
        p.op("softmax", at="return scores.softmax(dim=-1) @ value", us=60, shapes=[square])
        p.op("bmm", us=70, shapes=[square, split])

    def layer() -> None:
        norm("qkv = self.qkv(self.attention_norm(states))")
        linear("qkv = self.qkv(self.attention_norm(states))", hidden, 3 * width, 240)
        p.op("view", at="query, key, value = qkv.view(", shapes=[(tokens, 3 * width)])
        p.op("permute", shapes=[(tokens, 3, heads, width // heads)])
        with p.call("moba_attention", at="mixed = moba_attention(query, key, value, causal)"):
            attention()
        p.op("contiguous", at="mixed = mixed.transpose(0, 1).reshape(TOKENS, WIDTH)", us=9, shapes=[split])
        linear("states = states + self.out(mixed)", hidden, width, 90)
        p.op("add", us=6, shapes=[hidden, hidden])
        norm("wide = functional.gelu(self.up(self.mlp_norm(states)))")
        linear("wide = functional.gelu(self.up(self.mlp_norm(states)))", hidden, 4 * width, 270)
        p.op("gelu", us=34, shapes=[(tokens, 4 * width)], gradient_us=[48])
        linear("return states + self.down(wide)", (tokens, 4 * width), width, 280)
        p.op("add", us=6, shapes=[hidden, hidden])

    def model() -> None:
        embedding = "states = self.embedding(tokens)"
        with p.module("Embedding", "torch/nn/modules/sparse.py", 161, 162, at=embedding):
            p.op("embedding", us=18, shapes=[(words, width), (tokens,)], parameters=words * width)
        for _ in range(layers):
            with p.own_module(
                "MobaLayer", "def forward(self, states, causal)", at="states = layer(states, self.causal)"
            ):
                layer()
        norm("return self.head(self.norm(states))")
        linear("return self.head(self.norm(states))", hidden, words, 520)

    p.enter_roots("    main()", "        train(model, optimizer, loader", "prof.step()")
    p.begin_step()
    for step in range(steps):
        p.load("for tokens, targets in loader:", ms=0.4)
        p.to_device("tokens = tokens[0].to(device, non_blocking=True)", (tokens,), us=2.6)
        p.to_device("targets = targets[0].to(device, non_blocking=True)", (tokens,), us=2.6)
        with (
            p.distributed(at="logits = model(tokens)"),
            p.own_module("MobaModel", "def forward(self, tokens)"),
        ):
            model()
        with p.library(FUNCTIONAL, 3014, 3053, "cross_entropy"):
            p.at("loss = functional.cross_entropy(logits, targets)")
            p.op("cross_entropy_softmax", us=110, shapes=[(tokens, words)], gradient_us=[120])
            p.op("nll_loss", shapes=[(tokens, words), (tokens,)])
        p.zero_grad("optimizer.zero_grad()")
        p.backward("loss.backward()", bucket=21_000_000, collective_us=1500, skew_us=220)
        p.adamw("optimizer.step()", us=150)
        p.item('print(f"loss {loss.item():.3f}")')
        p.end_step("prof.step()", last=step == steps - 1)


class Scenario(NamedTuple):
    """A training program, the script it stands for, and how many steps are usual."""

    run: Callable[[Program, int], None]
    script: Path
    traced_as: str
    steps: int


SCENARIOS = {
    "moba": Scenario(moba, HERE / "moba" / "train_moba.py", "/workspace/moba/train_moba.py", 1),
}


def simulate(name: str, steps: int = 0, seed: int = 1, task_queue: bool = True) -> Recording:
    """Run a scenario; `steps` 0 means its usual number."""
    scenario = SCENARIOS[name]
    machine = Machine(seed, START_NS, 3178231, task_queue)
    program = Program(machine, TrainingScript(scenario.script, scenario.traced_as))
    scenario.run(program, steps or scenario.steps)
    program.finish()
    return machine.recording
