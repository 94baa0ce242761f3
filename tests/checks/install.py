# SPDX-License-Identifier: Apache-2.0
"""Installs a build into a fresh prefix, moves it, and uses it as other projects do.

  install.py SOURCE BUILD
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List

from common import finish


class Failed(Exception):
    """A command that should have succeeded; the text says which and what it printed."""


def run(*command, **environment) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment}, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def cache(build: Path) -> Dict[str, str]:
    text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\w+):\w+=(.*)$", text, re.MULTILINE))


class Build:
    """A configured and built tree of Ebb."""

    def __init__(self, source: Path, build: Path):
        self.source, self.build = source, build
        settings = cache(build)
        self.cc, self.cxx = settings["CMAKE_C_COMPILER"], settings["CMAKE_CXX_COMPILER"]
        self.generator = settings["CMAKE_GENERATOR"]
        self.type = settings["CMAKE_BUILD_TYPE"]
        self.libdir = settings["CMAKE_INSTALL_LIBDIR"]
        self.version = settings["CMAKE_PROJECT_VERSION"]

    def install(self, folder: Path) -> Path:
        """Installs below `folder` and moves the tree, so that no absolute path may be left in it."""
        run("cmake", "--install", self.build, "--prefix", folder / "first")
        return (folder / "first").rename(folder / "moved")

    def configure(self, project: Path, folder: Path, *options: str) -> None:
        run("cmake", "-S", project, "-B", folder, "-G", self.generator, "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_C_COMPILER={self.cc}", f"-DCMAKE_CXX_COMPILER={self.cxx}", *options)


def compare_files(build: Build, prefix: Path) -> List[str]:
    names = (build.source / "tests/install/files.txt").read_text(encoding="utf-8")
    names = names.replace("@libdir@", build.libdir).replace("@version@", build.version)
    names = names.replace("-release.cmake", f"-{build.type.lower()}.cmake")
    wanted = {line for line in names.splitlines() if line and not line.startswith("#")}
    found = {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if not path.is_dir()}
    return ([f"installed but not in files.txt: {name}" for name in sorted(found - wanted)] +
            [f"in files.txt but not installed: {name}" for name in sorted(wanted - found)])


def by_find_package(build: Build, prefix: Path, project: str, folder: Path, *options: str) -> str:
    build.configure(build.source / "tests/install" / project, folder,
                    f"-DCMAKE_PREFIX_PATH={prefix}", *options)
    run("cmake", "--build", folder)
    return run(folder / "consumer")


def by_pkg_config(build: Build, prefix: Path, compiler: str, main: Path, folder: Path, *options) -> str:
    libraries = prefix / build.libdir
    flags = run("pkg-config", "--cflags", "--libs", "ebb",
                PKG_CONFIG_PATH=str(libraries / "pkgconfig")).split()
    folder.mkdir()
    run(compiler, *options, "-Wall", "-Wextra", "-Wpedantic", "-Werror", main,
        "-o", folder / "consumer", *flags)
    return run(folder / "consumer", LD_LIBRARY_PATH=str(libraries))


def check(build: Build, folder: Path) -> List[str]:
    prefix = build.install(folder)
    consumers = build.source / "tests/install"
    ways = {
        "C by find_package": lambda at: by_find_package(build, prefix, "c", at),
        "C++ by find_package": lambda at: by_find_package(build, prefix, "cpp", at),
        "C by pkg-config": lambda at: by_pkg_config(
            build, prefix, build.cc, consumers / "c/main.c", at, "-std=c99"),
        "C++ by pkg-config": lambda at: by_pkg_config(
            build, prefix, build.cxx, consumers / "cpp/main.cpp", at, "-std=c++20"),
    }
    violations = compare_files(build, prefix)
    for name, use in ways.items():
        try:
            said = use(folder / name.replace(" ", "_"))
        except Failed as failure:
            violations.append(f"{name}: {failure}")
            continue
        if said != f"ebb {build.version}\n":
            violations.append(f"{name}: printed {said!r}, expected 'ebb {build.version}'")
    return violations


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        finish(check(Build(Path(sys.argv[1]), Path(sys.argv[2])), Path(scratch)))
