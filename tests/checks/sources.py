# SPDX-License-Identifier: Apache-2.0
"""Every source file opens with its licence; no file under src/ or include/ is too long to read, and src/cli stays
verbs: what else it would hold belongs to a layer below. Folders are read in one way only. The walks through the code
lead through files that are there.

  sources.py ROOT
"""
import re
import sys
from pathlib import Path
from typing import List

from common import CODE, code_files, finish

LICENCE = "SPDX-License-Identifier: Apache-2.0"
FOLDERS = ("src", "include", "web", "tests", "bench", "examples", "python", "scripts", ".ci")
SCRIPTS = {".py", ".js", ".mjs", ".css"}
LONG, TOO_LONG = 300, 400
WALKS, LONGEST_WALKS, MOST_STATIONS = "docs/how-it-flows.md", 60, 12
CROWDED = {"src/cli": 3000}


def opening(path: Path) -> List[str]:
    with path.open("rb") as file:
        return [file.readline(200).decode("utf-8", "replace") for _ in range(2)]


def missing_licences(root: Path) -> List[str]:
    violations = []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")):
        if not path.is_file() or "tests/data" in path.relative_to(root).as_posix():
            continue
        first, second = opening(path)
        script = first.startswith("#!")
        if path.suffix not in CODE | SCRIPTS and not script:
            continue
        if LICENCE not in (second if script else first):
            violations.append(f"{path.relative_to(root)}:{2 if script else 1}: expected a line with "
                              f"'{LICENCE}'")
    return violations


def long_files(root: Path) -> List[str]:
    violations = []
    for path in code_files(root, "src", "include"):
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > TOO_LONG:
            violations.append(f"{path.relative_to(root)}: {count} lines, expected at most {TOO_LONG}")
        elif count > LONG:
            print(f"{path.relative_to(root)}: {count} lines, more than {LONG}: time to split it")
    return violations


def crowded_folders(root: Path) -> List[str]:
    violations = []
    for folder, most in CROWDED.items():
        count = sum(len(path.read_text(encoding="utf-8").splitlines())
                    for path in code_files(root, folder))
        print(f"{folder}: {count} of {most} lines")
        if count > most:
            violations.append(f"{folder}: {count} lines, expected at most {most}: move what is no verb "
                              f"to the layer that it belongs to")
    return violations


def folder_iterators(root: Path) -> List[str]:
    """libstdc++'s end the process where there is no memory for a name."""
    return [f"{path.relative_to(root)}:{number}: expected base::read_folder in place of std::filesystem's iterator"
            for path in code_files(root, "src", "include")
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if "directory_iterator" in line]


def walks(root: Path) -> List[str]:
    """docs/how-it-flows.md stays a page, its first walk one of few stations, and all that it names is there."""
    text = (root / WALKS).read_text(encoding="utf-8")
    violations = []
    lines = text.splitlines()
    if len(lines) > LONGEST_WALKS:
        violations.append(f"{WALKS}: {len(lines)} lines, expected at most {LONGEST_WALKS}")
    first = text.split("\n## ")[1]
    stations = len(re.findall(r"^\| \d+ \|", first, re.MULTILINE))
    if stations > MOST_STATIONS:
        violations.append(f"{WALKS}: the first walk has {stations} stations, expected at most {MOST_STATIONS}")
    violations += [f"{WALKS}: names {name}, which is not there"
                   for name in sorted(set(re.findall(r"`(src/[\w/.]+)`", text))) if not (root / name).exists()]
    return violations


if __name__ == "__main__":
    root_folder = Path(sys.argv[1])
    finish(missing_licences(root_folder) + long_files(root_folder) + crowded_folders(root_folder) +
           folder_iterators(root_folder) + walks(root_folder))
