#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rounds with the data on the card, prefetched, and gathered as they are needed: their time, memory and bits.

  prefetch.py --build build/gpu --out FOLDER [--times 3] [--backend cuda] [--tiny]

The three ways are run in turns. Then another process fills the card, until a simulation has no room for its data: it
prefetches them by itself. Writes prefetch.md and prefetch.json. Exit 1 where ways came to different models, or where something
had to be said.
"""
import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from full_card import FILLER, GIB
from rounds import PICTURES, TINY, simulate

# Options, rounds, and how many of them warm up.
WORKLOADS = {
    "CNN-MNIST, 50 of 100": (["--clients", "100", "--per-round", "50"], 22, 2),
    "ResNet18, 32 of 64": (["--model", "resnet18", *PICTURES, "--synthetic-train", "16384", "--synthetic-test", "2000",
                            "--clients", "64", "--per-round", "32"], 7, 1),
    "the same in groups of 8": (["--model", "resnet18", *PICTURES, "--synthetic-train", "16384", "--synthetic-test", "2000",
                                 "--clients", "64", "--per-round", "32", "--parallel-clients", "8"], 5, 1),
}
WAYS = {"on the card": {}, "prefetched": {"EBB_CARD_DATA": "0"},
        "as they are needed": {"EBB_CARD_DATA": "0", "EBB_CARD_PREFETCH": "0"}}
# 449 MiB of pictures, and ten clients that take less.
LARGE = ["--synthetic-train", "600000", "--clients", "1000", "--per-round", "10", "--parallel-clients", "10"]
LEFT_GIB = (1.3, 1.45, 1.15, 1.6, 1.0)


class CardMeter:
    """What is in use of the first card, and the most of it while something runs."""

    def __init__(self):
        self.most = None
        self.stopped = threading.Event()
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            self.device = ctypes.c_void_p()
            found = self.nvml.nvmlInit_v2() == 0 and self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)) == 0
        except OSError:
            found = False
        self.found = found

    def used(self):
        numbers = (ctypes.c_ulonglong * 3)()
        return numbers[2] if self.nvml.nvmlDeviceGetMemoryInfo(self.device, numbers) == 0 else 0

    def __enter__(self):
        if self.found:
            self.before = self.most = self.used()
            self.thread = threading.Thread(target=self.watch)
            self.thread.start()
        return self

    def watch(self):
        while not self.stopped.wait(0.002):
            self.most = max(self.most, self.used())

    def __exit__(self, *_):
        self.stopped.set()
        if self.found:
            self.thread.join()

    def peak(self):
        return self.most - self.before if self.found else None


def prefetches(one):
    return any(item["on_card"] and "on their way" in item["purpose"] for item in one["items"])


def on_a_full_card(binary, backend):
    """With room; and with as little as has none for the data: how much another process left, and what that came to."""
    free = simulate(binary, LARGE, 5, 1, backend)
    for left in LEFT_GIB:
        with subprocess.Popen([sys.executable, "-c", FILLER, "20", str(int(left * GIB)), "600"]) as filler:
            try:
                time.sleep(8)
                full = simulate(binary, LARGE, 5, 1, backend)
            except SystemExit:
                continue  # not even room for one client
            finally:
                filler.kill()
        return free, left, full
    return free, None, None


def gib(count):
    return "-" if count is None else f"{count / (1 << 30):.3f} GiB"


def row(name, way, runs):
    def median(key):
        return statistics.median(key(one) for one in runs)
    times = ", ".join(f"{one['seconds']:.4f}" for one in runs)
    return (f"| {name} | {way} | {median(lambda one: one['seconds']):.4f} s | {times} | "
            f"{median(lambda one: one['parts']['training']):.4f} s | {median(lambda one: one['parts']['evaluation']):.4f} s | "
            f"{gib(runs[0]['planned'])} | {gib(runs[0]['card'])} | {gib(runs[0]['peak'])} | {gib(runs[0]['rss'])} | "
            f"{runs[0]['sha256'][:8]} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try this without a card")
    options = parser.parse_args()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    binary = os.path.join(options.build, "bin", "ebb-simulate")
    failed, raw = [], {}
    lines = ["| workload | data | round | each run | training | evaluation | planned on the card | in use after a round | "
             "at its peak by NVML | peak rss | model |", "|---|---|" + "--:|" * 8 + "---|"]
    for name, (words, rounds, warm_up) in WORKLOADS.items():
        runs = {way: [] for way in WAYS}
        for _ in range(options.times):
            for way, variables in WAYS.items():
                with CardMeter() as meter:
                    one = simulate(binary, [*words, *TINY] if options.tiny else words, rounds, warm_up, options.backend,
                                   **variables)
                runs[way].append({**one, "peak": meter.peak()})
        raw[name] = runs
        found = {one["sha256"] for way in runs.values() for one in way}
        if len(found) != 1:
            failed.append(f"{name}: {', '.join(sorted(found))}")
        failed += [f"{name}, {way}: {line}" for way in WAYS for one in runs[way] for line in one["said"]]
        lines += [row(name, way, runs[way]) for way in WAYS]
        print("\n".join(lines[-len(WAYS):]), flush=True)
        (out / "prefetch.json").write_text(json.dumps(raw), encoding="utf-8")
    if not options.tiny:
        free, left, full = on_a_full_card(binary, options.backend)
        raw["on a full card"] = {"free": free, "left": left, "full": full}
        (out / "prefetch.json").write_text(json.dumps(raw), encoding="utf-8")
        if full is None or not prefetches(full) or prefetches(free) or full["sha256"] != free["sha256"]:
            failed.append("a full card: the data were not prefetched, or came to another model")
        else:
            lines += ["", f"600,000 pictures, ten clients: {free['seconds']:.4f} s a round with room, model {free['sha256'][:8]}; "
                      f"{full['seconds']:.4f} s, model {full['sha256'][:8]}, where another process had left {left} GiB; "
                      f"planned {gib(free['planned'])} and {gib(full['planned'])}."]
    lines += ["", "Every model is the same in all three ways." if not failed else "Failed:", *(f"- {line}" for line in failed)]
    (out / "prefetch.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
