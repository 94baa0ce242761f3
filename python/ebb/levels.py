# SPDX-License-Identifier: Apache-2.0
"""Thresholds: how full memory is, the host's and that of GPUs, and what is done about it."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from . import _abi, errors
from ._library import check, library
from .memory import CleanupReport, new_report, report_from

_LEVELS = ("normal", "warn", "critical")


@dataclass(frozen=True)
class GpuLevel:
    """One GPU. `None` stands for what this process's allocator does not tell."""

    device: int  # PyTorch's number of it if PyTorch uses it here, else nvidia-smi's
    level: str  # "normal", "warn" or "critical"
    percent: float  # in use, by whomever
    total_bytes: int
    free_bytes: int
    held_bytes: int | None  # by PyTorch in this process
    cached_bytes: int | None  # of them: in no use


class MemoryLevel(str):
    """"normal", "warn" or "critical", the highest of all, and where it comes from."""

    ram_level: str
    ram_percent: float
    gpus: tuple[GpuLevel, ...]  # those whose memory is known
    gpu_trouble: str | None  # why there is none, or why one is missing

    @classmethod
    def _from(cls, native: _abi.Levels) -> MemoryLevel:
        made = cls(_LEVELS[native.level])
        made.ram_level = _LEVELS[native.ram_level]
        made.ram_percent = native.ram_percent
        made.gpus = tuple(_gpu(native.gpus[place]) for place in range(native.gpu_count))
        made.gpu_trouble = native.gpu_trouble.decode(errors="replace") or None
        return made


def _gpu(native: _abi.GpuLevel) -> GpuLevel:
    known = bool(native.known & _abi.KNOWS_DEVICE_CACHE)
    return GpuLevel(
        device=native.device, level=_LEVELS[native.level], percent=native.percent,
        total_bytes=native.total_bytes, free_bytes=native.free_bytes,
        held_bytes=native.held_bytes if known else None,
        cached_bytes=native.cached_bytes if known else None)


def _bounds(warn: float, critical: float, gpu_warn: float, gpu_critical: float) -> _abi.Bounds:
    return _abi.Bounds(
        struct_size=ctypes.sizeof(_abi.Bounds), warn_percent=warn, critical_percent=critical,
        gpu_warn_percent=gpu_warn, gpu_critical_percent=gpu_critical, round=_abi.NO_ROUND)


def memory_level(warn_percent: float = 85.0, critical_percent: float = 90.0, *,
                 gpu_warn_percent: float = 90.0, gpu_critical_percent: float = 97.0) -> MemoryLevel:
    """How full memory is: "normal", "warn" or "critical", the highest of the host's and of all GPUs, with the
    percentages as attributes. GPUs are those that PyTorch holds memory of in this process; if there is none, all
    of the machine. Reads, does not act."""
    bounds = _bounds(warn_percent, critical_percent, gpu_warn_percent, gpu_critical_percent)
    native = _abi.Levels(struct_size=ctypes.sizeof(_abi.Levels))
    check(library().ebb_memory_levels(ctypes.byref(bounds), ctypes.byref(native)))
    return MemoryLevel._from(native)


def guard(warn_percent: float = 85.0, critical_percent: float = 90.0, *, round: int | None = None,
          gpu_warn_percent: float = 90.0, gpu_critical_percent: float = 97.0, headroom: int = 0,
          failed_allocation: bool = False) -> tuple[MemoryLevel, CleanupReport | None]:
    """Returns the level. If the host's memory is critical, it also cleans up and returns the report.

    With `round`, the number of a round that has just ended, or with `failed_allocation` the cache of PyTorch's CUDA
    allocator may be emptied, too, at most once a round: if a GPU is critical and its cache holds 5 % of it, unless
    that was taken again last time; and if less than `headroom` bytes of a GPU are free at a round's end."""
    if round is not None and not 0 <= round < _abi.NO_ROUND:
        raise errors.BadInput(f"round {round}: expected 0 or more")
    if not 0 <= headroom < 1 << 64:
        raise errors.BadInput(f"headroom {headroom}: expected a number of bytes")
    bounds = _bounds(warn_percent, critical_percent, gpu_warn_percent, gpu_critical_percent)
    bounds.headroom_bytes = headroom
    bounds.failed_allocation = int(bool(failed_allocation))
    if round is not None:
        bounds.round = round
    native = _abi.Levels(struct_size=ctypes.sizeof(_abi.Levels))
    report = new_report()
    check(library().ebb_guard_levels(ctypes.byref(bounds), ctypes.byref(native), ctypes.byref(report)))
    cleaned = report.disabled or report.rss_before_bytes != 0
    return MemoryLevel._from(native), report_from(report) if cleaned else None
