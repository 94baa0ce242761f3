# SPDX-License-Identifier: Apache-2.0
"""Holds what users and programs rely on against the recordings beside this file.

  interface.py [--update] [--complete] --ebb PROGRAM --library LIBRARY [--nvml LIBRARY] [PART...]

What was recorded must still be there and be the same; additions are named, and --update records
them. It takes nothing out of a recording: a change that is meant is made there by hand.
"""
import argparse
import sys
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, NamedTuple

import json_keys
import options
import recordings
import schema
import statuses
import structs
import written_before
from programs import Programs
from recordings import Part, Recording

INCLUDE = recordings.HERE.parent.parent / "include"


class Recorded(NamedTuple):
    """A recording, what compares it with the programs, and what adds to it."""
    file: str
    check: Callable[[Recording, Programs], Part]
    update: Callable[[Recording, Programs], Recording]


PARTS: Dict[str, Recorded] = {
    "structs": Recorded("structs.txt", lambda recording, _: structs.check(recording, INCLUDE),
                        lambda recording, _: structs.update(recording, INCLUDE)),
    "options": Recorded("options.txt", options.check, options.update),
    "statuses": Recorded("exit_statuses.txt", statuses.check, statuses.update),
    "keys": Recorded("json_keys.txt", json_keys.PRINTED.check, json_keys.PRINTED.update),
    "schema": Recorded("schema.txt", schema.check, schema.update),
    "folder": Recorded("simulation_folder.txt", json_keys.WRITTEN.check, json_keys.WRITTEN.update),
}
# What an earlier Ebb wrote is no recording: it stays as it is.
EARLIER: Dict[str, Callable[[Programs], Part]] = {
    "record": written_before.check_record,
    "resume": written_before.check_simulation,
}


def show(name: str, part: Part) -> None:
    for line in part.skipped:
        print(f"{name}: left out, this build cannot run it: {line}")
    for line in part.additions:
        print(f"{name}: new: {line}")
    if part.additions:
        print(f"{name}: {recordings.HOW}")
    for line in part.violations:
        print(f"{name}: {line}", file=sys.stderr)


def check(name: str, programs: Programs) -> Part:
    if name in EARLIER:
        return EARLIER[name](programs)
    recorded = PARTS[name]
    return recorded.check(recordings.read(recorded.file), programs)


def update(name: str, programs: Programs) -> None:
    if name in PARTS:
        recorded = PARTS[name]
        before = recordings.read(recorded.file)
        recordings.write(recorded.file, recorded.update(before, programs))


def main(words: List[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join([*PARTS, *EARLIER]))
    parser.add_argument("--ebb", type=Path, required=True, help="the program")
    parser.add_argument("--library", type=Path, help="libebb.so")
    parser.add_argument("--nvml", type=Path, help="a library that plays GPUs")
    parser.add_argument("--update", action="store_true", help="record what was added")
    parser.add_argument("--complete", action="store_true",
                        help="the build has all programs: one that is missing is a failure")
    given = parser.parse_args(words)
    unknown = [part for part in given.parts if part not in PARTS and part not in EARLIER]
    if unknown:
        parser.error(f"unknown part '{unknown[0]}', expected {', '.join([*PARTS, *EARLIER])}")
    violated = False
    for name in given.parts or [*PARTS, *EARLIER]:
        with tempfile.TemporaryDirectory() as folder:
            programs = Programs(given.ebb, Path(folder), given.library, given.nvml)
            if given.update:
                update(name, programs)
            part = check(name, programs)
        show(name, part)
        violated = violated or bool(part.violations or given.complete and part.skipped)
    return 1 if violated else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
