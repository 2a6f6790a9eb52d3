"""The training programs of the samples, in the vocabulary of `simulator.program`: one function each."""

from __future__ import annotations

from simulator.host import Shape
from simulator.program import Program

LINEAR = "torch/nn/modules/linear.py", 113, 114
NORM = "torch/nn/modules/normalization.py", 189, 190
FUNCTIONAL = "torch/nn/functional.py"


def _linear(p: Program, at: str, shape: Shape, out: int, us: float) -> None:
    with p.module("Linear", *LINEAR, at=at):
        shapes = [shape, (out, shape[-1])]
        p.op("linear", us=us, shapes=shapes, gradient_us=[us, us], parameters=out * shape[-1])


def _norm(p: Program, at: str, shape: Shape, us: float = 12.0) -> None:
    with p.module("LayerNorm", *NORM, at=at), p.library(FUNCTIONAL, 2503, 2543, "layer_norm"):
        p.op("layer_norm", us=us, shapes=[shape, shape[-1:], shape[-1:]], parameters=2 * shape[-1])


def _cross_entropy(p: Program, at: str, shape: Shape, us: float) -> None:
    p.at(at)
    with p.library(FUNCTIONAL, 3014, 3053, "cross_entropy"):
        p.op("cross_entropy_softmax", us=us, shapes=[shape], gradient_us=[1.1 * us])
        p.op("nll_loss", shapes=[shape, shape[:1]])


