# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzzers of the preset `asan` on one budget of time."""
import concurrent.futures
import re
import time

from testing.steps import BUILD, CORES, ROOT, run
from testing.tally import say


def fuzz(tally, shared_seconds, seconds_each):
    """Runs each fuzzer for its share of a budget of processor time, or for `seconds_each` if that is
    given. Each source under tests/fuzz that defines an entry point has to be there as a program of
    the same name."""
    started = time.monotonic()
    entry_point = re.compile(r"LLVMFuzzerTestOneInput\([^)]*\)\s*\{")
    names = sorted(path.stem for path in (ROOT / "tests/fuzz").rglob("*.cpp")
                   if entry_point.search(path.read_text(encoding="utf-8")))
    if not names:
        tally.fail("fuzz: ran no test", "no fuzzer under tests/fuzz")
        return
    side_by_side = min(CORES, len(names))
    each = seconds_each or max(1, int(shared_seconds / len(names)))
    with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
        results = list(pool.map(lambda name: (name, *fuzz_one(name, each)), names))
    executed = 0
    for name, succeeded, output in results:
        units = re.search(r"stat::number_of_executed_units:\s*(\d+)", output)
        if succeeded and units and int(units[1]) > 0:
            tally.passed += 1
            executed += int(units[1])
        else:
            tally.fail(f"fuzz: {name}", output or "executed no input")
    tally.seconds["run"] = time.monotonic() - started
    say(f"   {len(names)} fuzzers, {each} s each, {executed} inputs")


def fuzz_one(name, seconds):
    program = BUILD / "asan/bin" / name
    if not program.exists():
        return False, f"{program.relative_to(ROOT)} was not built"
    found, crashes = BUILD / "fuzz/corpus" / name, BUILD / "fuzz/crashes" / name
    kept = ROOT / "tests/fuzz/corpus" / name
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    return run([program, f"-max_total_time={seconds}", "-timeout=100", "-print_final_stats=1",
                f"-artifact_prefix={crashes}/", found, *([kept] if kept.is_dir() else [])],
               f"fuzz-{name}.log")
