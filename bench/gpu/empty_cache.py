#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether `ebb doctor` finds empty_cache() in the inner loop of a real job, and what the call really costs there.

  EBB_LIBRARY=build/gpu/lib/libebb.so PYTHONPATH=python bench/gpu/empty_cache.py OUT

Trains a small network of convolutions three times: with no call, with one in each step, and with one in each of four
epochs of ten steps. Records PyTorch's own history (OUT/NAME.pickle), asks the doctor, and prints a table. Needs PyTorch for CUDA and a
GPU; takes a minute. Exit 1: the verdict is not the one that the loop deserves.
"""
import json
import subprocess
import sys
from pathlib import Path

import ebb

# Calls in 40 steps, and whether the doctor should call them harmful.
LOOPS = {"never": (0, False), "every_step": (40, True), "every_epoch": (4, False)}
JOB = """
import json, sys, time, torch
every, out = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(0)
layers = [torch.nn.Conv2d(3, 64, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(64, 64, 3, padding=1), torch.nn.ReLU(),
          torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(64, 10)]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
images, labels = torch.randn(64, 3, 128, 128, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
def step():
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
step()
torch.cuda.synchronize()
torch.cuda.memory._record_memory_history(max_entries=100000, stacks="python", context=None)
start = time.perf_counter()
for number in range(40):
    step()
    if every and (number + 1) % every == 0:
        torch.cuda.empty_cache()
torch.cuda.synchronize()
seconds = time.perf_counter() - start
torch.cuda.memory._dump_snapshot(out)
print(json.dumps({"seconds": seconds, "stats": torch.cuda.memory_stats()}))
"""


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: empty_cache.py OUT")
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    wrong = []
    print("| empty_cache | a step, ms | verdict | also | calls found | given back, MiB | taken again, MiB | doctor's least, ms a "
          "call | verdict of memory_stats() |")
    print("|---|--:|---|---|--:|--:|--:|--:|---|")
    for name, (calls, harmful) in LOOPS.items():
        snapshot = out / f"{name}.pickle"
        ran = json.loads(subprocess.run([sys.executable, "-c", JOB, str(40 // calls if calls else 0), snapshot], check=True,
                                        stdout=subprocess.PIPE, timeout=120).stdout)
        answer, read = ebb.doctor(snapshot), ebb.doctor(stats=ran["stats"])
        found = answer["diagnoses"][0] if "diagnoses" in answer else answer
        use = found["empty_cache"]
        each = 1e3 * use["seconds"] / use["calls"] if use["calls"] and use["seconds"] is not None else 0
        print(f"| {name.replace('_', ' ')} | {1e3 * ran['seconds'] / 40:.2f} | {found['verdict']} | "
              f"{' '.join(found.get('also', []))} | {use['calls']} | {use['released_bytes'] / 2**20:.0f} | "
              f"{use['retaken_bytes'] / 2**20:.0f} | {each:.2f} | {read['verdict']} |", flush=True)
        named = "empty_cache" in [found["verdict"], *found.get("also", [])]
        if named != harmful or use["harmful"] != harmful:
            wrong.append(f"{name}: called harmful: {named}, expected {harmful}")
        if calls and abs(use["calls"] - calls) > 1:
            wrong.append(f"{name}: {use['calls']} calls found of {calls}")
    print("\n".join(wrong) or "every verdict is the one that the loop deserves")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
