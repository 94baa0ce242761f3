#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same training under PyTorch's own allocator and after ebb.torch.install(), in two processes:
the memory statistics have to agree, key by key.

  EBB_LIBRARY=build/bare/lib/libebb.so bench/gpu/python_install.py [--steps 40] [--out FILE]

Also tries record(), snapshot(), dump_on_oom() and a too late install(). Needs PyTorch for CUDA and a
GPU. Exit 1 where a key, a loss or a check differs.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BATCHES = (64, 24, 56, 8, 40, 16, 48, 32)


def train(steps):
    import torch
    from torch import nn
    torch.manual_seed(3)
    torch.backends.cudnn.deterministic = True
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(64 * 16 * 16, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for step in range(steps):
        batch = BATCHES[step % len(BATCHES)]
        inputs = torch.randn(batch, 3, 32, 32, device="cuda")
        labels = torch.randint(0, 10, (batch,), device="cuda")
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def child(kind, steps):
    """One process of the comparison; prints its figures as JSON."""
    sys.path.insert(0, str(ROOT / "python"))
    import torch
    import ebb
    import ebb.torch
    if kind == "ebb":
        ebb.torch.install()
    answer = {"losses": train(steps), "stats": ebb.torch.memory_stats(),
              "torch": torch.__version__, "card": torch.cuda.get_device_name()}
    if kind == "ebb":
        answer["backend"] = torch.cuda.memory.get_allocator_backend()
        answer["checks"] = checks(ebb, torch)
    else:
        try:
            ebb.torch.install()
            answer["too_late"] = "installed"
        except ebb.TooLate as error:
            answer["too_late"] = f"TooLate: {error}"
    print(json.dumps(answer))


def checks(ebb, torch):
    """What PyTorch cannot do under a pluggable allocator, done by Ebb."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        with ebb.torch.record(Path(folder) / "step.pickle", out=None) as recording:
            kept = torch.ones(1 << 22, device="cuda")
        found["record() has tune's answer"] = "best" in recording.answer
        found["summary"] = "PyTorch CUDA memory summary" in ebb.torch.memory_summary()
        dump = ebb.torch.dump_on_oom(Path(folder) / "oom.pickle", out=None)
        try:
            with dump:
                torch.cuda.set_per_process_memory_fraction(0.01)
                torch.empty(1 << 36, dtype=torch.uint8, device="cuda")
        except RuntimeError as error:
            found["out of memory is recognised"] = ebb.torch.is_out_of_memory(error)
        found["dump_on_oom() has the verdict"] = bool(dump.verdict and dump.verdict["verdict"])
    del kept
    report = ebb.cleanup_memory(cuda_empty_cache=True)
    found["a cleanup empties the cache"] = all(step.ok for step in report.steps)
    return found


def run(kind, steps):
    done = subprocess.run([sys.executable, __file__, "--child", kind, "--steps", str(steps)], text=True,
                          stdout=subprocess.PIPE, check=False,
                          env={**os.environ, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"})
    if done.returncode != 0:
        raise SystemExit(f"python_install.py: the {kind} process ended with status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", choices=("native", "ebb"))
    options = parser.parse_args()
    if options.child:
        child(options.child, options.steps)
        return 0
    native, ebb = run("native", options.steps), run("ebb", options.steps)
    keys = sorted(set(native["stats"]) | set(ebb["stats"]))
    differ = [(key, native["stats"].get(key), ebb["stats"].get(key)) for key in keys
              if native["stats"].get(key) != ebb["stats"].get(key)]
    failed = [name for name, holds in ebb["checks"].items() if not holds]
    lines = [f"{native['card']}, PyTorch {native['torch']}, {options.steps} steps: {len(keys)} keys of "
             f"memory_stats, {len(differ)} differ; losses "
             f"{'equal' if native['losses'] == ebb['losses'] else 'DIFFER'}; backend {ebb['backend']}; "
             f"a second install in the native process: {native['too_late']}"]
    lines += [f"differs: {key}: PyTorch {own}, Ebb {other}" for key, own, other in differ]
    lines += [f"{'ok' if holds else 'FAILED'}: {name}" for name, holds in ebb["checks"].items()]
    print("\n".join(lines))
    if options.out:
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    late = native["too_late"].startswith("TooLate")
    return 1 if differ or failed or not late or native["losses"] != ebb["losses"] else 0


if __name__ == "__main__":
    sys.exit(main())
