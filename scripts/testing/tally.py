# SPDX-License-Identifier: Apache-2.0
"""What tests came to: counted case by case, whoever ran them."""
import json
import re
import threading

LAST_LINES = 80
AGAIN_LINES = 15  # of each failure, at the very end: where only the end of a log is kept
PRINTING = threading.Lock()


def say(text):
    """Prints a block of lines whole, though parts run side by side."""
    with PRINTING:
        print(text, flush=True)


class Tally:
    """Cases passed, failed and skipped, in one part or in all of them."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.said = {}  # by a failed case: the last lines
        self.skips = []
        self.seconds = {}  # of a step: how long it took
        self.costs = []  # of cases: (processor seconds, name)

    def add(self, other):
        self.passed += other.passed
        self.failures += other.failures
        self.said.update(other.said)
        self.skips += other.skips
        self.costs += other.costs

    def fail(self, name, output):
        """Counts a failed case and shows the end of what it said."""
        self.failures.append(name)
        lines = output.rstrip().splitlines()
        self.said[name] = lines[-AGAIN_LINES:]
        left_out = len(lines) - LAST_LINES
        shown = [f"-- failed: {name}"]
        if left_out > 0:
            shown.append(f"   ({left_out} lines left out)")
        say("\n".join(shown + [f"   {line}" for line in lines[-LAST_LINES:]]))

    def add_googletest(self, part, path):
        """Adds the cases that a GoogleTest program listed in `path`; the number of failed ones."""
        failed = 0
        for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
            for case in suite["testsuite"]:
                name = f"{part}: {suite['name']}.{case['name']}"
                self.costs.append((int(case.get("processor_ms", 0)) / 1000, name))
                said = "\n".join(said["failure"] for said in case.get("failures", ()))
                if said:
                    failed += 1
                    self.fail(name, said)
                elif case["result"] == "SKIPPED":
                    self.skips.append((name, skip_reason(case)))
                elif case["result"] == "COMPLETED":
                    self.passed += 1
        return failed

    def line(self):
        text = f"{self.passed} passed, {len(self.failures)} failed"
        return text + (f", {len(self.skips)} skipped" if self.skips else "")


def skip_reason(case):
    said = "\n".join(said.get("message", "") for said in case.get("skipped", ()))
    return " ".join(re.sub(r"^\S+:\d+\n", "", said).split())
