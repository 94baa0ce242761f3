# SPDX-License-Identifier: Apache-2.0
"""Cases drawn from a seed: a job, faults aimed at the job, one aimed at Ebb, options of `ebb run`."""
import errno
import random
import signal
from dataclasses import dataclass, replace

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
# Those that the agent makes, and libebb; the rest are the program's alone.
AGENTS = ("read", "write", "open", "socket", "connect", "send", "recv", "poll", "thread", "mmap", "malloc")
LIBRARYS = ("read", "open", "malloc")
# What a sweep asks besides: seeds stay what they were.
MORE_CALLS = {
    "pread": (errno.EIO,), "room": (errno.ENOSPC,), "list": (errno.EMFILE,), "stat": (errno.EIO,),
    "access": (errno.EACCES, errno.ENOMEM), "folder": (errno.EROFS,), "lock": (errno.ENOLCK,), "event": (errno.EMFILE,),
    "message": (errno.ENOBUFS,),
}


@dataclass(frozen=True)
class ShimFault:
    """Calls that fail in the program `ebb`, in the agent or in libebb: `times` of them from the first on; 0: all."""

    where: str
    call: str
    error: int
    first: int
    times: int
    at: str = ""  # counts only those from the place with this hash

    def order(self, report=None):
        """As the shim reads it; without a report, as it is told."""
        there = (f" report={report}" if report else "") + (f" at={self.at}" if self.at else "")
        return f"in={self.where} call={self.call} errno={self.error} from={self.first} times={self.times}{there}"

    def __str__(self):
        what = f"{self.error:+d} h" if self.call == "clock" else errno.errorcode.get(self.error, str(self.error))
        many = {0: " and all later", 1: ""}.get(self.times, f" and {self.times - 1} later")
        there = f" at {self.at}" if self.at else ""
        return f"{self.call} no. {self.first}{there}{many}: {what}, in {self.where}"


