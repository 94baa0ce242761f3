# SPDX-License-Identifier: Apache-2.0
"""Looks whether layers that promise bits are compiled so that a multiplication and an addition stay two.

  contraction.py BUILD

Every set of options that their files are compiled with compiles an a * b + c, for a processor that could
do it in one instruction, which rounds once.
"""
import json
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Tuple

from common import finish

FOLDERS = ("fl", "sum")
PROBE = "double probe(double a, double b, double c) { return a * b + c; }\n"
FUSED = re.compile(r"\bv?fn?m(add|sub)")
# What decides how arithmetic is compiled.
DECIDES = re.compile(r"-(O|std=|m(arch|cpu|tune|fma)|f(no-)?(fp-contract|fast-math|unsafe|math))")


def layer_of(entry: dict) -> str:
    """The folder of src/ whose library the file goes into, by the object that is made."""
    words = words_of(entry)
    made = words[words.index("-o") + 1] if "-o" in words else ""
    found = re.search(r"(?:^|/)src/(\w+)/(?:\w+/)*CMakeFiles/", made)
    return found[1] if found else ""


def words_of(entry: dict) -> List[str]:
    return entry.get("arguments") or shlex.split(entry["command"])


def option_sets(commands: List[dict]) -> Dict[Tuple[str, ...], str]:
    """Each compiler with options of its own, and one of the files that it compiles."""
    found: Dict[Tuple[str, ...], str] = {}
    for entry in commands:
        if layer_of(entry) in FOLDERS:
            compiler, *rest = words_of(entry)
            found.setdefault((compiler, *(word for word in rest if DECIDES.match(word))),
                             entry["file"])
    return found


def is_fused(command: Tuple[str, ...]) -> bool:
    has_it = ["-mfma"] if platform.machine() == "x86_64" else []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(PROBE, encoding="utf-8")
        made = subprocess.run([*command, *has_it, "-S", "-o", "-", str(source)], check=True,
                              stdout=subprocess.PIPE, text=True)
    return FUSED.search(made.stdout) is not None


def check(build: Path) -> List[str]:
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    sets = option_sets(commands)
    missing = [f"{build}: compiles nothing of src/{folder}" for folder in FOLDERS
               if not any(layer_of(entry) == folder for entry in commands)]
    return missing + [f"{file}: a * b + c is one instruction, expected -ffp-contract=off"
                      for command, file in sets.items() if is_fused(command)]


if __name__ == "__main__":
    finish(check(Path(sys.argv[1])))
