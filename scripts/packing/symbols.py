# SPDX-License-Identifier: Apache-2.0
"""What a library or program needs of the machine it runs on: libraries, and versions of the C library.

  python3 -m packing.symbols FILE...      (from scripts/; ends with 1 where a file needs more)
"""
import re
import subprocess
import sys
from pathlib import Path

from packing.toolchain import GLIBC

# All of them parts of the C library. libstdc++, libgcc_s and SQLite are linked in.
MAY_NEED = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux[-\w]*)\.so\.\d+")
NEEDED = re.compile(r"\(NEEDED\).*\[(.*)\]")
# An undefined symbol in a line of readelf --dyn-syms: ... UND fcntl64@GLIBC_2.28 (3)
UNDEFINED = re.compile(r" UND (\S+)@(\w+?)_([\d.]+)\b")


def readelf(*arguments):
    return subprocess.run(["readelf", "--wide", *map(str, arguments)], check=True, text=True,
                          stdout=subprocess.PIPE, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def needed(path):
    """The libraries that are loaded with a file."""
    return NEEDED.findall(readelf("--dynamic", path))


def versions(path):
    """{symbol: (library, (2, 34))} of every versioned symbol that others have to bring."""
    return {name: (library, tuple(int(part) for part in number.split(".")))
            for name, library, number in UNDEFINED.findall(readelf("--dyn-syms", path))}


def highest(path):
    """The newest version of glibc that a file needs a symbol of."""
    return max((number for library, number in versions(path).values() if library == "GLIBC"), default=())


def violations(path, glibc=GLIBC):
    """One line for each library and symbol beyond what a machine with this glibc has."""
    path = Path(path)
    limit = ".".join(map(str, glibc))
    found = [f"{path.name} needs {name}, expected nothing beyond the C library"
             for name in needed(path) if not MAY_NEED.fullmatch(name)]
    for name, (library, number) in sorted(versions(path).items()):
        text = ".".join(map(str, number))
        if library != "GLIBC":
            found.append(f"{path.name} needs {name} of {library} {text}, expected only GLIBC")
        elif number > glibc:
            found.append(f"{path.name} needs {name} of glibc {text}, expected {limit} or older")
    return found


if __name__ == "__main__":
    lines = [line for file in sys.argv[1:] for line in violations(file)]
    print("\n".join(lines) or "nothing beyond glibc " + ".".join(map(str, GLIBC)))
    sys.exit(1 if lines else 0)
