#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jemalloc keeps of freed memory, and what it costs to give it back, by MALLOC_CONF.

  decay.py [--idle 12] [--pause 2] [--rounds 5] [--repeat 3]

A job takes 600 MB in blocks of 30 kB, frees 99.5 % of them and waits. Then it takes and frees 300 MB in each of some
rounds: at once after one another, and with pauses in which memory can decay. CPU time is that of all its threads.
Medians, CPU time as a ratio to NVFlare's in the same turn. Needs libjemalloc2.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

MIB = 1 << 20
BLOCK, BLOCKS = 30_000, 20_000
REFERENCE = "NVFlare's"
SETTINGS = {
    "jemalloc's own": "",
    REFERENCE: "dirty_decay_ms:5000,muzzy_decay_ms:5000",
    "Ebb's": "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0",
}


def rss():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / MIB


def take(count):
    return [b"x" * BLOCK for _ in range(count)]


def cpu_of_a_round(rounds, pause):
    used = 0.0
    for _ in range(rounds):
        started = time.process_time()
        blocks = take(BLOCKS // 2)
        del blocks
        time.sleep(pause)
        used += time.process_time() - started
    return used / rounds


def job(options):
    blocks = take(BLOCKS)
    full = rss()
    blocks = blocks[::200]
    freed = rss()
    time.sleep(options.idle)
    idle = rss()
    cpu_of_a_round(1, 0)
    return {"full": full, "freed": freed, "idle": idle, "kept": len(blocks),
            "dense": cpu_of_a_round(options.rounds, 0),
            "apart": cpu_of_a_round(options.rounds, options.pause)}


def measure(setting, words):
    environment = {**os.environ, "LD_PRELOAD": "libjemalloc.so.2", "PYTHONMALLOC": "malloc",
                   "MALLOC_CONF": setting}
    done = subprocess.run([sys.executable, __file__, "--job", *words], env=environment, check=True,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idle", type=float, default=12.0, metavar="SECONDS")
    parser.add_argument("--pause", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(job(options)))
        return
    words = [f"--{name}={getattr(options, name)}" for name in ("idle", "pause", "rounds")]
    seen = {name: [] for name in SETTINGS}
    for _ in range(options.repeat):
        for name, setting in SETTINGS.items():
            seen[name].append(measure(setting, words))

    def median(name, key):
        return statistics.median(one[key] for one in seen[name])

    print(f"| MALLOC_CONF | in use, MiB | freed | idle for {options.idle:g} s | CPU a round | "
          f"with pauses of {options.pause:g} s |\n|---|--:|--:|--:|--:|--:|")
    for name in SETTINGS:
        ratios = [statistics.median(one[key] / other[key] for one, other in zip(seen[name], seen[REFERENCE]))
                  for key in ("dense", "apart")]
        print(f"| {name} | {median(name, 'full'):.0f} | {median(name, 'freed'):.0f} | {median(name, 'idle'):.0f} | "
              f"{ratios[0]:.2f} | {ratios[1]:.2f} |")
    dense, apart = (median(REFERENCE, key) * 1e3 for key in ("dense", "apart"))
    print(f"\nCPU: 1 is {dense:.0f} ms, with pauses {apart:.0f} ms, for 300 MB.")


if __name__ == "__main__":
    main()
