# SPDX-License-Identifier: Apache-2.0
"""Programs whose cost is measured; each does its work N times."""

NUMPY = """import numpy
a = numpy.ones(1 << 17)
for _ in range(N): b = a * 2 + a - 1"""

JSON = """import json
text = json.dumps([{"id": i, "name": f"user {i}", "tags": ["a", "b", str(i)], "score": i / 3} for i in range(20000)])
for _ in range(N): json.loads(text)"""

TRAINING = """import torch
torch.manual_seed(1); torch.set_num_threads(1)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 676, 10))
net = net.to(WHERE)
step = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(64, 1, 28, 28).to(WHERE), torch.randint(10, (64,)).to(WHERE)
for _ in range(N):
    step.zero_grad(); torch.nn.functional.cross_entropy(net(x), y).backward(); step.step()"""

# In the manner of pyperformance: numbers, classes, texts, containers, pickles.
NBODY = """from math import sqrt
bodies = [[float(i), i * 0.5, -i * 0.25, 0.1 * i, 0.2, -0.1, 1.0 + i] for i in range(5)]
for _ in range(N):
    for i, a in enumerate(bodies):
        for b in bodies[:i]:
            dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            pull = 0.001 / sqrt((dx * dx + dy * dy + dz * dz + 0.01) ** 3)
            a[3] -= dx * b[6] * pull; a[4] -= dy * b[6] * pull; a[5] -= dz * b[6] * pull
    for a in bodies: a[0] += 0.001 * a[3]; a[1] += 0.001 * a[4]; a[2] += 0.001 * a[5]"""

CLASSES = """class Point:
    def __init__(self, i): self.x, self.y, self.z = i * 0.5, i * 0.25, 1.0
    def largest(self, other): return self if self.x + self.y > other.x + other.y else other
for _ in range(N):
    points = [Point(i) for i in range(40000)]; best = points[0]
    for point in points: best = best.largest(point)"""

TEXTS = """import re
text = " ".join(f"user{i}@example.org wrote {i * 7} lines to <file-{i}.txt>" for i in range(20000))
find = re.compile(r"(\\w+)@(\\w+)\\.org wrote (\\d+) lines to <([^>]+)>")
for _ in range(N): [m.group(1) + m.group(4) for m in find.finditer(text)]; text.upper().split(" ")"""

CONTAINERS = """from collections import Counter, deque
for _ in range(N):
    seen = Counter(i * i % 1009 for i in range(100000)); queue = deque(seen.items(), 500)
    tree = {}
    for key, count in queue: tree.setdefault(key % 31, {}).setdefault(key % 7, []).append(count)"""

PICKLES = """import pickle
data = [{"id": i, "weights": [i / 7] * 8, "name": f"site-{i}"} for i in range(8000)]
for _ in range(N): pickle.loads(pickle.dumps(data, 4))"""

OBJECTS = "for _ in range(N): x = [(i, str(i)) for i in range(20000)]"
# Pairs of calls in it: a tuple and a text for each number.
OBJECT_PAIRS = 480 * 20000 * 2

PROGRAMS = {  # name: code, how often
    "NumPy temporaries of 1 MiB": (NUMPY, 24000),
    "json.loads": (JSON, 100),
    "PyTorch's CPU training": (TRAINING.replace("WHERE", "'cpu'"), 1000),
    "PyTorch's training on a GPU": (TRAINING.replace("WHERE", "'cuda'"), 12000),
    "numbers (nbody)": (NBODY, 240000),
    "classes": (CLASSES, 160),
    "texts (re)": (TEXTS, 100),
    "containers": (CONTAINERS, 100),
    "pickles": (PICKLES, 160),
    "Python objects and nothing else": (OBJECTS, 480),
}

# Where glibc gives the end of the heap back and takes it again, by luck of the layout: page faults differ tenfold from
# one process to the next.
SETTINGS = {
    "PyTorch's CPU training": {"MALLOC_TRIM_THRESHOLD_": "100000000", "MALLOC_MMAP_THRESHOLD_": "100000000"},
}
