# mypy: ignore-errors
"""Train a policy by reinforcement learning on Ascend NPUs, with its roles marked, as verl does.

torchrun --nproc_per_node 4 train_roles.py
"""

import os

import torch
import torch.distributed as dist
from torch.profiler import record_function
from torch.utils.data import DataLoader

try:
    import torch_npu
except ImportError:
    torch_npu = None

from policy import build_policy, make_prompts


def generate(policy, prompts):
    """Answer the prompts: ranks with long answers take longer."""
    for layer in policy.layers:
        prompts = layer.decode(prompts)
    return prompts


def log_prob(policy, answers):
    dist.all_reduce(policy.lengths)
    for layer in policy.layers:
        answers = layer.score(answers)
    return answers


def reward(answers):
    """Compare the answers with the right ones, on the host."""
    return [answer == right for answer, right in answers]


def update(policy, scores):
    for layer in policy.layers:
        scores = layer.gradient(scores)
    dist.all_reduce(policy.gradients)


def train(policy, optimizer, loader, prof):
    for prompts in loader:
        with record_function("generate"):
            answers = generate(policy, prompts)
        with record_function("log_prob"):
            answers = log_prob(policy, answers)
        with record_function("reward"):
            scores = reward(answers)
        with record_function("update"):
            update(policy, scores)
            optimizer.step()
        print(f"reward {policy.reward.item():.3f}")
        prof.step()


def main():
    dist.init_process_group("hccl")
    device = torch.device(f"npu:{os.environ['LOCAL_RANK']}")
    torch.npu.set_device(device)
    policy = build_policy(device)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-6, foreach=True)
    loader = DataLoader(make_prompts(), batch_size=1, num_workers=4)
    with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=0, warmup=10, active=3, repeat=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("."),
        with_stack=True,
    ) as prof:
        train(policy, optimizer, loader, prof)


if __name__ == "__main__":
    main()
