# SPDX-License-Identifier: Apache-2.0
"""Every test that docs/coverage.md names exists, and no row of it goes without one.

  coverage.py ROOT

In a table whose last column is headed "test", every row either names tests in backticks or says "not there".
Tests are looked up in the sources: GoogleTest's as Suite.Name, Python's as module.Class.test_name, those of
CMake by their name.
"""
import ast
import re
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple, Set

from common import code_files, finish

PAGE = "docs/coverage.md"
_MACRO = re.compile(r"^[ \t]*(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
_ADDED = re.compile(r"\badd_test\(\s*NAME\s+(\S+)")
_CALLED = re.compile(r"\b(ebb_check|ebb_script_test|under_allocator)\(\s*(\w+)")
_LOOP = re.compile(r"\bforeach\(\s*(\w+)\s+([^)$]*)\)")
_FUNCTIONS = {
    "ebb_check": ("check.{}", "check.{}.planted"),
    "ebb_script_test": ("page.{}",),
    "under_allocator": ("conformance.host_allocator.{}", "stress.allocator.{}", "stress-long.allocator.{}"),
}


class Row(NamedTuple):
    line: int
    test: str  # the last cell


def google_tests(root: Path) -> Set[str]:
    return {".".join(found) for path in code_files(root, "tests")
            for found in _MACRO.findall(path.read_text(encoding="utf-8"))}


def python_tests(root: Path) -> Set[str]:
    names = set()
    for path in (root / "python/tests").glob("test_*.py"):
        for part in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(part, ast.ClassDef):
                names |= {f"{path.stem}.{part.name}.{method.name}" for method in part.body
                          if isinstance(method, ast.FunctionDef) and method.name.startswith("test_")}
    return names


def cmake_tests(root: Path) -> Set[str]:
    names = set()
    for path in (root / "tests").rglob("CMakeLists.txt"):
        text = path.read_text(encoding="utf-8")
        loops = {variable: values.split() for variable, values in _LOOP.findall(text)}
        for name in _ADDED.findall(text):
            variable = re.search(r"\$\{(\w+)\}", name)
            if variable is None:
                names.add(name)
            else:
                names |= {name.replace(variable[0], value) for value in loops.get(variable[1], [])}
        for function, argument in _CALLED.findall(text):
            names |= {form.format(argument) for form in _FUNCTIONS[function]}
    return names


def rows(page: str) -> Iterator[Row]:
    """Those of tables whose last column is headed "test"."""
    inside = fresh = False
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|"):
            inside, fresh = False, True
            continue
        last = line.strip().strip("|").split("|")[-1].strip()
        if fresh:
            inside, fresh = last == "test", False
        elif inside and not set(line) <= set("|-: "):
            yield Row(number, last)


def check(root: Path) -> List[str]:
    there = google_tests(root) | python_tests(root) | cmake_tests(root)
    found = list(rows((root / PAGE).read_text(encoding="utf-8")))
    violations = [] if found else [f'{PAGE}: expected a table whose last column is headed "test"']
    for row in found:
        if row.test.startswith("not there"):
            continue
        named = re.findall(r"`([^`]+)`", row.test)
        violations += [f"{PAGE}:{row.line}: there is no test {name}" for name in named if name not in there]
        if not named:
            violations.append(f'{PAGE}:{row.line}: expected the name of a test, or "not there" with the reason')
    return violations


if __name__ == "__main__":
    finish(check(Path(sys.argv[1])))
