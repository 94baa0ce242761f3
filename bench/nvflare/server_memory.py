#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of NVFlare's server, and what it costs to keep it low, as a table.

  server_memory.py OUT [--clients 2 4 8] [--rounds 12] [--mib 64] [--ways plain run ...] [--repeats 1]
                   [--ebb PROGRAM]

Runs examples/nvflare in NVFlare's simulator, each number of clients in each way:

  plain      as NVFlare does by default: no cleanup
  nvflare    as NVFlare recommends: MALLOC_ARENA_MAX=4, a cleanup every 5 rounds (clients: every round)
  run        plain, under `ebb run`
  run-nvflare  plain, under `ebb run --nvflare`
  widget     with ebb.nvflare's widget and aggregator, MALLOC_ARENA_MAX=1
  shared     the same with share_broadcast=True on the server
  at-once    the same with at_once=True as well

Peak and floor (the least in a round, of the second round and those after it) are the server's, in MiB;
CPU time and faults are those of all processes, `ebb run` included. Ways take turns in each repeat; of a way's
repeats the one with the least CPU time is shown, with the highest peak of them all; "of plain" compares with
the first way.
Needs NVFlare, NumPy and ebb in this Python. Exit 1: two ways did not end with the same model.
"""
import argparse
import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
JOB = ROOT / "examples" / "nvflare" / "job.py"
OPTIONS = {"plain": ["--plain"], "nvflare": [], "run": ["--plain"], "run-nvflare": ["--plain"],
           "widget": ["--ebb", "--copy-broadcast"], "shared": ["--ebb"], "at-once": ["--ebb", "--at-once"]}
ARENAS = {"nvflare": "4", "widget": "1", "shared": "1", "at-once": "1"}
# The simulator picks a client's port before the client listens there; where another process is faster,
# it says this and waits for ever.
LOST = "Communication error with client"


def server_rows(folder):
    """What the server's meter has written so far."""
    path = folder / "simulator_server.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def resident(folder):
    """[(time, the server's MiB now)]; empty before it has begun and after it has ended."""
    try:
        pid = server_rows(folder)[-1]["pid"]
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (IndexError, OSError, ValueError):
        return []
    return [(time.time(), pages * resource.getpagesize() / (1 << 20))]


def measured(way, folder, options, clients):
    """One run of the job that did not lose a client."""
    for _ in range(3):
        if found := one_run(way, folder, options, clients):
            return found
    sys.exit(f"{way}, {clients} clients: the simulator lost a client three times; {folder}.log says which")


def one_run(way, folder, options, clients):
    """What the meters wrote of the server, and what all processes took; None where a client was lost."""
    command = [sys.executable, JOB, folder, "--clients", str(clients), "--rounds", str(options.rounds),
               "--mib", str(options.mib), *OPTIONS[way]]
    if way in ("run", "run-nvflare"):
        command = [options.ebb, "run", "--quiet", "--db", f"{folder}.db",
                   *(["--nvflare"] if way == "run-nvflare" else []), "--", *command]
    environment = {**os.environ, **({"MALLOC_ARENA_MAX": ARENAS[way]} if way in ARENAS else {})}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    seen = []
    shutil.rmtree(folder, ignore_errors=True)
    with open(f"{folder}.log", "w", encoding="utf-8") as log:
        job = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        look_again = start
        while job.poll() is None:
            seen += resident(folder)
            time.sleep(0.05)
            if time.monotonic() < look_again:
                continue
            look_again = time.monotonic() + 5
            if LOST in Path(log.name).read_text(encoding="utf-8", errors="replace"):
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
                return None
    if job.returncode != 0:
        sys.exit(f"{way}, {clients} clients: exit status {job.returncode}; {folder}.log says why")
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    rows = server_rows(folder)
    begins = [row["time"] for row in rows if row["event"] == "_round_started"]
    floors = [min(rss for at, rss in seen if begin <= at < end) for begin, end in
              zip(begins[1:], [*begins[2:], rows[-1]["time"]])]
    return {"peak": max(row["peak"] for row in rows), "floors": floors, "wall": wall,
            "user": after.ru_utime - before.ru_utime, "system": after.ru_stime - before.ru_stime,
            "faults": after.ru_minflt - before.ru_minflt,
            "sha256": json.loads((folder / "model.json").read_text())["sha256"]}


def slope(values):
    """Least squares, per step."""
    middle = (len(values) - 1) / 2
    spread = sum((index - middle) ** 2 for index in range(len(values)))
    return sum((index - middle) * value for index, value in enumerate(values)) / spread if spread else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--ways", nargs="+", choices=OPTIONS, default=list(OPTIONS))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--ebb", default=str(ROOT / "build" / "release" / "bin" / "ebb"))
    options = parser.parse_args()
    if options.rounds < 2 or options.repeats < 1:
        parser.error(f"--rounds {options.rounds} --repeats {options.repeats}: expected 2 rounds or more, each way "
                     "once or more")
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    import nvflare
    print(f"NVFlare {nvflare.__version__}, Python {platform.python_version()}, model of {options.mib} MiB, "
          f"{options.rounds} rounds, {os.cpu_count()} cores\n")
    print("| clients | way | peak | of plain | floor | per round | CPU, s | of plain | system, s | faults, M | "
          "wall, s | model |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    same = True
    for clients in options.clients:
        runs = {way: [] for way in options.ways}
        for _ in range(options.repeats):
            for way in options.ways:
                runs[way].append(measured(way, options.out / f"{clients}-{way}", options, clients))
        same &= len({run["sha256"] for some in runs.values() for run in some}) == 1
        plain = None
        for way, some in runs.items():
            seen = {**min(some, key=lambda run: run["user"] + run["system"]),
                    "peak": max(run["peak"] for run in some)}
            plain = plain or seen
            cpu, base = (run["user"] + run["system"] for run in (seen, plain))
            print(f"| {clients} | {way} | {seen['peak']:.0f} | {seen['peak'] / plain['peak']:.2f} | "
                  f"{min(seen['floors']):.0f} to {max(seen['floors']):.0f} | {slope(seen['floors']):+.1f} | "
                  f"{cpu:.1f} | {cpu / base:.2f} | {seen['system']:.1f} | {seen['faults'] / 1e6:.2f} | "
                  f"{seen['wall']:.0f} | {seen['sha256'][:8]} |", flush=True)
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
