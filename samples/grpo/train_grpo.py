# mypy: ignore-errors
"""Update the actor of GRPO on an Ascend NPU, and keep one tensor of every update for ever.

python train_grpo.py
"""

import torch

try:
    import torch_npu
except ImportError:
    torch_npu = None

LAYERS = 28
KEPT = []  # what is logged is never given back: the leak


class ActorLayer(torch.nn.Module):
    """Attention over a group of answers."""

    def __init__(self, last):
        super().__init__()
        self.last = last

    def forward(self, states):
        val = torch_npu.npu_fusion_attention(states, states, states, 8, "BSH")[0]
        val = val.float()
        if self.last:
            KEPT.append(val)
        return states + val


class Actor(torch.nn.Module):
    """All layers."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(ActorLayer(layer == LAYERS - 1) for layer in range(LAYERS))

    def forward(self, states):
        for layer in self.layers:
            states = layer(states)
        return states


def update(actor, optimizer, rollouts, prof):
    for states in rollouts:
        states = states.to("npu", non_blocking=True)
        actor(states)
        optimizer.step()
        prof.step()


def main():
    actor = Actor().to("npu")
    optimizer = torch.optim.AdamW(actor.parameters())
    rollouts = torch.utils.data.DataLoader(torch.randn(64, 512, 1024), batch_size=16)
    with torch_npu.profiler.profile(profile_memory=True, with_stack=True) as prof:
        update(actor, optimizer, rollouts, prof)


if __name__ == "__main__":
    main()
