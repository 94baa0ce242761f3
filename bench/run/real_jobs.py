#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that others wrote the libraries of, plain and under `ebb run`, as a table.

  real_jobs.py OUT [--jobs loader arrays arrow forks flower] [--repeats 3] [--rounds 40] [--ebb PROGRAM]
               [--python INTERPRETER] [--with-arrow INTERPRETER] [--with-flower INTERPRETER]

loader  a DataLoader with two workers over a list of dicts, made before they are forked (verdict_jobs.py)
arrays  six threads free arrays of 8 MiB, for which NumPy asks for huge pages, and live on (verdict_jobs.py)
arrow   builds 20 columns of 15 MiB with pyarrow and drops them, every tenth round (verdict_jobs.py)
forks   forks two workers in each round, which read 64 MiB of their parent's and fill as much of their own
flower  examples/flower: a SuperLink, two SuperNodes, three rounds of a model of 64 MiB

Each does the same work in both ways, which run side by side (flower: one after the other); of the repeats the one with
the least CPU time counts.
Memory is the proportional share (pss) of all processes of the job, without `ebb run` itself, looked at twice a second:
peak; of the second half, but for the end, when processes go, the median, the lowest (floor) and the slope (Theil
and Sen).
CPU time and page faults are those of all processes that were waited for, `ebb run` included.
"""
import argparse
import importlib.util
import os
import platform
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEDERATION = HERE.parent.parent / "examples" / "flower" / "federation.py"
JOBS = ("loader", "arrays", "arrow", "forks", "flower")
PAUSE = 0.5
MIB = 1 << 20


def tree_below(pid):
    """The process and all that it started, with their command lines."""
    found, waiting = {}, [pid]
    while waiting:
        one = waiting.pop()
        try:
            found[one] = Path(f"/proc/{one}/cmdline").read_bytes().split(b"\0")
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except OSError:
            pass
    return found


def pss_of(pid):
    try:
        said = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        return int(re.search(r"^Pss:\s+(\d+)", said, re.M)[1]) / 1024
    except (OSError, TypeError):
        return 0.0


def memory_of(pid, ebb):
    return sum(pss_of(one) for one, words in tree_below(pid).items() if words[0] != os.fsencode(ebb))


def slope_of(points):
    """MiB a minute."""
    points = points[::max(1, len(points) // 60)]
    rises = [(b - a) / (t - s) for i, (s, a) in enumerate(points) for t, b in points[i + 1:]]
    return 60 * statistics.median(rises) if rises else 0.0


class Running:
    """A job with a thread that looks at its memory until it ends."""

    def __init__(self, command, ebb, log):
        self._began = time.monotonic()
        self._points = []
        with open(log, "w", encoding="utf-8") as file:
            self._child = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look, args=(ebb,))
        self._watch.start()
        self._waiter = threading.Thread(target=self._wait)
        self._waiter.start()

    def _look(self, ebb):
        while not self._ended.wait(PAUSE):
            self._points.append((time.monotonic() - self._began, memory_of(self._child.pid, ebb)))

    def _wait(self):
        _, self.status, self.usage = os.wait4(self._child.pid, 0)
        self.wall = time.monotonic() - self._began
        self._ended.set()

    def figures(self):
        self._waiter.join()
        self._watch.join()
        late = [point for point in self._points if self.wall / 2 <= point[0] <= self.wall - 2] or self._points
        return {"status": self.status, "wall": self.wall, "cpu": self.usage.ru_utime + self.usage.ru_stime,
                "faults": self.usage.ru_minflt / 1e6, "peak": max(mib for _, mib in self._points),
                "median": statistics.median(mib for _, mib in late), "floor": min(mib for _, mib in late),
                "slope": slope_of(late)}


def command_of(job, out, options):
    if job == "flower":
        return [options.with_flower, FEDERATION, out / "federation", "--clients", "2", "--rounds", "3"]
    python = options.with_arrow if job == "arrow" else options.python
    return [python, Path(__file__).resolve(), out, "--job", job, "--rounds", str(options.rounds)]


def measure(job, options):
    """Of each way the repeat with the least CPU time."""
    found = {"plain": [], "ebb run": []}
    for _ in range(options.repeats):
        running = {}
        for way, words in (("plain", []), ("ebb run", [options.ebb, "run", "--quiet", "--no-record", "--"])):
            out = options.out / f"{job}-{way.replace(' ', '-')}"
            out.mkdir(parents=True, exist_ok=True)
            running[way] = Running([*words, *command_of(job, out, options)], options.ebb, out / "said.log")
            if job == "flower":  # whose programs have ports that only one of each can have
                running[way].figures()
        for way, one in running.items():
            figures = one.figures()
            if figures["status"] != 0:
                sys.exit(f"{job}, {way}: status {figures['status']}, see {options.out}")
            found[way].append(figures)
    return {way: min(all_of_it, key=lambda figures: figures["cpu"]) for way, all_of_it in found.items()}


def work(job, rounds):
    """One of the jobs, in a process of its own: the same work in each run."""
    spec = importlib.util.spec_from_file_location("verdict_jobs", HERE / "verdict_jobs.py")
    jobs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(jobs)
    if job == "loader":
        import torch.utils.data
        loader = torch.utils.data.DataLoader(jobs.Rows(), batch_size=1000, num_workers=2, persistent_workers=True)
        for _ in range(max(1, rounds // 20)):
            for _ in loader:
                pass
        return
    if job == "arrays":
        jobs.thread_arrays()
    shared = read_by_workers() if job == "forks" else None
    for number in range(rounds):
        if job == "arrow" and number % 10 == 0:
            jobs.arrow()
        if job == "forks":
            fork_two(shared)
        time.sleep(jobs.ROUND)


def read_by_workers():
    import numpy
    return numpy.ones(64 * MIB // 8)


def fork_two(shared):
    workers = [os.fork(), 0]
    if workers[0] != 0:
        workers[1] = os.fork()
    if 0 in workers:
        own = shared + 1
        os._exit(int(own[-1] != 2))
    for worker in workers:
        if os.waitpid(worker, 0)[1] != 0:
            sys.exit("a worker failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", nargs="+", default=JOBS, choices=JOBS)
    parser.add_argument("--job", choices=JOBS, help="work itself")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--ebb", default="ebb")
    for name in ("--python", "--with-arrow", "--with-flower"):
        parser.add_argument(name, default=sys.executable)
    options = parser.parse_args()
    if options.job:
        return work(options.job, options.rounds)
    options.out = options.out.resolve()
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; "
          f"MiB of pss\n")
    print("| job | way | peak | median | floor | slope, MiB/min | CPU, s | of plain | page faults, M | wall, s |"
          " load |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for job in options.jobs:
        for way, one in (measured := measure(job, options)).items():
            share = f"{one['cpu'] / measured['plain']['cpu']:.2f}" if way != "plain" else ""
            print(f"| {job} | {way} | {one['peak']:.0f} | {one['median']:.0f} | {one['floor']:.0f} | "
                  f"{one['slope']:+.1f} | {one['cpu']:.1f} | {share} | {one['faults']:.2f} | {one['wall']:.0f} | "
                  f"{os.getloadavg()[0]:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
