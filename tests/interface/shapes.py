# SPDX-License-Identifier: Apache-2.0
"""The shape of JSON: which keys there are and of which type, without the values.

A shape is written one key per line:

  rows[].conf: string          in every element of the list `rows`
  rows[].failure?: string      in some of them
  rows[].limit: null|number    a number, or null where there is none
  rows[].next: null            null here: of which type it is otherwise is not known
  details.{}: number           an object whose keys are not fixed, or recorded elsewhere
"""
import json
import re
from typing import Any, Dict, List, NamedTuple, Set

_PLAIN = re.compile(r"[\w%-]+")
_LINE = re.compile(r"(?P<path>.+?)(?P<optional>\??): (?P<types>[a-z|]+)")


class Place(NamedTuple):
    """What was seen at one path."""
    types: Set[str]
    optional: bool


Shape = Dict[str, Place]


def type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return {str: "string", list: "array", dict: "object"}[type(value)]


class _Collector:
    def __init__(self) -> None:
        self.types: Dict[str, Set[str]] = {}
        self.seen: Dict[str, int] = {}
        self.parents: Dict[str, str] = {}
        self.objects: Dict[str, int] = {}

    def add(self, path: str, value: Any) -> None:
        self.types.setdefault(path, set()).add(type_of(value))
        self.seen[path] = self.seen.get(path, 0) + 1
        if isinstance(value, dict):
            self.objects[path] = self.objects.get(path, 0) + 1
            for key, member in value.items():
                name = key if _PLAIN.fullmatch(key) else json.dumps(key)
                child = f"{path}.{name}" if path else name
                self.parents[child] = path
                self.add(child, member)
        elif isinstance(value, list):
            for item in value:
                self.add(path + "[]", item)

    def shape(self) -> Shape:
        def is_optional(path: str) -> bool:
            return path in self.parents and self.seen[path] < self.objects[self.parents[path]]
        return {path: Place(types, is_optional(path)) for path, types in self.types.items() if path}


def shape_of(value: Any) -> Shape:
    collector = _Collector()
    collector.add("", value)
    return collector.shape()


def parse(text: str) -> Any:
    """One JSON value, or one per line, which become a list."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def lines_of(shape: Shape) -> List[str]:
    return [f"{path}{'?' if place.optional else ''}: {'|'.join(sorted(place.types))}"
            for path, place in sorted(shape.items())]


def from_lines(lines: List[str]) -> Shape:
    shape = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        if not found:
            raise ValueError(f"'{line}': expected a line such as 'rows[].conf: string'")
        shape[found["path"]] = Place(set(found["types"].split("|")), bool(found["optional"]))
    return shape


def folded(found: Shape, recorded: Shape) -> Shape:
    """`found` with those keys taken together that `recorded` takes together."""
    result = dict(found)
    for path in recorded:
        if not path.endswith(".{}"):
            continue
        start = path[:-len("{}")]
        members = {one: place for one, place in found.items() if one.startswith(start)}
        for one in members:
            result.pop(one, None)
        types = {kind for place in members.values() for kind in place.types}
        if types:
            result[path] = Place(types, False)
    return result


def _may_be_empty(path: str, place: Place, found: Shape) -> bool:
    """A list of plain values may have none; one of objects has none only if its keys are not seen."""
    parent = found.get(path[:-len("[]")]) if path.endswith("[]") else None
    return parent is not None and "array" in parent.types and not place.types & {"object", "array"}


def lost(recorded: Shape, found: Shape) -> List[str]:
    """What whoever reads the recorded keys can no longer rely on; what was added is no loss."""
    violations = []
    for path, place in sorted(recorded.items()):
        now = found.get(path)
        if now is None and _may_be_empty(path, place, found):
            continue
        if now is None:
            violations.append(f"{path} is gone")
            continue
        if place.types != {"null"} and not now.types <= place.types:
            violations.append(f"{path} was {'|'.join(sorted(place.types))} and has become "
                              f"{'|'.join(sorted(now.types))}")
        if now.optional and not place.optional:
            violations.append(f"{path} was always there and now is not")
    return violations


def added(recorded: Shape, found: Shape) -> List[str]:
    return sorted(path for path in found if path not in recorded)


def merged(recorded: Shape, found: Shape) -> Shape:
    """What was recorded and what was added to it: nothing is ever taken away here."""
    both = dict(recorded)
    for path, place in found.items():
        before = recorded.get(path)
        both[path] = place if before is None else Place(before.types | place.types,
                                                        before.optional or place.optional)
    return both
