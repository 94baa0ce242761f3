# SPDX-License-Identifier: Apache-2.0
"""Builds Ebb where nothing but a compiler, make and CMake can be seen: inside another project, which
then uses it, and by itself with the preset `bare`.

  bare.py SOURCE FOLDER

FOLDER keeps the build, so that a second run compiles only what has changed.
The compiler runs from a system root that holds only the files of its own packages, so that its
headers and libraries are the only ones there are; of other programs a build sees the few below.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

from common import finish

# clang takes two thirds of GCC's time, and what users run is built by GCC.
COMPILERS = ("clang-14", "clang++-14")
PROGRAMS = ("cmake", "make", "as", "ld", "ar", "ranlib", "nm", "strip", "objcopy", "objdump",
            "readelf", "sh", "uname")
LIBRARY_PACKAGES = ("libc6-dev", "libc6", "linux-libc-dev", "libcrypt-dev", "libstdc++-{}-dev",
                    "libgcc-{}-dev", "libstdc++6", "libgcc-s1", "libclang-common-14-dev")
# Documents, sanitizers and other tools: big, and no part of this build.
UNUSED = re.compile(r"^/usr/share/|^/etc/|/lib[a-z]+san\.a$|/libclang_rt\.|^/usr/lib/llvm-14/share/")
# No searching outside of the root; programs run on this machine and stay visible.
TOOLCHAIN = """set(CMAKE_SYSROOT "{root}")
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_CXX_COMPILER clang++-14)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
"""


class BareMachine:
    """A system root, a PATH and a toolchain file below `folder`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.root, self.bin = folder / "root", folder / "bin"
        self.toolchain = folder / "toolchain.cmake"
        made_of, packages = folder / "made-of.txt", versions_of(compiler_packages())
        if made_of.exists() and made_of.read_text(encoding="utf-8") == packages:
            return
        shutil.rmtree(folder, ignore_errors=True)
        self.bin.mkdir(parents=True)
        self._copy_packages()
        for name in COMPILERS:
            installed = Path(os.path.realpath(shutil.which(name)))
            (self.bin / name).symlink_to(self.root / installed.relative_to("/"))
        for name in PROGRAMS:
            program = shutil.which(name)
            if program:
                (self.bin / name).symlink_to(program)
        self.toolchain.write_text(TOOLCHAIN.format(root=self.root), encoding="utf-8")
        made_of.write_text(packages, encoding="utf-8")

    def run(self, *command) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False,
                              env={"PATH": str(self.bin), "LC_ALL": "C", "HOME": str(self.folder)})

    def compile(self, code: str, *options: str) -> subprocess.CompletedProcess:
        """Compiles and links a program with what the system root has."""
        source = self.folder / "probe.cpp"
        source.write_text(code, encoding="utf-8")
        return self.run(COMPILERS[1], f"--sysroot={self.root}", source, "-o", self.folder / "probe", *options)

    def _copy_packages(self) -> None:
        # Where /lib is a link to /usr/lib, one copy serves both names.
        for name in ("bin", "lib", "lib32", "lib64", "libx32"):
            if Path("/", name).is_symlink():
                (self.root / "usr" / name).mkdir(parents=True)
                (self.root / name).symlink_to(f"usr/{name}")
        for path in files_of(compiler_packages()):
            target = self.root / path.relative_to("/")
            if UNUSED.search(str(path)) or target.exists() or target.is_symlink():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target, follow_symlinks=False)


def output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def compiler_packages() -> List[str]:
    """The packages of the compilers themselves and of the headers and libraries they use."""
    major = output("g++", "-dumpversion").split(".")[0].strip()
    parts = [os.path.realpath(shutil.which(name)) for name in COMPILERS]
    owners = {line.split(":")[0] for line in output("dpkg", "-S", *parts).splitlines()}
    return sorted(owners) + [name.format(major) for name in LIBRARY_PACKAGES]


def versions_of(packages: List[str]) -> str:
    return output("dpkg-query", "-W", *packages)


def files_of(packages: List[str]) -> List[Path]:
    paths = (Path(line) for line in output("dpkg", "-L", *packages).splitlines())
    return [path for path in paths if path.is_absolute() and (path.is_symlink() or path.is_file())]


def require_debian() -> None:
    if not shutil.which("dpkg"):
        sys.exit("bare: needs dpkg to know which files the compiler's packages ship; not found here")


def check(source: Path, folder: Path) -> List[str]:
    machine, inside, alone = BareMachine(folder), folder / "inside", folder / "alone"
    # What is to be seen is that it builds; the optimised build is tested elsewhere.
    quick = ("--toolchain", machine.toolchain, "-G", "Unix Makefiles", "-DCMAKE_BUILD_TYPE=Debug",
             "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
    jobs = len(os.sched_getaffinity(0))
    steps = (
        # All of it, once: as strictly as by itself.
        ("cmake", "-S", source / "tests/install/subdirectory", "-B", inside, *quick,
         f"-DEBB_SOURCE={source}", "-DEBB_WARNINGS_AS_ERRORS=ON", "-DEBB_INSTALL=ON",
         "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=40"),
        ("cmake", "--build", inside, "--parallel", jobs),
        # And what only a build of Ebb by itself has.
        ("cmake", "--preset", "bare", "-S", source, "-B", alone, *quick),
        ("cmake", "--build", alone, "--parallel", jobs, "--target", "ebb-driver-check"),
    )
    for step in steps:
        done = machine.run(*step)
        if done.returncode != 0:
            return [f"{' '.join(map(str, step))}: exit {done.returncode}\n{done.stdout}"]
    if not (inside / "ebb/lib/libebb.so").exists():
        return ["the bare build left no libebb.so"]
    said = machine.run(inside / "consumer").stdout
    text = (source / "CMakeLists.txt").read_text(encoding="utf-8")
    wanted = f"ebb {re.search(r'^project.ebb VERSION (.+) DESCRIPTION', text, re.MULTILINE)[1]}\n"
    return [] if said == wanted else [f"the project around Ebb printed {said!r}, expected {wanted!r}"]


if __name__ == "__main__":
    require_debian()
    finish(check(Path(sys.argv[1]), Path(sys.argv[2])))
