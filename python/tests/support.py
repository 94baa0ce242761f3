# SPDX-License-Identifier: Apache-2.0
"""What the tests share: other processes, other allocators, memory to give back."""
import ctypes.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SNAPSHOTS = ROOT / "tests" / "data" / "torch-2.11" / "runs"
DEBIAN_PYTHON = "/usr/bin/python3"
MIB = 1 << 20


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
    done = subprocess.run([interpreter, "-c", code], env=variables, text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if check and done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stdout}")
    return done.stdout.strip()


def debian_python(code, **environment):
    """The same with Debian's Python, which has Debian's numpy and PyTorch, and with this package."""
    import ebb
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
