# SPDX-License-Identifier: Apache-2.0
"""workers.py COUNT STOP: forks so many workers, each of which takes 3 MiB in pieces; all end once the file STOP is
there."""
import os
import sys
import time


def work(stop):
    kept = [bytearray(48 << 10) for _ in range(64)]
    while not os.path.exists(stop):
        time.sleep(0.05)
    return kept


workers = []
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        work(sys.argv[2])
        os._exit(0)
    workers.append(child)
for child in workers:
    os.waitpid(child, 0)
