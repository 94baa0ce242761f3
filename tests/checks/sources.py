# SPDX-License-Identifier: Apache-2.0
"""Every source file opens with its licence; no file under src/ or include/ is too long to read.

  sources.py ROOT
"""
import sys
from pathlib import Path
from typing import List

from common import CODE, code_files, finish

LICENCE = "SPDX-License-Identifier: Apache-2.0"
FOLDERS = ("src", "include", "web", "tests", "bench", "examples", "python", "scripts", ".ci")
SCRIPTS = {".py", ".js", ".mjs", ".css"}
LONG, TOO_LONG = 300, 400


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


if __name__ == "__main__":
    finish(missing_licences(Path(sys.argv[1])) + long_files(Path(sys.argv[1])))
