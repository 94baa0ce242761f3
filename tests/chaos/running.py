# SPDX-License-Identifier: Apache-2.0
"""Runs a job with and without Ebb, and gives it the faults of a case."""
import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import places
from drawing import KERNELS, PRELOADED, OutsideFault, ShimFault

# The system's, which may have NumPy.
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
# Guards against hanging: a job takes about a second, and ten times as long beside others.
PATIENCE = 300
# Looking through all processes of a machine takes longer than some jobs.
WAKE_SECONDS = 0.1


@dataclass(frozen=True)
class Result:
    """What a job left behind, as far as it is the job's own."""

    status: int | None  # None where the program that tells it was killed
    output: bytes
    files: dict
    said: tuple  # on stderr: of each worker its lines


@dataclass
class Programs:
    ebb: str
    job: str
    shim: str
    malloc_shim: str
    library: str  # libebb.so, for jobs in Python
    package: str  # the folder of the package ebb

    def needed(self):
        return self.ebb, self.job, self.shim, self.malloc_shim, self.library

    def job_of(self, case, folder):
        """The command line of a case's job, which writes into `folder`."""
        program = [self.job]
        if case.program == "python":
            program = [PYTHON, str(Path(__file__).with_name("random_job.py"))]
        faults = [f"{worker}:{step}:{int(number)}" for worker, step, number in case.job_faults]
        return [*program, str(case.job), str(folder.path / "files"), *faults, *case.words()]


class Hanging(Exception):
    """A job that has not ended in PATIENCE; says which processes are left and where they are."""


def said_by_job(text):
    """Its own lines on stderr. Those of one worker have an order."""
    return tuple(sorted((line for line in text.splitlines() if line.startswith("job: ")),
                        key=lambda line: line.split(" ", 3)[:3]))


def state_of(folder):
    """Of any process of the machine, whose name may be any bytes."""
    return (folder / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0]


def readable(folder):
    """Where the first thread of a process has ended, the files of one that lives on tell what it is."""
    if state_of(folder) != "Z":
        return folder
    return next((task for task in (folder / "task").iterdir() if state_of(task) != "Z"), folder)


