# SPDX-License-Identifier: Apache-2.0
"""A job that does one thing with its memory: verdict_jobs.py KIND SECONDS

healthy        every round builds arrays and small objects, and frees them
leak           the same, and keeps 2 MiB of each
retention      builds 200 MiB of objects of 2 KiB in each round; those that live on lie above the freed ones
thread-arrays  six threads free arrays of 8 MiB, for which NumPy asks for huge pages, and live on
copy-on-write  a DataLoader with two workers over a list of dicts, made before they are forked
arrow          builds 20 columns of 15 MiB with pyarrow and drops them, every tenth round
polars         groups and sorts a frame with Polars and drops it, every tenth round

A round takes half a second. Needs NumPy; copy-on-write PyTorch, the last two what they name.
"""
import sys
import threading
import time

ROUND = 0.5
ROWS = 400_000


def healthy():
    import numpy
    sum(numpy.ones(1 << 20).sum() for _ in range(8))
    [bytearray(2000) for _ in range(2000)]


kept = []


def leak():
    healthy()
    kept.append(bytearray(b"x") * (2 << 20))


def retention():
    objects = [bytearray(2000) for _ in range(100_000)]
    kept[:] = objects[-20:]


def thread_arrays():
    import numpy
    numpy.ones(30 << 17).sum()  # glibc's thresholds go up: arrays come from arenas from now on
    freed = threading.Barrier(7)

    def build():
        arrays = [numpy.ones(8 << 17) for _ in range(6)]
        above = bytearray(2000)  # what is below it stays when the arrays are freed
        del arrays
        freed.wait()
        threading.Event().wait()
        del above

    for _ in range(6):
        threading.Thread(target=build, daemon=True).start()
    freed.wait()


class Rows:
    def __init__(self):
        self.rows = [{"id": i, "weights": [i * 0.5], "label": str(i)} for i in range(ROWS)]

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        if index % 20_000 == 0:
            time.sleep(ROUND)
        return self.rows[index]["weights"][0]


def copy_on_write(seconds):
    import torch.utils.data
    end = time.monotonic() + seconds
    loader = torch.utils.data.DataLoader(Rows(), batch_size=1000, num_workers=2, persistent_workers=True)
    while time.monotonic() < end:
        for _ in loader:
            if time.monotonic() > end:
                break


def arrow():
    import pyarrow
    import pyarrow.compute
    base = pyarrow.array(range(2_000_000))
    kept[:] = [pyarrow.compute.add(base, number) for number in range(20)]
    kept.clear()


def polars():
    import polars as frames
    frame = frames.DataFrame({"key": range(2_000_000), "value": range(2_000_000)})
    assert len(frame.group_by(frames.col("key") % 1000).agg(frames.col("value").sum()).sort("key")) == 1000


def main():
    kind, seconds = sys.argv[1].replace("-", "_"), float(sys.argv[2])
    if kind == "copy_on_write":
        copy_on_write(seconds)
        return
    end = time.monotonic() + seconds
    if kind == "thread_arrays":
        thread_arrays()
    rounds = 0
    while time.monotonic() < end:
        if kind in ("arrow", "polars") and rounds % 10 == 0 or kind in ("healthy", "leak", "retention"):
            globals()[kind]()
        rounds += 1
        time.sleep(ROUND)


if __name__ == "__main__":
    main()
