# SPDX-License-Identifier: Apache-2.0
"""Every verb with its options: their names, whether they take a value, and their defaults.

options.txt has a section per verb and a line per option:

  name VALUE required          an argument without dashes
  --conf VALUE...              takes several values
  --parallel-clients, --threads VALUE = auto
  --json                       a switch

Names come from --help; what else it says is no part of the interface. A default comes from what the
program does without the option: from the configuration that a dry run prints, or by giving the
recorded default, which must change nothing, and another value, which must (`defaults.py`). Where
neither can be seen, it is the one that --help shows.
"""
import re
from typing import Dict, List, NamedTuple, Optional

from defaults import Defaults, shown_value
from programs import Programs
from recordings import Part, Recording

_OPTION = re.compile(
    r"  (?P<names>-{0,2}[\w-]+(?:,-{1,2}[\w-]+)*)"
    r"(?: (?P<type>[A-Z]{3,}(?::[^ =]+)?)(?:=(?P<equals>\S+)| \[(?P<bracket>[^\]]*)\])?)?"
    r"(?P<several> \.\.\.)?(?P<required> REQUIRED)?(?:\s+(?P<help>.*))?")
_SECTION = re.compile(r"(\w+):", re.IGNORECASE)
_RECORDED = re.compile(r"(?P<names>-{0,2}[\w-]+(?:, --?[\w-]+)*)(?P<value> VALUE(?:\.\.\.)?)?"
                       r"(?P<required> required)?(?: = (?P<default>.+))?")
# Written as `ebb tune -- COMMAND`; --help of ebb does not list it.
HIDDEN = {"ebb tune -- COMMAND": "ebb tune --help -- true"}


class Option(NamedTuple):
    names: str
    value: str
    required: bool
    default: Optional[str]

    def line(self) -> str:
        return (self.names + self.value + (" required" if self.required else "") +
                (f" = {self.default}" if self.default is not None else ""))


class Help(NamedTuple):
    """What --help of one verb lists, and the words that stand beside each option."""
    options: List[Option]
    verbs: List[str]
    words: Dict[str, str]


def parse_help(text: str) -> Help:
    options: List[Option] = []
    verbs: List[str] = []
    words: Dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        heading = _SECTION.fullmatch(line)
        if heading:
            section = heading[1].lower()
        found = _OPTION.fullmatch(line)
        if not found or line.startswith("   "):
            # The words of an option with a long name stand on the next line.
            if options and section == "options" and line.startswith("    "):
                words[options[-1].names] += " " + line.strip()
            continue
        if section == "subcommands":
            verbs.append(found["names"])
        elif section in ("options", "positionals"):
            value = (" VALUE..." if found["several"] else " VALUE") if found["type"] else ""
            shown = found["equals"] if found["equals"] is not None else found["bracket"]
            names = found["names"].replace(",", ", ")
            options.append(Option(names, value, bool(found["required"]), shown))
            words[names] = found["help"] or ""
    return Help(options, verbs, words)


def parse_line(line: str) -> Option:
    found = _RECORDED.fullmatch(line)
    if not found:
        raise ValueError(f"'{line}': expected a line such as '--warn VALUE = 85'")
    return Option(found["names"], found["value"] or "", bool(found["required"]), found["default"])


def verbs_of(programs: Programs) -> Dict[str, Help]:
    """The help of every verb that the program lists, and of those below them."""
    pages: Dict[str, Help] = {}
    waiting = ["ebb"]
    while waiting:
        verb = waiting.pop(0)
        if not programs.can_run(verb):
            continue
        finished = programs.run(f"{verb} --help")
        if finished.status != 0:
            raise RuntimeError(f"{verb} --help: exit {finished.status}: {finished.error}")
        pages[verb] = parse_help(finished.output)
        waiting += [f"{verb} {below}" for below in pages[verb].verbs]
    for verb, line in HIDDEN.items():
        pages[verb] = parse_help(programs.run(line).output)
    return pages


def _default(verb: str, option: Option, page: Help, recorded: Optional[str],
             defaults: Defaults) -> Optional[str]:
    """The default as it is now, `recorded` where it is still that one."""
    name = option.names.split(", ")[0]
    shown = option.default if option.default is not None else \
        shown_value(verb, name, page.words[option.names])
    if not option.value:
        return None
    return defaults.of(verb, name, recorded if recorded is not None else shown, shown)


def found_options(programs: Programs, recording: Recording) -> Dict[str, Dict[str, Option]]:
    """Each verb's options as they are, under all their names together."""
    defaults = Defaults(programs)
    found: Dict[str, Dict[str, Option]] = {}
    for verb, page in verbs_of(programs).items():
        before = {option.names: option for option in
                  map(parse_line, recording.sections.get(verb, []))}
        found[verb] = {}
        for option in page.options:
            old = before.get(option.names)
            default = _default(verb, option, page, old.default if old else None, defaults)
            found[verb][option.names] = option._replace(default=default)
    return found


def compare(recording: Recording, found: Dict[str, Dict[str, Option]],
            programs: Programs) -> Part:
    violations: List[str] = []
    skipped: List[str] = []
    additions = [verb for verb in found if verb not in recording.sections]
    for verb, lines in recording.sections.items():
        if verb not in found:
            if programs.can_run(verb):
                violations.append(f"{verb} is gone")
            else:
                skipped.append(verb)
            continue
        for option in map(parse_line, lines):
            now = found[verb].get(option.names)
            if now is None:
                violations.append(f"{verb}: {option.names} is gone")
            elif now != option:
                violations.append(f"{verb}: '{option.line()}' has become '{now.line()}'")
        known = {parse_line(line).names for line in lines}
        additions += [f"{verb}: {option.line()}" for names, option in found[verb].items()
                      if names not in known]
    return Part(violations, additions, skipped)


def check(recording: Recording, programs: Programs) -> Part:
    return compare(recording, found_options(programs, recording), programs)


def update(recording: Recording, programs: Programs) -> Recording:
    sections = {verb: list(lines) for verb, lines in recording.sections.items()}
    for verb, options in found_options(programs, recording).items():
        lines = sections.setdefault(verb, [])
        known = {parse_line(line).names for line in lines}
        lines += [option.line() for names, option in options.items() if names not in known]
    return Recording(recording.opening, sections)
