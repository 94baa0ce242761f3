# SPDX-License-Identifier: Apache-2.0
"""The suite `programs`: the tests of `ebb run` in control groups, where these are of version 2."""
import json
import os
import subprocess
from pathlib import Path

from cases import Case, Failed

RESULTS = Path("/var/tmp/results.json")
SECONDS = 900
# Program, cases. Those that end by limits of the process and by signals are the same everywhere.
PROGRAMS = (("run_death_test", "-*Outside*:*PassedOn*:*ItsLimit*"), ("run_cli_test", "EbbRunInAGroup.*"))
# They count how many looks there were in a second of an idle processor, which emulation does not have.
NEEDS_A_FAST_MACHINE = ("EbbRunThatDies.NearTheLimitIsLookedAtManyTimesASecond",)


def listed(program, selection):
    """The names of the cases of a GoogleTest program."""
    text = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={selection}"], capture_output=True,
                          text=True, check=True).stdout
    suite, found = "", []
    for line in text.splitlines():
        if line.startswith("  "):
            found.append(suite + line.split("#")[0].strip())
        elif line.endswith("."):
            suite = line
    return found


def run_case(program, name):
    RESULTS.unlink(missing_ok=True)
    environment = {**os.environ, "GTEST_OUTPUT": f"json:{RESULTS}", "GTEST_FILTER": name}
    done = subprocess.run([program], env=environment, timeout=SECONDS, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")
    if not RESULTS.exists():
        raise Failed(f"it ended with {done.returncode} and without results: {done.stdout[-4000:]}")
    case = json.loads(RESULTS.read_text())["testsuites"][0]["testsuite"][0]
    failures = "\n".join(one["failure"] for one in case.get("failures", ()))
    skips = " ".join(one.get("message", "") for one in case.get("skipped", ()))
    result = "failed" if failures else "skipped" if case["result"] == "SKIPPED" else "passed"
    return [(name, result, failures or skips)]


def cases(settings):
    found = []
    for program, selection in PROGRAMS:
        path = f"{settings['build']}/bin/{program}"
        for name in listed(path, selection):
            if settings["slower"] > 1 and name in NEEDS_A_FAST_MACHINE:
                found.append(Case(name, lambda name=name: [(name, "skipped", "this machine is emulated: too slow")]))
            else:
                found.append(Case(name, lambda path=path, name=name: run_case(path, name)))
    return found
