# mypy: ignore-errors
"""Train an image classifier on Ascend NPUs with most of the ways to keep a device waiting.

torchrun --nproc_per_node 4 train_mixed.py
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

BATCH = 256
CLASSES = 1000
GROUPS = 8


class SlowImages(Dataset):
    """Images that are resized in Python, in the training process itself."""

    def __len__(self):
        return 100 * BATCH

    def __getitem__(self, index):
        image = torch.rand(3, 256, 256)
        return functional.interpolate(image[None], size=(224, 224))[0], index % CLASSES


class Classifier(nn.Module):
    """A patch embedding, an MLP and a head."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 768, kernel_size=16, stride=16)
        self.norm = nn.LayerNorm(768)
        self.up = nn.Linear(768, 3072, bias=False)
        self.down = nn.Linear(3072, 768, bias=False)
        self.head = nn.Linear(768, CLASSES, bias=False)

    def forward(self, images):
        states = self.patches(images).flatten(2).transpose(1, 2)
        wide = functional.gelu(self.up(self.norm(states)))
        states = states + self.down(wide)
        return self.head(states.mean(dim=1))


def count_hits(logits, labels):
    """How many predictions are right, group by group: waits for the device each time."""
    hits = 0
    for guessed, wanted in zip(logits.argmax(dim=1).chunk(GROUPS), labels.chunk(GROUPS)):
        hits += guessed.eq(wanted).sum().item()
    return hits


def remember(history, loss, hits):
    """Keep a record with many small objects: now and then the garbage collector runs here."""
    history.append({"loss": loss, "hits": hits, "path": [[part] for part in str(hits) * 1000]})


def train(model, optimizer, loader, device, prof):
    history = []
    for images, labels in loader:
        images = images.to(device)
        labels = labels.to(device)
        weight = labels.bincount(minlength=CLASSES).clamp(min=1).reciprocal()
        logits = model(images)
        loss = functional.cross_entropy(logits, labels, weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits = count_hits(logits, labels)
        remember(history, loss, hits)
        prof.step()


def main():
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{rank}")
    torch.npu.set_device(device)
    torch.npu.set_compile_mode(jit_compile=True)
    model = nn.parallel.DistributedDataParallel(Classifier().to(device), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    loader = DataLoader(SlowImages(), batch_size=BATCH)
    with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=3, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        with_stack=True,
        experimental_config=torch_npu.profiler._ExperimentalConfig(gc_detect_threshold=1),
    ) as prof:
        train(model, optimizer, loader, device, prof)


if __name__ == "__main__":
    main()
