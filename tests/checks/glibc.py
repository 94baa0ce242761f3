# SPDX-License-Identifier: Apache-2.0
"""What programs and libraries call by name is there in glibc 2.28, for which `make wheel` compiles.

  glibc.py FILE...

A symbol that this machine's C library also has in a version of 2.28 or older (`pthread_create`, which has moved
between its libraries) is no violation, nor is one that only headers and runtimes of this machine put there.
"""
import re
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

from common import finish
from exports import run

Version = Tuple[int, ...]
OLDEST = (2, 28)
# Inline functions before glibc 2.33; what libstdc++, libgcc and the headers use where they find it.
NOT_OURS = re.compile(r"[fl]?stat(64)?|fstatat(64)?|mknod(at)?|pthread_(mutex|cond|rwlock)_clock\w+"
                      r"|__libc_single_threaded|_dl_find_object|arc4random|__isoc23_\w+")
C_LIBRARY = re.compile(r"(/\S+/(?:lib[cm]|ld-linux[\w-]*)\.so\.\d+)")
SYMBOL = re.compile(r" (UND|\d+) ([^\s@]+)@@?GLIBC_([\d.]+)")


def symbols(path: Path) -> Iterator[Tuple[bool, str, Version]]:
    """Of each versioned symbol: whether others have to bring it, its name, its version."""
    for section, name, number in SYMBOL.findall(run("readelf", "--wide", "--dyn-syms", str(path))):
        yield section == "UND", name, tuple(map(int, number.split(".")))


def libraries(path: Path) -> Set[Path]:
    """Those of the C library that are loaded with a program or library."""
    return set(map(Path, C_LIBRARY.findall(run("ldd", str(path)))))


def text(version: Version) -> str:
    return ".".join(map(str, version))


def check(files: List[Path]) -> List[str]:
    first: Dict[str, Version] = {}
    for library in set().union(*map(libraries, files)):
        for wanted, name, version in symbols(library):
            if not wanted:
                first[name] = min(version, first.get(name, version))
    if not first:
        return ["no C library found, expected these to be loaded with one: " + ", ".join(map(str, files))]
    violations = []
    for path in files:
        for wanted, name, version in sorted(symbols(path)):
            oldest = first.get(name, version)
            if wanted and oldest > OLDEST and not NOT_OURS.fullmatch(name):
                violations.append(f"{path.name} calls {name}, which came with glibc {text(oldest)}; expected nothing "
                                  f"beyond {text(OLDEST)}")
    return violations


if __name__ == "__main__":
    finish(check([Path(word) for word in sys.argv[1:]]))
