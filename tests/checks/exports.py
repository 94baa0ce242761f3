# SPDX-License-Identifier: Apache-2.0
"""Holds a shared library against the list of what it may export, and looks at what it needs.

  exports.py LIBRARY LIST
"""
import re
import subprocess
import sys
from pathlib import Path
from typing import List

from common import finish

# Beyond these a process would have to bring something along.
MAY_NEED = re.compile(r"(libc|libm|libdl|libpthread|ld-linux[-\w]*)\.so\.\d+")


def run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def exported(library: Path) -> List[str]:
    """Defined dynamic symbols with their version, e.g. ebb_version@@EBB_0."""
    rows = [line.split() for line in run("nm", "-D", "--defined-only", str(library)).splitlines()]
    # Version nodes themselves show up as absolute symbols.
    return sorted(row[-1] for row in rows if row[-2] != "A")


def needed(library: Path) -> List[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--wide", "-d", str(library)))


def read_list(path: Path) -> List[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def check(library: Path, list_file: Path) -> List[str]:
    wanted, found = read_list(list_file), exported(library)
    violations = []
    if wanted != sorted(set(wanted)):
        violations.append(f"{list_file}: expected sorted lines, each once")
    violations += [f"{library.name} exports {name}, a C++ symbol"
                   for name in found if name.startswith("_Z") and name not in wanted]
    violations += [f"{library.name} exports {name}, which is not in {list_file.name}"
                   for name in found if name not in wanted]
    violations += [f"{library.name} does not export {name}, which is in {list_file.name}"
                   for name in wanted if name not in found]
    violations += [f"{library.name} needs {name}, expected nothing beyond the C library"
                   for name in needed(library) if not MAY_NEED.fullmatch(name)]
    return violations


if __name__ == "__main__":
    finish(check(Path(sys.argv[1]), Path(sys.argv[2])))
