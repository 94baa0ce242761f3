# SPDX-License-Identifier: Apache-2.0
"""A C and C++ compiler for another C library: clang, lld and libc++ as zig brings them, from PyPI."""
import hashlib
import os
import shutil
import sys
from pathlib import Path

from packing.places import CACHE, output, run, say

WANTED = Path(__file__).with_name("requirements.txt")
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = (2, 28)


def platform(architecture, glibc=GLIBC):
    """The platform in a wheel's name (PEP 600): manylinux_2_28_x86_64."""
    if architecture not in ARCHITECTURES:
        raise ValueError(f"{architecture}: expected one of {', '.join(ARCHITECTURES)}")
    return f"manylinux_{glibc[0]}_{glibc[1]}_{architecture}"


def environment():
    """A virtual environment with WANTED, shared by all checkouts of a user and made once per list."""
    named = hashlib.sha256(f"{os.path.realpath(sys.executable)}\n".encode() + WANTED.read_bytes())
    folder = CACHE / f"wheel-{named.hexdigest()[:16]}"
    if folder.exists():
        return folder
    names = " and ".join(line for line in WANTED.read_text("utf-8").split("\n")
                         if line and not line.startswith("#"))
    say(f"fetches {names} from PyPI, once, into {folder}")
    made = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(made, ignore_errors=True)
    run(sys.executable, "-m", "venv", made)
    run(made / "bin/python", "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "-r", WANTED)
    try:
        made.rename(folder)
    except OSError:  # another checkout was quicker
        shutil.rmtree(made, ignore_errors=True)
    return folder


def zig():
    return next(environment().glob("lib/python3*/site-packages/ziglang/zig"))


def auditwheel(wheel):
    """What `auditwheel show` says of a wheel."""
    return output(environment() / "bin/python", "-m", "auditwheel", "show", wheel)


def glibc_target(architecture):
    """What zig calls an architecture with the C library of the wheel."""
    return f"{architecture}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"


def write_tools(folder, target):
    """Programs named cc, c++, ar and ranlib for one of zig's targets, as CMake wants them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cc", "c++", "ar", "ranlib"):
        options = f"-target {target}" if name.startswith("c") else ""
        tool = folder / name
        text = (f"#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR='{CACHE / 'zig'}'\n"
                f"exec '{zig()}' {name} {options} \"$@\"\n")
        if not tool.exists() or tool.read_text("utf-8") != text:
            tool.write_text(text, encoding="utf-8")
            tool.chmod(0o755)
    return folder


def definitions(tools, architecture):
    """CMake's options for a release build with these tools."""
    return [f"-DCMAKE_C_COMPILER={tools / 'cc'}", f"-DCMAKE_CXX_COMPILER={tools / 'c++'}",
            f"-DCMAKE_AR={tools / 'ar'}", f"-DCMAKE_RANLIB={tools / 'ranlib'}",
            "-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={architecture}",
            "-DCMAKE_BUILD_TYPE=Release",
            # Traps for undefined behaviour are what zig adds where nobody asks otherwise.
            *(f"-DCMAKE_{language}_FLAGS=-fno-sanitize=undefined" for language in ("C", "CXX")),
            *(f"-DCMAKE_{kind}_LINKER_FLAGS=-s" for kind in ("EXE", "SHARED", "MODULE"))]
