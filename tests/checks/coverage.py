# SPDX-License-Identifier: Apache-2.0
"""Every test that docs/coverage.md, robustness.md and record.md name exists, and no row there goes without one.

  coverage.py ROOT

In a table whose last column is headed "test" or "tests", every row either names tests in backticks or says "not
there". Tests are looked up in the sources: GoogleTest's as Suite.Name, Python's as module.Class.test_name, those of
CMake and fuzzers by their name. Under "tests" names may be short: "…" stands for what one or several of them go on
with, and Name alone belongs to the suite that the cell named before.
"""
import ast
import re
import sys
from pathlib import Path
from typing import Iterator, List, NamedTuple, Set

from common import code_files, finish

PAGES = ("docs/coverage.md", "docs/robustness.md", "docs/record.md")
_MACRO = re.compile(r"^[ \t]*(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
_ADDED = re.compile(r"\badd_test\(\s*NAME\s+(\S+)")
_CALLED = re.compile(r"\b(ebb_chaos_test|ebb_check|ebb_fuzzer|ebb_script_test|under_allocator)\(\s*([\w.]+)")
_LOOP = re.compile(r"\bforeach\(\s*(\w+)\s+([^)$]*)\)")
_LIST = re.compile(r"\b(?:set|list\(APPEND)\b\(?\s*(\w+)\s+([^)$]*)\)")
_FUNCTIONS = {
    "ebb_chaos_test": ("{}",),
    "ebb_check": ("check.{}", "check.{}.planted"),
    "ebb_fuzzer": ("{}",),
    "ebb_script_test": ("page.{}",),
    "under_allocator": ("conformance.host_allocator.{}", "stress.allocator.{}", "stress-long.allocator.{}"),
}


class Row(NamedTuple):
    line: int
    test: str  # the last cell
    short: bool  # names may be


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


def loop_values(values: str, text: str) -> List[str]:
    """Of `a b`, `IN ITEMS a b` and `IN LISTS name`."""
    words = values.split()
    if words[:2] == ["IN", "LISTS"]:
        return [value for name, found in _LIST.findall(text) if name in words[2:] for value in found.split()]
    return words[2:] if words[:2] == ["IN", "ITEMS"] else words


def cmake_tests(root: Path) -> Set[str]:
    names = set()
    for path in (root / "tests").rglob("CMakeLists.txt"):
        text = path.read_text(encoding="utf-8")
        loops = {variable: loop_values(values, text) for variable, values in _LOOP.findall(text)}
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
    """Those of tables whose last column is headed "test" or "tests"."""
    inside, fresh = "", False
    for number, line in enumerate(page.splitlines(), 1):
        if not line.startswith("|"):
            inside, fresh = "", True
            continue
        last = line.strip().strip("|").split("|")[-1].strip()
        if fresh:
            inside, fresh = last if last in ("test", "tests") else "", False
        elif inside and not set(line) <= set("|-: "):
            yield Row(number, last, inside == "tests")


def missing(row: Row, there: Set[str]) -> Iterator[str]:
    """The names in a row that no test has."""
    suite = ""
    for name in re.findall(r"`([^`]+)`", row.test):
        if row.short and "." not in name and name[0].isupper():
            name = f"{suite}.{name}"
        suite = name.split(".")[0]
        if row.short and name.endswith("…"):
            if not any(one.startswith(name[:-1]) for one in there):
                yield name
        elif name not in there:
            yield name


def check(root: Path) -> List[str]:
    there = google_tests(root) | python_tests(root) | cmake_tests(root)
    violations = []
    for page in PAGES:
        found = list(rows((root / page).read_text(encoding="utf-8")))
        if not found:
            violations.append(f'{page}: expected a table whose last column is headed "test" or "tests"')
        for row in found:
            if row.test.startswith("not there"):
                continue
            violations += [f"{page}:{row.line}: there is no test {name}" for name in missing(row, there)]
            if "`" not in row.test:
                violations.append(f'{page}:{row.line}: expected the name of a test, or "not there" with the reason')
    return violations


if __name__ == "__main__":
    finish(check(Path(sys.argv[1])))
