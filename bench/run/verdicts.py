#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ebb run` says of jobs whose trouble is known, on each allocator, as a table.

  verdicts.py OUT [--seconds 60] [--jobs healthy leak ...] [--allocators glibc ...] [--side-by-side 2]
              [--ebb PROGRAM] [--python INTERPRETER] [--with-arrow INTERPRETER]

The jobs are those of verdict_jobs.py, and `silent`: the leaking one, whose agent is held from the fifth second on,
as a debugger holds a thread, until the job is killed. `fix` is what the report advises.
--python has to have NumPy and PyTorch, --with-arrow (if not given: this one) pyarrow and Polars as well.
Exit 1: a verdict is not the expected one.
"""
import argparse
import concurrent.futures
import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPECTED = {"healthy": "healthy", "leak": "leak", "retention": "retention", "thread-arrays": "retention",
            "copy-on-write": "copy_on_write", "arrow": "private_allocator", "polars": "healthy",
            "silent": "not_enough_data"}
# What an allocator gives back by itself is no trouble there, and what it does not tell cannot be seen.
ELSEWHERE = {"retention": {"jemalloc": ("healthy",), "tcmalloc": ("healthy",), "mimalloc": ("healthy",)},
             "thread-arrays": {"jemalloc": ("healthy",), "tcmalloc": ("healthy",), "mimalloc": ("healthy",)}}
PTRACE_SEIZE, PTRACE_INTERRUPT, WAIT_FOR_THREADS = 0x4206, 0x4207, 0x40000000


def agents_below(pid):
    """The threads of Ebb's agents in a process and those that it started."""
    found, waiting = [], [pid]
    while waiting:
        one = waiting.pop()
        for task in Path(f"/proc/{one}/task").glob("*"):
            try:
                waiting += [int(word) for word in (task / "children").read_text().split()]
                if (task / "comm").read_text().strip() == "ebb-agent":
                    found.append(int(task.name))
            except OSError:
                pass
    return found


def hold(threads, seconds):
    """Holds threads of other processes, which go on otherwise, and kills these in the end."""
    libc = ctypes.CDLL(None, use_errno=True)
    for thread in threads:
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
            if libc.ptrace(request, thread, None, None) != 0:
                sys.exit(f"cannot hold thread {thread}: {os.strerror(ctypes.get_errno())}")
        os.waitpid(thread, WAIT_FOR_THREADS)
    time.sleep(seconds)
    for thread in threads:
        os.kill(thread, signal.SIGKILL)
        os.waitpid(thread, WAIT_FOR_THREADS)


def said_of(job, allocator, options):
    """What the report says of a job after it has run."""
    record = options.out / f"{job}-{allocator}.db"
    record.unlink(missing_ok=True)
    python = options.with_arrow if job in ("arrow", "polars") else options.python
    kind, seconds = ("leak", 2 * options.seconds) if job == "silent" else (job, options.seconds)
    child = subprocess.Popen([options.ebb, "run", "--quiet", "--db", record, "--allocator", allocator, "--",
                              python, HERE / "verdict_jobs.py", kind, str(seconds)])
    if job == "silent":
        time.sleep(5)
        hold(agents_below(child.pid), options.seconds)
    if child.wait() != 0 and job != "silent":
        sys.exit(f"{job} on {allocator}: exit status {child.returncode}")
    report = subprocess.run([options.ebb, "report", "last", "--db", record, "--json"], check=True,
                            capture_output=True, text=True).stdout
    return json.loads(report)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", nargs="+", choices=EXPECTED, default=list(EXPECTED))
    parser.add_argument("--allocators", nargs="+", default=["glibc", "jemalloc", "tcmalloc", "mimalloc"])
    parser.add_argument("--side-by-side", type=int, default=2)
    parser.add_argument("--ebb", default=str(HERE.parent.parent / "build/release/bin/ebb"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--with-arrow", default=sys.executable)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{options.seconds} s each, {options.side_by_side} side by side, {os.cpu_count()} cores\n")
    print("| job | allocator | verdict | confidence | peak, MiB | what it says | fix |")
    print("|---|---|---|---|--:|---|---|")
    cases = [(job, allocator) for job in options.jobs for allocator in options.allocators]
    wrong = []
    # A held thread belongs to the thread that holds it: that case waits in a process of its own.
    with concurrent.futures.ProcessPoolExecutor(options.side_by_side) as pool:
        for (job, allocator), report in zip(cases, pool.map(said_of, *zip(*cases), [options] * len(cases))):
            verdict = report["verdict"]
            if verdict not in (EXPECTED[job], *ELSEWHERE.get(job, {}).get(allocator, ())):
                wrong.append(f"{job} on {allocator}: {verdict}, expected {EXPECTED[job]}")
            print(f"| {job} | {allocator} | `{verdict}` | {report['confidence']} | "
                  f"{report['run']['peak_bytes'] / (1 << 20):.0f} | {report['headline']} | "
                  f"{report['fix']['text']} |", flush=True)
    for line in wrong:
        print(line, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
