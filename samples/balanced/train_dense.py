# mypy: ignore-errors
"""Train a wide MLP on Ascend NPUs: long kernels, nothing read back, so that the device is always busy.

torchrun --nproc_per_node 4 train_dense.py
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

WIDTH = 4096
LAYERS = 4
BATCH = 2048
CLASSES = 1024


class DenseLayer(nn.Module):
    """A residual layer of two projections."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, states):
        wide = functional.gelu(self.up(self.norm(states)))
        return states + self.down(wide)


class DenseModel(nn.Module):
    """Layers and a classifier."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(DenseLayer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, CLASSES, bias=False)

    def forward(self, states):
        for layer in self.layers:
            states = layer(states)
        return self.head(states)


def train(model, optimizer, loader, device, prof):
    for features, targets in loader:
        features = features.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        logits = model(features)
        loss = functional.cross_entropy(logits, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        prof.step()


def main():
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{rank}")
    torch.npu.set_device(device)
    model = nn.parallel.DistributedDataParallel(DenseModel().to(device), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    features = torch.randn(64 * BATCH, WIDTH)
    targets = torch.randint(CLASSES, (64 * BATCH,))
    loader = DataLoader(TensorDataset(features, targets), batch_size=BATCH, num_workers=4, pin_memory=True)
    with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=3, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        with_stack=True,
    ) as prof:
        train(model, optimizer, loader, device, prof)


if __name__ == "__main__":
    main()
