# SPDX-License-Identifier: Apache-2.0
"""Holds every #include of something that is not ours against doors.txt.

  doors.py ROOT DOORS
"""
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import List, NamedTuple

from common import Include, code_files, finish, includes


class Door(NamedTuple):
    pattern: str
    places: List[str]


def read_doors(path: Path) -> List[Door]:
    doors = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            patterns, _, places = line.partition(":")
            doors += [Door(pattern, places.split()) for pattern in patterns.split()]
    return doors


def is_standard(include: Include) -> bool:
    return not include.quoted and "." not in include.name and "/" not in include.name


def may_enter(place: str, path: str) -> bool:
    return place == "*" or path == place or path.startswith(place + "/")


def check(root: Path, doors: List[Door]) -> List[str]:
    ours = {path.name for path in (root / "src").iterdir() if path.is_dir()} | {"ebb"}
    violations = []
    for path in code_files(root, "src", "include"):
        name = path.relative_to(root).as_posix()
        for include in includes(path):
            if is_standard(include) or include.folder in ours:
                continue
            place = f"{name}:{include.line}: {include.name}"
            door = next((d for d in doors if fnmatchcase(include.name, d.pattern)), None)
            if door is None:
                violations.append(f"{place} has no line in doors.txt")
            elif not any(may_enter(allowed, name) for allowed in door.places):
                violations.append(f"{place} may be included from: "
                                  f"{' '.join(door.places) or 'nowhere'}")
    return violations


if __name__ == "__main__":
    finish(check(Path(sys.argv[1]), read_doors(Path(sys.argv[2]))))
