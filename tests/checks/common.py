# SPDX-License-Identifier: Apache-2.0
"""What the checks share: finding source files, reading their includes, reporting."""
import re
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple

CODE = {".h", ".hpp", ".c", ".cpp", ".cu"}
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


class Include(NamedTuple):
    line: int
    quoted: bool
    name: str

    @property
    def folder(self) -> str:
        return self.name.split("/")[0] if "/" in self.name else ""


def code_files(root: Path, *folders: str) -> List[Path]:
    """C and C++ files below the named folders of `root`, in a fixed order."""
    return sorted(path for folder in folders for path in (root / folder).rglob("*")
                  if path.suffix in CODE and path.is_file())


def includes(path: Path) -> Iterator[Include]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = _INCLUDE.match(line)
        if found:
            yield Include(number, found[1] == '"', found[2])


def finish(violations: List[str]) -> None:
    """Prints the violations, one line each, and exits with 1 if there is one."""
    for violation in violations:
        print(violation, file=sys.stderr)
    sys.exit(1 if violations else 0)
