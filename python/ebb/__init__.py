# SPDX-License-Identifier: Apache-2.0
"""Keeps the memory of long machine-learning jobs flat.

  import ebb
  print(ebb.cleanup_memory())     # what went back to the system, measured

`ebb.simulate` and `ebb.compare` simulate federated learning in a process of its own.
`ebb.torch` is Ebb inside PyTorch, `ebb.nvflare` inside NVFlare, `ebb.flower` inside Flower, `ebb.sums` exact
sums of tensors.
libebb.so is loaded on first use.
"""

from __future__ import annotations

from . import hooks
from ._library import library, path as library_path
from .errors import (
    BadInput,
    Bug,
    Error,
    FileError,
    Forked,
    LibraryMissing,
    NeedsCuda,
    NotFound,
    NotPermitted,
    OutOfMemory,
    SimulationFailed,
    TooLate,
    Unavailable,
    WrongArchitecture,
)
from .jobs import doctor, env, info, plan, replay, training_memory_budget, tune
from .levels import GpuLevel, MemoryLevel, guard, memory_level
from .memory import (
    CleanupReport,
    MemoryInfo,
    Step,
    TrimReport,
    allocator,
    call,
    cleanup,
    cleanup_memory,
    get_allocator_type,
    give_back_at_once,
    mark_rss,
    memory_profile,
    read_memory,
    rss,
    rss_marker,
    trim,
    try_malloc_trim,
    watch_pressure,
)
from .rounds import RoundKeeper
from .simulating import Simulation, compare, simulate
from .watching import Watch, watch

__all__ = [
    "BadInput", "Bug", "CleanupReport", "Error", "FileError", "Forked", "GpuLevel", "LibraryMissing",
    "MemoryInfo", "MemoryLevel", "NeedsCuda", "NotFound", "NotPermitted", "OutOfMemory", "RoundKeeper", "Step",
    "TooLate", "TrimReport", "Unavailable", "Watch", "WrongArchitecture", "allocator", "call",
    "cleanup", "cleanup_memory", "doctor", "env", "get_allocator_type", "give_back_at_once", "guard",
    "hooks", "info", "library_path", "mark_rss", "memory_level", "memory_profile", "plan", "read_memory", "replay",
    "rss", "rss_marker", "training_memory_budget", "trim", "try_malloc_trim", "tune", "version", "watch",
    "watch_pressure", "Simulation", "SimulationFailed", "compare", "simulate",
]


def version() -> str:
    """The library's version."""
    text: bytes = library().ebb_version()
    return text.decode()
