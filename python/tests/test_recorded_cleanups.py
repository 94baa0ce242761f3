# SPDX-License-Identifier: Apache-2.0
"""What a job cleans up by itself, and its RSS markers, are on `ebb run`'s record, whichever function it called."""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ebb
from test_levels import FAKE_TORCH

PROGRAM = Path(ebb.__file__).parent / "_native" / "ebb"

# The first ones come before the agent has connected. Two within a millisecond would be one row.
JOB = """
import ctypes, time
import ebb, ebb.nvflare.patching
from ebb._library import library
ways = [ebb.cleanup_memory, lambda: ebb.cleanup(deep=True), ebb.trim, ebb.try_malloc_trim,
        ebb.RoundKeeper("trainer", every=1).round_done, lambda: ebb.guard(0.001, 0.002),
        lambda: library().ebb_cleanup(0, None), ebb.nvflare.patching.try_malloc_trim]
def clean_up():
    for way in ways:
        time.sleep(0.005)
        way()
clean_up()
agent = ctypes.CDLL(None)
while not agent.ebb_agent_is_supervised(): time.sleep(0.01)
clean_up()
print(2 * len(ways))
"""


# Logged as well; the second one is asked of a role that nobody asks.
MARKS = """
import ctypes, logging, time
import ebb
logging.basicConfig(level="INFO", format="%(message)s")
ebb.mark_rss("CA", "site-1", 3, "recv")
ebb.mark_rss("SV", "server", 3, "end", role="server")
while not ctypes.CDLL(None).ebb_agent_is_supervised(): time.sleep(0.01)
"""


# A guard at the end of a round, on a card that PyTorch's cache fills.
GUARDS = FAKE_TORCH + """
import ctypes, time
while not ctypes.CDLL(None).ebb_agent_is_supervised(): time.sleep(0.01)
ebb.guard(99.0, 100.0, round=0)
"""


@unittest.skipUnless(PROGRAM.exists(), "the program was not built")
class Recorded(unittest.TestCase):
    def run_job(self, code, query, **environment):
        """The job, and the rows that a query finds in the record of its run."""
        with tempfile.TemporaryDirectory() as folder:
            db = Path(folder) / "runs.db"
            job = subprocess.run([PROGRAM, "run", "--quiet", "--db", db, "--", sys.executable, "-c", code],
                                 text=True, capture_output=True, timeout=300, check=False,
                                 env={**os.environ, **environment})
            self.assertEqual(job.returncode, 0, job.stderr)
            with sqlite3.connect(db) as record:
                rows = record.execute(query).fetchall()
            record.close()
        return job, rows

    def test_every_cleanup_of_the_job_is_recorded_once(self):
        job, rows = self.run_job(JOB, "SELECT sum(count) FROM actions WHERE reason = 'job'")
        self.assertEqual(rows[0][0], int(job.stdout))

    def test_a_cache_that_a_guard_empties_is_recorded_with_its_cost(self):
        _, rows = self.run_job(GUARDS, "SELECT reason, devices, cost_us > 0 FROM actions",
                               EBB_NVML="/no/such/library.so", EBB_LOG="off")
        self.assertEqual([(reason, costs) for reason, _, costs in rows], [("card", 1)])
        self.assertEqual(json.loads(rows[0][1]), [{"device": 0, "before_bytes": 79 << 30, "after_bytes": 20 << 30,
                                                   "returned_bytes": 59 << 30}])

    def test_a_marker_of_the_job_is_logged_and_recorded_once(self):
        job, rows = self.run_job(MARKS, "SELECT text FROM events WHERE kind = 'marker'",
                                 NVFLARE_CLIENT_MEMORY_PROFILE="1", EBB_MEMORY_PROFILE="")
        self.assertRegex(job.stderr, r"^\[RSS\] CA s=site-1 r=3 recv: \d+\.\d MB\n$")
        self.assertEqual([text for text, in rows], job.stderr.splitlines())


if __name__ == "__main__":
    unittest.main()
