# SPDX-License-Identifier: Apache-2.0
"""causes.py CAUSE STOP [PAUSE]: memory that grows, or does not, for one reason. Ends once the file STOP is there.

cache: results are cached and never dropped. history: a global list. closure: callbacks that keep what they were made
with. thread: threads that wait for ever. queue: a producer that is faster than its consumer. graph: a loss that keeps
every step's tensors. copies: forked workers that read the parent's objects. shared: shared memory. pages: a file that
is written and read. burst: built once and kept. healthy: built and dropped. PAUSE: seconds between two steps.
"""
import functools
import gc
import mmap
import os
import queue
import sys
import tempfile
import threading
import time

BLOCK = 48 << 10


def until_stop(step):
    while not os.path.exists(sys.argv[2]):
        step()
        time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 0.03)


@functools.lru_cache(maxsize=None)
def render(page):
    return "%d" % page * BLOCK  # line 30


class Pages:
    number = 0

    def serve(self):
        Pages.number += 1
        return len(render(1 + Pages.number % 10 ** 9))


history = []


def note_metrics():
    history.append([0.5] * (BLOCK // 8))  # line 45


callbacks = []


def subscribe():
    message = bytearray(BLOCK)  # line 52

    def answer():
        return message[0]
    callbacks.append(answer)


def handle_request():
    buffer = bytearray(BLOCK)  # line 60
    threading.Event().wait()
    del buffer


def accept_request():
    threading.Thread(target=handle_request, daemon=True).start()


waiting = queue.Queue()


def produce():
    waiting.put(os.urandom(BLOCK))  # line 73
    waiting.put(os.urandom(BLOCK))
    waiting.get()


class Training:
    def __init__(self):
        import torch
        torch.set_num_threads(1)
        self.weights = torch.ones(BLOCK // 8, requires_grad=True)
        self.total = 0.0

    def step(self):
        self.total = self.total + self.loss()

    def loss(self):
        return (self.weights * 1.5).square().sum()  # line 89


def copy_objects():
    objects = [str(i) * 8 for i in range(800_000)]
    for _ in range(2):
        if os.fork() == 0:
            gc.disable()
            following = iter(objects)

            def step():
                for _ in range(150):
                    next(following, None)
            until_stop(step)
            os._exit(0)
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory ends, it ends with this one
    until_stop(lambda: None)
    [os.wait() for _ in range(2)]


class Shared:
    def __init__(self):
        self.segments = []

    def add(self):
        segment = mmap.mmap(-1, BLOCK, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
        segment.write(b"x" * BLOCK)
        self.segments.append(segment)


class Log:
    def __init__(self):
        self.file = tempfile.TemporaryFile()

    def write(self):
        self.file.write(bytes(BLOCK))
        self.file.flush()


def build():
    return [[0.5] * (BLOCK // 8) for _ in range(30)]


def main():
    cause = sys.argv[1]
    if cause == "copies":
        return copy_objects()
    if cause == "burst":
        history.extend(build() + build())
    steps = {"cache": Pages().serve, "history": note_metrics, "closure": subscribe, "thread": accept_request,
             "queue": produce, "healthy": build, "burst": build}
    made = {"graph": lambda: Training().step, "shared": lambda: Shared().add, "pages": lambda: Log().write}
    until_stop(steps[cause] if cause in steps else made[cause]())


if __name__ == "__main__":
    main()
