# SPDX-License-Identifier: Apache-2.0
"""A case that cannot be judged, and a call of scripts/chaos that is killed, leave no processes behind."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import running
from drawing import OutsideFault

LEAVES = """
import subprocess, sys, time
sys.path.append(sys.argv[1])
import left_processes
left_processes.end_with_this_process("EBB_CHAOS_MARK=" + sys.argv[2] + "/")
environment = {"EBB_CHAOS_MARK": sys.argv[2] + "/1"}
job = subprocess.Popen(["/bin/sleep", "600"], env=environment, start_new_session=True)
print(job.pid, flush=True)
time.sleep(600)
"""


class Ending(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def test_a_job_ends_where_its_fault_cannot_be_given(self):
        folder = running.Folder(self.path / "case")
        # A child keeps the output open when the command has ended.
        job = subprocess.Popen(["/bin/sh", "-c", "sleep 600 & sleep 600"], env=folder.environment(),
                               stdout=subprocess.PIPE, start_new_session=True)
        self.addCleanup(job.stdout.close)
        with mock.patch.object(running, "give", side_effect=PermissionError("not here")), \
                self.assertRaises(PermissionError):
            running.finish(job, folder, OutsideFault("stop", 0))
        self.assertEqual(running.processes_of(folder.mark), [])
        self.assertEqual(job.returncode, -signal.SIGKILL)

    def test_who_forks_and_ends_while_processes_are_looked_through_is_not_missed(self):
        # The first look comes to a daemon's number before there is one, and to its parent's after that has ended.
        with mock.patch.object(running, "processes_of", side_effect=[[], [4711]]):
            self.assertTrue(running.is_any_left(b"mark"))
        with mock.patch.object(running, "processes_of", return_value=[]):
            self.assertFalse(running.is_any_left(b"mark"))

    def test_a_call_that_is_killed_takes_its_jobs_with_it(self):
        support = Path(__file__).resolve().parents[1] / "support"
        with subprocess.Popen([sys.executable, "-c", LEAVES, support, self.path], stdout=subprocess.PIPE) as caller:
            left = int(caller.stdout.readline())
            os.kill(left, 0)
            caller.kill()
        end = time.monotonic() + running.PATIENCE
        while running.processes_of(f"EBB_CHAOS_MARK={self.path}/".encode()):
            self.assertLess(time.monotonic(), end, "it goes on")
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
