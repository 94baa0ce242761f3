# SPDX-License-Identifier: Apache-2.0
"""Cases drawn from a seed: a job, faults aimed at the job, one aimed at Ebb, options of `ebb run`."""
import errno
import random
import signal
from dataclasses import dataclass

# Calls that the shim can make fail, and how the kernel would.
CALLS = {
    "read": (errno.EIO,), "write": (errno.ENOSPC, errno.EIO), "sync": (errno.EIO, errno.ENOSPC),
    "open": (errno.EMFILE, errno.ENOMEM, errno.EACCES), "rename": (errno.EIO,), "mkdir": (errno.ENOSPC,),
    "unlink": (errno.EIO,), "socket": (errno.EMFILE, errno.ENOMEM), "connect": (errno.ECONNREFUSED,),
    "accept": (errno.EMFILE,), "send": (errno.ENOBUFS, errno.EPIPE), "recv": (errno.ENOMEM,),
    "poll": (errno.ENOMEM,), "thread": (errno.EAGAIN,), "mmap": (errno.ENOMEM,), "pipe": (errno.EMFILE,),
    "fork": (errno.EAGAIN,),
    "malloc": (errno.ENOMEM,), "clock": (24, -24),
}
# Those that the agent makes; the rest are the program's alone.
AGENTS = ("read", "write", "open", "socket", "connect", "send", "recv", "poll", "thread", "mmap", "malloc")


@dataclass(frozen=True)
class ShimFault:
    """Calls that fail in the program `ebb`, or in the agent: `times` of them from the first on; 0: all."""

    where: str
    call: str
    error: int
    first: int
    times: int

    def order(self, report):
        return (f"in={self.where} call={self.call} errno={self.error} from={self.first} times={self.times} "
                f"report={report}")

    def __str__(self):
        what = f"{self.error:+d} h" if self.call == "clock" else errno.errorcode.get(self.error, str(self.error))
        many = {0: " and all later", 1: ""}.get(self.times, f" and {self.times - 1} later")
        return f"{self.call} no. {self.first}{many}: {what}, in {self.where}"


@dataclass(frozen=True)
class OutsideFault:
    """Something that happens to the supervisor after a while: kill, stop, no_memory, no_descriptors, no_file_growth,
    socket_folder, record_folder."""

    what: str
    after: float

    def __str__(self):
        return f"{self.what} after {self.after:.2f} s"


@dataclass(frozen=True)
class Case:
    seed: int
    job: int
    job_faults: tuple  # of (worker, step, signal)
    fault: object  # ShimFault, OutsideFault or None
    options: tuple

    def __str__(self):
        of_job = " ".join(f"{worker}:{step}:{signal.Signals(number).name}" for worker, step, number in self.job_faults)
        return (f"seed {self.seed}: job {self.job}{', faults ' + of_job if of_job else ''}; "
                f"{self.fault or 'no fault of Ebb'}; options {' '.join(self.options) or 'none'}")


# The agent's eighth: by then the C++ runtime has put memory aside for exceptions. Where several allocations fail in a
# row before that, and the very first did not, none can be thrown, and the process ends. Not dealt with yet.
RESERVED = 8
OUTSIDE = ("kill", "stop", "no_memory", "no_descriptors", "no_file_growth", "socket_folder", "record_folder")


def draw_fault(rng):
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.4:
        return OutsideFault(rng.choice(OUTSIDE), rng.uniform(0, 0.6))
    where = rng.choice(("ebb", "ebb", "agent"))
    call = rng.choice(AGENTS if where == "agent" else tuple(CALLS))
    # Early calls differ most from each other; later ones come again and again.
    first = int(2 ** rng.uniform(0, 11 if call == "malloc" else 7))
    error, times = rng.choice(CALLS[call]), rng.choice((1, 1, 3, 0))
    if (where, call) == ("agent", "malloc") and times != 1:
        first = max(first, RESERVED)
    return ShimFault(where, call, error, first, times)


def draw_case(seed):
    rng = random.Random(seed)
    faults = tuple((rng.randrange(5), rng.randrange(12), rng.choice((signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM)))
                   for _ in range(rng.choice((0, 0, 1, 2))))
    options = ["--interval", rng.choice(("10ms", "50ms", "1s"))]
    if rng.random() < 0.3:
        options.append("--quiet")
    if rng.random() < 0.2:
        options.append("--wait-all")
    if rng.random() < 0.1:
        options.append("--observe")
    return Case(seed, rng.randrange(1000), faults, draw_fault(rng), tuple(options))
