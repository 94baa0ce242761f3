# SPDX-License-Identifier: Apache-2.0
"""What a job cleans up by itself is on `ebb run`'s record, whichever function it called."""
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ebb

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


@unittest.skipUnless(PROGRAM.exists(), "the program was not built")
class RecordedCleanups(unittest.TestCase):
    def test_every_cleanup_of_the_job_is_recorded_once(self):
        with tempfile.TemporaryDirectory() as folder:
            db = Path(folder) / "runs.db"
            job = subprocess.run([PROGRAM, "run", "--quiet", "--db", db, "--", sys.executable, "-c", JOB],
                                 text=True, capture_output=True, timeout=300, check=False)
            self.assertEqual(job.returncode, 0, job.stderr)
            with sqlite3.connect(db) as record:
                recorded = record.execute("SELECT sum(count) FROM actions WHERE reason = 'job'").fetchone()
            record.close()
        self.assertEqual(recorded[0], int(job.stdout))


if __name__ == "__main__":
    unittest.main()
