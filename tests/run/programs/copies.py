# SPDX-License-Identifier: Apache-2.0
"""Builds a list of 80 MiB and forks three workers that read it bit by bit, and so copy it."""

import ctypes
import os
import signal
import time

PR_SET_PDEATHSIG = 1


def work(objects):
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    kept = []
    for i in range(0, len(objects), 5000):
        kept.extend(objects[i : i + 5000])
        time.sleep(0.05)
    time.sleep(30)


things = [str(i) * 16 for i in range(500_000)]
for _ in range(3):
    if os.fork() == 0:
        work(things)
        os._exit(0)
# The kernel is to kill this one, with which the workers end.
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("1000")
for _ in range(3):
    os.wait()
