# SPDX-License-Identifier: Apache-2.0
"""A long job with a worker pool: pool.py SECONDS

Two worker processes take tasks from a queue; each task builds about 170 MiB of NumPy arrays on two
threads, reduces them and lets go of them. A task comes every two seconds.
"""
import multiprocessing
import sys
import threading
import time

import numpy


def reduce_arrays(seed, sums):
    random = numpy.random.default_rng(seed)
    arrays = [random.random(int(random.integers(1 << 9, 1 << 13))) for _ in range(2400)]
    sums.append(float(sum(array.sum() for array in arrays)))


def task(seed):
    sums = []
    threads = [threading.Thread(target=reduce_arrays, args=(2 * seed + i, sums)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(sums)


if __name__ == "__main__":
    began = time.monotonic()
    total = 0.0
    with multiprocessing.Pool(2) as pool:
        number = 0
        while time.monotonic() - began < float(sys.argv[1]):
            total += pool.apply(task, (number,))
            number += 1
            time.sleep(max(0.0, began + 2 * number - time.monotonic()))
    print(f"{number} tasks, {total:.3f}")