def processes_of(mark):
    """Those that were started with the mark in their environment: a job's, with all that it forked."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            living = readable(entry)
            if mark in (living / "environ").read_bytes() and state_of(living) != "Z":
                found.append(int(entry.name))
        except (OSError, IndexError):
            continue
    return found


def is_any_left(mark):
    """Looks twice: who forks and ends while the first look goes on is in none of it, neither itself nor its child."""
    return bool(processes_of(mark) or processes_of(mark))


def described(pid):
    try:
        folder = Path(f"/proc/{pid}")
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        where = (folder / "wchan").read_text()
        return f"{pid} {state_of(folder)} {where} {command[:120]}"
    except OSError:
        return f"{pid} (gone)"


def wake(mark):
    """Continues what a fault has stopped."""
    for pid in processes_of(mark):
        try:
            if state_of(readable(Path(f"/proc/{pid}"))) == "T":
                os.kill(pid, signal.SIGCONT)
        except (OSError, IndexError):
            continue


class Folder:
    """Of one run of a case: everything that it may write to."""

    def __init__(self, path):
        shutil.rmtree(path, ignore_errors=True)
        self.path = path
        for name in ("files", "runtime", "tmp", "home", "record"):
            (path / name).mkdir(parents=True)
        self.db = path / "record" / "runs.db"
        self.report = path / "sites.txt"
        self.mark = f"EBB_CHAOS_MARK={path}".encode()

    def environment(self):
        return {**{name: value for name, value in os.environ.items() if not name.startswith("EBB_")},
                "EBB_CHAOS_MARK": str(self.path), "XDG_RUNTIME_DIR": str(self.path / "runtime"),
                "TMPDIR": str(self.path / "tmp"), "HOME": str(self.path / "home")}

    def preloading(self, case, *shims):
        """What is preloaded into the command, with Ebb and without."""
        allocator = (PRELOADED[case.allocator],) if case.is_allocator_preset else ()
        return {"LD_PRELOAD": ":".join((*shims, *allocator))} if shims or allocator else {}

    def files(self):
        return {file.name: file.read_bytes() for file in sorted((self.path / "files").iterdir())
                if not file.name.endswith(".part")}

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def end(job, folder):
    """Ends a command and everything it started, as far as that can be."""
    given_up = time.monotonic() + PATIENCE
    while (left := processes_of(folder.mark)) and time.monotonic() < given_up:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    job.kill()
    job.wait()


def finish(job, folder, fault=None, place=None):
    """Waits until the command and everything it started have ended. Its output, and whether there was time for the
    fault. Where that fails nothing of it is left."""
    try:
        return wait_for_end(job, folder, fault, place)
    except BaseException:
        end(job, folder)
        raise


def wait_for_end(job, folder, fault, place):
    output = []
    reader = threading.Thread(target=lambda: output.append(job.stdout.read()), daemon=True)
    reader.start()
    begun, given = time.monotonic(), not isinstance(fault, OutsideFault)
    woken = begun
    while job.poll() is None or is_any_left(folder.mark):
        # Limits of the supervisor's are not the job's: it has been started by then.
        if not given and time.monotonic() >= begun + fault.after and len(processes_of(folder.mark)) > 1:
            given = True
            give(fault, job.pid, folder, place)
        if time.monotonic() > begun + PATIENCE:
            raise Hanging("; ".join(described(pid) for pid in processes_of(folder.mark)))
        if time.monotonic() > woken + WAKE_SECONDS:
            wake(folder.mark)
            woken = time.monotonic()
        time.sleep(0.02)
    reader.join()
    return output[0], given


# Room for any job of ours.
SMALL_GROUP_BYTES = 256 << 20
# An empty record takes a tenth of it.
SMALL_DISK_BYTES = 1 << 20
FROZEN_SECONDS = 0.1
FROM_THE_START = ("small_group", "full_socket_disk")
# Faults of a disk that come sooner are there before the run.
AT_ONCE_SECONDS = 0.15


@contextlib.contextmanager
def place_for(fault, folder):
    """What the kernel has to set up for a fault: a control group, a small disk, or nothing."""
    what = fault.what if isinstance(fault, OutsideFault) else ""
    if what == "full_record_disk":
        place = places.SmallDisk(folder.db.parent, SMALL_DISK_BYTES)
    elif what == "full_socket_disk":
        place = places.SmallDisk(folder.path / "runtime", 4096, files=1)
    elif what in KERNELS:
        place = places.Group(KERNELS[what])
    else:
        place = contextlib.nullcontext()
    with place as ready:
        if what == "full_record_disk" and fault.after < AT_ONCE_SECONDS:
            ready.fill()
        if what == "small_group":
            ready.set(SMALL_GROUP_BYTES)
        yield ready


def give(fault, pid, folder, place):
    try:
        if fault.what == "kill":
            os.kill(pid, signal.SIGKILL)
        elif fault.what == "stop":
            os.kill(pid, signal.SIGSTOP)
        elif fault.what == "no_memory":
            size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
            resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
        elif fault.what == "no_descriptors":
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))
        elif fault.what == "no_file_growth":
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (8192, 8192))
        elif fault.what == "socket_folder":
            shutil.rmtree(folder.path / "runtime", ignore_errors=True)
        elif fault.what == "record_folder":
            shutil.rmtree(folder.path / "record", ignore_errors=True)
        elif fault.what == "full_record_disk":
            place.fill()
        elif fault.what == "group_without_memory":
            place.set(1 << 16)
            place.add(pid)
        elif fault.what == "group_without_processes":
            place.add(pid)
            place.set(0)
        elif fault.what == "frozen_group":
            place.add(pid)
            place.freeze(True)
            time.sleep(FROZEN_SECONDS)
            place.freeze(False)
    except (ProcessLookupError, FileNotFoundError, IndexError):
        pass  # it has ended


def run_plain(programs, case, path):
    folder = Folder(path)
    environment = folder.environment() | folder.preloading(case)
    with open(folder.path / "stderr", "wb") as error:
        job = subprocess.Popen(programs.job_of(case, folder), env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=error, start_new_session=True)
        output, _ = finish(job, folder)
    said = (folder.path / "stderr").read_text(errors="replace")
    result = Result(job.returncode, output, folder.files(), said_by_job(said))
    folder.remove()
    return result


@contextlib.contextmanager
def full_pipe(keeps):
    """Who writes to it waits for ever, or does without. What it has taken all the same is in the file `keeps`."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"." * 4096)
    os.set_blocking(writing, True)
    try:
        yield writing
        os.close(writing)
        with open(keeps, "wb") as said, contextlib.suppress(BlockingIOError):
            while part := os.read(reading, 1 << 16):
                said.write(part.lstrip(b"."))
    finally:
        os.close(reading)


# Puts itself into a group, and is what follows from then on.
JOIN = ("sh", "-c", 'echo $$ > "$0" && exec "$@"')


def run_under_ebb(programs, case, folder, place=None):
    """The job's result, what Ebb said, and whether the fault came before its end. `place`: of place_for."""
    environment = folder.environment() | folder.preloading(case)
    if case.program == "python":
        environment |= {"PYTHONPATH": programs.package, "EBB_LIBRARY": programs.library}
    if isinstance(case.fault, ShimFault):
        environment |= folder.preloading(case, programs.malloc_shim if case.fault.call == "malloc" else programs.shim)
        environment["EBB_FAULT"] = case.fault.order(folder.report)
    what = case.fault.what if isinstance(case.fault, OutsideFault) else ""
    said = folder.path / "stderr"
    with full_pipe(said) if case.is_unread else open(said, "wb") as error:
        command = [programs.ebb, "run", "--db", folder.db, *case.options, "--", *programs.job_of(case, folder)]
        if what == "small_group":
            command = [*JOIN, place.path / "cgroup.procs", *command]
        # In a session of its own: some jobs signal their group.
        job = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error,
                               start_new_session=True)
        output, given = finish(job, folder, case.fault, place)
    aimed = what in ("kill", "group_without_memory")
    status = None if aimed and job.returncode == -signal.SIGKILL else job.returncode
    if isinstance(case.fault, ShimFault) and case.fault.first:
        given = folder.report.exists() and "fault" in folder.report.read_text()
    elif what in FROM_THE_START or (what == "full_record_disk" and case.fault.after < AT_ONCE_SECONDS):
        given = True
    text = said.read_text(errors="replace")
    return Result(status, output, folder.files(), said_by_job(text)), text, given
