#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what a card did in a trace of PyTorch's profiler: seconds by kernel, and those in which it was idle.

  kernels.py TRACE.json [LINES]
"""
import json
import sys
from collections import defaultdict

ON_CARD = ("kernel", "gpu_memcpy", "gpu_memset")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    done = sorted((one for one in events if one.get("ph") == "X" and one.get("cat") in ON_CARD), key=lambda one: one["ts"])
    calls, spent = defaultdict(int), defaultdict(float)
    busy, end = 0.0, 0.0
    for one in done:
        calls[one["name"]] += 1
        spent[one["name"]] += one["dur"]
        busy += max(0.0, one["ts"] + one["dur"] - max(end, one["ts"]))
        end = max(end, one["ts"] + one["dur"])
    whole = end - done[0]["ts"] if done else 0
    print(f"{len(done)} of the card's, {busy / 1e3:.3f} ms busy of {whole / 1e3:.3f} ms")
    for name in sorted(spent, key=spent.get, reverse=True)[:lines]:
        print(f"{spent[name] / 1e3:9.3f} ms {calls[name]:5d} x  {name[:150]}")
    host = defaultdict(float)
    times = defaultdict(int)
    for one in events:
        if one.get("ph") == "X" and one.get("cat") in ("cuda_runtime", "cuda_driver"):
            host[one["name"]] += one["dur"]
            times[one["name"]] += 1
    for name in sorted(host, key=host.get, reverse=True)[:8]:
        print(f"{host[name] / 1e3:9.3f} ms {times[name]:5d} x  host: {name}")


if __name__ == "__main__":
    main()
