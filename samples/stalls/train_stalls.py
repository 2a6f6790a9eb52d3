# mypy: ignore-errors
"""Train a small ranker on Ascend NPUs, with waits that come from the runtime and from other ranks.

torchrun --nproc_per_node 4 train_stalls.py
"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

try:
    import torch_npu
except ImportError:
    torch_npu = None

BATCH = 1024
WIDTH = 1024
CLASSES = 512


class Ranker(nn.Module):
    """An MLP with a residual connection."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.head = nn.Linear(WIDTH, CLASSES, bias=False)

    def forward(self, features):
        wide = functional.gelu(self.up(self.norm(features)))
        states = features + self.down(wide)
        return self.head(states)


def hard_samples(scores, limit):
    """The samples that the model ranks low: their number is read back by nonzero."""
    low = scores.mean(dim=1).ge(limit)
    return low.nonzero()


def agree(total):
    """The mean over all ranks, in the way of everything that follows."""
    dist.all_reduce(total)
    return total * 0.25


def finish(total, done):
    """Give memory back, mark the step, and smooth the mean."""
    torch.npu.empty_cache()
    done.record()
    smooth = total * 0.9
    return smooth.softmax(dim=-1)


def train(model, optimizer, loader, device, prof):
    done = torch.npu.Event()
    for features, targets in loader:
        features = features.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        scores = model(features)
        loss = functional.cross_entropy(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hard_samples(scores, 0.5)
        total = agree(scores.sum(dim=0))
        finish(total, done)
        prof.step()


def main():
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{rank}")
    torch.npu.set_device(device)
    model = nn.parallel.DistributedDataParallel(Ranker().to(device), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    samples = TensorDataset(torch.rand(100 * BATCH, WIDTH), torch.randint(CLASSES, (100 * BATCH,)))
    loader = DataLoader(samples, batch_size=BATCH, num_workers=4, pin_memory=True)
    with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=2, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        with_stack=True,
    ) as prof:
        train(model, optimizer, loader, device, prof)


if __name__ == "__main__":
    main()