def moba(program: Program, steps: int) -> None:
    """Run MoBA attention whose gate is computed block by block in two Python loops, so that the NPU
    starves.
    """
    p = program
    layers, blocks, tokens, width, heads, words = 2, 6, 768, 1024, 8, 8192
    hidden = (tokens, width)
    split = (heads, tokens, width // heads)

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
        _norm(p, "qkv = self.qkv(self.attention_norm(states))", hidden)
        _linear(p, "qkv = self.qkv(self.attention_norm(states))", hidden, 3 * width, 240)
        p.op("view", at="query, key, value = qkv.view(", shapes=[(tokens, 3 * width)])
        p.op("permute", shapes=[(tokens, 3, heads, width // heads)])
        with p.call("moba_attention", at="mixed = moba_attention(query, key, value, causal)"):
            attention()
        p.op("contiguous", at="mixed = mixed.transpose(0, 1).reshape(TOKENS, WIDTH)", us=9, shapes=[split])
        _linear(p, "states = states + self.out(mixed)", hidden, width, 90)
        p.op("add", us=6, shapes=[hidden, hidden])
        _norm(p, "wide = functional.gelu(self.up(self.mlp_norm(states)))", hidden)
        _linear(p, "wide = functional.gelu(self.up(self.mlp_norm(states)))", hidden, 4 * width, 270)
        p.op("gelu", us=34, shapes=[(tokens, 4 * width)], gradient_us=[48])
        _linear(p, "return states + self.down(wide)", (tokens, 4 * width), width, 280)
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
        _norm(p, "return self.head(self.norm(states))", hidden)
        _linear(p, "return self.head(self.norm(states))", hidden, words, 520)

    p.enter_roots("    main()", "        train(model, optimizer, loader", "prof.step()")
    p.begin_step()
    for step in range(steps):
        p.load("for tokens, targets in loader:", ms=0.4)
        p.to_device("tokens = tokens[0].to(device, non_blocking=True)", (tokens,), us=2.6)
        p.to_device("targets = targets[0].to(device, non_blocking=True)", (tokens,), us=2.6)
        with p.distributed("MobaModel", "def forward(self, tokens)", at="logits = model(tokens)"):
            model()
        _cross_entropy(p, "loss = functional.cross_entropy(logits, targets)", (tokens, words), 110)
        p.zero_grad("optimizer.zero_grad()")
        p.backward("loss.backward()", bucket=21_000_000, collective_us=1500, skew_us=220)
        p.adamw("optimizer.step()", us=150)
        p.item('print(f"loss {loss.item():.3f}")')
        p.end_step("prof.step()", last=step == steps - 1)


def balanced(program: Program, steps: int) -> None:
    """Run a wide MLP that never reads back: the host is far ahead and the device always busy."""
    p = program
    layers, batch, width, classes = 4, 2048, 4096, 1024
    hidden, broad = (batch, width), (batch, 4 * width)

    def layer() -> None:
        wide = "wide = functional.gelu(self.up(self.norm(states)))"
        _norm(p, wide, hidden, 45)
        _linear(p, wide, hidden, 4 * width, 980)
        p.op("gelu", us=120, shapes=[broad], gradient_us=[160])
        _linear(p, "return states + self.down(wide)", broad, width, 990)
        p.op("add", us=24, shapes=[hidden, hidden])

    p.enter_roots("    main()", "        train(model, optimizer, loader", "prof.step()")
    p.begin_step()
    for step in range(steps):
        p.load("for features, targets in loader:", ms=0.2)
        p.to_device("features = features.to(device, non_blocking=True)", hidden, us=900)
        p.to_device("targets = targets.to(device, non_blocking=True)", (batch,), us=2.6)
        with p.distributed("DenseModel", "states = layer(states)", at="logits = model(features)"):
            for _ in range(layers):
                first = "wide = functional.gelu(self.up(self.norm(states)))"
                with p.own_module("DenseLayer", first, at="states = layer(states)"):
                    layer()
            _linear(p, "return self.head(states)", hidden, classes, 130)
        _cross_entropy(p, "loss = functional.cross_entropy(logits, targets)", (batch, classes), 60)
        p.zero_grad("optimizer.zero_grad()")
        p.backward("loss.backward()", bucket=130_000_000, collective_us=1900, skew_us=60)
        p.adamw("optimizer.step()", us=420)
        p.end_step("prof.step()", last=step == steps - 1)


def mixed(program: Program, steps: int) -> None:
    """Run a classifier with a slow loader, blocking copies, AI CPU, compilation, late ranks, `.item()` and
    gc.
    """
    p = program
    batch, patches, width, classes, groups = 256, 196, 768, 1000, 8
    images, hidden = (batch, 3, 224, 224), (batch, patches, width)

    def classify() -> None:
        patch = "states = self.patches(images).flatten(2).transpose(1, 2)"
        with p.module("Conv2d", "torch/nn/modules/conv.py", 459, 460, at=patch):
            p.op("conv2d", us=30, shapes=[images, (width, 3, 16, 16), (width,)], parameters=width * 769)
        p.op("flatten", shapes=[(batch, width, 14, 14)])
        p.op("transpose", shapes=[(batch, width, patches)])
        wide = "wide = functional.gelu(self.up(self.norm(states)))"
        _norm(p, wide, hidden, 60)
        _linear(p, wide, hidden, 4 * width, 700)
        p.op("gelu", us=180, shapes=[(batch, patches, 4 * width)], gradient_us=[240])
        _linear(p, "states = states + self.down(wide)", (batch, patches, 4 * width), width, 710)
        p.op("add", us=50, shapes=[hidden, hidden])
        p.op("mean", at="return self.head(states.mean(dim=1))", us=40, shapes=[hidden])
        _linear(p, "return self.head(states.mean(dim=1))", (batch, width), classes, 14)

    def count_hits() -> None:
        walk = "for guessed, wanted in zip(logits.argmax(dim=1).chunk(GROUPS), labels.chunk(GROUPS)):"
        p.op("argmax", at=walk, shapes=[(batch, classes)])
        p.op("chunk", shapes=[(batch,)])
        p.op("chunk", shapes=[(batch,)])
        for _ in range(groups):
            hit = "hits += guessed.eq(wanted).sum().item()"
            p.op("eq", at=hit, shapes=[(batch // groups,)] * 2)
            p.op("sum", shapes=[(batch // groups,)])
            p.item(hit)
            p.python(8)

    p.enter_roots("    main()", "        train(model, optimizer, loader", "prof.step()")
    p.begin_step()
    for step in range(steps):
        p.load("for images, labels in loader:", ms=11 if step else 6)
        p.to_device("images = images.to(device)", images, us=6200, blocking=True)
        p.to_device("labels = labels.to(device)", (batch,), us=2.4, blocking=True)
        p.op("bincount", at="weight = labels.bincount(", shapes=[(batch,)])
        p.op("clamp", shapes=[(classes,)])
        p.op("reciprocal", shapes=[(classes,)])
        with p.distributed("Classifier", "def forward(self, images)", at="logits = model(images)"):
            classify()
        _cross_entropy(p, "loss = functional.cross_entropy(logits, labels", (batch, classes), 12)
        p.zero_grad("optimizer.zero_grad()")
        p.backward("loss.backward()", bucket=3_000_000, collective_us=900, skew_us=4800 if step == 1 else 150)
        p.adamw("optimizer.step()", us=16)
        with p.call("count_hits", at="hits = count_hits(logits, labels)"):
            count_hits()
        with p.call("remember", at="        remember(history, loss"):
            p.python(240, at="history.append(")
            if step % 2 == 0:
                p.collect(ms=7.5)
            p.python(90)
        p.end_step("prof.step()", last=step == steps - 1)


def stalls(program: Program, steps: int) -> None:
    """Run a small ranker that waits for `nonzero`, collectives, memory, a busy task queue and a late
    device.
    """
    p = program
    batch, width, classes = 1024, 1024, 512
    hidden, broad = (batch, width), (batch, 4 * width)

    def rank() -> None:
        wide = "wide = functional.gelu(self.up(self.norm(features)))"
        _norm(p, wide, hidden, 20)
        _linear(p, wide, hidden, 4 * width, 310)
        p.op("gelu", us=60, shapes=[broad], gradient_us=[80])
        _linear(p, "states = features + self.down(wide)", broad, width, 320)
        p.op("add", us=12, shapes=[hidden, hidden])
        _linear(p, "return self.head(states)", hidden, classes, 60)

    p.enter_roots("    main()", "        train(model, optimizer, loader", "prof.step()")
    p.begin_step()
    for step in range(steps):
        p.load("for features, targets in loader:", ms=0.2)
        p.to_device("features = features.to(device, non_blocking=True)", hidden, us=160)
        p.to_device("targets = targets.to(device, non_blocking=True)", (batch,), us=2.6)
        with p.distributed("Ranker", "def forward(self, features)", at="scores = model(features)"):
            rank()
        _cross_entropy(p, "loss = functional.cross_entropy(scores, targets)", (batch, classes), 15)
        p.zero_grad("optimizer.zero_grad()")
        p.backward("loss.backward()", bucket=8_000_000, collective_us=300, skew_us=40)
        p.adamw("optimizer.step()", us=30)
        with p.call("hard_samples", at="hard_samples(scores, 0.5)"):
            low = "low = scores.mean(dim=1).ge(limit)"
            p.op("mean", at=low, shapes=[(batch, classes)], grad=False)
            p.op("ge", shapes=[(batch,)])
            p.nonzero("return low.nonzero()", (batch,))
        with p.call("agree", at="total = agree(scores.sum(dim=0))"):
            p.all_reduce("dist.all_reduce(total)", classes, us=120)
            p.op("mul", at="return total * 0.25", shapes=[(classes,)], grad=False)
        with p.call("finish", at="        finish(total, done)"):
            p.empty_cache("torch.npu.empty_cache()", ms=6)
            p.record("done.record()", us=900)
            p.op("mul", at="smooth = total * 0.9", shapes=[(classes,)], grad=False)
            p.machine.delay(us=350)
            p.op("softmax", at="return smooth.softmax(dim=-1)", shapes=[(classes,)], grad=False)
        p.end_step("prof.step()", last=step == steps - 1)


def attached(program: Program, steps: int) -> None:
    """Run a small tagger whose host is recorded only after its first step: tasks of that step have no
    host.
    """
    p = program
    batch, width, classes = 256, 512, 64
    hidden, broad = (batch, width), (batch, 4 * width)

    def tag() -> None:
        wide = "wide = functional.gelu(self.up(self.norm(features)))"
        _norm(p, wide, hidden, 6)
        _linear(p, wide, hidden, 4 * width, 40)
        p.op("gelu", us=12, shapes=[broad], gradient_us=[16])
        _linear(p, "states = features + self.down(wide)", broad, width, 40)
        p.op("add", shapes=[hidden, hidden])
        _linear(p, "return self.head(states)", hidden, classes, 10)

    def train_batch() -> None:
        with p.own_module("Tagger", "def forward(self, features)", at="scores = model(features)"):
            tag()
        _cross_entropy(p, "loss = functional.cross_entropy(scores, targets)", (batch, classes), 5)
        p.zero_grad("optimizer.zero_grad()")
        p.backward("loss.backward()")
        p.adamw("optimizer.step()", us=8)
        p.item("return loss.item()")

    def step() -> None:
        p.load("in enumerate(loader):", ms=0.2)
        p.to_device("features = features.to(device, non_blocking=True)", hidden, us=40)
        p.to_device("targets = targets.to(device, non_blocking=True)", (batch,), us=2.6)
        with p.call("train_batch", at="        train_batch(model, optimizer"):
            train_batch()

    p.enter_roots("    main()", "    train(model, optimizer, loader", "prof.step()")
    step()
    p.python(3000, at="prof.start()")
    p.record_from_here()
    p.python(400)
    p.begin_step()
    for number in range(steps):
        step()
        p.end_step("prof.step()", last=number == steps - 1)
