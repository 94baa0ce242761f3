# SPDX-License-Identifier: Apache-2.0
"""The keys of everything that is printed as JSON, and of the files of a simulation.

json_keys.txt has a section per command, with the shape (`shapes.py`) of what it prints.
simulation_folder.txt has a section per command, with the files that it leaves in {tmp}, and the
shape of those that are JSON:

  checkpoint
  config.json > alpha: number
"""
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Dict, List

import shapes
from programs import Programs
from recordings import Part, Recording

_FILE_LINE = re.compile(r"(?P<file>\S+)(?: > (?P<shape>.+))?")

# What is found for one command: shapes by file, "" for what was printed.
Found = Dict[str, shapes.Shape]


def printed(programs: Programs, line: str) -> Found:
    finished = programs.run(line)
    if finished.status != 0:
        raise RuntimeError(f"{line}: exit {finished.status}: {finished.error.strip()}")
    return {"": shapes.shape_of(shapes.parse(finished.output))}


def written(programs: Programs, line: str) -> Found:
    """What a command leaves behind in its folder."""
    folder = programs.fresh()
    finished = programs.run(line.replace("{tmp}", str(folder)))
    if finished.status != 0:
        raise RuntimeError(f"{line}: exit {finished.status}: {finished.error.strip()}")
    found: Found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        is_json = path.suffix in (".json", ".jsonl")
        text = path.read_text(encoding="utf-8") if is_json else ""
        found[str(path.relative_to(folder))] = shapes.shape_of(shapes.parse(text)) if is_json else {}
    return found


def from_lines(lines: List[str]) -> Found:
    """Lines of either recording: those without ` > ` are files where they look like one."""
    files: Dict[str, List[str]] = {}
    for line in lines:
        found = _FILE_LINE.fullmatch(line)
        if found:
            files.setdefault(found["file"], [])
            if found["shape"]:
                files[found["file"]].append(found["shape"])
        else:
            files.setdefault("", []).append(line)
    return {name: shapes.from_lines(shape) for name, shape in files.items()}


def to_lines(found: Found) -> List[str]:
    lines: List[str] = []
    for name, shape in found.items():
        if not name:
            lines += shapes.lines_of(shape)
        elif shape:
            lines += [f"{name} > {line}" for line in shapes.lines_of(shape)]
        else:
            lines.append(name)
    return lines


def compare(line: str, recorded: Found, found: Found) -> Part:
    violations: List[str] = []
    additions: List[str] = []
    for name, shape in recorded.items():
        if name not in found:
            violations.append(f"{line}: the file {name} is gone")
            continue
        now = shapes.folded(found[name], shape)
        where = f"{line}: {name + ': ' if name else ''}"
        violations += [where + words for words in shapes.lost(shape, now)]
        additions += [where + path for path in shapes.added(shape, now)]
    additions += [f"{line}: the file {name}" for name in found if name not in recorded]
    return Part(violations, additions, [])


class Keys:
    """One of the two recordings: how what a command left is found."""

    def __init__(self, find: Callable[[Programs, str], Found]) -> None:
        self._find = find

    def found(self, recording: Recording, programs: Programs) -> Dict[str, Found]:
        lines = [line for line in recording.sections if programs.can_run(line)]
        with ThreadPoolExecutor(2) as pool:
            return dict(zip(lines, pool.map(lambda line: self._find(programs, line), lines)))

    def check(self, recording: Recording, programs: Programs) -> Part:
        whole = Part([], [], [line for line in recording.sections if not programs.can_run(line)])
        for line, found in self.found(recording, programs).items():
            part = compare(line, from_lines(recording.sections[line]), found)
            whole.violations.extend(part.violations)
            whole.additions.extend(part.additions)
        return whole

    def update(self, recording: Recording, programs: Programs) -> Recording:
        sections = dict(recording.sections)
        for line, found in self.found(recording, programs).items():
            recorded = from_lines(sections[line])
            both = dict(recorded)
            for name, shape in found.items():
                before = recorded.get(name, {})
                both[name] = shapes.merged(before, shapes.folded(shape, before))
            sections[line] = to_lines(both)
        return Recording(recording.opening, sections)


PRINTED = Keys(printed)
WRITTEN = Keys(written)

