# SPDX-License-Identifier: Apache-2.0
"""Six threads build NumPy arrays of 8 MiB, free them and live on: thread_arrays.py SECONDS [FILE]

NumPy asks for huge pages on arrays of that size, which splits the mappings of glibc's arenas. Prints how
many MiB are resident once everything is freed, and again when half of that has gone back, or after SECONDS. With
FILE it ends no sooner than that is there.
"""
import os
import sys
import threading
import time

import numpy

THREADS, ARRAYS = 6, 6
freed = threading.Barrier(THREADS + 1)
numpy.ones(30 << 17).sum()  # glibc's thresholds go up: arrays come from arenas from now on


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096 >> 20


def build():
    arrays = [numpy.ones(8 << 17) for _ in range(ARRAYS)]
    kept = bytearray(2000)  # above the arrays: what is below it stays when they are freed
    del arrays
    freed.wait()
    threading.Event().wait()
    del kept


for _ in range(THREADS):
    threading.Thread(target=build, daemon=True).start()
freed.wait()
held = now = resident()
deadline = time.monotonic() + float(sys.argv[1])
while now > held / 2 and time.monotonic() < deadline:
    time.sleep(0.1)
    now = resident()
print(held, now)
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]) and time.monotonic() < deadline:
    time.sleep(0.1)
