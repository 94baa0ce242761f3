# SPDX-License-Identifier: Apache-2.0
"""Holds every #include under src/ and include/, and src/README.md, against src/layers.txt.

  layers.py ROOT
"""
import re
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Dict, List

from common import code_files, finish, includes

# Where the public headers belong: whoever may include src/capi may include them.
FACE = "capi"


def read_layers(path: Path, violations: List[str]) -> Dict[str, List[str]]:
    """folder -> the folders it may include; a folder may name only folders above it."""
    layers: Dict[str, List[str]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        folder, colon, lower = line.partition(":")
        if not colon or not folder or folder != folder.strip():
            violations.append(f"{path}:{number}: expected 'folder: the folders it may include'")
            continue
        if folder in layers:
            violations.append(f"{path}:{number}: {folder} is listed twice")
        for name in lower.split():
            if name not in layers:
                violations.append(f"{path}:{number}: {folder} names {name}, "
                                  f"which does not stand above it")
        layers[folder] = lower.split()
    return layers


def check(root: Path) -> List[str]:
    violations: List[str] = []
    source = root / "src"
    layers = read_layers(source / "layers.txt", violations)
    folders = {path.name for path in source.iterdir() if path.is_dir()}
    violations += [f"{source / name}: not listed in layers.txt"
                   for name in sorted(folders - set(layers))]
    violations += [f"{source}/layers.txt: lists {name}, which does not exist"
                   for name in sorted(set(layers) - folders)]

    used = set()
    for path in code_files(root, "src"):
        folder = path.relative_to(source).parts[0]
        for include in includes(path):
            place = f"{path.relative_to(root)}:{include.line}"
            ours = include.folder in folders or include.folder == "ebb"
            if not include.quoted and not ours:
                continue
            if not ours or ".." in include.name.split("/"):
                violations.append(f'{place}: "{include.name}" is not a path from src/, '
                                  f'expected "folder/file.h"')
                continue
            target = FACE if include.folder == "ebb" else include.folder
            used.add((folder, target))
            if target != folder and target not in layers.get(folder, []):
                violations.append(f'{place}: {folder} may not include "{include.name}", '
                                  f"expected one of: {' '.join([folder, *layers.get(folder, [])])}")

    violations += [f"{source}/layers.txt: {folder} may include {name} and never does"
                   for folder, lower in layers.items() for name in lower
                   if name in layers and name != folder and (folder, name) not in used]

    for path in code_files(root, "include"):
        for include in includes(path):
            if (include.quoted or include.folder in folders) and include.folder != "ebb":
                violations.append(f'{path.relative_to(root)}:{include.line}: a public header includes '
                                  f'"{include.name}", expected only "ebb/..." and the standard library')
    return violations


def check_readme(root: Path) -> List[str]:
    """README.md has a paragraph per folder, in the order of layers.txt, and its drawing has them all."""
    path = root / "src/README.md"
    layers = list(read_layers(root / "src/layers.txt", []))
    text = path.read_text(encoding="utf-8")
    told = [name for name in re.findall(r"^\*\*(\w+)\*\* ", text, re.MULTILINE) if name in layers]
    violations = []
    for number, (expected, name) in enumerate(zip_longest(layers, told, fillvalue="none"), 1):
        if name != expected:
            violations.append(f"{path}: paragraph {number} is of {name}, expected {expected} as in layers.txt")
            break
    drawn = " ".join(re.findall(r"^rank \d+ +(.+)$", text, re.MULTILINE)).split()
    if sorted(drawn) != sorted(layers):
        violations.append(f"{path}: the drawing and layers.txt differ in "
                          f"{' '.join(sorted(set(drawn) ^ set(layers)))}")
    return violations


if __name__ == "__main__":
    finish(check(Path(sys.argv[1])) + check_readme(Path(sys.argv[1])))
