# mypy: ignore-errors
"""Train a transformer on Ascend NPUs, tensor, data and pipeline parallel, as Megatron does.

torchrun --nproc_per_node 8 train_hybrid.py
"""

import os

import torch
import torch.distributed as dist
from torch.nn import functional
from torch.utils.data import DataLoader

try:
    import torch_npu
except ImportError:
    torch_npu = None

from pretrain import build_stage, make_loader

MICROBATCHES = 2


def augment(tokens):
    """Drop tokens at random, on the host."""
    keep = [position for position, token in enumerate(tokens.tolist()) if token % 97]
    return tokens[keep]


def forward(stage, states):
    for layer in stage.layers:
        wide = functional.gelu(layer.up(states))
        states = states + layer.down(wide)
        dist.all_reduce(states, group=stage.tensor_group)
    return states


def backward(stage, gradient):
    for layer in reversed(stage.layers):
        gradient = layer.down.gradient(gradient)
        gradient = layer.up.gradient(gradient)
        dist.all_reduce(gradient, group=stage.tensor_group)
    return gradient


def train_step(stage, tokens):
    for _ in range(MICROBATCHES):
        if stage.previous is not None:
            dist.recv(stage.inputs, stage.previous, group=stage.previous_group)
        states = forward(stage, stage.embed(tokens))
        if stage.next is not None:
            dist.send(states, stage.next, group=stage.next_group)
    for _ in range(MICROBATCHES):
        if stage.next is not None:
            dist.recv(stage.output_gradient, stage.next, group=stage.next_group)
        gradient = backward(stage, stage.loss())
        if stage.previous is not None:
            dist.send(gradient, stage.previous, group=stage.previous_group)
    for bucket in stage.gradients:
        dist.all_reduce(bucket, group=stage.data_group)
    dist.all_reduce(stage.norm, group=stage.model_group)


def train(stage, optimizer, loader, device, prof):
    for tokens in loader:
        tokens = augment(tokens)
        tokens = tokens.to(device, non_blocking=True)
        train_step(stage, tokens)
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
        train(stage, optimizer, loader, device, prof)


if __name__ == "__main__":
    main()
