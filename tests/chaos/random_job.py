# SPDX-License-Identifier: Apache-2.0
"""As random_job.cpp, in Python: a job whose result depends on nothing but the seed and the faults that it is given.

  random_job.py SEED FOLDER [WORKER:STEP:SIGNAL | aloud ...]

Workers are forked, are threads, or have become daemons. Each makes objects, garbage and arrays (of NumPy's where that is
there), starts children, closes descriptors, announces rounds where the package `ebb` is installed, and leaves a line in
FOLDER/worker-N. `aloud`: each worker tells its steps on stderr.
"""
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path

try:
    import ebb
except ImportError:
    ebb = None


class Plan:
    def __init__(self, words):
        self.seed, self.folder = int(words[0]), Path(words[1])
        self.is_aloud = "aloud" in words[2:]
        self.faults = [tuple(int(part) for part in word.split(":")) for word in words[2:] if word != "aloud"]
        rng = random.Random(f"{self.seed} job")
        self.numpy = None
        if rng.random() < 0.3:
            try:
                import numpy
                self.numpy = numpy
            except ImportError:
                pass  # what is hashed is the same without


class Rounds:
    """What announces them, where it is there; whatever it says, the job goes on."""

    def __init__(self, rng):
        self.keeper = None
        every = rng.choice((1, 3, "auto"))
        if ebb is not None:
            try:
                self.keeper = ebb.RoundKeeper("trainer", every=every)
            except (ebb.Error, MemoryError):
                pass

    def done(self, number):
        if self.keeper is not None:
            try:
                self.keeper.round_done(number)
            except (ebb.Error, MemoryError):
                pass


def use_objects(rng):
    made = [bytes([rng.randrange(256)]) * rng.randrange(1, 1 << rng.randrange(8, 18)) for _ in range(rng.randrange(30))]
    table = {index: one for index, one in enumerate(made)}
    return zlib.crc32(b"".join(one[:8] for one in table.values()), len(made))


def use_garbage(rng):
    for _ in range(rng.randrange(200)):
        ring = [bytearray(rng.randrange(1, 4096))]
        ring.append(ring)
    if rng.random() < 0.3:
        gc.collect()
    return 0


def use_arrays(rng, numpy):
    count, first = rng.randrange(1, 1 << 18), rng.randrange(1000)
    if numpy is not None:
        return int(numpy.arange(first, first + count, dtype=numpy.int64).sum())
    return sum(range(first, first + count))


def use_child(rng):
    how = rng.randrange(1000)
    if how % 2 == 0:
        return subprocess.run(["sh", "-c", f"exit {how % 100}"], check=False).returncode
    pid = os.fork()
    if pid == 0:
        use_objects(random.Random(how))
        if how % 5 == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(how % 100)
    return os.waitpid(pid, 0)[1]


def leave(plan, worker, result):
    """Written whole or not at all: others look for it."""
    part = plan.folder / f"worker-{worker}.part"
    part.write_text(f"{result:016x}\n")
    part.rename(plan.folder / f"worker-{worker}")


def work(plan, worker, has_process, has_threads=False):
    rng = random.Random(f"{plan.seed} {worker}")
    rounds, result = Rounds(rng), 0
    for step in range(rng.randrange(4, 16)):
        for of, at, number in plan.faults:
            if has_process and (of, at) == (worker, step):
                os.kill(os.getpid(), number)
        kind = rng.randrange(7)
        if kind == 0:
            done = use_child(rng)
        elif kind == 1:
            done = use_arrays(rng, plan.numpy)
        elif kind == 2:
            done = use_garbage(rng)
        elif kind == 3:
            done = 3
            if has_process and not has_threads:  # which have files open
                os.closerange(3, 1024)
        else:
            done = use_objects(rng)
            time.sleep(rng.random() * 0.02)
        rounds.done(step)
        result = (result * 131 + done) % (1 << 64)
        if plan.is_aloud:  # in one piece: others write there too
            os.write(2, f"job: worker {worker} step {step} {result:016x}\n".encode())
    leave(plan, worker, result)


def start(plan, worker, is_daemon):
    """A process of the job's own, or one that nobody waits for."""
    sys.stdout.flush()
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        if is_daemon:
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
            null = os.open("/dev/null", os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
        work(plan, worker, True)
    except BaseException:
        os._exit(95)
    os._exit(0)


def main():
    plan = Plan(sys.argv[1:])
    rng = random.Random(plan.seed)
    processes, threads = [], []
    if rng.randrange(3) == 0:
        print("o" * rng.randrange(1 << 18))
    for worker in range(1, 1 + rng.randrange(1, 4)):
        kind = rng.randrange(5)
        if kind == 0:
            threads.append(threading.Thread(target=work, args=(plan, worker, False)))
            threads[-1].start()
        else:
            processes.append((worker, start(plan, worker, kind == 1)))
    # Before anything happens to the process: how far they had come would be chance.
    for thread in threads if plan.faults else ():
        thread.join()
    work(plan, 0, True, bool(threads))
    for thread in threads:
        thread.join()
    for worker, pid in processes:
        print(f"worker {worker}: status {os.waitpid(pid, 0)[1]}")
    print(f"worker 0: {(plan.folder / 'worker-0').read_text().strip()}", flush=True)
    if rng.randrange(6) == 0:
        os.kill(os.getpid(), rng.choice((signal.SIGTERM, signal.SIGKILL)))
    sys.exit(rng.randrange(120) if rng.randrange(4) == 0 else 0)


if __name__ == "__main__":
    main()
