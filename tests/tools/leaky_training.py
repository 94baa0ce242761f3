# SPDX-License-Identifier: Apache-2.0
"""Training that leaks device memory, recorded on a machine with a GPU.

  leaky_training.py graph|hook|healthy STEPS SNAPSHOT

graph: every loss is kept with its graph. hook: a forward hook keeps what a layer gave.
"""
import sys
import torch
from torch import nn

torch.manual_seed(0)
torch.cuda.memory._record_memory_history(max_entries=200000)
device = "cuda"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                                  nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(64 * 16, 10)

    def forward(self, x):
        return self.head(self.body(x))


class Monitor:
    """Keeps what a layer gave, for a plot that nobody draws."""

    def __init__(self, layer):
        self.seen = []
        layer.register_forward_hook(self.keep)

    def keep(self, module, inputs, output):
        self.seen.append(output.detach().clone())


def train(kind, steps):
    net = Net().to(device)
    monitor = Monitor(net.body[0]) if kind == "hook" else None
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    losses = []
    for step in range(steps):
        x = torch.randn(32, 3, 32, 32, device=device)
        y = torch.randint(10, (32,), device=device)
        loss = nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=kind == "graph")
        optimizer.step()
        losses.append(loss if kind == "graph" else loss.item())
    return losses, monitor


kept = train(sys.argv[1], int(sys.argv[2]))
torch.cuda.memory._dump_snapshot(sys.argv[3])
print(sys.argv[1], torch.cuda.memory_allocated() >> 20, "MiB allocated")
