# SPDX-License-Identifier: Apache-2.0
"""include/ebb/ebb.h, with what it includes, as a compiler sees it: structs with their offsets, constants, functions.

structs.txt holds one fact per line:

  sizeof(ebb_sum_report) = 40
  offsetof(ebb_sum_report, weight) = 32, 8 bytes
  EBB_OK = 0
  const char* ebb_version(void)

Constants and functions may be added, and so may structs. A struct may grow at its end, too, since
callers say how large theirs is: that its size is another one is then recorded by hand.
"""
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple

from recordings import Part, Recording

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\} \1;", re.DOTALL)
_FIELD = re.compile(r"(\w+)\s*(?:\[\w+\]\s*)?;")
_ENUM = re.compile(r"typedef enum \w+ \{(.*?)\} \w+;", re.DOTALL)
_DEFINE = re.compile(r"^#define (EBB_\w+) +\S", re.MULTILINE)
_FUNCTION = re.compile(r"EBB_API ([^;{]*?\b(ebb_\w+)\([^;]*\));")
_CALLBACK = re.compile(r"(typedef [^;{]*\(\*(ebb_\w+)\)\([^;]*\));")
_NAME = re.compile(r"\b(ebb_\w+)\)?\(")


class Header(NamedTuple):
    """What a header declares, by name."""
    structs: Dict[str, List[str]]
    constants: List[str]
    functions: Dict[str, str]


def declarations(include: Path) -> str:
    """ebb.h and its parts."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted((include / "ebb").glob("*.h")))


def read(text: str) -> Header:
    text = _COMMENT.sub("", text)
    structs = {name: _FIELD.findall(body) for name, body in _STRUCT.findall(text)}
    constants = [name for body in _ENUM.findall(text) for name in re.findall(r"(\w+) *=", body)]
    constants += [name for name in _DEFINE.findall(text) if name not in ("EBB_API", "EBB_EBB_H")]
    declared = _CALLBACK.findall(text) + _FUNCTION.findall(text)
    functions = {name: " ".join(words.split()) for words, name in declared}
    return Header(structs, constants, functions)


def compile_c(code: str, include: Path, *options: str) -> subprocess.CompletedProcess:
    compiler = os.environ.get("CXX", "c++")
    return subprocess.run([compiler, "-x", "c", "-std=c11", "-Werror", f"-I{include}", *options, "-"],
                          input=code, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def facts(include: Path) -> Dict[str, str]:
    """What the compiler makes of the header: `sizeof(x)` and the like, and their values."""
    header = read(declarations(include))
    lines = []
    for name, fields in header.structs.items():
        lines.append(f'printf("sizeof({name}) = %zu\\n", sizeof({name}));')
        lines += [f'printf("offsetof({name}, {field}) = %zu, %zu bytes\\n", '
                  f'offsetof({name}, {field}), sizeof((({name}*)0)->{field}));' for field in fields]
    lines += [f'printf("{name} = %lld\\n", (long long)({name}));' for name in header.constants]
    code = "#include <stdio.h>\n#include <ebb/ebb.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "facts"
        built = compile_c(code, include, "-o", str(program))
        if built.returncode != 0:
            raise RuntimeError(f"ebb.h does not compile as C:\n{built.stdout}")
        text = subprocess.run([str(program)], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = dict(line.split(" = ") for line in text.splitlines())
    found.update({declared: "" for declared in header.functions.values()})
    return found


def parsed(lines: List[str]) -> Dict[str, str]:
    return {name: value for name, _, value in (line.partition(" = ") for line in lines)}


def lines_of(found: Dict[str, str]) -> List[str]:
    return [f"{name} = {value}" if value else name for name, value in found.items()]


def changed_functions(declared: List[str], include: Path) -> List[str]:
    """A function declared twice has to be the same both times: the compiler says where it is not."""
    header = read(declarations(include))
    names = {line: _NAME.search(line)[1] for line in declared}
    violations = [f"{name} is no longer declared" for name in names.values()
                  if name not in header.functions]
    alone = [line for line, name in names.items() if name in header.functions]
    code = "#include <ebb/ebb.h>\n"
    if compile_c(code + "".join(f"{line};\n" for line in alone), include,
                 "-fsyntax-only").returncode == 0:
        return violations
    for line in alone:
        if compile_c(f"{code}{line};\n", include, "-fsyntax-only").returncode != 0:
            violations.append(f"{names[line]} was declared as '{line}' and now is "
                              f"'{header.functions[names[line]]}'")
    return violations


def violations(recorded: Dict[str, str], found: Dict[str, str], include: Path) -> List[str]:
    lost = changed_functions([name for name, value in recorded.items() if not value], include)
    for name, value in recorded.items():
        now = found.get(name)
        if not value or now == value:
            continue
        if now is None:
            lost.append(f"{name} is gone, it was {value}")
        else:
            lost.append(f"{name} was {value} and has become {now}")
    return lost


def added(recorded: Dict[str, str], found: Dict[str, str]) -> List[str]:
    declared = {_NAME.search(name)[1] for name, value in recorded.items() if not value}
    return [name for name, value in found.items()
            if (name not in recorded if value else _NAME.search(name)[1] not in declared)]


def check(recording: Recording, include: Path) -> Part:
    recorded, found = parsed(recording.lines()), facts(include)
    return Part(violations(recorded, found, include), added(recorded, found), [])


def update(recording: Recording, include: Path) -> Recording:
    recorded, found = parsed(recording.lines()), facts(include)
    new = {name: found[name] for name in added(recorded, found)}
    return Recording(recording.opening, {"": lines_of({**recorded, **new})})
