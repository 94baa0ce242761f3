#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a full card does to a simulation and to a job, and what Ebb does about it.

  EBB_LIBRARY=build/gpu/lib/libebb.so PYTHONPATH=python bench/gpu/full_card.py build/gpu/bin/ebb-simulate

Simulates undisturbed; with a card that another process fills for 20 s; with one that it fills for good, but for 2 GiB, and
to the last; with headroom. Before that PyTorch under Ebb: what a cleanup returns of the card, why there is no memory, graphs
refused. Prints a line for each claim; takes six minutes. Needs PyTorch for CUDA and a GPU. Exit 1: one does not hold.
"""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIB = 1 << 30
ROUNDS = 32
IN_FULL_SWING = 8  # the round after which the card fills
SIMULATION = ["simulate", "--dataset", "synthetic", "--model", "resnet18", "--synthetic-channels", "3",
              "--synthetic-height", "32", "--synthetic-width", "32", "--synthetic-train", "16384",
              "--synthetic-test", "500", "--clients", "64", "--partition", "iid", "--per-round", "32", "--rounds", str(ROUNDS),
              "--backend", "cuda", "--no-folder", "--no-record", "--json"]
# Takes all that is free but for some, again and again for so many seconds; or once, and holds it for as many.
FILLER = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and cuda.cuCtxSetCurrent(context) == 0
seconds, leave, hold = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
end = time.monotonic() + seconds
piece = 1 << 30
while time.monotonic() < end:
    free, total, memory = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
    cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
    room = free.value - leave
    while piece > room and piece > (2 << 20):
        piece //= 2
    if room < piece or cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(piece)) != 0:
        if hold and piece == 2 << 20:
            break
        piece = max(piece // 2, 2 << 20)
        time.sleep(0.005)
    else:
        piece = 1 << 30
time.sleep(hold)
"""
INSIDE_PYTORCH = """
import json, sys, ebb, ebb.torch, torch
torch.zeros(1, device="cuda")
held = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(20)]
del held
report = ebb.cleanup_memory(True)
free, total = torch.cuda.mem_get_info()
keep = torch.empty(free // 2, dtype=torch.uint8, device="cuda")
try:
    torch.empty(free, dtype=torch.uint8, device="cuda")
except RuntimeError as error:
    why = ebb.torch.oom_diagnostic(error=error)
cache = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(4)]
def take():
    global cache
    wanted = torch.cuda.mem_get_info()[0] + (1 << 30)
    return torch.empty(wanted if cache else 1 << 20, dtype=torch.uint8, device="cuda")
ebb.hooks.add("drop", lambda: cache.clear())
taken = ebb.torch.safe_allocate(take)
print(json.dumps({"returned": report.device_returned_bytes, "text": str(report),
                  "devices": [vars(one) for one in report.devices], "why": why["verdict"],
                  "headline": why["headline"], "taken": taken.numel()}))
"""
REFUSED = """
import ebb.torch, torch
ebb.torch.install()
x = torch.ones(1000, device="cuda")
for what in ("graph", "pool"):
    try:
        if what == "graph":
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                y = x * 2
        else:
            with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
                y = torch.ones(1000, device="cuda")
        print(what, "accepted")
    except RuntimeError as error:
        # Of pools PyTorch itself says so.
        known = "private pools" in str(error) or "does not yet support" in str(error)
        print(what, "refused" if known else error)
print("works", (torch.ones(1000, device="cuda") + x).sum().item())
"""
failed = []


def claim(holds, text):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failed.append(text)


