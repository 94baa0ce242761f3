# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libebb.so on first use, and turns its codes into exceptions."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from typing import Any

from . import _abi, errors
from ._forks import Lock

_MACHINES = {3: "x86", 40: "arm", 62: "x86-64", 183: "aarch64", 243: "riscv", 21: "ppc64", 22: "s390"}
_lock = Lock()
_loaded: ctypes.CDLL | None = None


def path() -> Path:
    """The library that is, or would be, loaded: $EBB_LIBRARY, else the one in this package."""
    named = os.environ.get("EBB_LIBRARY")
    return Path(named).absolute() if named else Path(__file__).resolve().parent / "_native" / "libebb.so"


def library() -> ctypes.CDLL:
    """libebb.so, loaded once. Thread-safe. Raises LibraryMissing or WrongArchitecture."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                made = _load(path())
                from . import hooks
                hooks.register_defaults(made)
                _loaded = made
    return _loaded


def check(code: int, made: ctypes.CDLL | None = None) -> None:
    """Raises the exception for a code of the C interface; returns for EBB_OK."""
    if code != 0:
        said = (made or library()).ebb_last_error().decode("utf-8", "replace")
        raise errors.BY_CODE.get(code, errors.Error)(said)


def take_text(place: ctypes.c_void_p) -> str:
    """The text that a call left at `place`; frees it."""
    try:
        assert place.value is not None
        return ctypes.string_at(place.value).decode("utf-8", "replace")
    finally:
        library().ebb_free(place)


def _load(file: Path) -> ctypes.CDLL:
    where = "in $EBB_LIBRARY" if os.environ.get("EBB_LIBRARY") else "in the package"
    if not file.is_file():
        raise errors.LibraryMissing(
            f"{file} ({where}) is not there: expected libebb.so; install the package with "
            f"`pip install .` from Ebb's sources, or name a library in EBB_LIBRARY")
    _check_architecture(file)
    try:
        made = ctypes.CDLL(str(file))
    except OSError as failure:
        raise errors.LibraryMissing(f"{file} ({where}) cannot be loaded: {failure}") from None
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        try:
            function: Any = getattr(made, name)
        except AttributeError:
            raise errors.LibraryMissing(
                f"{file} ({where}) has no {name}: expected the libebb.so of this package's "
                f"version") from None
        function.restype = result
        function.argtypes = arguments
    return made


def _elf_kind(file: Path | str) -> tuple[int, int] | None:
    """(class, machine) of an ELF file; None for anything else."""
    try:
        with open(file, "rb") as source:
            head = source.read(20)
    except OSError:
        return None
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return None
    order = "<" if head[5] == 1 else ">"
    return head[4], struct.unpack(order + "H", head[18:20])[0]


def _check_architecture(file: Path) -> None:
    here = _elf_kind("/proc/self/exe")
    there = _elf_kind(file)
    if there is None:
        raise errors.LibraryMissing(f"{file} is no ELF library: expected libebb.so")
    if here is not None and here != there:
        raise errors.WrongArchitecture(
            f"{file} is for {_kind_text(there)}: expected {_kind_text(here)}, as this Python")
    if there[0] == 2 and _is_cut_short(file):
        raise errors.LibraryMissing(f"{file} is cut short: expected the whole of libebb.so")


def _is_cut_short(file: Path) -> bool:
    """Whether a 64-bit ELF file ends before its section headers do. To load such a file would raise a
    bus error."""
    with open(file, "rb") as source:
        head = source.read(64)
    order = "<" if head[5:6] == b"\1" else ">"
    if len(head) < 64:
        return True
    offset = struct.unpack(order + "Q", head[40:48])[0]
    size, count = struct.unpack(order + "HH", head[58:62])
    return bool(offset + size * count > file.stat().st_size)


def _kind_text(kind: tuple[int, int]) -> str:
    return f"{_MACHINES.get(kind[1], f'machine {kind[1]}')} ({64 if kind[0] == 2 else 32} bit)"
