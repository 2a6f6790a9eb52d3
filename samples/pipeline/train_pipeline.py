# mypy: ignore-errors
"""Train a model in a pipeline of stages on Ascend NPUs: micro-batches go forward, and their gradients back.

torchrun --nproc_per_node 4 train_pipeline.py
"""

import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

try:
    import torch_npu
except ImportError:
    torch_npu = None

from stages import build_stage, make_loader


def forward(stage, states):
    for layer in stage.layers:
        states = layer(states)
    return states


def backward(stage, gradient):
    for layer in reversed(stage.layers):
        gradient = layer.gradient(gradient)
    return gradient


def run(stage, tokens):
    """Do what the schedule of this stage says, one block after the other."""
    for block in stage.schedule:
        if block.receives:
            dist.recv(block.received, block.source)
        if block.is_forward:
            states = forward(stage, block.received)
        else:
            states = backward(stage, block.received)
        if block.sends:
            dist.isend(states, block.target)


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
    stage = build_stage(device)
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
