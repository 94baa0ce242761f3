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
PYTHON = "/usr/bin/python3"


def workloads(build):
    pairs = str(build / "sites-pairs") if (build / "sites-pairs").exists() else str(build / "bench/sites/sites-pairs")
    return {  # name: command, unit (None: seconds of processor time, told in percent)
        "malloc of 64 bytes, 1 thread": ([pairs, "1", "64", "40000000"], "ns a pair"),
        "malloc of 64 bytes, 8 threads": ([pairs, "8", "64", "40000000"], "ns a pair"),
        "malloc of 4 KiB, 1 thread": ([pairs, "1", "4096", "10000000"], "ns a pair"),
        "NumPy temporaries of 1 MiB": ([PYTHON, "-c", NUMPY], None),
        "json.loads": ([PYTHON, "-c", JSON], None),
        "Python objects": ([PYTHON, "-c", OBJECTS], None),
    }


def run(command, unit, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if unit:
        return float(done.stdout)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    library = (options.build / "lib/ebb/libebb-sites.so").resolve()
    if not library.exists():
        sys.exit(f"cost: {library} is not there, expected it after: make build")
    print("| what | without | with | difference (95 %) |\n|---|--:|--:|--:|")
    for name, (command, unit) in workloads(options.build).items():
        if options.names and not any(wanted in name for wanted in options.names):
            continue
        plain, sampled = [], []
        for pair in range(options.pairs):
            with tempfile.TemporaryDirectory() as folder:
                base = {**os.environ, "PYTHONPATH": str(library.parent / "python")}
                sites = {**base, "LD_PRELOAD": str(library), "EBB_SITES": folder}
                # Whoever comes first, in turn: what the machine does meanwhile hits both alike.
                for which in ((plain, base), (sampled, sites))[::1 if pair % 2 else -1]:
                    which[0].append(run(command, unit, which[1]))
        differences = [b - a for a, b in zip(plain, sampled)]
        mean, count = statistics.mean(differences), len(differences)
        t = T[count - 2] if count - 2 < len(T) else 1.96
        margin = t * statistics.stdev(differences) / count**0.5
        base = statistics.mean(plain)
        if unit:
            text = f"{mean:+.2f} ns ({mean - margin:+.2f} to {mean + margin:+.2f})"
            print(f"| {name} | {base:.2f} {unit} | {statistics.mean(sampled):.2f} | {text} |", flush=True)
        else:
            text = f"{100 * mean / base:+.2f} % ({100 * (mean - margin) / base:+.2f} to {100 * (mean + margin) / base:+.2f})"
            print(f"| {name} | {base:.3f} s | {statistics.mean(sampled):.3f} s | {text} |", flush=True)


if __name__ == "__main__":
    main()
