#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sampling costs a job: pairs of runs, one with libebb-sites.so and one without, in turn; the mean difference with
its 95 % interval, of processor time.

  bench/sites/cost.py [--build build/release] [--pairs 15] [--python PYTHON] [--objects] [NAME]...

--objects: as under `ebb run --sites=objects`.

Counting instructions under valgrind does not do in its place: there a stack cannot be read as it is elsewhere, and what
sampling may spend is soon used up.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from programs import OBJECT_PAIRS, PROGRAMS

# Student's, two-sided 95 %, by degrees of freedom; from 30 on the normal distribution is near enough.
T = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09,
     2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05]


class Bench:
    def __init__(self, options):
        self.library = (options.build / "lib/ebb/libebb-sites.so").resolve()
        if not self.library.exists():
            sys.exit(f"cost: {self.library} is not there, expected it after: make build")
        self.pairs_program = str(next((path for path in (options.build / "sites-pairs", options.build / "bin/sites-pairs")
                                       if path.exists()), "sites-pairs"))
        self.python, self.pairs, self.wanted = options.python, options.pairs, options.names
        self.objects = "1" if options.objects else "0"

    def is_wanted(self, name):
        return not self.wanted or any(part in name for part in self.wanted)

    def workloads(self):
        """name: command, unit (None: seconds of processor time, told in percent)."""
        mallocs = {"malloc of 64 bytes, 1 thread": ("1", "64", "40000000"),
                   "malloc of 64 bytes, 8 threads": ("8", "64", "40000000"),
                   "malloc of 4 KiB, 1 thread": ("1", "4096", "10000000")}
        return {**{name: ([self.pairs_program, *words], "ns a pair") for name, words in mallocs.items()},
                **{name: ([self.python, "-c", f"N = {repeats}\n{code}"],
                          "ns a pair" if name == "Python objects and nothing else" else None)
                   for name, (code, repeats) in PROGRAMS.items()}}

    def environments(self, folder):
        """(without, with)."""
        base = {**os.environ, "PYTHONPATH": str(self.library.parent / "python"), "PYTHONHASHSEED": "0"}
        return base, {**base, "LD_PRELOAD": str(self.library), "EBB_SITES": folder,
                      "EBB_SITES_OBJECTS": self.objects}

    def measure(self, command, unit):
        """Values without and with sampling, pair by pair."""
        plain, sampled = [], []
        for pair in range(self.pairs):
            with tempfile.TemporaryDirectory() as folder:
                # Whoever comes first, in turn: what the machine does meanwhile hits both alike.
                order = list(zip((plain, sampled), self.environments(folder)))
                for values, environment in order[::1 if pair % 2 else -1]:
                    values.append(seconds_of(command, unit, environment))
        return plain, sampled


def seconds_of(command, unit, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if unit is None:
        return seconds
    return float(done.stdout) if done.stdout else 1e9 * seconds / OBJECT_PAIRS


def interval(values):
    """The mean and half the width of its 95 % interval."""
    count = len(values)
    t = T[count - 2] if count - 2 < len(T) else 1.96
    return statistics.mean(values), t * statistics.stdev(values) / count**0.5


def report(bench):
    print("| what | without | with | difference (95 %) |\n|---|--:|--:|--:|")
    shares = []  # of each program, pair by pair
    for name, (command, unit) in bench.workloads().items():
        if not bench.is_wanted(name):
            continue
        try:
            plain, sampled = bench.measure(command, unit)
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--python", default="/usr/bin/python3", help="the interpreter that runs the programs")
    parser.add_argument("--objects", action="store_true", help="sample Python's small objects one by one")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    report(Bench(options))


if __name__ == "__main__":
    main()