def simulate(program, *options, beside=None):
    """(status, result, lines on stderr, seconds). `beside`: what fills the card, once the simulation is in full swing."""
    torch = subprocess.run([sys.executable, "-c", "import torch; print(torch.__path__[0])"], text=True,
                           capture_output=True, check=True).stdout.strip()
    variables = {**os.environ, "LD_LIBRARY_PATH": f"{torch}/lib", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    started = time.monotonic()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        job = subprocess.Popen([program, *SIMULATION, *options], env=variables, stdout=out, stderr=err, text=True)
        filler = None
        while job.poll() is None:
            time.sleep(0.05)
            rounds = re.findall(r"round (\d+) of", os.pread(err.fileno(), 1 << 20, 0).decode())
            if beside and filler is None and rounds and int(rounds[-1]) >= IN_FULL_SWING:
                filler = subprocess.Popen([sys.executable, "-c", FILLER, *map(str, beside)])
            if time.monotonic() - started > 240:
                job.kill()
        if filler:
            filler.kill()
            filler.wait()
        out.seek(0), err.seek(0)
        text = out.read()
        return job.returncode, json.loads(text) if text.strip().startswith("{") else None, err.read(), \
            time.monotonic() - started


def simulations(program):
    status, plain, said, seconds = simulate(program, "--headroom", "1TiB")
    claim(status == 0, f"undisturbed: {seconds:.0f} s, model {plain['model_sha256'][:12]}")
    # Headroom that no card has: the cache is emptied after each round, and each round needs the card anew.
    # Where a heavy cleanup came first, that has emptied it.
    emptied = [row for row in plain["rounds"] if row["card"]["returned_bytes"] > 0 or row["devices"]]
    claim(len(emptied) >= ROUNDS - 1, f"headroom: {len(emptied)} of {ROUNDS} rounds gave back "
                              f"{emptied[0]['card']['returned_bytes'] / GIB:.1f} GiB each")
    status, kept, _, _ = simulate(program, "--heavy-gc-rounds", "4")
    claim(kept["model_sha256"] == plain["model_sha256"], "the same model without headroom")
    heavy = [(row["round"], row["devices"]) for row in kept["rounds"] if row["devices"]]
    claim([number for number, _ in heavy] == list(range(3, ROUNDS, 4)),
          f"heavy cleanups alone empty the cache: rounds {[number for number, _ in heavy]}, "
          f"{sum(one['returned_bytes'] for _, devices in heavy for one in devices) / GIB:.1f} GiB")
    status, result, said, seconds = simulate(program, "--headroom", "1TiB", beside=(20, 64 << 20, 0))
    claim(status == 0 and result["model_sha256"] == plain["model_sha256"] and "had no room" in said,
          f"filled for 20 s: {seconds:.0f} s, the same model")
    print("        " + "\n        ".join(line for line in said.splitlines() if "room" in line)[:600])
    status, result, said, seconds = simulate(program, "--headroom", "1TiB", beside=(600, 2 * GIB, 0))
    claim(status == 0 and result["rounding_from_round"] is not None,
          f"filled for good but for 2 GiB: {seconds:.0f} s, status {status}, from round "
          f"{result and result['rounding_from_round']} on to rounding")
    print("        " + "\n        ".join(line for line in said.splitlines() if "room" in line)[:600])
    status, result, said, seconds = simulate(program, "--headroom", "1TiB", beside=(600, 0, 0))
    claim(status == 1 and "memory" in said, f"filled to the last: {seconds:.0f} s, status {status}")
    print("        " + said.strip().splitlines()[-1][:300])


def inside_pytorch():
    done = subprocess.run([sys.executable, "-c", INSIDE_PYTORCH], text=True, capture_output=True, check=False)
    if done.returncode != 0:
        return claim(False, f"inside PyTorch: {done.stderr[-600:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    claim(told["returned"] >= 20 * GIB, f"a cleanup: {told['text']}")
    claim(told["why"] == "capacity", f"no memory: {told['why']}: {told['headline']}")
    claim(told["taken"] > 0, "safe_allocate took it after a cleanup")
    filler = subprocess.Popen([sys.executable, "-c", FILLER, "5", str(4 * GIB), "60"])
    time.sleep(10)
    code = ("import torch, ebb.torch, json\ntorch.zeros(1, device='cuda')\n"
            "try: torch.empty(40 << 30, dtype=torch.uint8, device='cuda')\n"
            "except RuntimeError as error: print(json.dumps(ebb.torch.oom_diagnostic(error=error)))")
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=False)
    filler.kill()
    filler.wait()
    why = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {"verdict": done.stderr[-300:], "headline": ""}
    claim(why["verdict"] == "other_process", f"beside another: {why['verdict']}: {why['headline']}")
    done = subprocess.run([sys.executable, "-c", REFUSED], text=True, capture_output=True, check=False)
    claim(done.stdout == "graph refused\npool refused\nworks 2000.0\n",
          f"under install(): {done.stdout.strip()!r} {done.stderr[-300:] if done.returncode else ''}")


def main():
    program = str(Path(sys.argv[1]).resolve())
    ctypes.CDLL("libcuda.so.1")
    inside_pytorch()
    simulations(program)
    print(f"{len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
