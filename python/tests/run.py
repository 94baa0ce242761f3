# SPDX-License-Identifier: Apache-2.0
"""Runs the tests beside it; the report is one line of JSON per test.

  run.py REPORT [--long] [MODULE...]
"""
import json
import os
import sys
import time
import traceback
import unittest
from pathlib import Path


class Reporter(unittest.TestResult):
    def __init__(self, report):
        super().__init__()
        self._report = report
        self._started = {}

    def startTest(self, test):
        super().startTest(test)
        self._started[test.id()] = time.monotonic()

    def _write(self, test, outcome, said=""):
        seconds = time.monotonic() - self._started.get(test.id(), time.monotonic())
        print(f"{outcome:8} {test.id()} ({seconds:.1f} s)", flush=True)
        json.dump({"name": test.id(), "outcome": outcome, "said": said}, self._report)
        self._report.write("\n")
        self._report.flush()

    def addSuccess(self, test):
        self._write(test, "passed")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._write(test, "failed", "".join(traceback.format_exception(*err)))

    def addError(self, test, err):
        super().addError(test, err)
        self._write(test, "failed", "".join(traceback.format_exception(*err)))

    def addSkip(self, test, reason):
        self._write(test, "skipped", reason)


def main():
    arguments = sys.argv[1:]
    if "--long" in arguments:
        arguments.remove("--long")
        os.environ["EBB_TEST_LONG"] = "1"
    folder = Path(__file__).resolve().parent
    modules = arguments[1:] or sorted(path.stem for path in folder.glob("test_*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(modules)
    with open(arguments[0], "w", encoding="utf-8") as report:
        result = Reporter(report)
        suite.run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
