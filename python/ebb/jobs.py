# SPDX-License-Identifier: Apache-2.0
"""The program's verbs as functions: each returns the JSON of `ebb VERB --json` as a dictionary."""

from __future__ import annotations

import os
from typing import Any, Sequence

from .memory import call

Path = str | os.PathLike[str]


def _paths(snapshot: Path | Sequence[Path]) -> list[str]:
    if isinstance(snapshot, (str, os.PathLike)):
        return [os.fspath(snapshot)]
    return [os.fspath(path) for path in snapshot]


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def info(pid: int | None = None) -> dict[str, Any]:
    """Machine, limits, allocator and memory of this process or another."""
    return call("info", _given(pid=pid))


def env(role: str = "client", allocator: str = "glibc", arenas: int | None = None) -> dict[str, Any]:
    """The environment that a job should start with. `arenas`: of glibc; None for as many as suit the role."""
    return call("env", _given(role=role, allocator=allocator, arenas=arenas))


def replay(snapshot: Path | Sequence[Path], conf: str | Sequence[str] | None = None, *,
           cap: int | str | None = None, device: int | None = None,
           torch_version: str | None = None, driver_model: str | None = None) -> dict[str, Any]:
    """What PyTorch would have reserved under other settings, from a recorded snapshot."""
    return call("replay", _given(snapshot=_paths(snapshot), conf=_listed(conf), cap=cap, device=device,
                                 torch_version=torch_version, driver_model=driver_model))


def tune(snapshot: Path | Sequence[Path], *, objective: str = "memory", cap: int | str | None = None,
         device: int | None = None, torch_version: str | None = None,
         driver_model: str | None = None) -> dict[str, Any]:
    """The settings of PyTorch's allocator that suit a recorded job best."""
    return call("tune", _given(snapshot=_paths(snapshot), objective=objective, cap=cap, device=device,
                               torch_version=torch_version, driver_model=driver_model))


def doctor(snapshot: Path | Sequence[Path], *, cap: int | str | None = None, device: int | None = None,
           torch_version: str | None = None, driver_model: str | None = None) -> dict[str, Any]:
    """Why a recorded job ran out of memory, or would run out, and what helps."""
    return call("doctor", _given(snapshot=_paths(snapshot), cap=cap, device=device,
                                 torch_version=torch_version, driver_model=driver_model))


def plan(*, transformer: dict[str, Any] | None = None, model: dict[str, Any] | None = None,
         **options: Any) -> dict[str, Any]:
    """What a training step will need, before it runs: `plan(transformer={"preset": "gpt2", "batch": 4})`
    or `plan(model={"name": "ResNet18"})`."""
    return call("plan", {**_given(transformer=transformer, model=model), **options})


def _listed(conf: str | Sequence[str] | None) -> list[str] | None:
    if conf is None:
        return None
    return [conf] if isinstance(conf, str) else list(conf)
