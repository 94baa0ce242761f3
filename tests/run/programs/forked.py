# SPDX-License-Identifier: Apache-2.0
"""Two forked workers over one data set: forked.py KIND SECONDS

objects         workers read a list of dicts, made before the fork
array           the same from a NumPy array
collect         they leave the list alone, and collect garbage after four seconds
collect-frozen  the same after gc.freeze()
leak            they read an array, and keep something of every step
loader-objects  a PyTorch DataLoader over the list
loader-tensor   over a tensor
loader-spawn    over the list, with workers that are spawned

Each goes through the data in twenty steps of a fifth of a second and starts over, for SECONDS.
"""
import gc
import os
import sys
import time

import numpy

ROWS = 200_000
STEPS = 20
PAUSE = 0.2


def objects():
    return [{"id": i, "weights": [i * 0.5], "label": str(i)} for i in range(ROWS)]


def array():
    # As large as the list.
    return numpy.ones((ROWS, 64))


def value_of(row):
    return row["weights"][0] if isinstance(row, dict) else float(row[0])


def read(rows, step):
    for i in range(step * ROWS // STEPS, (step + 1) * ROWS // STEPS):
        value_of(rows[i])


def work(kind, rows, seconds):
    began = time.monotonic()
    kept = []
    step = 0
    while time.monotonic() - began < seconds:
        if kind.startswith("collect"):
            if step >= STEPS:
                gc.collect()
        else:
            read(rows, step % STEPS)
        if kind == "leak":
            kept.append(bytearray(os.urandom(512 * 1024)))
        step += 1
        time.sleep(PAUSE)


def fork_workers(kind, seconds):
    rows = objects() if kind == "objects" or kind.startswith("collect") else array()
    if kind == "collect-frozen":
        gc.freeze()
    workers = []
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            work(kind, rows, seconds)
            os._exit(0)
        workers.append(pid)
    for pid in workers:
        os.waitpid(pid, 0)


class Rows:
    """A data set; a step's pause is spread over its rows."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        if i % (ROWS // STEPS) == 0:
            time.sleep(PAUSE)
        return value_of(self.rows[i])


def load(kind, seconds):
    import torch
    from torch.utils.data import DataLoader

    rows = torch.ones((ROWS, 64), dtype=torch.float64) if kind == "loader-tensor" else objects()
    context = "spawn" if kind == "loader-spawn" else "fork"
    loader = DataLoader(Rows(rows), batch_size=1000, num_workers=2, persistent_workers=True,
                        multiprocessing_context=context)
    began = time.monotonic()
    while True:
        for _ in loader:
            if time.monotonic() - began >= seconds:
                return


if __name__ == "__main__":
    if sys.argv[1].startswith("loader"):
        load(sys.argv[1], float(sys.argv[2]))
    else:
        fork_workers(sys.argv[1], float(sys.argv[2]))
