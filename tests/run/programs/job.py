# SPDX-License-Identifier: Apache-2.0
"""A Python job whose memory is known: job.py SECONDS [leak] [retain] [small] [rounds]

leak: keeps 10 MiB of NumPy arrays a second. retain: four threads build arrays and free them, more
each second. small: keeps ever more small objects, in memory that Python maps by itself. rounds: each
second is announced as a round.
"""
import ctypes
import os
import sys
import threading
import time

import numpy

seconds, wanted = float(sys.argv[1]), set(sys.argv[2:])
kept = [numpy.ones(1 << 17) for _ in range(16)]
numpy.ones(30 << 17).sum()  # glibc's thresholds go up, as in any real job
announce = getattr(ctypes.CDLL(None), "ebb_agent_round_done", None)


def build(count):
    arrays = [numpy.ones(1 << 10) for _ in range(count)]
    del arrays


class Pool:
    """Threads that live as long as the job."""

    def __init__(self, size):
        self.start, self.done = threading.Barrier(size + 1), threading.Barrier(size + 1)
        self.count = 0
        for _ in range(size):
            threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while True:
            self.start.wait()
            build(self.count)
            self.done.wait()

    def run(self, count):
        self.count = count
        self.start.wait()
        self.done.wait()


pool = Pool(4)
chain = None
began = time.monotonic()
step = 0
while time.monotonic() - began < seconds:
    if "leak" in wanted:
        kept.append(numpy.ones(1 << 17))
    if "small" in wanted:
        for i in range(20000):
            chain = (chain, float(i))
    if step % 10 == 9:
        if "retain" in wanted:
            pool.run((10 + 4 * (step // 10)) * 128)
        if "rounds" in wanted and announce is not None:
            announce(ctypes.c_uint64(step // 10))
    step += 1
    time.sleep(0.1)
sys.stdout.flush()
os._exit(0)  # taking a long chain apart would take longer than the job
