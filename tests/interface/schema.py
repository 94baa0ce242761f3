# SPDX-License-Identifier: Apache-2.0
"""The tables of the record, as SQLite tells them of a file that was just made.

schema.txt has a line per column, `runs.id: INTEGER key 1`, and the two numbers by which a file is
known. Tables and columns may be added, and the version may rise with them.
"""
import re
import sqlite3
from pathlib import Path
from typing import Dict, List

from programs import Programs
from recordings import Part, Recording

NUMBERS = ("application_id", "user_version")


def read(file: Path) -> Dict[str, str]:
    found: Dict[str, str] = {}
    database = sqlite3.connect(str(file))
    try:
        for name in NUMBERS:
            found[name] = str(database.execute(f"PRAGMA {name}").fetchone()[0])
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' "
                                  "AND name NOT LIKE 'sqlite_%' ORDER BY name").fetchall()
        for (table,) in tables:
            for _, column, kind, not_null, default, key in \
                    database.execute(f"PRAGMA table_info({table})"):
                found[f"{table}.{column}"] = kind + (" not null" if not_null else "") + \
                    (f" default {default}" if default is not None else "") + \
                    (f" key {key}" if key else "")
    finally:
        database.close()
    return found


def found_schema(programs: Programs) -> Dict[str, str]:
    folder = programs.fresh()
    finished = programs.run(f"ebb run --quiet --db {folder}/runs.db -- true")
    if finished.status != 0:
        raise RuntimeError(f"ebb run --db: exit {finished.status}: {finished.error.strip()}")
    return read(folder / "runs.db")


def from_lines(lines: List[str]) -> Dict[str, str]:
    return dict(re.split(r": ", line, maxsplit=1) for line in lines)


def compare(recorded: Dict[str, str], found: Dict[str, str]) -> Part:
    violations = []
    for name, value in recorded.items():
        now = found.get(name)
        if name == "user_version" and now is not None and int(now) >= int(value):
            continue
        if now is None:
            violations.append(f"the record: {name} is gone")
        elif now != value:
            violations.append(f"the record: {name} was '{value}' and has become '{now}'")
    return Part(violations, [f"the record: {name}" for name in found if name not in recorded], [])


def check(recording: Recording, programs: Programs) -> Part:
    return compare(from_lines(recording.lines()), found_schema(programs))


def update(recording: Recording, programs: Programs) -> Recording:
    both = {**found_schema(programs), **from_lines(recording.lines())}
    return Recording(recording.opening, {"": [f"{name}: {value}" for name, value in both.items()]})
