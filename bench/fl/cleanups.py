#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the intervals between cleanups of a simulation save and cost: the same simulation under each of them.

  cleanups.py [--rounds 20] [--repeat 3] [--ebb PROGRAM] [-- OPTION...]

OPTIONs are of `ebb simulate`; without any: Fashion-MNIST, 100 clients, 10 per round. Memory at the end of rounds, from
the second one on. CPU time is that of the process, as a ratio to no cleanups at all in the same turn. Medians.
Exit 1: the models differ.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
# Rounds between light and heavy cleanups.
INTERVALS = {"none": (0, 0), "CSFL's guide": (5, 10), "Ebb's": (1, 10)}


def simulate(program, light, heavy, words):
    process = subprocess.Popen(
        [program, "simulate", "--json", "--quiet", "--no-folder", "--no-record", "--backend", "native",
         "--threads", "2", "--gc-rounds", str(light), "--heavy-gc-rounds", str(heavy), *words],
        stdout=subprocess.PIPE)
    result = json.loads(process.stdout.read())
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"cleanups: the simulation ended with status {process.returncode}")
    ends = [one["rss_bytes"] / MIB for one in result["rounds"][1:]]
    return {"sha256": result["model_sha256"], "mean": statistics.mean(ends), "most": max(ends),
            "peak": result["peak_rss_bytes"] / MIB, "cpu": used.ru_utime + used.ru_stime,
            "returned": sum(one["returned_bytes"] for one in result["rounds"]) / MIB}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ebb", default=str(ROOT / "build/release/bin/ebb"), metavar="PROGRAM")
    parser.add_argument("options", nargs="*", metavar="OPTION")
    options = parser.parse_args()
    words = options.options or ["--partition", "dirichlet"]
    words += ["--rounds", str(options.rounds)]
    seen = {name: [] for name in INTERVALS}
    for _ in range(options.repeat):
        for name, (light, heavy) in INTERVALS.items():
            seen[name].append(simulate(options.ebb, light, heavy, words))

    def median(name, key):
        return statistics.median(one[key] for one in seen[name])

    def ratio(name):
        return statistics.median(one["cpu"] / other["cpu"] for one, other in zip(seen[name], seen["none"]))

    print("| cleanups | light, heavy | rss after rounds, MiB | highest of them | peak | returned | CPU |\n"
          "|---|--:|--:|--:|--:|--:|--:|")
    for name, (light, heavy) in INTERVALS.items():
        print(f"| {name} | {light}, {heavy} | {median(name, 'mean'):.0f} | {median(name, 'most'):.0f} | "
              f"{median(name, 'peak'):.0f} | {median(name, 'returned'):.0f} | "
              f"{ratio(name):.2f} |")
    models = {one["sha256"] for runs in seen.values() for one in runs}
    print(f"\nCPU: 1 is {median('none', 'cpu'):.1f} s for {options.rounds} rounds. "
          f"{'All ended with the same model.' if len(models) == 1 else 'The models differ.'}")
    sys.exit(0 if len(models) == 1 else 1)


if __name__ == "__main__":
    main()
