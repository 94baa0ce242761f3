#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of NVFlare's server, and what it costs to keep it low, as a table.

  server_memory.py OUT [--clients 2 4 8] [--rounds 12] [--mib 64] [--ways plain run ...] [--repeats 1]
                   [--ebb PROGRAM]
  server_memory.py --read RUNS.JSONL...      the table of what was measured before

Runs examples/nvflare in NVFlare's simulator, each number of clients in each way:

  plain      as NVFlare does by default: no cleanup
  nvflare    as NVFlare recommends: MALLOC_ARENA_MAX=4, a cleanup every 5 rounds (clients: every round)
  run        plain, under `ebb run`
  run-nvflare  plain, under `ebb run --nvflare`
  widget     with ebb.nvflare's widget and aggregator, MALLOC_ARENA_MAX=1
  trim-0, trim-0.5, trim-1, trim-2, trim-never   the same with another trim_growth than 0.25; without trims around results
  shared     the widget with share_broadcast=True on the server
  at-once    the same with at_once=True as well

Peak and floor (the least in a round, of the second round and those after it) are the server's, in MiB; CPU time and
faults are those of all processes, `ebb run` included, and the server's among them. Ways take turns in each repeat. The
table has the highest peak, all floors, the mean of everything else and, for CPU time, its least and most; "of plain"
compares with the first way. Each run is a line in OUT/runs.jsonl and on stderr as soon as it has ended.
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

import table

ROOT = Path(__file__).resolve().parent.parent.parent
JOB = ROOT / "examples" / "nvflare" / "job.py"
OPTIONS = {"plain": ["--plain"], "nvflare": [], "run": ["--plain"], "run-nvflare": ["--plain"],
           "widget": ["--ebb", "--copy-broadcast"], "shared": ["--ebb"], "at-once": ["--ebb", "--at-once"]}
USUAL = list(OPTIONS)
OPTIONS |= {f"trim-{share}": ["--ebb", "--copy-broadcast", "--trim-growth", share]
            for share in ("0", "0.5", "1", "2", "never")}
ARENAS = {way: "1" for way, words in OPTIONS.items() if "--ebb" in words} | {"nvflare": "4"}
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
    return {"clients": clients, "way": way, "rounds": options.rounds, "mib": options.mib,
            "peak": max(row["peak"] for row in rows), "floors": floors, "wall": wall,
            "user": after.ru_utime - before.ru_utime, "system": after.ru_stime - before.ru_stime,
            "faults": after.ru_minflt - before.ru_minflt, "server_cpu": rows[-1]["user"] + rows[-1]["system"],
            "server_faults": rows[-1]["faults"],
            "sha256": json.loads((folder / "model.json").read_text())["sha256"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--read", type=Path, nargs="+", metavar="FILE", help="only the table, of these files")
    parser.add_argument("--clients", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--mib", type=int, default=64)
    parser.add_argument("--ways", nargs="+", choices=OPTIONS, default=USUAL)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--ebb", default=str(ROOT / "build" / "release" / "bin" / "ebb"))
    options = parser.parse_args()
    if (options.out is None) == (options.read is None):
        parser.error("expected a folder for what is measured, or --read")
    if options.rounds < 2 or options.repeats < 1:
        parser.error(f"--rounds {options.rounds} --repeats {options.repeats}: expected 2 rounds or more, each way "
                     "once or more")
    runs = table.read(options.read) if options.read else measure(options)
    print("\n".join(table.lines(runs)))
    return int(not table.same_models(runs))


def measure(options):
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    import nvflare
    print(f"NVFlare {nvflare.__version__}, Python {platform.python_version()}, model of {options.mib} MiB, "
          f"{options.rounds} rounds, {len(os.sched_getaffinity(0))} cores\n", flush=True)
    runs = []
    with open(options.out / "runs.jsonl", "a", encoding="utf-8") as file:
        for clients in options.clients:
            for way in options.ways * options.repeats:
                run = measured(way, options.out / f"{clients}-{way}", options, clients)
                runs.append(run)
                print(json.dumps(run), file=file, flush=True)
                print(table.line([run], [run]), file=sys.stderr, flush=True)
    return runs


if __name__ == "__main__":
    sys.exit(main())
