# mypy: ignore-errors
"""Train a small language model with MoBA (mixture of block attention) on Ascend NPUs.

Each query attends to the key blocks whose mean key it likes best. The gate is computed block by block in two
Python loops, and every iteration launches operators that run for microseconds: the device waits for Python.

    torchrun --nproc_per_node 4 train_moba.py
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

try:
    import torch_npu
except ImportError:
    torch_npu = None

VOCABULARY = 8192
TOKENS = 768
WIDTH = 1024
HEADS = 8
LAYERS = 2
BLOCK = 128
TOP_BLOCKS = 3
STEPS = 64


class RandomTokens(Dataset):
    """Sequences of random tokens with their successors as targets."""

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        tokens = torch.randint(VOCABULARY, (TOKENS + 1,), generator=generator)
        return tokens[:-1], tokens[1:]


def block_gate(query, key):
    """Which key blocks each query attends to: bool[heads, tokens, blocks]."""
    blocks = key.shape[1] // BLOCK
    means = []
    for block in range(blocks):
        begin, end = block * BLOCK, (block + 1) * BLOCK
        means.append(key[:, begin:end].mean(dim=1))
    gate = query @ torch.stack(means, dim=2)
    for block in range(blocks):
        begin, end = block * BLOCK, (block + 1) * BLOCK
        gate[:, :begin, block] = float("-inf")
        gate[:, begin:end, block] = float("inf")
    lowest = gate.topk(min(TOP_BLOCKS, blocks), dim=-1).values[..., -1:]
    return gate >= lowest


def moba_attention(query, key, value, causal):
    """Attention of `query` over the blocks its gate chose; all of shape [heads, tokens, head width]."""
    with torch.no_grad():
        chosen = block_gate(query, key)
        hidden = ~(chosen.repeat_interleave(BLOCK, dim=-1) & causal)
    scores = query @ key.transpose(1, 2)
    scores = scores * query.shape[-1] ** -0.5
    scores = scores.masked_fill(hidden, float("-inf"))
    return scores.softmax(dim=-1) @ value


class MobaLayer(nn.Module):
    """A transformer layer: MoBA attention, then an MLP."""

    def __init__(self):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp_norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, states, causal):
        qkv = self.qkv(self.attention_norm(states))
        query, key, value = qkv.view(TOKENS, 3, HEADS, -1).permute(1, 2, 0, 3)
        mixed = moba_attention(query, key, value, causal)
        mixed = mixed.transpose(0, 1).reshape(TOKENS, WIDTH)
        states = states + self.out(mixed)
        wide = functional.gelu(self.up(self.mlp_norm(states)))
        return states + self.down(wide)


class MobaModel(nn.Module):
    """Embedding, layers and the projection to the vocabulary."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(MobaLayer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.register_buffer("causal", torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril())

    def forward(self, tokens):
        states = self.embedding(tokens)
        for layer in self.layers:
            states = layer(states, self.causal)
        return self.head(self.norm(states))


def profiler():
    """The profiler that writes the trace beside this file."""
    return torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU],
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=1, repeat=1, skip_first=40),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        record_shapes=True,
        with_stack=True,
        with_modules=True,
        experimental_config=torch_npu.profiler._ExperimentalConfig(
            profiler_level=torch_npu.profiler.ProfilerLevel.Level2
        ),
    )


def train(model, optimizer, loader, device, prof):
    for tokens, targets in loader:
        tokens = tokens[0].to(device, non_blocking=True)
        targets = targets[0].to(device, non_blocking=True)
        logits = model(tokens)
        loss = functional.cross_entropy(logits, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f}")
        prof.step()


def main():
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{rank}")
    torch.npu.set_device(device)
    model = nn.parallel.DistributedDataParallel(MobaModel().to(device), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    loader = DataLoader(RandomTokens(), num_workers=4, pin_memory=True)
    with profiler() as prof:
        train(model, optimizer, loader, device, prof)


if __name__ == "__main__":
    main()
