#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a card that PyTorch's cache fills does to another process, and what ebb.guard does about it.

  EBB_LIBRARY=build/gpu/lib/libebb.so PYTHONPATH=python bench/gpu/headroom.py

A process with PyTorch fills the card, lets go of nearly all of it and keeps it cached. Another process, which had its
context before, asks the driver for 8 MB: while PyTorch is alone, after guards with thresholds, and with headroom. Prints a
table and a line for each claim; takes a minute, three at the most. Needs PyTorch for CUDA and a GPU that nobody else uses.
Exit 1: a claim does not hold.
"""
import json
import os
import selectors
import subprocess
import sys
import time

GIB = 1 << 30
HEADROOM = GIB
DEADLINE = time.monotonic() + 170
# Fills the card with what is then freed, but for 1 GiB; guards at the end of rounds. One JSON object a line, in and out.
WORKER = """
import json, sys, time, torch, ebb
kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
held = []
def fill():
    # In sizes that have segments of their own, and then those that share one of 2 MiB.
    for size in (1 << 30, 128 << 20, 20 << 20, 1 << 20):
        try:
            while True:
                held.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        except RuntimeError:
            pass
    held.clear()
def answer(**more):
    free, total = torch.cuda.mem_get_info()
    stats = torch.cuda.memory_stats()
    reserved = stats["reserved_bytes.all.current"]
    print(json.dumps({"free": free, "total": total, "reserved": reserved,
                      "cached": reserved - stats["active_bytes.all.current"], **more}), flush=True)
answer()
for line in sys.stdin:
    asked = json.loads(line)
    if asked["do"] == "fill":
        fill()
        answer()
    else:
        start = time.monotonic()
        level, report = ebb.guard(99.9, 100.0, round=asked["round"], headroom=asked["headroom"])
        answer(level=level, percent=[round(gpu.percent, 1) for gpu in level.gpus], seconds=time.monotonic() - start,
               returned=report.device_returned_bytes if report else 0)
"""
# Asks the driver for memory and gives it back; nothing of it is cached.
OTHER = """
import ctypes, json, sys
cuda = ctypes.CDLL("libcuda.so.1")
device, context = ctypes.c_int(), ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0 and cuda.cuCtxSetCurrent(context) == 0
def free():
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    cuda.cuMemGetInfo_v2(ctypes.byref(left), ctypes.byref(total))
    return left.value
print(json.dumps({"free": free()}), flush=True)
for line in sys.stdin:
    memory, before = ctypes.c_uint64(), free()
    code = cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(json.loads(line)["bytes"]))
    if code == 0:
        cuda.cuMemFree_v2(memory)
    print(json.dumps({"code": code, "free": before}), flush=True)
"""
failed = []


class Process:
    """A Python program that answers each line with one."""

    def __init__(self, name, code):
        self.name = name
        variables = {name: value for name, value in os.environ.items()
                     if name not in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")}
        self.process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, env={**variables, "EBB_LOG": "info"})
        self.ready = selectors.DefaultSelector()
        self.ready.register(self.process.stdout, selectors.EVENT_READ)

    def hear(self):
        line = ""
        if self.ready.select(max(0, DEADLINE - time.monotonic())):
            line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"FAILED  the {self.name} process does not answer")
        return json.loads(line)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        return self.hear()

    def end(self):
        self.process.kill()
        self.process.wait()


def claim(holds, text):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failed.append(text)


def show(what, worker, other):
    took = "8 MB" if other["code"] == 0 else f"no (error {other['code']})"
    returned = f"{worker['returned'] / GIB:.1f} in {worker['seconds'] * 1e3:.0f} ms" if worker.get("returned") else "-"
    print(f"{what:46} {worker['cached'] / GIB:9.1f} {returned:>20} {other['free'] / GIB:9.2f} {took:>16}", flush=True)


def rounds(worker, other):
    number = -1

    def attempt(what, headroom=None):
        """A round that fills the card; a guard at its end unless headroom is None. Whether the other then had 8 MB."""
        nonlocal number
        number += 1
        done = worker.ask(do="fill")
        if headroom is not None:
            done = worker.ask(do="guard", round=number, headroom=headroom)
        tried = other.ask(bytes=8_000_000)
        show(what, done, tried)
        return done, tried["code"] == 0

    print(f"{'at the end of a round':46} {'cached':>9} {'given back':>20} {'free':>9} {'another gets':>16}")
    _, alone = attempt("PyTorch alone")
    emptied, thresholds = attempt("guard(round=), GPU critical at 97 %", 0)
    kept, again = attempt("guard(round=), after it was taken again", 0)
    first, with_headroom = attempt("guard(round=, headroom=1 GiB)", HEADROOM)
    second, and_again = attempt("guard(round=, headroom=1 GiB), the next round", HEADROOM)
    print()
    claim(not alone, "without Ebb 8 MB are not to be had: the cache holds the card")
    claim(emptied["level"] == "critical" and emptied["returned"] > 0 and thresholds,
          f"at critical ({emptied['percent']} %) the cache was emptied, and 8 MB were to be had")
    claim(kept["returned"] == 0 and not again, "what was taken again within a round was not emptied again")
    claim(with_headroom and and_again and first["returned"] > 0 and second["returned"] > 0,
          "with headroom the 8 MB were to be had after every round")
    claim(min(first["free"], second["free"]) >= HEADROOM, "and so was the rest of the headroom")


def main():
    other = worker = None
    try:
        other = Process("other", OTHER)  # a context takes some 500 MB: before the card is full
        other.hear()
        worker = Process("PyTorch", WORKER)
        begun = worker.hear()
        print(f"a card of {begun['total'] / GIB:.1f} GiB, {begun['free'] / GIB:.1f} GiB of it free\n", flush=True)
        rounds(worker, other)
    finally:
        for process in (worker, other):
            if process is not None:
                process.end()
    print(f"{len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
