# SPDX-License-Identifier: Apache-2.0
"""Runs a job with and without Ebb, and gives it the faults of a case."""
import os
import resource
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from drawing import OutsideFault, ShimFault

# Guards against hanging: a job takes less than a second.
PATIENCE = 60


@dataclass(frozen=True)
class Result:
    """What a job left behind, as far as it is the job's own."""

    status: int | None  # None where the program that tells it was killed
    output: bytes
    files: dict


@dataclass
class Programs:
    ebb: str
    job: str
    shim: str
    malloc_shim: str


class Hanging(Exception):
    """A job that has not ended in PATIENCE; says which processes are left and where they are."""


def state_of(folder):
    return (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]


def processes_of(mark):
    """Those that were started with the mark in their environment: a job's, with all that it forked."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if mark in (entry / "environ").read_bytes() and state_of(entry) != "Z":
                found.append(int(entry.name))
        except (OSError, IndexError):
            continue
    return found


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
            if state_of(Path(f"/proc/{pid}")) == "T":
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

    def files(self):
        return {file.name: file.read_bytes() for file in sorted((self.path / "files").iterdir())
                if not file.name.endswith(".part")}

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def finish(job, folder, fault=None):
    """Waits until the command and everything it started have ended."""
    output = []
    reader = threading.Thread(target=lambda: output.append(job.stdout.read()))
    reader.start()
    begun, given = time.monotonic(), not isinstance(fault, OutsideFault)
    while job.poll() is None or processes_of(folder.mark):
        # Limits of the supervisor's are not the job's: it has been started by then.
        if not given and time.monotonic() >= begun + fault.after and len(processes_of(folder.mark)) > 1:
            given = True
            give(fault, job.pid, folder)
        if time.monotonic() > begun + PATIENCE:
            left = [described(pid) for pid in processes_of(folder.mark)]
            for pid in processes_of(folder.mark):
                os.kill(pid, signal.SIGKILL)
            job.kill()
            raise Hanging("; ".join(left))
        wake(folder.mark)
        time.sleep(0.02)
    reader.join()
    return output[0]


def give(fault, pid, folder):
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
    except (OSError, IndexError):
        pass  # it has ended


def run_plain(programs, case, path):
    folder = Folder(path)
    faults = [f"{worker}:{step}:{int(number)}" for worker, step, number in case.job_faults]
    job = subprocess.Popen([programs.job, str(case.job), folder.path / "files", *faults], env=folder.environment(),
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = finish(job, folder)
    result = Result(job.returncode, output, folder.files())
    folder.remove()
    return result


def run_under_ebb(programs, case, folder):
    """The job's result, and what Ebb said."""
    environment = folder.environment()
    if isinstance(case.fault, ShimFault):
        environment["LD_PRELOAD"] = programs.malloc_shim if case.fault.call == "malloc" else programs.shim
        environment["EBB_FAULT"] = case.fault.order(folder.report)
    faults = [f"{worker}:{step}:{int(number)}" for worker, step, number in case.job_faults]
    said = folder.path / "stderr"
    with open(said, "wb") as error:
        command = [programs.ebb, "run", "--db", folder.db, *case.options, "--",
                   programs.job, str(case.job), folder.path / "files", *faults]
        job = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error)
        output = finish(job, folder, case.fault)
    aimed = isinstance(case.fault, OutsideFault) and case.fault.what == "kill"
    status = None if aimed and job.returncode == -signal.SIGKILL else job.returncode
    return Result(status, output, folder.files()), said.read_text(errors="replace")
