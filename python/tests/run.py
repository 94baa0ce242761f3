# SPDX-License-Identifier: Apache-2.0
"""Runs the tests beside it; the report is one line of JSON per test.

  run.py REPORT [--long] [MODULE...]
"""
import json
import resource
import sys
import time
import traceback
import unittest
from pathlib import Path


def processor_seconds():
    """What this process and the children that it has waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Reporter(unittest.TestResult):
    def __init__(self, report):
        super().__init__()
        self._report = report
        self._started = {}

    def startTest(self, test):
        super().startTest(test)
        self._started[test.id()] = (time.monotonic(), processor_seconds())

    def _write(self, test, outcome, said=""):
        now = (time.monotonic(), processor_seconds())
        seconds, used = (end - start for start, end in zip(self._started.get(test.id(), now), now))
        print(f"{outcome:8} {test.id()} ({seconds:.1f} s, {used:.1f} s of processor time)", flush=True)
        json.dump({"name": test.id(), "outcome": outcome, "said": said, "processor_s": used}, self._report)
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


def chosen(suite, long):
    """The tests of a suite, those marked as long only if asked."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, long)
        elif long or not getattr(getattr(test, test._testMethodName, None), "is_long", False):
            yield test


def main():
    arguments = sys.argv[1:]
    long = "--long" in arguments
    if long:
        arguments.remove("--long")
    folder = Path(__file__).resolve().parent
    sys.path.append(str(folder.parents[1] / "tests" / "support"))
    import left_processes
    left_processes.end_all_with_this_process()
    modules = arguments[1:] or sorted(path.stem for path in folder.glob("test_*.py"))
    suite = unittest.TestSuite(chosen(unittest.defaultTestLoader.loadTestsFromNames(modules), long))
    with open(arguments[0], "w", encoding="utf-8") as report:
        result = Reporter(report)
        suite.run(result)
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
