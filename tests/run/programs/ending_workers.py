# SPDX-License-Identifier: Apache-2.0
"""ending_workers.py SECONDS: a pool of two workers, each of which ends after ten tasks and is replaced. A task comes ten
times a second and takes some 3 MiB."""
import multiprocessing
import os
import sys
import time

TASKS_PER_WORKER = 10
PAUSE = 0.1


def task(number):
    kept = [bytearray(48 << 10) for _ in range(64)]
    return os.getpid() + 0 * (len(kept) + number)


def main():
    began = time.monotonic()
    workers, number = set(), 0
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=TASKS_PER_WORKER) as pool:
        while time.monotonic() - began < float(sys.argv[1]):
            workers.add(pool.apply(task, (number,)))
            number += 1
            time.sleep(max(0.0, began + PAUSE * number - time.monotonic()))
    print(f"{number} tasks, {len(workers)} workers")


if __name__ == "__main__":
    main()
