# SPDX-License-Identifier: Apache-2.0
"""A Python job that forks in every way there is: forks.py LIBEBB [SECONDS]

Meanwhile its threads announce rounds and clean up. Each process on the way makes garbage, announces
rounds that may be cleaned up after, and forks again; with SECONDS all of it again and again for so
long, and a pool restarts its workers 500 times. It says "done" at the end. A process that hangs is
ended by an alarm.
"""
import ctypes
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

ALARM = 600
signal.alarm(ALARM)
os.register_at_fork(after_in_child=lambda: signal.alarm(ALARM))
agent = ctypes.CDLL(None)
library = ctypes.CDLL(sys.argv[1])


class Node:
    pass


def garbage():
    """48 MiB that only a collection lets go of; says when it is gone."""
    for _ in range(48):
        node = Node()
        node.itself, node.data = node, bytearray(1 << 20)
    return weakref.ref(node)


def rounds(count):
    """Makes garbage so often, and announces rounds until a cleanup has collected it. Whether one pays
    is the supervisor's decision, which on a busy machine is no: it has 50 rounds to make it."""
    gc.disable()
    while not agent.ebb_agent_is_supervised():
        if len(os.listdir("/proc/self/task")) == 1:
            return  # no agent: forked at a bad moment, as a busy machine has them
        time.sleep(0.01)
    number = 0
    for _ in range(count):
        last = garbage()
        for _ in range(50):
            if last() is None:
                break
            agent.ebb_agent_round_done(ctypes.c_uint64(number))
            number += 1
            time.sleep(0.02)


def status_of(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def family(depth):
    """A line of descendants, each of which has its rounds cleaned up before it forks."""
    pid = os.fork()
    if pid == 0:
        try:
            rounds(2)
            os._exit(family(depth - 1) if depth > 1 else 0)
        finally:
            os._exit(1)
    return status_of(pid)


def task(number):
    kept = [bytearray(1 << 12) for _ in range(2000)]
    assert library.ebb_cleanup(0, None) == 0
    return number * number + len(kept) - 2000


def long_task(number):
    rounds(1)
    return task(number) + family(1)


def pooled(method, workers, tasks, body, per_worker=None):
    with multiprocessing.get_context(method).Pool(workers, maxtasksperchild=per_worker) as pool:
        results = pool.map(body, range(tasks), chunksize=1)
    assert results == [number * number for number in range(tasks)], (method, results)


class Background:
    """Threads that announce and clean up for as long as the job forks."""

    def __init__(self):
        self.stop = threading.Event()
        for body in (lambda: library.ebb_cleanup(0, None), self.announce, self.allocate):
            threading.Thread(target=self.repeat, args=(body,), daemon=True).start()

    def repeat(self, body):
        while not self.stop.wait(0.005):
            body()

    def allocate(self):
        return sum(len(block) for block in [bytearray(1 << 12) for _ in range(1000)])

    def announce(self):
        agent.ebb_agent_round_done(ctypes.c_uint64(0))


def fork_in_every_way():
    assert family(3) == 0
    results = []
    threads = [threading.Thread(target=lambda: results.append(family(2))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(10):
        subprocess.run(["true"], preexec_fn=os.getpgrp, check=True)
        subprocess.run(["true"], check=True)
        assert status_of(os.posix_spawnp("true", ["true"], os.environ)) == 0
    pooled("fork", 2, 40, task, per_worker=1)
    for thread in threads:
        thread.join()
    assert results == [0, 0], results
    pooled("fork", 2, 4, long_task)
    pooled("forkserver", 2, 4, long_task)
    pooled("spawn", 1, 1, long_task)


def main():
    end = time.monotonic() + float(sys.argv[2]) if len(sys.argv) > 2 else None
    rounds(1)
    background = Background()
    fork_in_every_way()
    if end is not None:
        signal.alarm(4 * ALARM)
        pooled("fork", 2, 500, task, per_worker=1)
    while end is not None and time.monotonic() < end:
        signal.alarm(ALARM)
        fork_in_every_way()
    background.stop.set()
    print("done", flush=True)


if __name__ == "__main__":
    main()