def hash_of_place(name):
    """As fault_places.cpp has it (FNV-1a)."""
    found = 0xcbf29ce484222325
    for byte in name.encode():
        found = (found ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{found:x}"


@dataclass(frozen=True)
class OutsideFault:
    """Something that happens to the supervisor after a while: one of OUTSIDE, or of KERNELS."""

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
    program: str = "native"  # or "python"
    job_words: tuple = ()  # more that is asked of the job (random_job.cpp)
    is_unread: bool = False  # nobody reads Ebb's stderr
    is_stopped: bool = False  # memory counts as critical, and Ebb stops the job
    allocator: str = ""  # one of PRELOADED: the job's malloc
    is_allocator_preset: bool = False  # preloaded without Ebb too; else it is Ebb that preloads it

    def number_of_faults(self):
        of_case = len(self.job_faults) + len(self.job_words) + self.is_unread + self.is_stopped + bool(self.allocator)
        return of_case + (self.fault is not None and getattr(self.fault, "first", 1) > 0)

    def with_fault(self, fault):
        return replace(self, fault=fault)

    def words(self):
        """More that is asked of the job. What nobody reads it does not write: it would wait for ever, without Ebb too."""
        return (*self.job_words, *["aloud"] * (not self.is_unread))

    def may_lose_record(self):
        """Whether the fault could keep the supervisor from writing it."""
        if isinstance(self.fault, ShimFault):
            return self.fault.where == "ebb"
        return self.fault is not None and self.fault.what not in HARMLESS_TO_RECORD

    def __str__(self):
        of_job = " ".join(f"{worker}:{step}:{signal.Signals(number).name}" for worker, step, number in self.job_faults)
        preset = f"{self.allocator} preloaded" if self.is_allocator_preset else f"--allocator {self.allocator}"
        more = (*self.job_words, *["unread stderr"] * self.is_unread, *["stopped"] * self.is_stopped,
                *[preset] * bool(self.allocator))
        of_job = " ".join(filter(None, (of_job, *more)))
        return (f"seed {self.seed}: {self.program} job {self.job}{', faults ' + of_job if of_job else ''}; "
                f"{self.fault or 'no fault of Ebb'}; options {' '.join(self.options) or 'none'}")


HARMLESS_TO_RECORD = ("stop", "socket_folder", "frozen_group", "full_socket_disk")
OUTSIDE = ("kill", "stop", "no_memory", "no_descriptors", "no_file_growth", "socket_folder", "record_folder")
# What only the kernel can do, and what must be permitted for it (places.py): the supervisor alone in a control group
# without memory, without processes, or that is frozen for a moment; it and the job in one with little memory; the disk
# of the record, or of the agents' socket, full.
KERNELS = {"group_without_memory": "memory", "group_without_processes": "pids", "frozen_group": "freezer",
           "small_group": "memory", "full_record_disk": "disk", "full_socket_disk": "disk"}


def without_memory(program, job, where, first, times):
    return Case(first, job, (), ShimFault(where, "malloc", errno.ENOMEM, first, times), ("--interval", "50ms"), program)


# Those that did not hold once: the agent had nothing left to throw an exception with; it and libebb threw one through
# the C library; who waited for a cleanup that had thrown one waited for ever; what was sent to the supervisor was lost
# where none of its reads succeeded; a line before the job was waited for though nobody read.
KNOWN = (*(without_memory("native", 7, "agent", first, times) for first in range(1, 11) for times in (0, 3)),
         *(without_memory("native", 605, "agent", first, 1) for first in range(11, 20)),
         *(without_memory("python", 284, "libebb", first, 0) for first in (2, 5, 8, 12, 16)),
         without_memory("python", 461, "libebb", 213, 3), without_memory("python", 116, "libebb", 146, 1),
         Case(834, 840, ((1, 3, signal.SIGTERM),), ShimFault("ebb", "read", errno.EIO, 26, 0), ("--interval", "10ms"),
              job_words=("headless", f"2:{int(signal.SIGUSR1)}:up")),
         Case(500371, 622, ((4, 5, signal.SIGKILL),), ShimFault("ebb", "socket", errno.EMFILE, 1, 3),
              ("--interval", "50ms", "--wait-all", "--warn", "0.01"), job_words=(f"7:{int(signal.SIGALRM)}:up",),
              is_unread=True))


def draw_fault(rng, program):
    kind = rng.random()
    if kind < 0.1:
        return None
    if kind < 0.3:
        return OutsideFault(rng.choice(OUTSIDE), rng.uniform(0, 0.3))
    if kind < 0.45:
        return OutsideFault(rng.choice(tuple(KERNELS)), rng.uniform(0, 0.3))
    where = rng.choice(("ebb", "ebb", "agent", "libebb" if program == "python" else "agent"))
    call = rng.choice({"agent": AGENTS, "libebb": LIBRARYS}.get(where, tuple(CALLS)))
    # Early calls differ most from each other; later ones come again and again.
    first = int(2 ** rng.uniform(0, 11 if call == "malloc" else 7))
    return ShimFault(where, call, rng.choice(CALLS[call]), first, rng.choice((1, 1, 3, 0)))


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
    program = rng.choice(("native", "native", "native", "python"))
    # Not drawn: what a seed stood for before there was this option stays what it was.
    if seed % 3 == 0 and "--observe" not in options:
        options.append("--sites")
    case = Case(seed, rng.randrange(1000), faults, draw_fault(rng, program), tuple(options), program)
    if program == "native":
        case = with_more(case, random.Random(f"more of {seed}"))
    return with_allocator(case, random.Random(f"allocator of {seed}"))


# Those that end a process, and that nobody ignores who starts programs in the background.
ENDING = (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM)


def with_more(case, rng):
    """By a generator of its own, likewise."""
    words, options = [], []
    if rng.random() < 0.2:
        words.append("headless")
    if rng.random() < 0.2:
        words.append(f"{rng.randrange(8)}:{int(rng.choice(ENDING))}:up")
    elif rng.random() < 0.15:
        words.append(f"end:{int(rng.choice(ENDING))}:group")
    is_unread, is_stopped = rng.random() < 0.15, rng.random() < 0.1
    if is_unread or is_stopped:
        options += ["--warn", "0.01"]  # which is a line
    if is_stopped:
        options += ["--critical", "0.02", "--on-critical", "stop", "--grace", rng.choice(("1ms", "100ms", "1s"))]
    return replace(case, options=(*case.options, *options), job_words=tuple(words), is_unread=is_unread,
                   is_stopped=is_stopped)


# The malloc of a whole job, as the dynamic linker finds them.
PRELOADED = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2"}


def with_allocator(case, rng):
    """One beside the job's malloc, or another one in its place. By a generator of its own, likewise."""
    kind, name, is_preset = rng.random(), rng.choice(tuple(PRELOADED)), rng.random() < 0.5
    if kind < 0.12 and case.program == "native" and getattr(case.fault, "what", None) != "small_group":
        # Critical, so that it is searched for and cleaned up.
        critical = () if "--warn" in case.options else ("--warn", "0.01", "--critical", "0.02")
        return replace(case, job_words=(*case.job_words, "private"), options=(*case.options, *critical))
    # What makes malloc fail is a malloc itself. In `ebb` the shim leaves nothing preloaded; and where Ebb cannot look for
    # the allocator that it was asked for, it refuses.
    has_room = getattr(case.fault, "call", None) != "malloc" and getattr(case.fault, "where", None) != "ebb"
    if kind < 0.3 and has_room and "--observe" not in case.options:
        options = case.options if is_preset else (*case.options, "--allocator", name)
        return replace(case, allocator=name, is_allocator_preset=is_preset, options=options)
    return case
