#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sampling costs a job: pairs of runs, one with libebb-sites.so and one without, at the same time on the same core;
the mean difference with its 95 % interval, of processor time.

  bench/sites/cost.py [--build build/release] [--pairs 15] [--seconds S] [--cores 0,1,2] [--python PYTHON] [--objects] [NAME]...

--objects: as under `ebb run --sites=objects`. --cores: where pairs run, one pair at a time on each. --seconds: no pair
begins later.

The kernel lets the two take turns every few milliseconds, so that what the machine does meanwhile hits both alike: one
after the other, single runs on a virtual machine differ by a tenth, pairs on one core by less than a hundredth. Counting
instructions under valgrind does not do in its place: there a stack cannot be read as it is elsewhere, and what sampling
may spend is soon used up.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from programs import OBJECT_PAIRS, PROGRAMS, SETTINGS

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
        self.ends = time.monotonic() + options.seconds if options.seconds else float("inf")
        self.side_by_side = len(options.cores)
        self.cores = SimpleQueue()
        for core in options.cores:
            self.cores.put(core)

    def is_wanted(self, name):
        return not self.wanted or any(part in name for part in self.wanted)

    def workloads(self):
        """name: command, unit (None: seconds of processor time, told in percent), what it needs in its environment."""
        mallocs = {"malloc of 64 bytes, 1 thread": ("1", "64", "40000000"),
                   "malloc of 64 bytes, 8 threads": ("8", "64", "40000000"),
                   "malloc of 4 KiB, 1 thread": ("1", "4096", "10000000")}
        return {**{name: ([self.pairs_program, *words], "ns a pair", {}) for name, words in mallocs.items()},
                **{name: ([self.python, "-c", f"N = {repeats}\n{code}"],
                          "ns a pair" if name == "Python objects and nothing else" else None, SETTINGS.get(name, {}))
                   for name, (code, repeats) in PROGRAMS.items()}}

    def environments(self, settings, folder):
        """(without, with)."""
        base = {**os.environ, **settings, "PYTHONPATH": str(self.library.parent / "python"), "PYTHONHASHSEED": "0"}
        return base, {**base, "LD_PRELOAD": str(self.library), "EBB_SITES": folder,
                      "EBB_SITES_OBJECTS": self.objects}

    def measure(self, command, unit, settings):
        """Values without and with sampling, pair by pair; on a core of their own."""
        core = self.cores.get()
        try:
            return self.measure_on(core, command, unit, settings)
        finally:
            self.cores.put(core)

    def measure_on(self, core, command, unit, settings):
        pairs = []
        # One pair alone has no interval.
        while len(pairs) < self.pairs and (len(pairs) < 2 or time.monotonic() < self.ends):
            with tempfile.TemporaryDirectory() as folder:
                # Whoever starts first, in turn.
                order = list(enumerate(self.environments(settings, folder)))[::1 if len(pairs) % 2 else -1]
                started = [(which, subprocess.Popen(on_core(core, command), env=environment, stdout=subprocess.PIPE, text=True))
                           for which, environment in order]
                try:
                    values = {which: cost_of(program, unit) for which, program in started}
                finally:
                    for _, program in started:
                        if program.returncode is None:  # the other one has failed
                            program.kill()
                            program.wait()
            pairs.append((values[0], values[1]))
        return [a for a, _ in pairs], [b for _, b in pairs]


def on_core(core, command):
    # Eight threads take all the cores there are.
    return command if command[1] == "8" else ["taskset", "-c", core, *command]


def cost_of(program, unit):
    """What a started program took, in `unit`, once it has ended."""
    with program:
        said = program.stdout.read()
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, program.args)
    seconds = used.ru_utime + used.ru_stime
    if unit is None:
        return seconds
    return float(said) if said else 1e9 * seconds / OBJECT_PAIRS


def interval(values):
    """The mean and half the width of its 95 % interval."""
    count = len(values)
    t = T[count - 2] if count - 2 < len(T) else 1.96
    return statistics.mean(values), t * statistics.stdev(values) / count**0.5


def measured(bench, *workload):
    """What measure() gives, or why there is nothing."""
    try:
        return bench.measure(*workload)
    except (OSError, subprocess.CalledProcessError) as error:
        return error


def report(bench):
    wanted = {name: of for name, of in bench.workloads().items() if bench.is_wanted(name)}
    with ThreadPoolExecutor(bench.side_by_side) as pool:
        values = list(pool.map(lambda of: measured(bench, *of), wanted.values()))
    print("| what | pairs | without | with | difference (95 %) |\n|---|--:|--:|--:|--:|")
    shares = []  # of each program: the mean and half the width of its interval
    for (name, (_, unit, _)), value in zip(wanted.items(), values):
        if isinstance(value, Exception):
            print(f"| {name} | not measured: {value.__class__.__name__} | | | |")
            continue
        plain, sampled = value
        base = statistics.mean(plain)
        if unit:
            mean, margin = interval([b - a for a, b in zip(plain, sampled)])
            text = f"{mean:+.2f} ns ({mean - margin:+.2f} to {mean + margin:+.2f})"
            print(f"| {name} | {len(plain)} | {base:.2f} {unit} | {statistics.mean(sampled):.2f} | {text} |")
        else:
            mean, margin = interval([100 * (b - a) / base for a, b in zip(plain, sampled)])
            shares.append((mean, margin))
            text = f"{mean:+.2f} % ({mean - margin:+.2f} to {mean + margin:+.2f})"
            print(f"| {name} | {len(plain)} | {base:.3f} s | {statistics.mean(sampled):.3f} s | {text} |")
    if len(shares) > 1:
        # Errors of programs have nothing to do with each other.
        mean = statistics.mean(mean for mean, _ in shares)
        margin = sum(margin**2 for _, margin in shares)**0.5 / len(shares)
        print(f"| all {len(shares)} together | | | | {mean:+.2f} % ({mean - margin:+.2f} to {mean + margin:+.2f}) |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, help="no pair begins later")
    parser.add_argument("--cores", type=lambda text: text.split(","), default=["0"], metavar="N,N",
                        help="where pairs run, one pair at a time on each of these cores")
    parser.add_argument("--python", default="/usr/bin/python3", help="the interpreter that runs the programs")
    parser.add_argument("--objects", action="store_true", help="sample Python's small objects one by one")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    report(Bench(options))


if __name__ == "__main__":
    main()
