# SPDX-License-Identifier: Apache-2.0
"""Compiles Ebb for musl and runs what works there: info, replay, tune, plan; `ebb run` says that there is no agent.

  musl.py SOURCE FOLDER EBB

The compiler is zig's, from PyPI. FOLDER keeps the build. EBB is the program on this machine's own C library: what it
answers is what the other has to answer.
"""
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import List

from common import finish

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from packing import sqlite, toolchain  # noqa: E402

SNAPSHOT = "tests/data/torch-2.11/frames/prefetch_streams.default.pickle.gz"
SAME = (("replay", SNAPSHOT, "--json"), ("tune", SNAPSHOT, "--json"),
        ("plan", "transformer", "gpt2", "--batch", "4", "--json"),
        ("plan", "model", "ResNet18", "--json"))


def target() -> str:
    return f"{platform.machine()}-linux-musl"


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)


def build(source: Path, folder: Path) -> List[str]:
    """First the preset by itself, which needs nothing but the compiler; then the program."""
    tools = toolchain.write_tools(folder / "tools", target())
    there, jobs = folder / "build", str(len(os.sched_getaffinity(0)))
    # What is to be seen is that it builds and runs; the optimised build is tested elsewhere. Programs are linked as on
    # Alpine: in a static one malloc is zig's own.
    configure = ("cmake", "--preset", "bare", "-S", source, "-B", there,
                 *toolchain.definitions(tools, platform.machine()), "-DCMAKE_BUILD_TYPE=Debug",
                 "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_EXE_LINKER_FLAGS=-dynamic")
    program = ("-DEBB_BUILD_PROGRAMS=ON", "-DEBB_BUILD_SIMULATOR=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON",
               f"-DCMAKE_MODULE_PATH={source / 'cmake/wheel'}", f"-DEBB_SQLITE_SOURCE={sqlite.source()}")
    for step in ((*configure, "-DEBB_BUILD_PROGRAMS=OFF"), ("cmake", "--build", there, "--parallel", jobs),
                 (*configure, *program),
                 ("cmake", "--build", there, "--parallel", jobs, "--target", "ebb-program")):
        done = run(*step, cwd=source)
        if done.returncode != 0:
            return [f"{' '.join(map(str, step))}: exit {done.returncode}\n{done.stdout}{done.stderr}"]
    return []


def answer(program: Path, words, source: Path):
    """A program's JSON, or what it said instead."""
    done = run(program, *words, cwd=source)
    return json.loads(done.stdout) if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()}"


def other_answers(there: Path, here: Path, source: Path, commands=SAME) -> List[str]:
    """The commands that two programs do not answer alike."""
    violations = []
    for words in commands:
        told, expected = answer(there, words, source), answer(here, words, source)
        if told != expected or isinstance(told, str):
            violations.append(f"ebb {' '.join(words)}: on musl {str(told)[:200]}, expected {str(expected)[:200]}")
    return violations


def own_answers(program: Path, source: Path) -> List[str]:
    """What is musl's own: which allocator it is, and that there is no agent."""
    violations = []
    told = answer(program, ("info", "--json"), source)
    if not isinstance(told, dict) or told["allocator"] != "musl" or not told["rss_bytes"]:
        violations.append(f"ebb info: {str(told)[:200]}, expected the allocator musl and what the process holds")
    job = run(program, "run", "--no-record", "--", "sh", "-c", "echo out; exit 7")
    said = [line for line in job.stderr.splitlines() if "no agent" in line]
    if job.returncode != 7 or job.stdout != "out\n" or len(said) != 1 or "musl" not in said[0]:
        violations.append(f"ebb run: exit {job.returncode}, {job.stdout!r}, {job.stderr!r}; expected the command's "
                          "own output and status 7, and one line that there is no agent on musl")
    return violations


LIMITED = ("sh", "-c", 'ulimit -v "$0" && exec "$@"')


def without_memory(program: Path, kilobytes=range(1000, 60000, 100)) -> List[str]:
    """The command runs, with its own output and status, from the least address space on in which the program can turn
    to its last resort."""
    violations, became = [], 0
    for limit in kilobytes:
        job = run(*LIMITED, limit, program, "run", "--no-record", "--", "sh", "-c", "echo out; exit 7")
        is_last_resort = "the command runs without Ebb" in job.stderr
        became += is_last_resort
        if became and (job.returncode != 7 or job.stdout != "out\n"):
            violations.append(f"ebb run in {limit} KiB: exit {job.returncode}, {job.stdout!r}, {job.stderr!r}; expected "
                              "the command's own output and status 7")
        if became and not is_last_resort and not violations and "no cleanup was needed" in job.stderr:
            return []  # enough for all that follows
    return violations or ["ebb run in little memory: the command never ran, or never without Ebb"]


def check(source: Path, folder: Path, here: Path) -> List[str]:
    violations = build(source, folder)
    if violations:
        return violations
    program = folder / "build/bin/ebb"
    return other_answers(program, here, source) + own_answers(program, source) + without_memory(program)


if __name__ == "__main__":
    finish(check(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])))
