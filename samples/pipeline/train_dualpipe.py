# mypy: ignore-errors
"""Train a model by DualPipe on Ascend NPUs: micro-batches enter at both ends, and each rank holds two stages.

torchrun --nproc_per_node 4 train_dualpipe.py
"""

import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

try:
    import torch_npu
except ImportError:
    torch_npu = None

from stages import build_stages, make_loader


def compute(block):
    """Do the passes of a block; two of them by layers in turn, so that each hides the waits of the other."""
    for layer in block.layers:
        layer.run()


def run(stage, tokens):
    """Do what the schedule of this rank says, one block after the other."""
    for block in stage.schedule:
        for passed in block.receiving:
            dist.recv(passed.received, passed.source)
        compute(block)
        for passed in block.sending:
            dist.isend(passed.states, passed.target)


def train(stage, optimizer, loader, prof):
    for tokens in loader:
        run(stage, tokens)
        if stage.norm is not None:
            dist.all_reduce(stage.norm, group=stage.pipeline)
        optimizer.step()
        print(f"loss {stage.total.item():.3f}")
        prof.step()


def main():
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{os.environ['LOCAL_RANK']}")
    torch.npu.set_device(device)
    stage = build_stages(device)
    optimizer = torch.optim.AdamW(stage.parameters(), lr=1e-4, foreach=True)
    loader = DataLoader(make_loader(), batch_size=1, num_workers=4)
    with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=3, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        with_stack=True,
    ) as prof:
        train(stage, optimizer, loader, prof)


if __name__ == "__main__":
    main()
