# SPDX-License-Identifier: Apache-2.0
"""Starts processes that do not end at TERM, each named by an empty file in a folder.

Runs with TERM blocked from its first instruction on. `one`: ends at TERM as soon as a child is
there, in a session of its own. `many`: goes on starting them.
"""

import os
import pathlib
import signal
import sys
import time

mode, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def start():
    pid = os.fork()
    if pid == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    (folder / str(pid)).touch()


if mode == "one":
    start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    time.sleep(600)
for _ in range(300):
    start()
    time.sleep(0.01)
time.sleep(600)
