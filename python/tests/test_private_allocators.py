# SPDX-License-Identifier: Apache-2.0
"""Jobs whose libraries bring allocators of their own, under `ebb run`: pyarrow's mimalloc, Polars' jemalloc."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ebb

PROGRAM = Path(ebb.__file__).parent / "_native" / "ebb"

# Prints rss in MiB once all is freed, and again when `until` holds of it or after two minutes. Goes on until it is told.
_WAIT = """
import os, sys, time
def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096 >> 20
def wait(until):
    held = now = resident()
    deadline = time.monotonic() + 120
    while not until(held, now) and time.monotonic() < deadline:
        time.sleep(0.1)
        now = resident()
    print(held, now, flush=True)
def go_on():
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.1)
"""

# More work than one short call, so that there is something to look at before it and after it.
_ARROW = _WAIT + """
import pyarrow, pyarrow.compute
def work():
    tables = [pyarrow.table({f"c{j}": pyarrow.compute.random(500_000) for j in range(4)})
              for _ in range(20)]
    del tables
"""


_KEPT = ("kept = [pyarrow.table({f'c{j}': pyarrow.compute.random(500_000) for j in range(4)}) "
         "for _ in range(20)]\n")
# Without taking the interpreter apart, which frees it all.
_LEAVE = "os._exit(0)\n"

# A verdict wants 40 samples. What the jobs are, and their variables.
ENOUGH = 60
JOBS = {
    "frees": (_ARROW + "work()\nwait(lambda held, now: now < held / 2)\ngo_on()\n", {}),
    # The process's own malloc is a mimalloc too, which tells nothing. A verdict of what returned needs no slope.
    "mimalloc": (_ARROW + "work()\nwait(lambda held, now: now < held / 2)\ngo_on()\n", {}),
    "mimalloc-keeps": (_ARROW + _KEPT + "wait(lambda held, now: True)\ngo_on()\n" + _LEAVE, {}),
    "system": (_ARROW + "work()\nwait(lambda held, now: True)\ngo_on()\n",
               {"ARROW_DEFAULT_MEMORY_POOL": "system"}),
    "keeps": (_ARROW + _KEPT + "wait(lambda held, now: True)\ngo_on()\n" + _LEAVE, {}),
    "polars": (_WAIT + "import polars\n"
               "frame = polars.DataFrame({'g': range(300_000)}).with_columns("
               "[(polars.col('g') * 0.5 + j).alias(f'c{j}') for j in range(60)])\n"
               "wait(lambda held, now: True)\ngo_on()\n" + _LEAVE, {"POLARS_MAX_THREADS": "2"}),
}


@unittest.skipUnless(PROGRAM.exists(), "the program was not built")
class PrivateAllocators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """They mostly wait: all of them run side by side."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        pool = ThreadPoolExecutor(len(JOBS))
        cls.addClassCleanup(pool.shutdown)
        cls.finished = {}
        for name, (code, variables) in JOBS.items():
            job = subprocess.Popen(
                [PROGRAM, "run", "--interval", "200ms", "--db", cls.folder / f"{name}.db",
                 *(["--allocator", "mimalloc"] if name.startswith("mimalloc") else []), "--",
                 sys.executable, "-c", code, cls.folder / f"{name}.stop"],
                env={**os.environ, **variables}, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE)
            cls.addClassCleanup(cls.end, job)
            cls.finished[name] = pool.submit(cls.finish, name, job)

    @staticmethod
    def end(job):
        job.kill()
        job.communicate()

    @classmethod
    def report(cls, name):
        done = subprocess.run([PROGRAM, "report", "--json", "--db", cls.folder / f"{name}.db"],
                              text=True, capture_output=True, check=True)
        return json.loads(done.stdout)

    @classmethod
    def finish(cls, name, job):
        """Tells a job to end once there are samples enough of what it holds in the end; what it printed, what ebb
        said, its status."""
        printed = job.stdout.readline()
        since = cls.report(name)["run"]["samples"] if printed else 0
        end = time.monotonic() + 600
        while job.poll() is None and time.monotonic() < end:
            time.sleep(2)
            if cls.report(name)["run"]["samples"] >= since + ENOUGH:
                break
        (cls.folder / f"{name}.stop").touch()
        _, error = job.communicate()
        return printed, error, job.returncode

    def run_job(self, name):
        """What a job printed, what ebb said, and its report."""
        printed, error, status = self.finished[name].result()
        self.assertEqual(status, 0, error)
        held, left = map(int, printed.split())
        return held, left, error, self.report(name)

    def assert_adds_up(self, report):
        for process in report["processes"]:
            ledger = process["ledger"]
            parts = [value for key, value in ledger.items()
                     if key.endswith("_bytes") and key != "total_bytes" and value is not None]
            self.assertEqual(sum(parts), ledger["total_bytes"], ledger)

    def test_what_arrow_has_freed_goes_back_and_the_verdict_names_it(self):
        held, left, said, report = self.run_job("frees")
        self.assertGreater(held, 280)
        self.assertLess(left, held / 2, said)
        self.assertIn("libarrow", said)
        self.assertEqual(report["verdict"], "private_allocator", report["findings"])
        self.assertEqual(report["fix"]["kind"], "settings")
        self.assertIn("ARROW_DEFAULT_MEMORY_POOL=system", report["fix"]["text"])
        found = {one["allocator"]: one for one in report["processes"][0]["private_allocators"]}
        self.assertGreater(found["mimalloc"]["returned_bytes"], 200 << 20)
        self.assertTrue(found["mimalloc"]["controllable"])
        self.assert_adds_up(report)

    def test_arrow_gives_back_and_is_named_where_malloc_tells_nothing(self):
        held, left, said, report = self.run_job("mimalloc")
        self.assertGreater(held, 280)
        self.assertLess(left, held / 2, said)
        self.assertEqual(report["verdict"], "private_allocator", report["findings"])
        self.assertEqual(report["confidence"], "low", "without live bytes nothing is sure")
        self.assertIn("ARROW_DEFAULT_MEMORY_POOL=system", report["fix"]["text"])

    def test_tables_in_use_are_no_verdict_where_malloc_tells_nothing(self):
        held, left, _, report = self.run_job("mimalloc-keeps")
        self.assertGreater(left, held * 0.9)
        self.assertNotIn(report["verdict"], ("private_allocator", "retention", "leak"), report["headline"])

    def test_the_setting_that_the_verdict_names_works(self):
        held, _, said, report = self.run_job("system")
        self.assertLess(held, 150, "malloc gives blocks of this size back by itself")
        self.assertNotEqual(report["verdict"], "private_allocator", report["findings"])
        self.assertNotIn("libarrow", said)
        self.assert_adds_up(report)

    def test_tables_that_are_in_use_are_no_verdict(self):
        held, left, _, report = self.run_job("keeps")
        self.assertGreater(left, held * 0.9)
        self.assertNotEqual(report["verdict"], "private_allocator", report["headline"])
        ledger = report["processes"][0]["ledger"]
        self.assertGreater(ledger["unexplained_bytes"], 250 << 20)
        self.assertTrue(any("libarrow" in note for note in ledger["notes"]), ledger["notes"])

    def test_polars_is_named_and_asked_though_it_exports_nothing(self):
        held, left, _, report = self.run_job("polars")
        self.assertGreater(left, held * 0.5, "it is in use")
        found = [one for one in report["processes"][0]["private_allocators"]
                 if "polars" in one["library"]]
        self.assertEqual([one["allocator"] for one in found], ["jemalloc"])
        self.assertTrue(found[0]["controllable"])
        self.assertGreater(found[0]["live_bytes"], 100 << 20, "counted in whole pages")
        self.assertGreater(report["processes"][0]["ledger"]["private_bytes"], 100 << 20)
        self.assert_adds_up(report)

    def test_a_process_is_told_from_outside(self):
        with subprocess.Popen([sys.executable, "-c", "import pyarrow; print('up', flush=True); input()"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as job:
            self.assertEqual(job.stdout.readline(), "up\n")
            info = json.loads(subprocess.run([PROGRAM, "info", "--json", "--pid", str(job.pid)], text=True,
                                             capture_output=True, check=True).stdout)
            doctor = subprocess.run([PROGRAM, "doctor", str(job.pid), "--for", "1s"], text=True,
                                    capture_output=True, check=True).stdout
            job.communicate("\n")
        named = [(one["allocator"], Path(one["object"]).name.split(".")[0]) for one in
                 info["private_copies"]]
        self.assertIn(("mimalloc", "libarrow"), named)
        self.assertIn("libarrow", doctor)
        ledger = info["ledger"]
        self.assertIsNone(ledger["live_bytes"])
        parts = [value for key, value in ledger.items()
                 if key.endswith("_bytes") and key != "total_bytes" and value is not None]
        self.assertEqual(sum(parts), ledger["total_bytes"])

    def test_a_cleanup_of_the_jobs_own_asks_them_too(self):
        code = (_ARROW + "import ebb\nwork()\nbefore = resident()\nreport = ebb.cleanup()\n"
                "print(before, resident(), [step['name'] for step in report['steps']]"
                " if isinstance(report, dict) else report, flush=True)\n")
        done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=300,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = map(int, done.stdout.split()[:2])
        self.assertGreater(before, 280)
        self.assertLess(after, before / 2, done.stdout)


if __name__ == "__main__":
    unittest.main()
