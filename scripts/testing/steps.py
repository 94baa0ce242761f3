# SPDX-License-Identifier: Apache-2.0
"""The steps that parts of the suite are made of: configure, build, run. Logs stay in build/logs."""
import os
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
CORES = len(os.sched_getaffinity(0))

# A surrounding make's job server is of no use to the builds below, and make warns about it.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def run(command, log, prefix=()):
    """Runs a command with its output in build/logs; returns whether it succeeded, and the output."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / log
    with path.open("w", encoding="utf-8") as sink:
        done = subprocess.run([*map(str, prefix), *map(str, command)], cwd=ROOT, env=ENVIRONMENT,
                              stdout=sink, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                              check=False)
    return done.returncode == 0, path.read_text(encoding="utf-8", errors="replace")


def without_address_randomisation():
    """The thread sanitizer of older compilers cannot place its shadow beside 32 random bits."""
    try:
        bits = int(Path("/proc/sys/vm/mmap_rnd_bits").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return ()
    return ("setarch", "-R") if bits > 28 and shutil.which("setarch") else ()


def clang():
    """The presets ask for clang 14; elsewhere the system's clang does."""
    if shutil.which("clang++-14") or not shutil.which("clang++"):
        return ()
    return ("-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++")


def build(tally, preset, definitions=(), targets=("all",)):
    """Configures and builds a preset; False, and a failed case, where that does not come through."""
    started = time.monotonic()
    succeeded, output = run(["cmake", "--preset", preset, *definitions], f"{preset}-configure.log")
    if not succeeded:
        tally.fail(f"{preset}: configure", output)
        return False
    succeeded, output = run(["cmake", "--build", BUILD / preset, "--target", *targets],
                            f"{preset}-build.log")
    tally.seconds["build"] = tally.seconds.get("build", 0) + time.monotonic() - started
    if not succeeded:
        progress = re.compile(r"^\[\d+/\d+\] .*\n", re.MULTILINE)
        tally.fail(f"{preset}: build", progress.sub("", output))
    return succeeded


def ctest(tally, part, preset, selection, side_by_side=CORES, prefix=()):
    """Runs the selected tests of a build and adds up the cases of each."""
    started = time.monotonic()
    results = BUILD / preset / "results"
    report = LOGS / f"{part}.xml"
    report.unlink(missing_ok=True)
    succeeded, output = run(
        ["ctest", "--test-dir", BUILD / preset, "--parallel", side_by_side, "--output-junit", report,
         "--output-on-failure", "--no-tests=error", *selection], f"{part}-ctest.log", prefix)
    before = len(tally.failures)
    programs = list(xml.parse(report).getroot().iter("testcase")) if report.exists() else []
    if not programs:
        tally.fail(f"{part}: ran no test", output)
    for program in programs:
        add_program(tally, part, program, results / f"{program.get('name')}.json")
    if not succeeded and len(tally.failures) == before:
        tally.fail(f"{part}: ctest", output)
    tally.seconds["run"] = tally.seconds.get("run", 0) + time.monotonic() - started


def forget_results(preset):
    """Removes what an earlier run of a preset's tests has left: before any part of it begins."""
    for old in (BUILD / preset / "results").glob("*.json"):
        old.unlink()


def add_program(tally, part, program, cases):
    """Adds what one entry of ctest came to: case by case where it left a list of them."""
    name, said = f"{part}: {program.get('name')}", (program.findtext("system-out") or "").strip()
    failed = tally.add_googletest(part, cases) if cases.exists() else 0
    reason = program.find("skipped")
    if program.get("status") == "run":
        if not cases.exists():
            tally.passed += 1
    elif reason is not None and reason.get("message", "").startswith("SKIP_"):
        tally.skips.append((name, " ".join(said.split())))
    elif not failed:
        tally.fail(name, said or f"no output after {program.get('time')} s, killed by a signal or the "
                                 f"time limit: see build/logs/{part}-ctest.log")
