#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sampling costs a job: pairs of runs, one with libebb-sites.so and one without, in turn; the mean difference with
its 95 % interval, of processor time.

  bench/sites/cost.py [--build build/release] [--pairs 15] [NAME]...
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# Student's, two-sided 95 %, by degrees of freedom; from 30 on the normal distribution is near enough.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09,
     2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05]

NUMPY = "import numpy as n\na = n.ones(1 << 17)\nfor _ in range(6000): b = a * 2 + a - 1"
JSON = """import json
text = json.dumps([{"id": i, "name": f"user {i}", "tags": ["a", "b", str(i)], "score": i / 3} for i in range(20000)])
for _ in range(25): json.loads(text)"""
OBJECTS = "for _ in range(120): x = [(i, str(i)) for i in range(20000)]"
TRAINING = """import torch
torch.manual_seed(1); torch.set_num_threads(1); torch.set_default_device("DEVICE")
net = torch.nn.Sequential(torch.nn.Conv2d(1, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 676, 10))
step = torch.optim.SGD(net.parameters(), 0.1)
x, y = torch.randn(64, 1, 28, 28), torch.randint(10, (64,))
for _ in range(STEPS):
    step.zero_grad(); torch.nn.functional.cross_entropy(net(x), y).backward(); step.step()"""
ON_CPU = TRAINING.replace("torch.set_default_device(\"DEVICE\")", "").replace("STEPS", "250")
ON_GPU = TRAINING.replace("DEVICE", "cuda").replace("STEPS", "3000")
# In the manner of pyperformance: numbers, classes, texts, containers, pickles.
NBODY = """from math import sqrt
bodies = [[float(i), i * 0.5, -i * 0.25, 0.1 * i, 0.2, -0.1, 1.0 + i] for i in range(5)]
for _ in range(60000):
    for i, a in enumerate(bodies):
        for b in bodies[:i]:
            dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            pull = 0.001 / sqrt((dx * dx + dy * dy + dz * dz + 0.01) ** 3)
            a[3] -= dx * b[6] * pull; a[4] -= dy * b[6] * pull; a[5] -= dz * b[6] * pull
    for a in bodies: a[0] += 0.001 * a[3]; a[1] += 0.001 * a[4]; a[2] += 0.001 * a[5]"""
CLASSES = """class Point:
    def __init__(self, i): self.x, self.y, self.z = i * 0.5, i * 0.25, 1.0
    def largest(self, other): return self if self.x + self.y > other.x + other.y else other
for _ in range(40):
    points = [Point(i) for i in range(40000)]; best = points[0]
    for point in points: best = best.largest(point)"""
TEXTS = """import re
text = " ".join(f"user{i}@example.org wrote {i * 7} lines to <file-{i}.txt>" for i in range(20000))
find = re.compile(r"(\\w+)@(\\w+)\\.org wrote (\\d+) lines to <([^>]+)>")
for _ in range(25): [m.group(1) + m.group(4) for m in find.finditer(text)]; text.upper().split(" ")"""
CONTAINERS = """from collections import Counter, deque
for _ in range(25):
    seen = Counter(i * i % 1009 for i in range(100000)); queue = deque(seen.items(), 500)
    tree = {}
    for key, count in queue: tree.setdefault(key % 31, {}).setdefault(key % 7, []).append(count)"""
PICKLES = """import pickle
data = [{"id": i, "weights": [i / 7] * 8, "name": f"site-{i}"} for i in range(8000)]
for _ in range(40): pickle.loads(pickle.dumps(data, 4))"""


def workloads(build, python):
    pairs = str(build / "sites-pairs") if (build / "sites-pairs").exists() else str(build / "bench/sites/sites-pairs")
    programs = {"NumPy temporaries of 1 MiB": NUMPY, "json.loads": JSON, "PyTorch's CPU training": ON_CPU,
                "PyTorch's training on a GPU": ON_GPU, "numbers (nbody)": NBODY, "classes": CLASSES,
                "texts (re)": TEXTS, "containers": CONTAINERS, "pickles": PICKLES}
    return {  # name: command, unit (None: seconds of processor time, told in percent)
        "malloc of 64 bytes, 1 thread": ([pairs, "1", "64", "40000000"], "ns a pair"),
        "malloc of 64 bytes, 8 threads": ([pairs, "8", "64", "40000000"], "ns a pair"),
        "malloc of 4 KiB, 1 thread": ([pairs, "1", "4096", "10000000"], "ns a pair"),
        **{name: ([python, "-c", code], None) for name, code in programs.items()},
        "Python objects and nothing else": ([python, "-c", OBJECTS], "ns a pair"),
    }


# Pairs of calls in OBJECTS: a tuple and a text for each number.
OBJECT_PAIRS = 120 * 20000 * 2


def run(command, unit, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if unit is None:
        return seconds
    return float(done.stdout) if done.stdout else 1e9 * seconds / OBJECT_PAIRS


def measure(command, unit, count, library):
    """Values without and with sampling, pair by pair."""
    plain, sampled = [], []
    for pair in range(count):
        with tempfile.TemporaryDirectory() as folder:
            base = {**os.environ, "PYTHONPATH": str(library.parent / "python")}
            sites = {**base, "LD_PRELOAD": str(library), "EBB_SITES": folder}
            # Whoever comes first, in turn: what the machine does meanwhile hits both alike.
            for values, environment in ((plain, base), (sampled, sites))[::1 if pair % 2 else -1]:
                values.append(run(command, unit, environment))
    return plain, sampled


def interval(values):
    """The mean and half the width of its 95 % interval."""
    count = len(values)
    t = T[count - 2] if count - 2 < len(T) else 1.96
    return statistics.mean(values), t * statistics.stdev(values) / count**0.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--python", default="/usr/bin/python3", help="the interpreter that runs the programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    library = (options.build / "lib/ebb/libebb-sites.so").resolve()
    if not library.exists():
        sys.exit(f"cost: {library} is not there, expected it after: make build")
    print("| what | without | with | difference (95 %) |\n|---|--:|--:|--:|")
    shares = []  # of each program, pair by pair
    for name, (command, unit) in workloads(options.build, options.python).items():
        if options.names and not any(wanted in name for wanted in options.names):
            continue
        try:
            plain, sampled = measure(command, unit, options.pairs, library)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"| {name} | not measured: {error.__class__.__name__} | | |", flush=True)
            continue
        base = statistics.mean(plain)
        if unit:
            mean, margin = interval([b - a for a, b in zip(plain, sampled)])
            text = f"{mean:+.2f} ns ({mean - margin:+.2f} to {mean + margin:+.2f})"
            print(f"| {name} | {base:.2f} {unit} | {statistics.mean(sampled):.2f} | {text} |", flush=True)
        else:
            shares.append([100 * (b - a) / base for a, b in zip(plain, sampled)])
            mean, margin = interval(shares[-1])
            text = f"{mean:+.2f} % ({mean - margin:+.2f} to {mean + margin:+.2f})"
            print(f"| {name} | {base:.3f} s | {statistics.mean(sampled):.3f} s | {text} |", flush=True)
    if len(shares) > 1:
        mean, margin = interval([statistics.mean(row) for row in zip(*shares)])
        print(f"| all {len(shares)} together | | | {mean:+.2f} % ({mean - margin:+.2f} to {mean + margin:+.2f}) |")


if __name__ == "__main__":
    main()
