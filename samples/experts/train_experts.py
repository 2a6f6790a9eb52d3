# mypy: ignore-errors
"""Train a mixture of experts on Ascend NPUs, its experts spread over the ranks, as Megatron does.

torchrun --nproc_per_node 4 train_experts.py
"""

import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

try:
    import torch_npu
except ImportError:
    torch_npu = None

from mixture import build_model, make_loader


def experts(layer, tokens):
    """Send each token to the rank of its expert, and what that makes of it back."""
    tokens = layer.attention(tokens)
    dist.all_to_all_single(layer.received, tokens, group=layer.expert_group)
    wide = torch_npu.npu_grouped_matmul(layer.received, layer.up)
    made = torch_npu.npu_grouped_matmul(wide, layer.down)
    dist.all_to_all_single(tokens, made, group=layer.expert_group)
    return tokens


def train(model, optimizer, loader, prof):
    for tokens in loader:
        for layer in model.layers:
            tokens = experts(layer, tokens)
        dist.all_reduce(model.gradients)
        optimizer.step()
        print(f"loss {model.total.item():.3f}")
        prof.step()


def main():
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{os.environ['LOCAL_RANK']}")
    torch.npu.set_device(device)
    model = build_model(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    loader = DataLoader(make_loader(), batch_size=1, num_workers=4)
    with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=3, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        with_stack=True,
    ) as prof:
        train(model, optimizer, loader, prof)


if __name__ == "__main__":
    main()
