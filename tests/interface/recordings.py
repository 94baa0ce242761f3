# SPDX-License-Identifier: Apache-2.0
"""The recordings: text files beside this one, in sections that open with a line `$ what`.

Lines before the first section, and empty ones, are for readers. An update adds what is new and
takes nothing away: what is meant to go is taken out by hand.
"""
from pathlib import Path
from typing import Dict, List, NamedTuple

HERE = Path(__file__).resolve().parent
HOW = "cmake --build BUILD --target record_interface writes it down"


class Recording(NamedTuple):
    opening: List[str]
    sections: Dict[str, List[str]]

    def lines(self) -> List[str]:
        """Of a recording without sections."""
        return self.sections.get("", [])


class Part(NamedTuple):
    """What one part of the check came to."""
    violations: List[str]
    additions: List[str]
    skipped: List[str]


def parsed(text: str) -> Recording:
    """Comments open a recording; a section is named by its line `$ …`, one without is named ""."""
    opening: List[str] = []
    sections: Dict[str, List[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("#"):
            if not sections:
                opening.append(line)
        elif line.startswith("$ "):
            name = line[2:]
            if name in sections:
                raise ValueError(f"'{line}' stands there twice")
            sections[name] = []
        elif line.strip():
            sections.setdefault(name, []).append(line.strip())
    return Recording(opening, sections)


def text_of(recording: Recording) -> str:
    parts = ["\n".join(recording.opening)] if recording.opening else []
    for name, lines in recording.sections.items():
        parts.append("\n".join(([f"$ {name}"] if name else []) + lines))
    return "\n\n".join(parts) + "\n"


def read(name: str, folder: Path = HERE) -> Recording:
    return parsed((folder / name).read_text(encoding="utf-8"))


def write(name: str, recording: Recording, folder: Path = HERE) -> None:
    (folder / name).write_text(text_of(recording), encoding="utf-8")
