# mypy: ignore-errors
"""Train a small tagger on an Ascend NPU, where the profiler joins the host only after the first step.

What the device ran until then is in the trace as well, but not what launched it.

python train_attached.py
"""

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

try:
    import torch_npu
except ImportError:
    torch_npu = None

BATCH = 256
WIDTH = 512
CLASSES = 64


class Tagger(nn.Module):
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


def train_batch(model, optimizer, features, targets):
    scores = model(features)
    loss = functional.cross_entropy(scores, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, loader, device, prof):
    for step, (features, targets) in enumerate(loader):
        features = features.to(device, non_blocking=True)
        targets = targets.to(device, non_blocking=True)
        train_batch(model, optimizer, features, targets)
        if step == 0:
            prof.start()
        else:
            prof.step()


def main():
    device = torch.device("npu:0")
    torch.npu.set_device(device)
    model = Tagger().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    samples = TensorDataset(torch.rand(3 * BATCH, WIDTH), torch.randint(CLASSES, (3 * BATCH,)))
    loader = DataLoader(samples, batch_size=BATCH, num_workers=4, pin_memory=True)
    prof = torch_npu.profiler.profile(
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."), with_stack=True
    )
    train(model, optimizer, loader, device, prof)
    prof.stop()


if __name__ == "__main__":
    main()
