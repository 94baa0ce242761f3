# SPDX-License-Identifier: Apache-2.0
"""The program's verbs as functions: each returns the JSON of `ebb VERB --json` as a dictionary."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

from . import errors
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
         without: str | Sequence[str] | None = None, quick: bool = False, device: int | None = None,
         torch_version: str | None = None, driver_model: str | None = None) -> dict[str, Any]:
    """The settings of PyTorch's allocator that suit a recorded job best as it goes on. `without`: settings
    that cannot be used; `quick` fits what was recorded only."""
    return call("tune", _given(snapshot=_paths(snapshot), objective=objective, cap=cap,
                               without=_listed(without), quick=quick or None, device=device,
                               torch_version=torch_version, driver_model=driver_model))


def doctor(snapshot: Path | Sequence[Path] | None = None, *, cap: int | str | None = None,
           device: int | None = None, torch_version: str | None = None, driver_model: str | None = None,
           stats: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Why a recorded job ran out of memory, or would run out, and what helps. Instead of a snapshot it takes
    `stats=torch.cuda.memory_stats()`, flat or nested, with less to say."""
    if (snapshot is None) == (stats is None):
        raise errors.BadInput("doctor(): expected either a snapshot or stats")
    if stats is not None:
        return call("doctor", {"stats": dict(stats)})
    assert snapshot is not None
    return call("doctor", _given(snapshot=_paths(snapshot), cap=cap, device=device,
                                 torch_version=torch_version, driver_model=driver_model))


def plan(*, transformer: dict[str, Any] | None = None, model: dict[str, Any] | None = None,
         budget: dict[str, Any] | None = None, clients: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """What a training step will need, before it runs: `plan(transformer={"preset": "gpt2", "batch": 4})`
    or `plan(model={"name": "ResNet18"})`; `plan(budget={"params": 7e9})` is the simple formula,
    `plan(clients={"card": ["T4"]})` how many clients train side by side."""
    return call("plan", {**_given(transformer=transformer, model=model, budget=budget, clients=clients),
                         **options})


def training_memory_budget(params: float | None = None, *, optimizer: str = "adam",
                           precision: str | None = None, activation_gb: float | None = None,
                           overhead_percent: float = 15.0, gpus: int = 1, model: str | None = None,
                           batch: int | None = None, seq: int | None = None) -> dict[str, float]:
    """The simple formula for training: bytes per parameter, activations as told, an overhead on top.

    In GB of 10^9 bytes, rounded to two decimals: `weights_gb`, `gradients_gb`, `master_weights_gb`,
    `optimizer_gb`, `activations_gb`, `overhead_gb` and `total_gb` of all devices together; `per_gpu_gb` of one.
    With a `model` that `ebb plan` knows, `planned_gb` is what the exact plan of its steps says for one device.
    """
    answer = plan(budget=_given(
        params=params, optimizer=optimizer, precision=precision, activation_gb=activation_gb,
        overhead=f"{overhead_percent}%", gpus=gpus, model=model, batch=batch, seq=seq))
    parts = ("weights", "gradients", "master_weights", "optimizer", "activations", "overhead", "total",
             "per_gpu")
    budget = {f"{part}_gb": _gigabytes(answer[f"{part}_bytes"]) for part in parts}
    if answer["plan"] is not None:
        budget["planned_gb"] = _gigabytes(answer["plan"]["device_bytes"])
    return budget


def _gigabytes(count: int | None) -> float:
    return round((count or 0) / 1e9, 2)


def _listed(conf: str | Sequence[str] | None) -> list[str] | None:
    if conf is None:
        return None
    return [conf] if isinstance(conf, str) else list(conf)
