# SPDX-License-Identifier: Apache-2.0
"""What the tests share: other processes, other allocators, memory to give back."""
import ctypes.util
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import ebb

ROOT = Path(__file__).resolve().parent.parent.parent
SNAPSHOTS = ROOT / "tests" / "data" / "torch-2.11" / "runs"
DEBIAN_PYTHON = "/usr/bin/python3"
MIB = 1 << 20
SIMULATOR = Path(ebb.library_path()).parent / "ebb-simulate"


def needs_simulator(case):
    """A test of the program ebb-simulate."""
    return unittest.skipUnless(SIMULATOR.is_file(), f"{SIMULATOR} is not there: it needs libtorch")(case)


def long_test(function):
    """A test that only runs with --long."""
    function.is_long = True
    return function


def python(code, *, interpreter=sys.executable, check=True, **environment):
    """Runs code in a process of its own; its output, stripped. None takes a variable away."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    for name, value in environment.items():
        variables.pop(name, None)
        if value is not None:
            variables[name] = str(value)
    done = subprocess.run([interpreter, "-c", code], env=variables, text=True, timeout=600,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stdout}")
    return done.stdout.strip()


def simulate(command, seconds=900, **environment):
    """Runs a job in NVFlare's simulator; (status, output). The simulator picks a port for each client before the
    client listens there. If another process is faster, that client ends and the simulator waits for
    ever: such a run is ended and begun anew, at most twice."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    for attempt in range(3):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
            job = subprocess.Popen(command, env=variables, stdout=log, stderr=log, start_new_session=True)
            end = time.monotonic() + seconds
            output, lost = "", False
            while job.poll() is None and time.monotonic() < end and not lost:
                time.sleep(0.2)
                log.seek(0)
                output = log.read()
                lost = attempt < 2 and "Communication error with client" in output
            if job.returncode is None:
                _end_all(job)
            log.seek(0)
            output = log.read()
            if not lost:
                return job.returncode, output
    raise AssertionError("unreachable")


def _end_all(job):
    """Ends a job and all that it started, in whatever sessions."""
    pids, children = [job.pid], {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
        except (OSError, ValueError, IndexError):
            pass
    for pid in pids:
        pids += children.get(pid, [])
    for pid in reversed(pids):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    job.wait()


def debian_python(code, **environment):
    """The same with Debian's Python, which has Debian's numpy and PyTorch, and with this package."""
    site = Path(ebb.__file__).resolve().parent.parent
    # Only the package: what else lies in that folder is for another Python.
    return python(f"import sys; sys.path.insert(0, {str(_alone(site))!r})\n{code}",
                  interpreter=DEBIAN_PYTHON, PYTHONPATH=None, PYTHONHOME=None, **environment)


def _alone(site):
    folder = ROOT / "build" / "python" / "package-alone"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "ebb"
    if not link.is_symlink() or link.resolve() != site / "ebb":
        link.unlink(missing_ok=True)
        link.symlink_to(site / "ebb")
    return folder


def preload(name):
    """The file of an installed allocator, e.g. "jemalloc" or "tcmalloc_minimal"."""
    found = ctypes.util.find_library(name)
    if found is None:
        raise AssertionError(f"lib{name} is not installed: expected after scripts/setup test")
    listing = subprocess.run(["/sbin/ldconfig", "-p"], text=True, capture_output=True, check=True).stdout
    return next(line.split("=> ")[1] for line in listing.splitlines() if f"{found} " in line)


def fragmented(mebibytes=64):
    """Frees all but a few of many blocks; what stays keeps an allocator from giving the rest back."""
    blocks = [bytearray(30_000) for _ in range(mebibytes * MIB // 30_000)]
    return blocks[::200]
